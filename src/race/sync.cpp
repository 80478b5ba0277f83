// Implements block.h: release and acquire patterns (PTX ISA 9.0, 8.7 to 8.9).
//
// A release pattern on a location: a release operation, or a fence and a strong write after it. An
// acquire pattern: an acquire operation, or a strong read and a fence after it. They synchronise if
// the read observes the write, directly or through atomic updates, where each link is morally
// strong, and if the first operation of the one and the last of the other are: their scopes include
// each other's threads.
#include "race/block.h"

#include <algorithm>

namespace heddle::race {

using isa::LaneMask;

namespace {

constexpr std::size_t most_notes = 32;
constexpr std::size_t most_observed = 32;

} // namespace

HostThreads::Known told_by_host(Races& races, memory::Address flag, const Cell* cell) {
  HostThreads& threads = races.host_threads();
  const HostThreads::Known told = threads.released_at(reinterpret_cast<const void*>(flag));
  const bool written = cell != nullptr && cell->write.any();
  const Agent* const by = written ? &races.agent(cell->write.block) : nullptr;
  // A plain store may be what the device sees: then all may have been told.
  const bool plain = told != nullptr && by != nullptr && by->kind == Agent::Kind::Host &&
                     !told->contains(by->command->id);
  return told != nullptr && !plain ? told : threads.known_to_any();
}

void BlockRaces::note(BrokenLink link, std::size_t reader) {
  link.reader = name(reader);
  link.reader_tick = now_[reader].tick;
  races_.messages().broken(link);
  if (std::ranges::any_of(notes_, [&](BrokenLink& known) { return known.takes(link); })) {
    return;
  }
  if (notes_.size() < most_notes) {
    notes_.push_back(std::move(link));
  } else {
    notes_[next_note_++ % most_notes] = std::move(link);
  }
}

void BlockRaces::learn_from_host(const Place& place, const Cell& cell, const Site& site) {
  // A flag in memory that the host can write: whoever goes by it may have been told of what the
  // host has released there, or, where its accesses are not seen, of all that it knew by then.
  if (!site.is_data && !memory::AddressSpace::in_device_range(place.address)) {
    if (auto knows = told_by_host(races_, place.address, &cell); knows != host_knew_) {
      extra_commands_.add(*knows);
      host_knew_ = std::move(knows);
    }
  }
  if (cell.write.any() && races_.agent(cell.write.block).kind == Agent::Kind::Command) {
    const CommandInfo& command = *races_.agent(cell.write.block).command;
    const bool copy = command.kind == machine::CommandKind::Copy; // other words may come later
    extra_commands_.add(copy ? *command.late : command.completed());
  }
}

/// `only_shared`: by a fence for objects in shared memory only. What such a fence hands on or takes
/// is known to all threads of the cluster from then on: barriers and releases that pass it on
/// within the cluster are not followed (misses), and nobody else can access these objects.
bool BlockRaces::acquire(const Message& message, Scope scope, std::size_t index, bool only_shared) {
  if (!races_.includes(message.scope, message.head.block, number_) ||
      (!message.several && !races_.includes(scope, number_, message.head.block))) {
    return false;
  }
  if (only_shared || message.only_shared) {
    ++changes_;
    first_of_cluster().known_of_shared_.learn(message.clock);
    return true;
  }
  threads_[index].others.learn(message.clock);
  const Agent& agent = races_.agent(message.head.block);
  if (agent.command != command_) { // what its kernel could rely on
    extra_commands_.add(*agent.command->before);
  }
  return true;
}

bool BlockRaces::observe(
    Cell& cell,
    const Place& place,
    const Access& by,
    const Site& site,
    std::size_t index
) {
  const Access& last = cell.write;
  if (place.owner == nullptr) {
    learn_from_host(place, cell, site);
  }
  if (!last.any()) {
    return false;
  }
  const bool own = last.block == number_ && last.thread == index;
  const bool linked = own || races_.morally_strong(last, by);
  if (cell.sync == 0) {
    if (!own && last.strong() && (by.flags & Write) == 0) {
      note({Why::NoRelease, {}, last.by(), last.tick, last.site, by.site}, index);
    }
    return linked;
  }
  for (const Message& message : races_.messages().at(cell.sync)) {
    if (message.head == name(index) && !message.several) {
      continue;
    }
    if (!linked ||
        (site.acquire && !message.only_in_order && !acquire(message, site.scope, index))) {
      note({Why::NarrowSync, message.clock, message.head, 0, message.site, by.site}, index);
    } else if (!site.acquire || message.only_in_order) {
      std::vector<Message>& observed = threads_[index].more().observed;
      const auto known = std::ranges::find_if(observed, [&](const Message& other) {
        return other.scope == message.scope && other.only_shared == message.only_shared &&
               other.clock.same(message.clock);
      });
      if (known == observed.end()) {
        if (observed.size() >= most_observed) { // gives knowledge too early: misses
          (void)acquire(observed.front(), Scope::Sys, index);
          observed.erase(observed.begin());
        }
        observed.push_back(message);
        observed.back().site = by.site;
        fences_ = fences_ || message.in_order;
        note({Why::NoAcquire, message.clock, message.head, 0, message.site, by.site}, index);
      }
    }
  }
  return linked;
}

namespace {

void add_message(const Races& races, std::vector<Message>& to, Message message) {
  for (Message& other : to) {
    if (other.scope == message.scope && other.in_order == message.in_order &&
        other.only_in_order == message.only_in_order && other.only_shared == message.only_shared &&
        (message.scope == Scope::Sys ||
         races.includes(message.scope, other.head.block, message.head.block))) {
      other.several = other.several || message.several || other.head != message.head;
      other.clock.learn(message.clock);
      other.head = message.head;
      other.site = message.site;
      return;
    }
  }
  to.push_back(std::move(message));
}

} // namespace

void BlockRaces::publish(Cell& cell, const Site& site, std::size_t index, bool continues) {
  Thread& thread = threads_[index];
  const bool own_fence = thread.extra != nullptr && thread.extra->fence[0].tick != 0;
  const Clock& warp_fenced = warp_fenced_[index / isa::warp_size];
  const bool shared_fence =
      thread.extra != nullptr && thread.extra->shared_fence.tick != 0 &&
      thread.extra->shared_fence.tick > thread.extra->fence[static_cast<int>(Scope::Cluster)].tick;
  const bool fenced =
      own_fence || shared_fence || (fences_ && (!block_fenced_.empty() || !warp_fenced.empty()));
  if (cell.sync != 0 && !continues) {
    // Another value: what was released before is out of reach, but for one's own.
    auto& messages = races_.messages().at(cell.sync);
    std::erase_if(messages, [&](const Message& m) { return m.several || m.head != name(index); });
    if (messages.empty() && !site.release && !fenced) {
      cell.sync = 0;
    }
  }
  if (!site.release && !fenced) {
    return;
  }
  if (cell.sync == 0) {
    cell.sync = races_.messages().add();
  }
  std::vector<Message>& messages = races_.messages().at(cell.sync);
  const auto add =
      [&](const Snapshot& from, Scope scope, std::uint32_t number, bool only_shared = false) {
        Message message;
        message.only_shared = only_shared;
        hand_over(from, index, message.clock);
        message.head = name(index);
        message.scope = scope;
        message.in_order = from.in_order;
        message.site = number;
        if (scope == Scope::Sys) {
          races_.host_clock().learn(message.clock);
        }
        add_message(races_, messages, std::move(message));
      };
  if (site.release) {
    add(snapshot(index, 0), site.scope, op_->target);
    ++now_[index].tick;
  }
  if (fences_ && (!block_fenced_.empty() || !warp_fenced.empty())) {
    Message message;
    message.clock = block_fenced_;
    message.clock.learn(warp_fenced);
    message.head = name(index);
    message.scope = Scope::Gpu;
    message.in_order = message.only_in_order = true;
    message.site = op_->target;
    add_message(races_, messages, std::move(message));
  }
  if (shared_fence && !(site.release && site.scope >= Scope::Cluster)) {
    const Snapshot& fence = thread.extra->shared_fence;
    add(fence, Scope::Cluster, fence.site, /*only_shared=*/true);
  }
  for (int scope = static_cast<int>(Scope::Sys); own_fence && scope >= 0; --scope) {
    const Snapshot& fence = thread.extra->fence[scope];
    const bool wider =
        scope < static_cast<int>(Scope::Sys) && thread.extra->fence[scope + 1].tick == fence.tick;
    const bool covered = site.release && scope <= static_cast<int>(site.scope);
    if (fence.tick != 0 && !wider && !covered) {
      add(fence, static_cast<Scope>(scope), fence.site);
    }
  }
}

// Fences of other threads that a barrier puts before what this thread does: a strong write tells of
// them, since a fence.sc behind a read of it cannot come before them.
void BlockRaces::meet_fences(std::size_t w, bool block) {
  Clock& fences = warp_fences_[w];
  if (block) {
    block_fenced_.learn(fences);
    block_fenced_.learn(warp_fenced_[w]);
    fences.clear();
    for (std::size_t index = w * isa::warp_size; index < (w + 1) * isa::warp_size; ++index) {
      if (const Extra* extra = threads_[index].extra.get()) {
        for (const Message& message : extra->observed) {
          const auto known = std::ranges::find_if(block_observed_, [&](const Message& other) {
            return other.clock.same(message.clock);
          });
          if (message.in_order && known == block_observed_.end()) {
            block_observed_.push_back(message);
          }
        }
      }
    }
    if (block_observed_.size() > most_observed) { // the oldest matter least; may be wrong: invents
      block_observed_.erase(block_observed_.begin(), block_observed_.end() - most_observed);
    }
  } else {
    warp_fenced_[w].learn(fences);
    fences.clear();
  }
}

void BlockRaces::run_fence(const Site& site, std::uint32_t number, std::size_t w, LaneMask lanes) {
  const bool in_order = site.in_order && site.scope >= Scope::Gpu;
  const LaneMask all = lanes;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::size_t index =
        w * isa::warp_size + static_cast<std::size_t>(std::countr_zero(lanes));
    Thread& thread = threads_[index];
    Extra& extra = thread.more();
    if (in_order) {
      for (const Message& message : block_observed_) {
        (void)acquire(message, site.scope, index);
      }
    }
    if (site.acquire && site.only_shared) {
      for (const Message& message : extra.observed) { // another fence may take the rest
        if (!message.only_in_order) {
          (void)acquire(message, site.scope, index, /*only_shared=*/true);
        }
      }
    } else if (site.acquire) {
      std::erase_if(extra.observed, [&](const Message& message) {
        if (message.only_in_order && !in_order) {
          return false;
        }
        const bool done = acquire(message, site.scope, index);
        if (!done) {
          note({Why::NarrowSync, message.clock, message.head, 0, number, message.site}, index);
        }
        return done;
      });
    }
    if (site.release) {
      Snapshot now = snapshot(index, number);
      now.in_order = in_order;
      for (int scope = 0; scope <= static_cast<int>(site.scope) && !site.only_shared; ++scope) {
        extra.fence[scope] = now;
      }
      if (site.only_shared) {
        extra.shared_fence = now;
      }
      ++now_[index].tick;
    }
  }
  if (in_order) {
    // What they did before: their ticks are one higher by now, which nothing has used yet.
    hand_over_warp(w, all, warp_fences_[w]);
    fences_ = true;
  }
}

} // namespace heddle::race
