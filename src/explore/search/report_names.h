// ReportNames: how actors and places are called in reports.
//
//   names.of(move).actor; names.of(move).site;     // of a device thread's or command's move
//   names.host_actor(0); names.site(threads.point(0));
//
// The table numbers actors in the order in which they are first named, and reports name them in
// that order. So schedules that are not recorded, several of which are under way at the same time,
// name none.
#pragma once

#include "explore/search/ground.h"
#include "explore/search/launches.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace heddle::explore {

/// Is a thread that stands there in a call of the API?
bool inside_call(const HostPoint& point);

/// Of a move, for its edge.
struct NamesOfMove {
  std::pair<std::uint64_t, std::uint64_t> who;
  const void* op = nullptr;
  const char* what = nullptr;
  std::uint32_t first = 0;
  ActorId actor = 0;
  std::uint32_t site = 0;
};

class ReportNames {
public:
  ReportNames(Ground& ground, const Launches& launches);

  const NamesOfMove& of(const Stepper::Move& move);
  ActorId host_actor(unsigned thread);
  std::uint32_t site(const HostPoint& point);
  std::uint32_t site(const Stepper::Wait& wait);
  std::uint32_t site(const Stepper::LeftBehind& left);
  std::uint32_t site(const machine::Command& value_wait);

private:
  ActorId actor(const Stepper::Move& move);
  std::uint32_t site(const Stepper::Move& move);
  std::uint32_t find_site(const HostPoint& point);

  StateTable& table_;
  const Stepper& stepper_;
  const HostState& host_;
  const HostThreads& threads_;
  const Purpose& purpose_;
  const Launches& launches_;
  std::array<NamesOfMove, 1024> last_names_; // by hash: those looked up last
  std::map<unsigned, ActorId> host_actors_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, ActorId> actors_;
  // Also by command: the same code of a library may be launched from several places.
  std::map<std::tuple<const void*, const char*, std::uint32_t, std::uint64_t>, std::uint32_t>
      device_sites_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> left_sites_;
  std::map<std::pair<std::vector<std::uintptr_t>, std::string>, std::uint32_t> host_sites_;
  struct HostSite { // of a point, the last one that was looked up
    HostPoint::Kind kind{};
    const char* what = nullptr;
    std::vector<std::uintptr_t> return_addresses;
    std::uint32_t site = 0;
  };
  HostSite last_host_site_;
};

} // namespace heddle::explore
