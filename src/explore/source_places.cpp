// Implements source_places.h with GNU addr2line (binutils, which nvcc's host compiler needs
// anyway).
#include "explore/source_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace heddle::explore {

bool is_system_file(std::string_view path) {
  if (path.starts_with("/usr/") || path == "??" || path.empty()) {
    return true;
  }
  // nvcc's own folders, wherever the toolkit lies, and the C++ library in GCC's spelling.
  static constexpr std::array<std::string_view, 5> parts =
      {"/cccl/", "/targets/x86_64-linux/include/", "/nvidia/cu13/", "/c++/", "tmpxft_"};
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return path.find(part) != std::string_view::npos;
  });
}

const machine::SourcePlace& users_place(const std::vector<machine::SourcePlace>& innermost_first) {
  const auto own = std::find_if(
      innermost_first.begin(),
      innermost_first.end(),
      [](const machine::SourcePlace& place) { return !is_system_file(place.file); }
  );
  return own != innermost_first.end() ? *own : innermost_first.front();
}

namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

/// "file:line" or "file:line (discriminator 2)", one per frame, innermost first.
std::vector<machine::SourcePlace>
addr2line(const std::string& executable, const std::string& addresses) {
  std::vector<machine::SourcePlace> places;
  const std::string command =
      fmt::format("addr2line -i -e {} {} 2>/dev/null", quoted(executable), addresses);
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return places;
  }
  char line[4096];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string_view text(line);
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos) {
      machine::SourcePlace place;
      place.file = std::string(text.substr(0, colon));
      place.line = static_cast<std::uint32_t>(std::strtoul(line + colon + 1, nullptr, 10));
      places.push_back(std::move(place));
    }
  }
  ::pclose(pipe);
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
    std::string addresses = site.file.substr(1);
    std::replace(addresses.begin(), addresses.end(), ',', ' ');
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
