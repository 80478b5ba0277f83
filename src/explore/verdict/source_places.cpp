// Implements source_places.h with GNU addr2line (binutils, which nvcc's host compiler needs
// anyway).
#include "explore/verdict/source_places.h"

#include "base/process.h"
#include "machine/grid.h"
#include "report/names.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace heddle::explore {

namespace {

constexpr std::size_t most_callers = 3; // that are told

/// A frame of host code: what addr2line prints as two lines.
struct Frame {
  std::string function; // as the linker knows it
  machine::SourcePlace place;
};

/// One or more for each address (inlined calls), innermost first.
std::vector<Frame>
addr2line(const std::string& executable, const std::vector<std::string>& addresses) {
  // Not with the libraries that a program under `heddle run` gets.
  std::vector<std::string> command{"env", "-u", "LD_PRELOAD", "-u", "LD_LIBRARY_PATH"};
  command.insert(command.end(), {"addr2line", "-f", "-i", "-e", executable});
  command.insert(command.end(), addresses.begin(), addresses.end());
  std::vector<Frame> frames;
  const auto output = run_and_read(command, Messages::Dropped);
  std::istringstream lines(output ? output->text : "");
  Frame frame;
  for (std::string line; std::getline(lines, frame.function) && std::getline(lines, line);) {
    // "file:line" or "file:line (discriminator 2)"
    const std::size_t colon = line.rfind(':');
    frame.place = {};
    frame.place.file = line.substr(0, colon);
    if (colon != std::string::npos) {
      frame.place.line =
          static_cast<std::uint32_t>(std::strtoul(line.c_str() + colon + 1, nullptr, 10));
    }
    frames.push_back(frame);
  }
  return frames;
}

/// nvcc makes two functions of a kernel: a stub, which calls the runtime, and one with the kernel's
/// name, which calls the stub. Both lie where the kernel is declared; the launch is in their
/// caller.
std::size_t frames_of_stub(const std::vector<Frame>& frames) {
  constexpr std::string_view stub = "__device_stub_";
  const auto is_stub = [&](const Frame& frame) {
    return frame.function.find(stub) != std::string::npos;
  };
  const auto own = std::ranges::find_if(frames, [&](const Frame& frame) {
    return is_stub(frame) || !is_system_file(frame.place.file);
  });
  if (own == frames.end() || !is_stub(*own)) {
    return 0; // what comes before a stub is the runtime's header
  }
  const auto count =
      static_cast<std::size_t>(std::find_if_not(own, frames.end(), is_stub) - frames.begin());
  if (count == frames.size()) {
    return count;
  }
  // "__device_stub__Z4scanPKiPi…" and "_Z4scanPKiPi" or "scan": debug information has no linkage
  // name of what is local to a file. "__device_stub__k" and "k" if it is extern "C".
  const std::string& name = frames[count - 1].function;
  const std::string_view rest = std::string_view(name).substr(name.find(stub) + stub.size());
  const std::string& caller = frames[count].function;
  const std::string bare = report::bare_name(machine::demangle(caller));
  // Of a template there is one more stub between: "__wrapper__device_stub_scan<32>", mangled as
  // "…scanILi32EE…" if it is not inlined, and "_Z4scanILi32EEvPi".
  const bool of_template =
      !bare.empty() && rest.starts_with(bare) &&
      (rest.substr(bare.size()).starts_with('<') || rest.substr(bare.size()).starts_with('I'));
  const bool called = rest.starts_with(caller) || rest == "_" + caller || of_template ||
                      rest.find(fmt::format("{}{}", bare.size(), bare)) != std::string_view::npos;
  return called ? count + 1 : count;
}

} // namespace

Site HostSources::resolve(const Site& site) {
  if (!site.file.starts_with('@')) {
    Site result = site;
    result.file = report::shown_path(site.file);
    result.calls.clear();
    for (const Site::Call& call : site.calls) {
      if (!call.file.starts_with('@')) {
        result.calls.push_back({report::shown_path(call.file), call.line, call.column, call.how});
      } else if (const Host& host = find(call.file); host.own.line != 0) {
        result.calls.push_back({host.own.file, host.own.line, 0, call.how});
        result.calls.insert(result.calls.end(), host.callers.begin(), host.callers.end());
      }
    }
    return result;
  }
  const Host& host = find(site.file);
  Site result = site;
  result.file = host.own.file;
  result.line = host.own.line;
  result.calls = host.callers;
  result.in_library_wait = host.in_library_wait;
  result.in_library_retry = host.in_library_retry;
  result.of_stub = host.in_stub && !site.what.starts_with("inside");
  return result;
}

const HostSources::Host& HostSources::find(const std::string& list) {
  auto [entry, is_new] = known_.try_emplace(list);
  Host& host = entry->second;
  if (!is_new || list.size() < 2) {
    return host;
  }
  std::vector<std::string> addresses;
  std::istringstream words(list.substr(1));
  for (std::string address; std::getline(words, address, ',');) {
    addresses.push_back(address);
  }
  std::vector<Frame> frames = addr2line(executable_, addresses);
  const std::size_t stub = frames_of_stub(frames);
  host.in_stub = stub > 0;
  if (stub < frames.size()) {
    frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(stub));
  }
  for (const Frame& frame : frames) {
    if (!is_system_file(frame.place.file)) {
      break;
    }
    host.in_library_wait |= frame.place.file.ends_with("/bits/atomic_wait.h");
    host.in_library_retry |= frame.place.file.ends_with("/stop_token");
  }
  std::erase_if(frames, [](const Frame& frame) { return is_system_file(frame.place.file); });
  if (frames.empty()) {
    return host;
  }
  host.own = frames.front().place;
  host.own.file = report::shown_path(host.own.file);
  for (std::size_t i = 1; i < std::min(frames.size(), most_callers + 1); ++i) {
    const machine::SourcePlace& place = frames[i].place;
    host.callers.push_back({report::shown_path(place.file), place.line, 0, "called from here"});
  }
  return host;
}

} // namespace heddle::explore
