// Implements asked.h.
#include "explore/search/asked.h"

#include "base/outside.h"
#include "explore/search/launches.h"
#include "explore/table/changed_inputs.h"
#include "hostwatch/standard_library.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace heddle::explore {
namespace {

constexpr std::size_t most_known = 64; // of one process

SystemAnswer answer_of(HeddleAnswer what) {
  switch (what) {
  case HeddleAnswerHostAddresses:
    return SystemAnswer::HostAddresses;
  case HeddleAnswerHeap:
    return SystemAnswer::HeapContents;
  case HeddleAnswerProcess:
    return SystemAnswer::Process;
  case HeddleAnswerLoad:
    return SystemAnswer::Load;
  case HeddleAnswerRandom:
    break;
  }
  return SystemAnswer::Random;
}

std::string words_of(HeddleInput kind, const std::string& name) {
  switch (kind) {
  case HeddleVariable:
    return fmt::format("environment variable '{}'", name);
  case HeddleFileRead:
  case HeddleFileLookedAt:
  case HeddleFileWritten:
    return fmt::format("file '{}'", name);
  case HeddleSystem:
    break;
  }
  return name;
}

} // namespace

/// In this process; others may know it, too.
bool Asked::is_new(int kind, const std::string& name) {
  return !ground_.purpose.one_way() && known_.size() < most_known &&
         known_.emplace(kind, name).second;
}

bool Asked::answer(HeddleAnswer what, const void* pc) {
  const auto place = reinterpret_cast<std::uintptr_t>(pc);
  if (ground_.threads.inside() || ground_.host.ours(place)) {
    return false;
  }
  const bool is_own = ground_.host.link_address(place) != 0;
  // Libraries give numbers of processes to calls of the system, and divide work by processors.
  if ((what == HeddleAnswerProcess || what == HeddleAnswerLoad) && !is_own) {
    return false;
  }
  const HostThreads::Aside aside(ground_.threads);
  HostPosition position;
  if (is_own) {
    position.return_addresses = {place};
  } else {
    position = ground_.host.capture();
  }
  const std::string where = addresses(ground_.host, position);
  if (is_new(what, where)) {
    ground_.table.add_event(
        EventKind::Asked,
        0,
        ground_.table.intern(Site{where, 0, 0, ""}),
        word_of(answer_of(what))
    );
  }
  return true;
}

void Asked::input(HeddleInput kind, const std::string& name, const void* pc) {
  const auto place = reinterpret_cast<std::uintptr_t>(pc);
  if (ground_.threads.inside() || name.starts_with("/dev/") ||
      (ground_.host.link_address(place) == 0 &&
       (kind == HeddleVariable || !hostwatch::is_of_standard_library(pc)))) {
    return;
  }
  const HostThreads::Aside aside(ground_.threads);
  if (kind == HeddleSystem && name == std::string_view(heddle_piped_input)) {
    if (is_new(kind, name)) {
      ground_.table.add_event(
          EventKind::LeftOut,
          0,
          0,
          "what the program does by what comes through a pipe as its standard input; of a file it "
          "reads all ('heddle check app.cu < input.txt')"
      );
    }
    return;
  }
  if (kind == HeddleFileWritten) {
    written_.insert(name);
    if (is_new(kind, name)) {
      ground_.table.add_event(EventKind::Asked, 0, 0, std::string(changes) + words_of(kind, name));
    }
    return;
  }
  constexpr int changed = -1;
  if (kind == HeddleFileRead && written_.contains(name)) {
    if (is_new(changed, name)) {
      ground_.table.add_event(
          EventKind::LeftOut,
          0,
          0,
          fmt::format("what the program does by the contents of files that it changes ('{}')", name)
      );
    }
  } else if (
      !(kind == HeddleFileLookedAt && written_.contains(name)) && // its size and the like
      is_new(kind == HeddleFileLookedAt ? HeddleFileRead : kind, name)
  ) {
    ground_.table.add_event(EventKind::Input, 0, 0, words_of(kind, name));
  }
}

} // namespace heddle::explore
