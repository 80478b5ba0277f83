// Implements clock_data.h.
#include "reduce/persistent_sets/clock_data.h"

#include "machine/source_place.h"
#include "ptx/effect.h"
#include "reduce/dead_data/memory_object.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::reduce {

using Kind = ptx::Effect::Kind;
using machine::Command;
using machine::CommandKind;
using memory::AllocationKind;

ClockData::Function& ClockData::function(const ptx::Function& f) {
  return functions_.try_emplace(&f, f).first->second;
}

std::uint64_t ClockData::name(const isa::Code& code, std::uint32_t instruction) {
  const auto [known, is_new] = readings_.try_emplace({code.function, instruction}, 0);
  if (is_new) {
    known->second = std::uint64_t{1} << places_.size() % 64;
    const auto& i = code.function->body[instruction];
    const auto places = code.module != nullptr ? machine::places_of(*code.module, i)
                                               : std::vector<machine::SourcePlace>();
    const auto* place = places.empty() ? nullptr : &machine::users_place(places);
    places_.push_back(
        place != nullptr && place->line != 0
            ? fmt::format("the clock at {}:{}", report::shown_path(place->file), place->line)
            : fmt::format("a clock in '{}'", code.function->name)
    );
  }
  return known->second;
}

void ClockData::note(std::uint64_t readings, const char* what) {
  if (readings != 0 && left_out_.empty()) {
    const auto n = static_cast<std::size_t>(std::countr_zero(readings));
    left_out_ = fmt::format("{} {}, and not every value of it is tried", places_[n], what);
  }
}

void ClockData::decides(const isa::Code& code, const isa::Op& op) {
  note(name(code, op.instruction), "decides in other ways than by one time limit");
}

void ClockData::looked(
    const isa::Code& code,
    const isa::Op& op,
    const machine::LiveState::At& live
) {
  const std::uint64_t reading = name(code, op.instruction);
  Function& f = function(*code.function);
  if (live.clock == analysis::ClockFlow::Reading::Decides) {
    for (const std::uint32_t store : live.writes_time) {
      stores(f, store, reading);
    }
  } else if ((reading & ~f.read[op.instruction]) != 0) {
    f.read[op.instruction] |= reading;
    flows(f, op.instruction, reading);
  }
}

void ClockData::stores(Function& f, std::uint32_t store, std::uint64_t readings) {
  news_ = news_ || (readings & ~f.stored[store]) != 0;
  f.stored[store] |= readings;
}

/// What instruction n has put into registers comes from the readings.
void ClockData::flows(Function& f, std::uint32_t n, std::uint64_t readings) {
  news_ = true;
  const analysis::ValueFlow::Reach& reach = f.flow.from(n);
  const bool decides =
      reach.decides || reach.retries || reach.placed.count() != 0 || reach.maybe.count() != 0;
  note(decides && mutant_ != Mutant::ClocksForgetMemory ? readings : 0, "decides by way of memory");
  reach.stored.each([&](std::size_t store) {
    stores(f, static_cast<std::uint32_t>(store), readings);
  });
}

void ClockData::accessed(int, std::byte* at, std::uint32_t bytes, bool store) {
  const isa::Op& op = *exec_.current();
  const ptx::Function& text = *exec_.code().function;
  const std::uint32_t n = op.instruction;
  const ptx::Instruction& i = text.body[n];
  const ptx::Effect& effect = ptx::effect_of(i);
  if (all_marks_ != 0 && (!store || !effect.is(Kind::Store))) {
    Function& f = function(text);
    const std::uint64_t read = marks_of(at, bytes);
    const bool gives_result =
        !i.operands.empty() && i.operands[0].kind != ptx::OperandKind::Address;
    if ((read & ~f.read[n]) != 0) {
      f.read[n] |= read;
      if (!effect.is_access()) { // copies, matrices, and whatever else reads memory
        note(mutant_ == Mutant::ClocksForgetCopies ? 0 : read, "decides by way of memory");
      } else if (gives_result) {
        flows(f, n, read);
      }
    }
  }
  if (store) {
    if (const std::uint64_t stored = function(text).stored[n]; stored != 0) {
      mark(at, bytes, stored);
    }
  }
}

std::uint64_t ClockData::marks_of(const std::byte* at, std::uint64_t bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  std::uint64_t result = 0;
  if (bytes / granule > marks_.size()) {
    for (const auto& [g, readings] : marks_) {
      result |= g >= begin / granule && g <= (begin + bytes - 1) / granule ? readings : 0;
    }
    return result;
  }
  for (std::uint64_t g = begin / granule; g <= (begin + bytes - 1) / granule; ++g) {
    const auto known = marks_.find(g);
    result |= known == marks_.end() ? 0 : known->second;
  }
  return result;
}

void ClockData::mark(const std::byte* at, std::uint64_t bytes, std::uint64_t readings) {
  constexpr std::size_t many = 1 << 18; // granules
  if ((readings & ~marks_of(at, bytes)) == 0) {
    return;
  }
  if (marks_.size() + bytes / granule > many) {
    note(readings, "is stored to more places than can be kept in mind");
    return;
  }
  all_marks_ |= readings;
  news_ = true;
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  for (std::uint64_t g = begin / granule; g <= (begin + bytes - 1) / granule; ++g) {
    marks_[g] |= readings;
  }
  space_.each_live([&](const memory::Allocation& allocation) {
    const std::span<const std::byte> all = bytes_of(allocation);
    const bool of_host = allocation.kind == AllocationKind::Managed ||
                         allocation.kind == AllocationKind::Pinned ||
                         allocation.kind == AllocationKind::Registered;
    if (of_host && at >= all.data() && at < all.data() + all.size()) {
      note(readings, "is stored where the host may decide by it");
    }
  });
}

void ClockData::carried_out(const Command& command) {
  if (all_marks_ == 0) {
    return;
  }
  if (!command.touches) {
    const bool copies = command.kind == CommandKind::Copy;
    note(copies ? all_marks_ : 0, "is copied to where something may be decided by it");
    return;
  }
  const auto place_of = [&](const Command::Region& region) {
    const memory::Range range = space_.find_range(region.begin);
    return reinterpret_cast<const std::byte*>(
        region.begin + static_cast<std::uint64_t>(range.delta)
    );
  };
  for (const Command::Region& from : *command.touches) {
    const std::uint64_t readings = from.write ? 0 : marks_of(place_of(from), from.bytes);
    for (const Command::Region& to : *command.touches) {
      if (readings == 0 || !to.write) {
        continue;
      }
      if (space_.find_range(to.begin).size == 0) {
        note(readings, "is copied to the host, which may decide by it");
      } else {
        mark(place_of(to), to.bytes, readings);
      }
    }
  }
}

void ClockData::host_accesses(const std::byte* at, std::uint64_t bytes) {
  note(all_marks_ == 0 ? 0 : marks_of(at, bytes), "is read by the host, which may decide by it");
}

void ClockData::called_library() {
  note(all_marks_, "may be read by code that is not followed");
}

} // namespace heddle::reduce
