// Implements monitor.h: commands and their order, moral strength, what was found.
#include "race/monitor.h"

#include "base/random.h"
#include "machine/source_place.h"
#include "ptx/counting.h"
#include "race/block.h"
#include "race/value_use.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::race {
namespace {

/// Shadow memory at most: 2 GiB, which is what about 130 MiB of memory need that single threads
/// access in any order, and all of 1.8 GiB that warps access row by row.
constexpr std::uint64_t shadow_limit = std::uint64_t{2} << 30;

std::string triple(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return fmt::format("({},{},{})", x, y, z);
}

/// By an agent that is one thread and does one thing.
Access access_by(std::uint32_t agent, bool store) {
  Access by;
  by.block = agent;
  by.tick = 1;
  by.flags = store ? Write : Read;
  return by;
}

} // namespace

// --- Commands ----------------------------------------------------------------------------------

Races::Races(memory::AddressSpace& space, std::uint64_t seed, AskCallers callers)
    : space_(space),
      bytes_left_(shadow_limit),
      global_(bytes_left_),
      all_commands_(std::move(callers)) {
  sites_.emplace_back();
  agents_.emplace_back();
  if (seed != 0) {
    Random random(seed);
    yields_behind_reads_ = random.below(4) != 0;
    yields_before_writes_ = random.below(2) != 0;
  }
}

Races::~Races() = default;

std::unique_ptr<machine::BlockMonitor> Races::watch(machine::Block& block) {
  return std::make_unique<BlockRaces>(*this, block);
}

void Races::loaded(const std::shared_ptr<isa::Program>& program, const isa::Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  programs_.insert(program);
  std::vector<std::uint32_t> strong_writes; // behind which something plain follows
  bool guards = false;                      // a strong read decides something
  for (const auto& [address, code] : kernel.functions) {
    if (!known_codes_.insert(code).second) {
      continue;
    }
    // No thread runs it yet: this is the moment of its first launch.
    auto& ops = const_cast<isa::Code*>(code)->ops;
    std::optional<ValueUse> known_use;
    const auto use = [&]() -> ValueUse& {
      return known_use ? *known_use : known_use.emplace(*code->function);
    };
    for (isa::Op& op : ops) {
      if (auto site = classify(*code, op)) {
        if (site->is_volatile && site->kind == SiteKind::Load) {
          site->updates = use().updates(op.instruction);
          site->is_data = site->updates || use().is_data(op.instruction);
        }
        const bool updates = site->kind == SiteKind::Update;
        if (site->kind == SiteKind::Load || updates) {
          site->decides = use().decides(op.instruction);
          const bool counts = updates && (ptx::is_counting(code->function->body[op.instruction]) ||
                                          use().is_unused(op.instruction));
          site->is_data = site->is_data || counts;
        }
        const bool strong = (site->flags & Strong) != 0;
        guards = guards || (strong && site->decides);
        op.target = static_cast<std::uint32_t>(sites_.size());
        if (strong && (site->flags & Write) != 0 && !site->decides && !site->shared) {
          if (use().accesses_follow(op.instruction)) {
            strong_writes.push_back(op.target);
          }
        }
        op.execute = BlockRaces::execute;
        sites_.push_back(*site);
      }
    }
  }
  for (const std::uint32_t site : strong_writes) {
    sites_[site].waits_for_reads = guards;
  }
}

void Races::submitted(const machine::Command& command) {
  // What a device submits says by itself what it follows, whichever host thread carries that out.
  if (command.part_of != 0) {
    all_commands_.submitted(command, CommandSet(), {});
  } else {
    const auto known = host_threads_.known(command.kind == machine::CommandKind::EventRecord);
    all_commands_.submitted(command, *known, host_threads_.hope());
  }
}

void Races::launched(const machine::Command& command, Clock known, const CommandSet& commands) {
  all_commands_.launched(command, known, commands);
}

// The word is read as ld.acquire.sys would.
void Races::value_seen(const machine::Command& command) {
  Learnt::Knowledge seen;
  const Cell* const cell = global_.cell(command.value->address);
  if (cell != nullptr) {
    for (const Message& message : messages_.at(cell->sync)) {
      seen.clock.learn(message.clock);
      seen.commands.add(*agents_[message.head.block].command->before);
    }
    if (cell->write.any() && agents_[cell->write.block].kind == Agent::Kind::Command) {
      seen.commands.add(agents_[cell->write.block].command->completed());
    }
  }
  if (!memory::AddressSpace::in_device_range(command.value->address)) {
    seen.commands.add(*told_by_host(*this, command.value->address, cell));
  }
  learnt_.add(all_commands_.find(command.id), std::move(seen));
}

void Races::host_waited(const machine::HostWait& wait) {
  CommandSet more = all_commands_.waited_for(wait, *host_threads_.known());
  more.add(all_commands_.of_device(wait.device, wait.last));
  if (wait.unpromised != nullptr) {
    host_threads_.hope(more, wait.unpromised);
  } else {
    host_threads_.learn(more);
  }
}

void Races::runs_function(const machine::Command& command, Moment moment) {
  if (moment == Moment::Begins) {
    host_threads_.function_begins(all_commands_.find(command.id));
  } else {
    learnt_.add(all_commands_.find(command.id), {*host_threads_.function_ends(), {}});
  }
}

void Races::host_access(memory::Address address, std::uint64_t bytes, bool store, const void* pc) {
  if (all_commands_.none() && !host_threads_.several()) {
    return; // everything is submitted later
  }
  const std::uint32_t agent = host_threads_.agent(pc, [&](const CommandInfoPtr& part) {
    host_places_.try_emplace(pc, static_cast<std::uint32_t>(host_places_.size()));
    return new_agent({.kind = Agent::Kind::Host, .command = part, .pc = pc});
  });
  touch(address, bytes, access_by(agent, store), /*only_known=*/false);
}

Access Races::access_of(const machine::Command& command, bool store) {
  const CommandInfoPtr info = all_commands_.find(command.id);
  if (info == nullptr) {
    return {};
  }
  std::uint32_t& number = host_side_agents_[&command];
  if (number == 0 || agents_[number].command != info) {
    number = new_agent(
        {.kind = Agent::Kind::Command,
         .device = static_cast<std::uint8_t>(info->device),
         .command = info}
    );
  }
  return access_by(number, store);
}

void Races::touch(memory::Address address, std::uint64_t bytes, const Access& by, bool only_known) {
  const CommandInfo& info = *agents_[by.block].command;
  const Learnt::Knowledge& learnt = learnt_.by(info);
  const auto ordered = [&](const Access& before) {
    const Agent& other = agents_[before.block];
    return before.block == by.block || other.command->id == info.id ||
           info.follows(*other.command, *info.before) ||
           info.follows(*other.command, learnt.commands) ||
           learnt.clock.knows(before.by(), before.tick) ||
           info.launcher.knows(before.by(), before.tick) ||
           host_clock_.knows(before.by(), before.tick);
  };
  const auto race = [&](const Access& before, std::uint64_t at, std::uint32_t length) {
    // What the host writes into a flag that a kernel polls is meant to be seen there.
    const bool meant =
        before.strong() && life_of(by) == Life::None && agents_[by.block].writes_flags();
    // A free that nothing orders behind the allocation: who uses the memory in between is told of.
    const bool unused = life_of(before) != Life::None && life_of(by) != Life::None;
    // Whether threads of the host race with each other is another tool's business.
    const auto host_does = [&](const Access& a) {
      return (agents_[a.block].kind == Agent::Kind::Host &&
              HostThreads::is_part(*agents_[a.block].command)) ||
             life_of(a) != Life::None; // of memory of the host: by a call
    };
    const bool of_host = host_does(before) && host_does(by);
    if (!meant && !unused && !of_host && !count_again(before, by, false)) {
      Found found;
      found.first = before;
      found.second = by;
      found.why = Why::Commands;
      found.address = at;
      found.bytes = length;
      add(found);
    }
    return true;
  };
  while (bytes != 0) {
    const std::uint64_t here = std::min(bytes, Page::bytes - address % Page::bytes);
    const std::uint64_t page = address / Page::bytes;
    if (here < Page::bytes) {
      global_.touch(address, here, by, ordered, race);
    } else if (!only_known || global_.existing_page(page) != nullptr) {
      global_.touch_page(page, by, ordered, race);
    }
    address += here;
    bytes -= here;
  }
}

void Races::host_side_access(
    const machine::Command& command,
    memory::Address address,
    std::uint64_t bytes,
    bool store
) {
  if (const Access by = access_of(command, store); by.any()) {
    touch(address, bytes, by, /*only_known=*/false);
  }
}

namespace {

/// Pages of the host: what lay at the same addresses before is gone.
void begin_pages(Shadow& shadow, memory::Address address, std::uint64_t bytes, const Access& by) {
  const auto yes = [](const auto&...) { return true; };
  const std::uint64_t end = (address + bytes + Page::bytes - 1) / Page::bytes;
  for (std::uint64_t page = address / Page::bytes; page != end; ++page) {
    if (shadow.existing_page(page) != nullptr) {
      shadow.touch_page(page, by, yes, yes);
    }
  }
}

/// Pages that nobody has used yet: somebody may all the same.
void end_pages(Shadow& shadow, memory::Address address, std::uint64_t bytes, const Access& by) {
  if (memory::AddressSpace::in_device_range(address)) {
    shadow.set_first_write(address, bytes, by);
  }
}

} // namespace

// Both are like writes of all bytes: whoever uses them has to come after the one and before the
// other. Pages that nobody has used yet get the record when somebody does.
void Races::life_begins(
    const machine::Command& command,
    memory::Address address,
    std::uint64_t bytes
) {
  const Access by = access_of(command, /*store=*/true);
  if (by.any() && !memory::AddressSpace::in_device_range(address)) {
    begin_pages(global_, address, bytes, by);
  } else if (by.any()) {
    global_.set_first_write(address, bytes, by);
    touch(address, bytes, by, /*only_known=*/true);
  }
}

void Races::life_ends(
    const machine::Command& command,
    memory::Address address,
    std::uint64_t bytes
) {
  if (const Access by = access_of(command, /*store=*/true); by.any()) {
    end_pages(global_, address, bytes, by);
    touch(address, bytes, by, /*only_known=*/true);
  }
}

Life Races::life_of(const Access& access) const {
  const Agent& agent = agents_[access.block];
  if (agent.kind != Agent::Kind::Command) {
    return Life::None;
  }
  return agent.command->kind == machine::CommandKind::Allocate ? Life::Begins
         : agent.command->kind == machine::CommandKind::Free   ? Life::Ends
                                                               : Life::None;
}

// --- Threads -----------------------------------------------------------------------------------

std::uint32_t Races::new_agent(Agent agent) {
  const auto number = static_cast<std::uint32_t>(agents_.size());
  if (runs_.empty() || runs_.back().command->id != agent.command->id) {
    runs_.push_back({number, agent.command});
  }
  agents_.push_back(std::move(agent));
  return number;
}

// Commands that have completed before one that has completed before this one have so, too: the
// search goes on where it ended for that one.
std::uint32_t Races::first_not_before(const CommandInfo& command) {
  if (command.before == nullptr) {
    return 0;
  }
  if (command.id != runs_before_command_) {
    if (command.part_of != nullptr || !command.before->contains(runs_before_command_)) {
      runs_before_ = 0;
    }
    while (runs_before_ < runs_.size() && runs_[runs_before_].command->id != command.id &&
           command.follows(*runs_[runs_before_].command, *command.before)) {
      ++runs_before_;
    }
    runs_before_command_ = command.id;
  }
  return runs_before_ < runs_.size() ? runs_[runs_before_].first : ~0U;
}

bool Races::includes(Scope scope, std::uint32_t a, std::uint32_t b) const {
  if (a == b || scope == Scope::Sys) {
    return true;
  }
  const Agent& first = agents_[a];
  const Agent& second = agents_[b];
  if (scope == Scope::Gpu) {
    return first.device == second.device;
  }
  if (scope == Scope::Cluster) {
    return first.cluster == second.cluster && first.cluster != 0;
  }
  // The copies of a block count as its threads.
  return first.cluster == second.cluster && first.cluster != 0 && first.command == second.command &&
         first.index_x == second.index_x && first.index_y == second.index_y &&
         first.index_z == second.index_z;
}

// PTX ISA 9.0, 8.5: both strong, each one's scope includes the other thread, complete overlap.
bool Races::morally_strong(const Access& a, const Access& b) const {
  return a.strong() && b.strong() && a.size() == b.size() &&
         includes(a.scope(), a.block, b.block) && includes(b.scope(), b.block, a.block);
}

// --- What was found ----------------------------------------------------------------------------

/// Distinguishes places that are reported apart: instructions, and what commands do.
std::uint64_t Races::place_key(const Access& access) const {
  constexpr std::uint32_t first_host_place = 1U << 30;
  const Agent& agent = agents_[access.block];
  if (agent.kind == Agent::Kind::Host) {
    return first_host_place + host_places_.at(agent.pc);
  }
  return access.site != 0 ? access.site : ~0U - static_cast<std::uint64_t>(life_of(access));
}

std::uint64_t Races::key(const Access& first, const Access& second) const {
  std::uint64_t a = place_key(first);
  std::uint64_t b = place_key(second);
  if (a > b) {
    std::swap(a, b);
  }
  return a << 32 | b;
}

bool Races::count_again(const Access& first, const Access& second, bool same_value) {
  const auto it = found_.find(key(first, second));
  if (it == found_.end()) {
    return false;
  }
  RaceReport& known = it->second.report;
  ++known.count;
  const bool other_value = known.same_value && !same_value; // the first such pair
  known.same_value = known.same_value && same_value;
  // What helps threads that are close does not help those that are far from each other.
  return !other_value && (known.why > Why::Commands || distance(first, second) <= known.why);
}

Why Races::distance(const Access& first, const Access& second) const {
  if (agents_[first.block].command != agents_[second.block].command) {
    return Why::Commands;
  }
  if (first.block != second.block) {
    return Why::Blocks;
  }
  return first.thread / isa::warp_size == second.thread / isa::warp_size ? Why::Warp : Why::Block;
}

/// An instruction that the compiler gives no place has that of the one before it.
void Races::describe(std::uint32_t site, machine::FaultReport& into) const {
  if (site == 0) {
    return;
  }
  const isa::Code& code = *sites_[site].code;
  const isa::Op& op = *sites_[site].op;
  machine::describe_instruction(code, op, into);
  for (const isa::Op* before = &op; into.source.line == 0 && before != code.ops.data();) {
    machine::FaultReport there;
    machine::describe_instruction(code, *--before, there);
    into.source = there.source;
    into.inlined_at = there.inlined_at;
  }
}

void Races::find_order(const Found& found, RaceReport& report) const {
  if (found.first.site == 0 || found.second.site == 0 || report.why > Why::Block) {
    return;
  }
  const Site& first = sites_[found.first.site];
  const Site& second = sites_[found.second.site];
  if (first.code != second.code) {
    return;
  }
  report.code = first.code;
  const std::uint32_t one = first.op->instruction;
  const std::uint32_t other = second.op->instruction;
  if (one == other) {
    return;
  }
  const ptx::Function& function = *first.code->function;
  const analysis::Cfg cfg(function);
  report.in_loop =
      blocks_behind(cfg, cfg.block_of(std::max(one, other)))[cfg.block_of(std::min(one, other))];
  const auto meets = [&](const ptx::Instruction& i) {
    const ptx::Effect& effect = ptx::effect_of(i);
    return effect.is(ptx::Effect::Kind::Barrier) &&
           (effect.meets == ptx::Effect::Meets::Block ||
            (report.why == Why::Warp && effect.meets == ptx::Effect::Meets::Warp));
  };
  // On every way that leads on from the one to the other without going back.
  const std::uint32_t last = std::max(one, other);
  std::vector<bool> reached(function.body.size() + 1);
  reached[std::min(one, other)] = true;
  for (std::uint32_t i = std::min(one, other); i < last; ++i) {
    if (!reached[i] || meets(function.body[i])) {
      continue;
    }
    const analysis::BasicBlock& block = cfg.blocks()[cfg.block_of(i)];
    if (i + 1 < block.last) {
      reached[i + 1] = true;
      continue;
    }
    for (const std::uint32_t successor : block.successors) {
      reached[successor == cfg.exit() ? function.body.size() : cfg.blocks()[successor].first] =
          true;
    }
  }
  const bool barrier_between = !reached[last];
  // With a barrier between the two they can only meet around the loop.
  report.next_round = report.in_loop && barrier_between;
  report.reversed = (one > other) != report.next_round;
  const auto line = [](const RaceSide& side) {
    std::vector<machine::SourcePlace> chain{side.place.source};
    chain.insert(chain.end(), side.place.inlined_at.begin(), side.place.inlined_at.end());
    const machine::SourcePlace& own = machine::users_place(chain);
    return std::pair(own.file, own.line);
  };
  // The same of a loop whose rounds the compiler has written one after the other.
  const auto [from, from_line] = line(report.reversed ? report.second : report.first);
  const auto [to, to_line] = line(report.reversed ? report.first : report.second);
  report.next_round = report.next_round || (from == to && from_line > to_line);
}

RaceSide Races::side(const Access& access) const {
  RaceSide side;
  const Agent& agent = agents_[access.block];
  const CommandInfo& command = *agent.command;
  side.write = access.writes();
  const Site& site = sites_[access.site];
  const unsigned bytes = access.site == 0 ? 0U : unsigned{site.element} * site.count;
  std::string what = !access.writes()             ? "read"
                     : (access.flags & Read) != 0 ? "atomic update"
                                                  : "write";
  if (access.strong() && (access.flags & (Read | Write)) != (Read | Write)) {
    what = "strong " + what;
  }
  const bool of_warp = agent.kind == Agent::Kind::Copies || agent.kind == Agent::Kind::Products;
  if (of_warp || agent.kind == Agent::Kind::Bulk) {
    what = "asynchronous " + what;
  }
  if (bytes != 0 && agent.kind == Agent::Kind::Block) {
    what += fmt::format(" of {} byte{}", bytes, bytes == 1 ? "" : "s");
  }
  if (access.strong()) {
    constexpr const char* names[] = {"cta", "cluster", "gpu", "sys"};
    what += fmt::format(" with scope {}", names[static_cast<int>(access.scope())]);
  }
  side.action = what;
  if (agent.kind == Agent::Kind::Host) {
    side.who = "host code";
    side.host_pc = agent.pc;
    return side;
  }
  if (agent.kind == Agent::Kind::Command) {
    side.life = life_of(access);
    if (side.life != Life::None) {
      side.action = side.life == Life::Begins ? "allocation" : "free";
    }
    side.who = fmt::format("{} in {}", command.label, command.stream);
    side.called_from = command.called_from;
    return side;
  }
  std::uint64_t thread = access.thread;
  if (of_warp) {
    thread += std::uint64_t{agent.warp} * isa::warp_size;
  } else if (agent.kind == Agent::Kind::Bulk) {
    thread = agent.warp;
  }
  const machine::Dim3& b = command.block;
  side.who = fmt::format(
      "thread {} of block {} of {}",
      triple(thread % b.x, thread / b.x % b.y, thread / b.x / b.y),
      triple(agent.index_x, agent.index_y, agent.index_z),
      command.label
  );
  describe(access.site, side.place);
  side.place.launches = {{command.label, command.called_from}};
  return side;
}

void Races::add(const Found& found) {
  Entry entry;
  RaceReport& report = entry.report;
  report.first = side(found.first);
  report.second = side(found.second);
  report.distance = distance(found.first, found.second);
  report.same_value = found.same_value;
  report.unordered_value = found.unordered_value;
  report.update =
      found.unordered_value && (site(found.first.site).updates || site(found.second.site).updates);
  const CommandInfo& later = *agents_[found.second.block].command;
  report.why = all_commands_.why(found.why, *agents_[found.first.block].command, later);
  if (later.hoped != nullptr && later.follows(*agents_[found.first.block].command, *later.hoped)) {
    report.hoped_call = later.hoped_call;
  }
  find_order(found, report);
  report.shared = found.shared;
  report.address = found.address;
  report.bytes = found.bytes;
  report.count = 1;
  describe(found.flag.write, report.flag_write);
  describe(found.flag.read, report.flag_read);
  if (const ThreadName reader = found.flag.reader; reader.block != 0) {
    report.flag_reader = side({reader.block, 0, 0, reader.thread, 0, 0}).who;
  }
  if (found.shared && found.second.site != 0) {
    const Site& site = sites_[found.second.site];
    for (const ptx::Operand& operand : site.code->function->body[site.op->instruction].operands) {
      if (operand.kind == ptx::OperandKind::Address && !operand.name.empty()) {
        report.variable = machine::demangle(operand.name);
      }
    }
  }
  entry.order = found_.size();
  entry.first_site = found.first.site;
  entry.second_site = found.second.site;
  const auto [it, first] = found_.try_emplace(key(found.first, found.second));
  if (!first) { // of its kind; this one says more
    report.count = it->second.report.count;
    report.same_value = it->second.report.same_value;
    entry.order = it->second.order;
  }
  it->second = std::move(entry);
}

std::vector<RaceReport> Races::reports() const {
  std::vector<const Entry*> entries;
  for (const auto& [key, entry] : found_) {
    entries.push_back(&entry);
  }
  std::ranges::sort(entries, {}, &Entry::order);
  std::vector<RaceReport> result;
  std::vector<const Entry*> shown; // what the results are of
  // Without lines the copies of an unrolled loop's body can only be told by what they do.
  const auto same_place =
      [&](const RaceSide& a, std::uint32_t site, const RaceSide& b, std::uint32_t other) {
        const machine::SourcePlace& here = a.place.source;
        const machine::SourcePlace& there = b.place.source;
        if (here.line != 0 || there.line != 0) {
          return here.line == there.line && here.file == there.file;
        }
        const auto what = [](const RaceSide& side) {
          return side.place.instruction.substr(0, side.place.instruction.find(' '));
        };
        return site != 0 && other != 0 && sites_[site].code == sites_[other].code &&
               what(a) == what(b);
      };
  for (const Entry* entry : entries) {
    const RaceReport& report = entry->report;
    const auto known = std::ranges::find_if(shown, [&](const Entry* other) {
      const RaceReport& r = other->report;
      return r.shared == report.shared && r.unordered_value == report.unordered_value &&
             r.life() == report.life() && r.host_pc() == report.host_pc() &&
             ((same_place(r.first, other->first_site, report.first, entry->first_site) &&
               same_place(r.second, other->second_site, report.second, entry->second_site)) ||
              (same_place(r.first, other->first_site, report.second, entry->second_site) &&
               same_place(r.second, other->second_site, report.first, entry->first_site)));
    });
    if (known == shown.end()) {
      shown.push_back(entry);
      result.push_back(report);
      continue;
    }
    RaceReport& again = result[static_cast<std::size_t>(known - shown.begin())];
    const std::uint64_t count = again.count + report.count;
    const bool same_value = again.same_value && report.same_value;
    const bool farther = report.why <= Why::Commands && again.why < report.why;
    if (farther || (again.same_value && !report.same_value)) { // see count_again
      again = report;
    }
    again.count = count;
    again.same_value = same_value;
  }
  return result;
}

} // namespace heddle::race
