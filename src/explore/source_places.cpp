// Implements source_places.h with GNU addr2line (binutils, which nvcc's host compiler needs
// anyway).
#include "explore/source_places.h"

#include "base/process.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace heddle::explore {

namespace {

/// "file:line" or "file:line (discriminator 2)", one per frame, innermost first.
std::vector<machine::SourcePlace>
addr2line(const std::string& executable, const std::vector<std::string>& addresses) {
  std::vector<std::string> command{"addr2line", "-i", "-e", executable};
  command.insert(command.end(), addresses.begin(), addresses.end());
  std::vector<machine::SourcePlace> places;
  const auto output = run_and_read(command, Messages::Dropped);
  std::istringstream lines(output ? output->text : "");
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t colon = line.find(':'); colon != std::string::npos) {
      machine::SourcePlace place;
      place.file = line.substr(0, colon);
      place.line = static_cast<std::uint32_t>(std::strtoul(line.c_str() + colon + 1, nullptr, 10));
      places.push_back(std::move(place));
    }
  }
  return places;
}

/// Relative to the working directory, where it lies in it: compilers record absolute paths.
std::string as_users_see_it(const std::string& path) {
  std::error_code failure;
  const std::string here = std::filesystem::current_path(failure).string() + "/";
  return !failure && path.starts_with(here) ? path.substr(here.size()) : path;
}

} // namespace

Site HostSources::resolve(const Site& site) {
  if (!site.file.starts_with('@')) {
    Site result = site;
    result.file = as_users_see_it(site.file);
    return result;
  }
  auto [entry, is_new] = known_.try_emplace(site.file);
  if (is_new && site.file.size() > 1) {
    std::vector<std::string> addresses;
    std::istringstream list(site.file.substr(1));
    for (std::string address; std::getline(list, address, ',');) {
      addresses.push_back(address);
    }
    const std::vector<machine::SourcePlace> places = addr2line(executable_, addresses);
    if (!places.empty()) {
      entry->second = users_place(places);
    }
  }
  Site result = site;
  result.file = is_system_file(entry->second.file) ? "" : as_users_see_it(entry->second.file);
  result.line = entry->second.line;
  return result;
}

} // namespace heddle::explore
