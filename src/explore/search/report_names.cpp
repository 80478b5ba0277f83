// Implements report_names.h.
#include "explore/search/report_names.h"

#include "explore/verdict/source_places.h"
#include "machine/fault_diagnostic.h"

#include <fmt/format.h>

#include <bit>

namespace heddle::explore {

namespace {

/// "cub/agent/agent_scan.cuh:123": as one writes it in an #include.
std::string as_included(const machine::SourcePlace& place) {
  constexpr std::string_view folder = "/include/";
  const std::size_t at = place.file.rfind(folder);
  return fmt::format(
      "{}:{}",
      at == std::string::npos ? place.file : place.file.substr(at + folder.size()),
      place.line
  );
}

/// `launch`: addresses() of the call that launched it. For code of a library that is the place, and
/// the library's own place stands behind what is done there.
Site place_of(
    const isa::Code& code,
    const isa::Op& op,
    std::string what,
    const std::string& launch = {}
) {
  machine::FaultReport place;
  machine::describe_instruction(code, op, place);
  const machine::Waiting seen = machine::as_user_sees(place);
  const machine::SourcePlace& own = seen.place;
  Site site;
  if (own.line != 0 && is_system_file(own.file) && launch.size() > 1) {
    site.file = launch;
    site.what = fmt::format("{}, in {}", what, as_included(own));
    return site;
  }
  site.file = own.file;
  site.line = own.line;
  site.column = own.column;
  site.what = std::move(what);
  const auto add_call = [&](const machine::SourcePlace& call, const char* how) {
    if (call.line != 0) {
      site.calls.push_back({call.file, call.line, call.column, how});
    }
  };
  add_call(seen.library, "in a library, called here");
  for (const machine::SourcePlace& call : seen.inlined_at) {
    add_call(call, "inlined from here");
  }
  if (launch.size() > 1) {
    site.calls.push_back({launch, 0, 0, "launched from here"});
  }
  return site;
}

} // namespace

ReportNames::ReportNames(Ground& ground, const Launches& launches)
    : table_(ground.table),
      stepper_(ground.stepper),
      host_(ground.host),
      threads_(ground.threads),
      purpose_(ground.purpose),
      launches_(launches) {}

bool inside_call(const HostPoint& point) {
  using Kind = HostPoint::Kind;
  return point.kind == Kind::ApiCall || point.kind == Kind::Return || point.kind == Kind::Wait ||
         point.kind == Kind::MayWait || point.kind == Kind::Query;
}

ActorId ReportNames::host_actor(unsigned thread) {
  if (purpose_.unrecorded) {
    return 0;
  }
  const auto known = host_actors_.find(thread);
  if (known != host_actors_.end()) {
    return known->second;
  }
  const std::string& name = threads_.name(thread);
  return host_actors_[thread] = table_.add_actor({ActorKind::Host, name, "", ""});
}

const NamesOfMove& ReportNames::of(const Stepper::Move& move) {
  const auto who = stepper_.names().id(move); // with the command: numbers of works are used again
  const std::uint64_t mixed = (who.first * 0x9e37'79b9'7f4a'7c15ULL ^ who.second ^
                               reinterpret_cast<std::uintptr_t>(move.op) >> 3) *
                              0x9e37'79b9'7f4a'7c15ULL;
  NamesOfMove& names = last_names_[(mixed >> 32) % last_names_.size()];
  if (names.what == nullptr || names.who != who || names.op != move.op || names.what != move.what ||
      names.first != move.first) {
    names = {who, move.op, move.what, move.first, actor(move), site(move)};
  }
  return names;
}

ActorId ReportNames::actor(const Stepper::Move& move) {
  if (purpose_.unrecorded) {
    return 0;
  }
  const auto key = stepper_.names().id(move);
  const auto known = actors_.find(key);
  if (known != actors_.end()) {
    return known->second;
  }
  const std::string kernel = stepper_.names().kernel(move);
  const Actor actor =
      move.thread
          ? Actor{ActorKind::DeviceThread,
                  fmt::format("{} of {}", stepper_.names().actor(move), kernel),
                  stepper_.names().cluster(move), kernel}
          : Actor{stepper_.works().host_function(move) != nullptr ? ActorKind::HostFunction
                                                          : ActorKind::Command,
                  kernel, kernel, kernel};
  return actors_[key] = table_.add_actor(actor);
}

std::uint32_t ReportNames::site(const HostPoint& point) {
  HostSite& last = last_host_site_;
  if (last.what != point.what || last.kind != point.kind ||
      last.return_addresses != point.position.return_addresses) {
    last = {point.kind, point.what, point.position.return_addresses, find_site(point)};
  }
  return last.site;
}

std::uint32_t ReportNames::find_site(const HostPoint& point) {
  const bool call = inside_call(point);
  const auto key = std::pair(
      point.position.return_addresses,
      call ? fmt::format("inside {}", point.what) : std::string(point.what)
  );
  const auto known = host_sites_.find(key);
  if (known != host_sites_.end()) {
    return known->second;
  }
  return host_sites_[key] = table_.intern(Site{addresses(host_, point.position), 0, 0, key.second});
}

std::uint32_t ReportNames::site(const machine::Command& value_wait) {
  return table_.intern(
      Site{
          launches_.call_of_value_wait(value_wait.id),
          0,
          0,
          fmt::format(
              "{} in {} waits {}",
              value_wait.label,
              value_wait.stream,
              value_wait.value->describe()
          )
      }
  );
}

std::uint32_t ReportNames::site(const Stepper::Move& move) {
  const auto key = std::tuple<const void*, const char*, std::uint32_t, std::uint64_t>(
      move.op,
      move.what,
      move.first,
      move.command
  );
  const auto known = device_sites_.find(key);
  if (known != device_sites_.end()) {
    return known->second;
  }
  const std::string what =
      move.first == 0 ? move.what : fmt::format("{}, {:#010x} first", move.what, move.first);
  const Site site = move.op != nullptr
                        ? place_of(*move.code, *move.op, what, launches_.launch_of(move.command))
                        : Site{"", 0, 0, what};
  return device_sites_[key] = table_.intern(site);
}

std::uint32_t ReportNames::site(const Stepper::Wait& wait) {
  const std::string others = wait.threads == 1 ? "" : fmt::format(" and {} more", wait.threads - 1);
  return table_.intern(place_of(
      *wait.code,
      *wait.op,
      fmt::format(
          "{} of {}{} {}",
          stepper_.names().thread(wait.first),
          stepper_.names().kernel(wait.first),
          others,
          wait.what
      ),
      launches_.launch_of(wait.first.command)
  ));
}

std::uint32_t ReportNames::site(const Stepper::LeftBehind& left) {
  const machine::WarpRules::Behind& b = left.behind;
  const auto [command, thread] = stepper_.names().id(left.first);
  const std::vector<std::uint64_t> key{
      command,
      thread,
      b.lanes,
      b.others,
      std::uint64_t{b.meets},
      reinterpret_cast<std::uintptr_t>(b.op),
      reinterpret_cast<std::uintptr_t>(b.branch)
  };
  const auto [known, is_new] = left_sites_.try_emplace(key, 0);
  if (is_new) {
    const int others = std::popcount(b.lanes) - 1;
    known->second = table_.intern(place_of(
        *b.code,
        *b.op,
        fmt::format(
            "{} of {}{} {}",
            stepper_.names().thread(left.first),
            stepper_.names().kernel(left.first),
            others == 0 ? "" : fmt::format(" and {} more", others),
            machine::describe(b)
        )
    ));
  }
  return known->second;
}

} // namespace heddle::explore
