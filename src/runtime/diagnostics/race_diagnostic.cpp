// Implements race_diagnostic.h.
#include "runtime/diagnostics/race_diagnostic.h"

#include "isa/op.h"
#include "machine/fault_diagnostic.h"
#include "machine/source_place.h"
#include "report/names.h"
#include "report/render.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/memory_sites.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/diagnostics/race_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

namespace heddle::runtime {
namespace {

using race::RaceReport;
using race::RaceSide;
using race::Why;

report::Place place_of(const machine::SourcePlace& place) {
  return report::Place{place.file, place.line, place.column, 0};
}

std::string at(const machine::FaultReport& where) {
  if (where.source.line == 0) {
    return where.instruction.empty() ? "" : fmt::format(" ({})", where.instruction);
  }
  // The user's line, not one of a header that was inlined there.
  const machine::SourcePlace& place =
      where.inlined_at.empty() ? where.source : where.inlined_at.back();
  return fmt::format(" at {}:{}", report::shown_path(place.file), place.line);
}

/// The most particular rule that is broken, why, and what would help.
struct Explanation {
  const char* rule;
  std::string why;
  const char* help;
};

/// The thread in the middle of a chain of synchronisation, where one of its links is missing.
std::string by_reader(const RaceReport& race) {
  return race.flag_reader.empty() ? "" : fmt::format(" by {}", race.flag_reader);
}
const char* chain(const RaceReport& race) {
  return race.flag_reader.empty() ? ""
                                  : ", so its own release after that does not order access (1)";
}

/// NVIDIA's own code: nobody else changes it.
constexpr std::string_view library_folders[] = {"/thrust/", "/cub/"};
/// What groups of threads are written with.
constexpr std::string_view group_folders[] =
    {"/cooperative_groups.h", "/cooperative_groups/", "/triton/language/"};

bool in_folder(const machine::FaultReport& where, std::span<const std::string_view> folders) {
  return std::ranges::any_of(folders, [&](std::string_view folder) {
    return where.source.file.find(folder) != std::string::npos;
  });
}

/// What to say: a flag inside a library is no flag of the user's.
Why told(const RaceReport& race) {
  const bool flag = race.why == Why::NoRelease || race.why == Why::NoAcquire;
  const bool inside =
      in_folder(race.flag_write, library_folders) || in_folder(race.flag_read, library_folders);
  return flag && inside ? race.distance : race.why;
}

Explanation explain_hope(const RaceReport& race) {
  return {
      "API-WAIT",
      fmt::format(
          "only {} stands between the two: it waits with today's drivers, and nothing promises "
          "that",
          race.hoped_call
      ),
      "call cudaDeviceSynchronize(), or wait for the stream or an event, before the second"
  };
}

/// A flag was read, and by that nothing was ordered.
Explanation explain_flag(const RaceReport& race) {
  if (race.why == Why::NoRelease) {
    return {
        "RACE-SYNC",
        fmt::format(
            "the flag read{}{} was written{} without a release before it{}",
            at(race.flag_read),
            by_reader(race),
            at(race.flag_write),
            chain(race)
        ),
        "write the flag with memory_order_release, or call __threadfence() before writing it"
    };
  }
  if (race.why == Why::NoAcquire) {
    return {
        "RACE-SYNC",
        fmt::format(
            "what was released{} is read{}{} without an acquire{}",
            at(race.flag_write),
            at(race.flag_read),
            by_reader(race),
            chain(race)
        ),
        "read the flag with memory_order_acquire, or call __threadfence() after reading it"
    };
  }
  return {
      "RACE-SYNC",
      fmt::format(
          "what was released{} is acquired{}{}, but one of the scopes does not include the other "
          "thread{}",
          at(race.flag_write),
          at(race.flag_read),
          by_reader(race),
          chain(race)
      ),
      "use a scope that includes both threads"
  };
}

Explanation explain_commands(const RaceReport& race) {
  MissingOrder order = missing_order(race.first.who, race.second.who);
  return {"RACE-COMMAND", std::move(order.why), order.help};
}

Explanation explain(const RaceReport& race) {
  if (race.host_pc() != nullptr) {
    return {
        "RACE-HOST",
        "the host has not waited for the device, so nothing orders the two",
        "call cudaDeviceSynchronize(), or wait for the stream or an event, before host code "
        "touches this memory"
    };
  }
  switch (told(race)) {
  case Why::Warp:
    return {
        "RACE-BARRIER",
        "the threads belong to one warp, and none of its lanes waits for another here",
        "put __syncwarp() between the two: threads of a warp do not run in lockstep"
    };
  case Why::Block:
    return {
        "RACE-BARRIER",
        "the threads belong to different warps of one block, and no barrier lies between",
        "put __syncthreads() between the two"
    };
  case Why::Blocks:
    return {
        "RACE",
        "the threads belong to different blocks, and nothing orders the two",
        race.first.write && race.second.write
            ? "let each thread write to a place of its own, or use atomics (atomicAdd and its kind)"
            : "read what an earlier kernel has written, from another array than this one writes; "
              "in "
              "a cooperative launch, put grid.sync() between; where an atomic tells the reader "
              "that "
              "the data is there, put __threadfence() before it, and after it in the reader; "
              "threads that add to one value need atomics (atomicAdd and its kind)"
    };
  case Why::Commands:
    return explain_commands(race);
  case Why::Record:
    return {
        "RACE-COMMAND",
        "a wait for an event stands between the two, and nothing lets another thread's "
        "cudaEventRecord come before it: then the wait returns at once",
        "let the thread that waits go on when the event has been recorded: by a latch, or a flag "
        "and a mutex"
    };
  case Why::Scope:
    return {
        "RACE-STRONG",
        "both are strong, but the scope of one does not include the other thread",
        "use a scope that includes both threads"
    };
  case Why::Size:
    return {
        "RACE-STRONG",
        "both are strong, but they overlap in part only",
        "access the object with one size"
    };
  case Why::Plain:
    return {
        "RACE-STRONG",
        "one of the two is a plain access: atomics protect only from other atomics",
        race.distance == Why::Warp || race.distance == Why::Block
            ? "make both accesses atomic, or put a barrier between them"
            : "make both accesses atomic: a lock, for example, is released by an atomic, too, "
              "after "
              "__threadfence()"
    };
  case Why::Async:
    return {
        "RACE-ASYNC",
        "the copy has not been waited for, or by its own thread only",
        "wait for the copy, and then put a barrier between, before others touch its memory"
    };
  case Why::Product:
    return {
        "RACE-ASYNC",
        "the multiplication has not been waited for, or by other warps only",
        "commit and wait for its group (wgmma.wait_group), and then arrive at a barrier, in each "
        "of "
        "the four warps, before others write to its matrices"
    };
  case Why::NoRelease:
  case Why::NoAcquire:
  case Why::NarrowSync:
    return explain_flag(race);
  }
  return {"RACE", "", ""};
}

void add_side(report::Diagnostic& d, const RaceSide& side, int number) {
  const std::string mark = fmt::format("({}) ", number);
  if (side.host_pc != nullptr) {
    d.threads.push_back(side.who);
    add_host_place(d, {{side.host_pc}}, fmt::format("{}{} by {}", mark, side.action, side.who));
    return;
  }
  const std::string text = fmt::format("{} by {}", side.action, side.who);
  if (!side.called_from.empty()) {
    report::Diagnostic call(d.finding, "");
    add_host_place(call, side.called_from, mark + text);
    if (!call.labels.empty()) {
      d.threads.push_back(side.who);
      d.labels.insert(d.labels.end(), call.labels.begin(), call.labels.end());
      return;
    }
  }
  d.threads.push_back(side.who);
  if (side.who.find("kernel '") != std::string::npos) {
    d.functions.push_back(report::kernel_in(side.who));
  }
  machine::add_place(d, side.place, text, mark);
}

/// Is there nothing to put a barrier between? Calls of a library are more than one statement.
bool is_one_statement(const RaceReport& race) {
  const machine::SourcePlace& first = race.first.place.source;
  const machine::SourcePlace& second = race.second.place.source;
  return first.line != 0 && first.line == second.line && first.column == second.column &&
         first.file == second.file && !machine::is_system_file(first.file);
}

/// Is it a value that a program of Triton holds several times, which all who hold it store at once?
/// Only the compiler accesses the memory that it calls global_smem. Where a sum is contracted
/// (fma), two lanes that have added the same numbers in another order differ in the last digit, so
/// these are not writes of the same value.
bool is_stored_by_each_holder(const RaceReport& race) {
  const machine::SourcePlace& place = race.first.place.source;
  return race.shared && race.code != nullptr && race.first.write && race.second.write &&
         place.file.ends_with(".py") && is_one_statement(race) &&
         race.first.place.instruction == race.second.place.instruction &&
         race.code->module->find_variable("global_smem") != nullptr;
}

/// Is it inside code of NVIDIA or Triton, where a user can do nothing about it? Kernels of Thrust
/// and CUB that race with themselves (in-place algorithms); the shared memory of cooperative
/// groups' tiles of several warps, whose lanes all write their warp's part and count on running
/// together: one of them tells the other warps; that of Triton's reductions, where each lane of a
/// warp writes its result, which may differ in the last digit, also where Triton moves it on.
bool is_library_matter(const RaceReport& race) {
  const auto own_kernel = [](const RaceSide& side) {
    std::string kernel = report::kernel_in(side.who); // a short name has no type of the result
    if (kernel.starts_with("void ")) {
      kernel.erase(0, std::strlen("void "));
    }
    return (kernel.starts_with("thrust::") || kernel.starts_with("cub::")) &&
           in_folder(side.place, library_folders);
  };
  const auto groups = [](const RaceSide& side) { return in_folder(side.place, group_folders); };
  return (own_kernel(race.first) && own_kernel(race.second)) ||
         ((race.why == Why::Warp || (race.shared && race.why != Why::Async)) &&
          groups(race.first) && groups(race.second)) ||
         is_stored_by_each_holder(race);
}

/// Does it only show once more that an mbarrier is initialised again, or invalidated, while others
/// use it ([BAR-REUSE])? One side does that, and one stands where `reuse` has a place.
bool shows_again(const RaceReport& race, const report::Diagnostic& reuse) {
  const auto is = [](const RaceSide& side, std::string_view what) {
    return side.place.instruction.starts_with(what);
  };
  const auto stands_there = [&](const RaceSide& side) {
    const machine::SourcePlace& place = users_place(side);
    return place.line != 0 && std::ranges::any_of(reuse.labels, [&](const report::Label& label) {
             return label.place.line == place.line && label.place.file == place.file;
           });
  };
  return is(race.first, "mbarrier.") && is(race.second, "mbarrier.") &&
         (is(race.second, "mbarrier.init") || is(race.second, "mbarrier.inval") ||
          is(race.first, "mbarrier.init") || is(race.first, "mbarrier.inval")) &&
         (stands_there(race.first) || stands_there(race.second));
}

/// "a.cu:12 (a write of 4 bytes) and a.cu:14 (a read of 4 bytes)"
std::string lines_of(const RaceReport& race) {
  const auto one = [](const RaceSide& side) {
    const machine::SourcePlace& place = users_place(side);
    return fmt::format(
        "{} ({})",
        place.line != 0 ? fmt::format("{}:{}", report::shown_path(place.file), place.line)
                        : side.place.instruction,
        side.action
    );
  };
  return one(race.first) + " and " + one(race.second);
}

/// The barrier that `group.first` lacks would order these, too; the last ones if they are of
/// different rounds.
void add_others(report::Diagnostic& d, const RaceGroup& group) {
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < std::min(most, group.unsure.size()); ++i) {
    d.notes.push_back(
        lines_of(group.unsure[i]) +
        " race, too: the same barrier orders them if they are of different rounds; if not, put "
        "another one between them"
    );
  }
  if (group.others.empty()) {
    return;
  }
  d.notes.push_back(
      fmt::format(
          "the same barrier is missing between {} other pair{} of accesses:",
          group.others.size(),
          group.others.size() == 1 ? "" : "s"
      )
  );
  for (std::size_t i = 0; i < std::min(most, group.others.size()); ++i) {
    d.notes.push_back(lines_of(group.others[i]));
  }
  if (group.others.size() > most) {
    d.notes.push_back(fmt::format("and {} more", group.others.size() - most));
  }
}

struct Watched {
  const race::Races& races;
  const memory::AddressSpace& space;
  const RaceGrades grades;
};

/// What is counted only.
void count(std::string text) {
  if (std::getenv("HEDDLE_FOUND_TO") == nullptr) {
    complain_once("note: " + text);
  }
  report::Diagnostic d(report::Finding::DataRace, std::move(text));
  d.severity = report::Severity::Note;
  announce_note(d);
}

void at_exit(int /*status*/, void* argument) {
  const auto& [races, space, grades] = *static_cast<const Watched*>(argument);
  std::size_t inside = 0;
  std::size_t same = 0;
  std::size_t again = 0;
  const auto reuses = announced_faults(report::Finding::BarrierReused);
  std::vector<RaceReport> told;
  for (const RaceReport& race : races.reports()) {
    if (std::ranges::any_of(reuses, [&](const auto& d) { return shows_again(race, d); })) {
      ++again;
    } else if (!grades.library && is_library_matter(race)) {
      ++inside;
    } else if (!grades.same_value && race.same_value) {
      ++same;
    } else {
      told.push_back(race);
    }
  }
  for (const RaceGroup& group : group_races(told)) {
    report::Diagnostic d = diagnose(group.first, space);
    add_others(d, group);
    announce_or_write(d);
  }
  if (again != 0) {
    count(
        fmt::format(
            "{} data race{} on the mbarrier that is reused {} part of that finding",
            again,
            again == 1 ? "" : "s",
            again == 1 ? "is" : "are"
        )
    );
  }
  if (same != 0) {
    count(
        fmt::format(
            "{} pair{} of places write{} the same value at the same time: a race by the rules, {} "
            "not "
            "reported (--same-value=error)",
            same,
            same == 1 ? "" : "s",
            same == 1 ? "s" : "",
            same == 1 ? "which is" : "which are"
        )
    );
  }
  if (inside != 0) {
    count(
        fmt::format(
            "{} data race{} inside code of NVIDIA's libraries or Triton {} not reported "
            "(--library-races)",
            inside,
            inside == 1 ? "" : "s",
            inside == 1 ? "is" : "are"
        )
    );
  }
  if (races.limited()) {
    complain_once(
        "note: the memory for finding data races was used up; accesses to what came last were not "
        "looked at"
    );
  }
}

} // namespace

namespace {

/// One side allocates or frees what the other one accesses.
report::Diagnostic diagnose_life(const RaceReport& race, const memory::AddressSpace& space) {
  const bool begins = race.life() == race::Life::Begins;
  const RaceSide& access = race.first.life == race::Life::None ? race.first : race.second;
  report::Diagnostic d(
      begins ? report::Finding::UseBeforeAllocation : report::Finding::UseAfterFree,
      fmt::format(
          "{} of memory that {}",
          access.action,
          begins ? "need not be allocated yet" : "may have been freed by then"
      )
  );
  d.place = place_of(users_place(access));
  add_side(d, race.first, 1);
  add_side(d, race.second, 2);
  if (race.hoped_call != nullptr) {
    const Explanation why = explain_hope(race);
    d.severity = report::Severity::Warning;
    d.rule = why.rule;
    d.notes.push_back(why.why);
    d.help.emplace_back(why.help);
  } else {
    d.notes.push_back(
        begins ? "the memory may be used by work that is ordered after the allocation, and nothing "
                 "orders this work so"
               : "the memory may be used by work that is ordered before the free, and nothing "
                 "orders this work so"
    );
  }
  auto nearest = space.nearest(race.address);
  if (nearest) {
    nearest->freed = false;
    d.notes.push_back(
        fmt::format(
            "the address is {:#x}, {}",
            race.address,
            machine::place_in_memory(*nearest, race.address)
        )
    );
  }
  add_launches(d, access.place.launches);
  add_allocation_site(d, nearest);
  if (!begins) {
    add_free_site(d, nearest);
  }
  if (race.hoped_call == nullptr) {
    d.help.emplace_back(
        begins ? "use it in the stream that allocates it, or let the other stream wait for an "
                 "event that is recorded after the allocation"
               : "free it in the stream that uses it, or wait for that stream before the free: "
                 "cudaFree does not wait for memory of cudaMallocAsync"
    );
  }
  return d;
}

/// Which bytes both sides access, and the allocation in global memory that they belong to.
std::optional<memory::Allocation> note_shared_bytes(
    report::Diagnostic& d,
    const RaceReport& race,
    const memory::AddressSpace& space
) {
  std::optional<memory::Allocation> allocation;
  const std::string bytes = fmt::format("{} byte{}", race.bytes, race.bytes == 1 ? "" : "s");
  if (race.shared) {
    d.notes.push_back(
        race.variable.empty()
            ? fmt::format("they share {} at {:#x} of shared memory", bytes, race.address)
            : fmt::format("they share {} of '{}'", bytes, race.variable)
    );
  } else if (
      allocation = space.nearest(race.address);
      allocation && machine::is_near(*allocation, race.address)
  ) {
    allocation->freed = false; // by now, perhaps; not when it was accessed
    d.notes.push_back(
        fmt::format(
            "they share {} at {:#x}, {}",
            bytes,
            race.address,
            machine::place_in_memory(*allocation, race.address)
        )
    );
  } else {
    allocation.reset();
    d.notes.push_back(fmt::format("they share {} at {:#x}", bytes, race.address));
  }
  return allocation;
}

} // namespace

/// docs/host.md: what a call does not wait for.
MissingOrder missing_order(std::string_view first, std::string_view second) {
  if (first.starts_with("cudaMemcpy in ")) {
    return {
        "nothing orders the two commands: cudaMemcpy returns when it has copied pageable memory "
        "aside, and between two places of device memory it does not wait",
        "wait for the stream of the copy (cudaStreamSynchronize; cudaDeviceSynchronize while its "
        "device is the current one), or order the two by an event"
    };
  }
  if (first.starts_with("a graph's ") || second.starts_with("a graph's ")) {
    return {
        "nothing orders the two commands",
        "if both are nodes of one graph, add an edge between them (cudaGraphAddDependencies); "
        "otherwise put them on one stream, or order them by an event"
    };
  }
  return {"nothing orders the two commands", "put them on one stream, or order them by an event"};
}

report::Diagnostic diagnose(const RaceReport& race, const memory::AddressSpace& space) {
  if (race.life() != race::Life::None) {
    return diagnose_life(race, space);
  }
  report::Diagnostic d(
      race.unordered_value ? report::Finding::UnorderedAccess : report::Finding::DataRace,
      fmt::format(
          "{} {} {} {}{}",
          race.second.action,
          race.unordered_value ? "is not ordered with" : "races with",
          race.first.write && race.second.write ? "another" : "a",
          race.first.write && race.second.write ? "write"
          : race.first.write                    ? "write"
                                                : "read",
          race.same_value ? " of the same value" : ""
      )
  );
  d.message += race.shared ? " in shared memory" : "";
  const Explanation why = race.hoped_call != nullptr ? explain_hope(race) : explain(race);
  d.rule = race.unordered_value ? "RACE-VALUE" : why.rule;
  if (race.unordered_value || race.hoped_call != nullptr) {
    d.severity = report::Severity::Warning;
  }
  const RaceSide& told = race.second.place.source.line != 0 ? race.second : race.first;
  if (race.host_pc() == nullptr) { // else the host's line, where a wait is missing
    d.place = place_of(users_place(told));
  }
  add_side(d, race.first, 1);
  const std::size_t labels = d.labels.size();
  add_side(d, race.second, 2);
  if (!d.place.known() && !d.labels.empty()) { // API calls
    d.place = d.labels[labels < d.labels.size() ? labels : 0].place;
  }
  d.notes.push_back(why.why);
  const std::optional<memory::Allocation> allocation = note_shared_bytes(d, race, space);
  if (race.same_value) {
    d.notes.emplace_back(
        "both write the same value: many programs do that on purpose, but it is a race all the same"
    );
  }
  if (race.count > 1) {
    d.notes.push_back(fmt::format("{} such pairs of accesses in this execution", race.count));
  }
  const auto lacks_line = [](const RaceSide& side) { // an API call has no instruction
    return side.place.source.line == 0 && !side.place.instruction.empty();
  };
  if (race.first.place.source.line == 0 && race.second.place.source.line == 0 &&
      (lacks_line(race.first) || lacks_line(race.second)) && race.host_pc() == nullptr) {
    d.notes.emplace_back("compile with -lineinfo to see the lines");
  }
  std::vector<std::pair<std::string, std::vector<const void*>>> launches;
  for (const RaceSide* side : {&race.first, &race.second}) {
    launches.insert(launches.end(), side->place.launches.begin(), side->place.launches.end());
  }
  add_launches(d, launches);
  add_allocation_site(d, allocation);
  if (race.unordered_value) {
    d.notes.emplace_back(
        race.update ? "both are volatile, so it is no data race; but a write between this read and "
                      "the write of what was made of its value gets lost"
                    : "both are volatile, so it is no data race; but what is read becomes data, "
                      "and is the one value or the other"
    );
  }
  const bool barrier = race.why == Why::Warp || race.why == Why::Block;
  if (barrier && !race.next_round && (race.update || is_one_statement(race))) {
    d.help.emplace_back(
        race.first.write && race.second.write
            ? "let one of the threads write, or let each write to a place of its own"
            : "use one atomic operation (atomicAdd and its kind); if the statement reads what "
              "others "
              "have written in an earlier round of a loop, put a barrier at the end of the loop "
              "body"
    );
  } else if (barrier && race.next_round) {
    d.help.push_back(
        fmt::format(
            "put {} at the end of the loop body: the accesses are of different rounds",
            race.why == Why::Warp ? "__syncwarp()" : "__syncthreads()"
        )
    );
  } else {
    d.help.emplace_back(why.help);
    if (barrier && may_be_of_two_rounds(race)) {
      d.help.back() += "; if they are of different rounds of a loop, at the end of its body";
    }
  }
  return d;
}

void announce_races_at_exit(
    const race::Races& races,
    const memory::AddressSpace& space,
    RaceGrades grades
) {
  ::on_exit(at_exit, new Watched{races, space, grades}); // as long-lived as the runtime
}

} // namespace heddle::runtime
