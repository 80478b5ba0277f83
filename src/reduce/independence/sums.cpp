// Implements sums.h.
#include "reduce/independence/sums.h"

#include <algorithm>

namespace heddle::reduce {

namespace {

std::uint64_t bucket_bit(unsigned bucket) {
  return std::uint64_t{1} << bucket;
}

} // namespace

template <class F> void Sums::each_place(const Access& access, F&& f) {
  for (std::uint64_t p = access.place / granule; p <= (access.place + access.bytes - 1) / granule;
       ++p) {
    f(p);
  }
}

/// What must not commute, but does with some mutants.
bool Sums::commute_for_mutant(const Access& x, const Access& y) const {
  const auto kinds = std::minmax(x.kind, y.kind);
  switch (mutant_) {
  case Mutant::SumsMeetReads:
    return kinds.first == AccessKind::Read && kinds.second > AccessKind::Read;
  case Mutant::SumsMeetUpdates:
    return kinds.first == AccessKind::Other && kinds.second > AccessKind::Read;
  case Mutant::IndependentMeetsWrites:
    return kinds.first == AccessKind::Other && kinds.second == AccessKind::Read;
  default:
    return false;
  }
}

void Sums::check(WorkId a, const Access& x, WorkId b, const Access& y) {
  const bool host_meets_mover = (x.mover && y.of_host) || (y.mover && x.of_host);
  if (x.contended && y.contended && !host_meets_mover) {
    return;
  }
  const bool same_place = x.place == y.place && x.bytes == y.bytes;
  const bool commute = kinds_commute(x.kind, y.kind, same_place);
  if (commute || commute_for_mutant(x, y) || !overlapping(a, b)) {
    return;
  }
  const bool one_thread = a == b && x.thread == y.thread && x.thread != many;
  const bool epochs = a == b && x.block == y.block && x.block != many && x.epoch != y.epoch;
  if (epochs && x.shared && y.shared) {
    return; // whichever cluster it is
  }
  if ((one_thread || epochs) && !x.contended && !y.contended) {
    for (const Access* access : {&x, &y}) {
      if (!access->owned && mutant_ != Mutant::OwnedForgotten) {
        clash_ = true;
        // A contended instruction makes no owned accesses.
        if (access->elsewhere) {
          contend_at(*access);
        } else {
          refuted_.owned |= bucket_bit(access->bucket);
        }
      }
    }
    return;
  }
  if (x.only_data && y.only_data && !x.contended && !y.contended) {
    meet_unordered(x, y);
  } else {
    blame({&x, &y});
  }
}

void Sums::blame(std::initializer_list<const Access*> accesses) {
  clash_ = true;
  const bool some_free = !std::ranges::all_of(accesses, &Access::contended);
  for (const Access* access : accesses) {
    if (!access->contended) {
      refuted_.contended |= bucket_bit(access->bucket);
      contend_at(*access);
    } else if (access->mover && !some_free) { // else what was free is, in the next search, watched
      refuted_.immovable |= bucket_bit(access->bucket);
    }
  }
}

/// Where places are not told apart, contended instructions are contended anyway.
void Sums::contend_at(const Access& access) {
  const auto* const at = reinterpret_cast<const std::byte*>(access.place);
  const memory::Address address = memory::AddressSpace::device_address(at);
  if (memory::AddressSpace::in_device_range(address)) {
    refuted_.places |= places_of(address);
  }
}

void Sums::meet_unordered(const Access& x, const Access& y) {
  if (!x.unordered || !y.unordered) { // they could be
    clash_ = true;
    refuted_.unordered |= bucket_bit(x.bucket) | bucket_bit(y.bucket);
    contend_at(x);
    contend_at(y);
    return;
  }
  saw_unordered_ = true;
  const bool same_place = x.place == y.place && x.bytes == y.bytes;
  if (x.effect != y.effect || x.effect == AccessKind::Other ||
      (x.effect != AccessKind::Read && !same_place)) {
    mixed_ |= bucket_bit(x.bucket) | bucket_bit(y.bucket);
  }
}

/// Makes `known` stand for the access, too. True: that is news.
bool Sums::merge(std::vector<Known>& all, WorkId work, const Access& access) {
  for (Known& known : all) {
    Access& k = known.access;
    if (known.work != work || k.place != access.place || k.bytes != access.bytes ||
        k.kind != access.kind || k.bucket != access.bucket || k.contended != access.contended ||
        k.effect != access.effect || k.only_data != access.only_data ||
        k.unordered != access.unordered || k.mover != access.mover || k.of_host != access.of_host ||
        k.owned != access.owned || k.shared != access.shared) {
      continue;
    }
    const bool same_block = k.block == access.block;
    if (k.block == many || (same_block && k.epoch == access.epoch &&
                            (k.thread == many || k.thread == access.thread))) {
      return false;
    }
    if (!same_block) {
      k.block = k.thread = many;
      return true;
    }
    if (k.epoch == access.epoch) {
      k.thread = many;
      return true;
    }
  }
  all.push_back({work, access});
  return true;
}

void Sums::note(WorkId work, const Access& access) {
  bool is_news = false;
  each_place(access, [&](std::uint64_t place) {
    std::vector<Known>& known = places_[place];
    for (const Known& before : known) {
      check(work, access, before.work, before.access);
    }
    is_news = merge(known, work, access) || is_news;
  });
  if (is_news && !learning_) {
    news_.push_back({.kind = Note::Kind::Access, .work = work, .access = access});
  }
  for (const auto& [command, region] : commands_) {
    if (is_news) {
      meet(work, access, command, region);
    }
  }
}

void Sums::overlap(WorkId a, WorkId b) {
  if (overlapping(a, b)) {
    return;
  }
  overlap_.insert({a, b});
  if (!learning_) {
    news_.push_back({.kind = Note::Kind::Overlap, .work = a, .other = b, .access = {}});
  }
  // What is known of them may be of earlier works that were the same, or learned.
  for (const auto& [place, known] : places_) {
    for (const Known& x : known) {
      for (const Known& y : known) {
        if (x.work == a && y.work == b) {
          check(a, x.access, b, y.access);
        }
      }
    }
  }
  for (const auto& [command, region] : commands_) {
    if (command == a || command == b) {
      meet_all(command == a ? b : a, command, region);
      meet_commands(command, region);
    }
  }
}

/// In which order the command and others are carried out could be seen.
void Sums::meet_commands(WorkId command, const Region& region) {
  const auto conflicts = [&](const auto& known) {
    const auto& [other, there] = known;
    return other != command && overlapping(other, command) && there.begin < region.end &&
           region.begin < there.end && (there.write || region.write);
  };
  if (mutant_ != Mutant::StraightCommandsCommute) {
    choice_met_command_ = choice_met_command_ || std::ranges::any_of(commands_, conflicts);
  }
}

/// An access may be made while the command is under way.
void Sums::meet(WorkId work, const Access& access, WorkId command, const Region& region) {
  const bool apart = access.shared || access.place >= region.end ||
                     access.place + access.bytes <= region.begin ||
                     (!region.write && access.kind == AccessKind::Read);
  if (apart || work == command || !overlapping(work, command)) {
    return;
  }
  if (access.contended && !access.mover) {
    choice_met_command_ = true;
  } else {
    blame({&access});
  }
}

void Sums::meet_all(WorkId work, WorkId command, const Region& region) {
  for (const auto& [place, known] : places_) {
    for (const Known& k : known) {
      if (k.work == work) {
        meet(work, k.access, command, region);
      }
    }
  }
}

void Sums::learn(const Note& note) {
  learning_ = true;
  switch (note.kind) {
  case Note::Kind::Access:
    this->note(note.work, note.access);
    break;
  case Note::Kind::Overlap:
    overlap(note.work, note.other);
    break;
  case Note::Kind::Command:
    note_command(note.work, note.region);
    break;
  case Note::Kind::Settled:
  case Note::Kind::Rewritten:
    note_places(note.kind, note.other);
    break;
  }
  learning_ = false;
}

void Sums::note_places(Note::Kind kind, std::uint64_t places) {
  std::uint64_t& known = kind == Note::Kind::Settled ? settled_ : rewritten_;
  if ((places & ~known) == 0) {
    return;
  }
  known |= places;
  if (!learning_) {
    news_.push_back({.kind = kind, .other = places, .access = {}});
  }
  if ((settled_ & rewritten_) != 0 && mutant_ != Mutant::SettledUnwatched) {
    clash_ = true;
    refuted_.rewritten |= settled_ & rewritten_;
  }
}

void Sums::note_host(const Access& access, std::span<const WorkId> under_way) {
  // As if each of them had made it.
  for (const WorkId work : under_way) {
    note(work, access);
  }
}

void Sums::note_command(WorkId command, const Region& region) {
  if (std::ranges::find(commands_, std::pair(command, region)) != commands_.end()) {
    return;
  }
  commands_.emplace_back(command, region);
  if (!learning_) {
    news_.push_back({.kind = Note::Kind::Command, .work = command, .access = {}, .region = region});
  }
  meet_commands(command, region);
  for (const auto& [place, known] : places_) {
    for (const Known& k : known) {
      meet(k.work, k.access, command, region);
    }
  }
}

} // namespace heddle::reduce
