// Races: the monitor that looks for data races in one execution (spec/races.md).
//
//   auto races = std::make_unique<race::Races>(space);
//   Races* r = races.get();
//   world.set_monitor(std::move(races));      // an engine with one_at_a_time
//   … run …
//   for (const RaceReport& report : r->reports()) …
//
// Happens-before: each thread has a clock (clock.h) of what it knows of others; barriers, releases
// and acquires hand knowledge on; an access races if it meets one in the shadow (shadow.h) of which
// its thread knows nothing and the two are not morally strong. What this file does: names of
// threads, commands and their order, moral strength, and the list of what was found.
//
// May be wrong in this direction: one schedule is looked at, so a race that needs other values or
// another branch is missed, as is one that this schedule happened to order by a lock. What the host
// might have learnt from devices through memory counts as known to all commands that it submits
// afterwards (misses). The order of two fence.sc
// counts only where something read between them shows it, since another execution may have another.
#pragma once

#include "machine/block.h"
#include "machine/monitor.h"
#include "race/commands.h"
#include "race/copy_looks.h"
#include "race/host_threads.h"
#include "race/learnt.h"
#include "race/messages.h"
#include "race/race_report.h"
#include "race/site.h"

#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace heddle::race {

class BlockRaces;

/// Whoever has a block number: a block, the copies of a warp, an API call.
struct Agent {
  enum class Kind : std::uint8_t {
    Block,
    Copies,   // threads are the lanes of a warp
    Products, // wgmma of a warp: of its first thread
    Bulk,     // one bulk copy
    Command,
    Host // code of the host between two calls that order it, at one place
  } kind{};
  std::uint8_t device = 0;
  std::uint16_t warp = 0;    // Copies, Products; Bulk: the thread that issued it
  std::uint32_t cluster = 0; // equal: the same cluster
  std::uint32_t index_x = 0, index_y = 0, index_z = 0;
  CommandInfoPtr command;
  const void* pc = nullptr; // Host
  /// May it write a flag that a kernel polls? All commands but a graph's conditional node.
  bool writes_flags() const {
    return kind == Kind::Command && command->kind != machine::CommandKind::Empty;
  }
};

class Races final : public machine::Monitor {
public:
  /// `seed`: the engine's. With another one than 0, it decides where others go first.
  explicit Races(memory::AddressSpace& space, std::uint64_t seed = 0, AskCallers callers = {});
  ~Races() override;

  // --- machine::Monitor --------------------------------------------------------------------------
  std::unique_ptr<machine::BlockMonitor> watch(machine::Block& block) override;
  void loaded(const std::shared_ptr<isa::Program>& program, const isa::Kernel& kernel) override;
  void submitted(const machine::Command& command) override;
  void host_waited(const machine::HostWait& wait) override;
  void runs_function(const machine::Command& command, Moment moment) override;
  machine::HostOrder* host_order() override { return &host_threads_; }
  void value_seen(const machine::Command& command) override;
  void host_side_access(
      const machine::Command& command,
      memory::Address address,
      std::uint64_t bytes,
      bool store
  ) override;
  void
  host_access(memory::Address address, std::uint64_t bytes, bool store, const void* pc) override;
  void life_begins(
      const machine::Command& command,
      memory::Address address,
      std::uint64_t bytes
  ) override;
  void
  life_ends(const machine::Command& command, memory::Address address, std::uint64_t bytes) override;

  /// One for each pair of source lines, in the order in which they were found.
  std::vector<RaceReport> reports() const;
  /// Did the shadow memory run out? Then accesses to what came last were not looked at.
  bool limited() const { return bytes_left_ == 0; }

  // --- For BlockRaces ----------------------------------------------------------------------------
  const Site& site(std::uint32_t number) const { return sites_[number]; }
  std::uint32_t new_agent(Agent agent);
  const Agent& agent(std::uint32_t number) const { return agents_[number]; }
  /// Agents below it have ended before the command began; there may be more that have.
  std::uint32_t first_not_before(const CommandInfo& command);
  /// Agents from here on are of the command.
  std::uint32_t last_run_of(const CommandInfo& command) const {
    return runs_.back().command->id == command.id ? runs_.back().first : ~0U;
  }
  void set_cluster(std::uint32_t at, std::uint32_t cluster) { agents_[at].cluster = cluster; }
  CommandInfoPtr command_of(const machine::Grid& grid) const { return all_commands_.of(grid); }
  CopyLooks& copy_looks() { return copy_looks_; }
  Shadow& global() { return global_; }
  std::uint64_t& shadow_bytes_left() { return bytes_left_; }
  Messages& messages() { return messages_; }
  memory::AddressSpace& space() { return space_; }
  /// Do others go first behind reads that decide, and before what these may read is written
  /// (access.cpp)?
  bool yields_behind_reads() const { return yields_behind_reads_; }
  bool yields_before_writes() const { return yields_before_writes_; }
  /// Does `scope`, at a thread of agent a, include the threads of agent b?
  bool includes(Scope scope, std::uint32_t a, std::uint32_t b) const;
  bool morally_strong(const Access& a, const Access& b) const;
  /// Releases of system scope may have been seen by the host.
  Clock& host_clock() { return host_clock_; }
  HostThreads& host_threads() { return host_threads_; }
  Learnt& learnt() { return learnt_; }
  /// A thread has launched it that knew this.
  void launched(const machine::Command& command, Clock known, const CommandSet& commands);

  struct Found {
    Access first, second;
    Why why{};
    bool same_value = false;
    bool unordered_value = false;
    bool shared = false;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    FlagSites flag{};
  };
  /// False: the first of its kind, or of threads that are farther from each other, which add()
  /// wants to know.
  bool count_again(const Access& first, const Access& second, bool same_value);
  /// Warp, Block, Blocks or Commands.
  Why distance(const Access& first, const Access& second) const;
  void add(const Found& found);

private:
  struct Entry {
    RaceReport report;
    std::uint64_t order = 0;
    std::uint32_t first_site = 0, second_site = 0;
  };
  /// What a command does to bytes, as an access; block 0: the command is not known.
  Access access_of(const machine::Command& command, bool store);
  /// Looks at and records an access by a command; only_known: only where others have been before.
  void touch(memory::Address address, std::uint64_t bytes, const Access& by, bool only_known);
  Life life_of(const Access& access) const;
  std::uint64_t place_key(const Access& access) const;
  std::uint64_t key(const Access& first, const Access& second) const;
  RaceSide side(const Access& access) const;
  void describe(std::uint32_t site, machine::FaultReport& into) const;
  void find_order(const Found& found, RaceReport& report) const;

  memory::AddressSpace& space_;
  bool yields_behind_reads_ = true, yields_before_writes_ = true;
  std::uint64_t bytes_left_;
  Shadow global_;
  std::deque<Site> sites_; // 0 stays free
  std::unordered_set<const isa::Code*> known_codes_;
  std::unordered_set<std::shared_ptr<isa::Program>> programs_; // kept: sites point into them
  std::deque<Agent> agents_;                                   // 0 stays free
  /// Agents that follow each other and are of one command.
  struct Run {
    std::uint32_t first = 0;
    CommandInfoPtr command;
  };
  std::vector<Run> runs_;
  std::size_t runs_before_ = 0;           // first_not_before(), of
  std::uint64_t runs_before_command_ = 0; // this command
  Messages messages_;
  Clock host_clock_;
  Learnt learnt_;
  std::unordered_map<std::uint64_t, Entry> found_;
  std::unordered_map<const machine::Command*, std::uint32_t> host_side_agents_;

  mutable std::mutex mutex_;                         // what host threads change
  std::map<const void*, std::uint32_t> host_places_; // by pc: dense
  HostThreads host_threads_;
  Commands all_commands_;
  CopyLooks copy_looks_;
};

/// What the host hands on to whatever reads a flag there on a device. `cell`: who has accessed it,
/// but for atomic and volatile accesses of the host; nullptr: nobody.
HostThreads::Known told_by_host(Races& races, memory::Address flag, const Cell* cell);

} // namespace heddle::race
