// Implements probe.h.
#include "machine/probe.h"

#include "analysis/clock_flow.h"
#include "base/hash.h"
#include "machine/access_notes.h"
#include "machine/recurrence.h"
#include "ptx/effect.h"

#include <algorithm>
#include <set>
#include <span>

namespace heddle::machine {
namespace {

using isa::LaneMask;

constexpr std::int64_t turn_fuel = 256; // backward branches; small, so that short loops repeat soon
constexpr int max_turns = 4096;
constexpr std::uintptr_t word = 4;           // bytes
constexpr std::size_t max_writes = 1U << 22; // noted; a warp that writes more is not waiting

/// Every byte has the value it had before the first of these writes.
bool undone(const std::vector<Written>& writes) {
  // The first note of a place holds its oldest value; later ones of the same place are skipped.
  std::vector<const Written*> order;
  order.reserve(writes.size());
  for (const auto& written : writes) {
    order.push_back(&written);
  }
  std::ranges::sort(order, {}, [](const Written* w) { return std::pair(w->at, w); });
  const std::byte* end = nullptr;
  for (const Written* w : order) {
    if (w->at < end) {
      if (w->at + w->bytes > end) {
        return false; // overlapping widths: do not guess
      }
      continue;
    }
    end = w->at + w->bytes;
    if (std::memcmp(w->at, w->before.data(), w->bytes) != 0) {
      return false;
    }
  }
  return true;
}

/// [CLOCK]: can what a clock shows make a difference to a lane?
bool may_wait_for_time(const isa::Warp& warp) {
  std::set<const ptx::Function*> functions;
  for (LaneMask m = warp.live; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    for (const isa::Frame* f = warp.frame[lane]; f != nullptr; f = f->caller) {
      functions.insert(f->code->function);
    }
  }
  return std::ranges::any_of(functions, [](const ptx::Function* f) {
    if (!f->entry && analysis::reads_clock(*f)) {
      return true;
    }
    const analysis::ClockFlow flow(*f, analysis::Cfg(*f));
    for (std::uint32_t n = 0; n < f->body.size(); ++n) {
      if (flow.reading(n) == analysis::ClockFlow::Reading::Decides) {
        return true;
      }
    }
    return false;
  });
}

/// The registers of a lane that may still be read, at the place where it stands; with `data` also
/// those by which nothing is decided.
void hash_live(
    const LiveState::At& at,
    const isa::Frame& frame,
    std::size_t lane,
    bool data,
    Hasher& hasher
) {
  for (const LiveState::Register& r : at.registers) {
    if (r.data && !data) {
      continue;
    }
    const std::byte* values = frame.registers.data() + r.offset;
    std::uint64_t bits = 0;
    if (r.bytes == 0) {
      LaneMask mask = 0;
      std::memcpy(&mask, values, sizeof mask);
      hasher.value(static_cast<std::uint8_t>(mask >> lane & 1));
    } else if (r.bytes <= sizeof bits) {
      std::memcpy(&bits, values + r.bytes * lane, r.bytes);
      hasher.value(bits & r.bits);
    } else {
      hasher.bytes(values + r.bytes * lane, r.bytes);
    }
  }
}

/// Is there an instruction that may read memory without being an access that Notes sees?
bool reads_otherwise(const ptx::Module& module) {
  using Kind = ptx::Effect::Kind;
  const auto is_here = [&](const std::string& name) {
    return std::ranges::any_of(module.functions, [&](const auto& f) {
      return f->name == name && !f->body.empty();
    });
  };
  const auto reads = [&](const ptx::Instruction& i) {
    const ptx::Effect& effect = ptx::effect_of(i);
    if (effect.is(Kind::Call)) {
      return ptx::library_function(i) == ptx::LibraryFunction::None &&
             std::ranges::none_of(i.operands, [&](const ptx::Operand& operand) {
               return is_here(operand.name);
             });
    }
    return effect.reads() && !effect.is_access();
  };
  return std::ranges::any_of(module.functions, [&](const auto& f) {
    return std::ranges::any_of(f->body, reads);
  });
}

} // namespace

/// Notes what a warp writes, and tells counters from other places.
class Probe::Notes final : public isa::AccessWatch {
public:
  explicit Notes(Probe& probe) : probe_(probe) {}

  const std::vector<Written>& writes() const { return notes_.writes; } // to other places
  /// Has an access since then had a value, or an address, by which nothing is decided?
  bool saw_data() const { return saw_data_; }
  void clear() {
    notes_.clear();
    saw_data_ = false;
  }

  void accessed(int /*lane*/, std::byte* at, std::uint32_t bytes, bool store) override {
    const bool counts = is_count(*probe_.exec_.current());
    saw_data_ = saw_data_ || last_is_data_;
    if (store && !counts) {
      notes_.written(at, bytes);
    }
    const auto first = reinterpret_cast<std::uintptr_t>(at) / word;
    const auto last = (reinterpret_cast<std::uintptr_t>(at) + bytes - 1) / word;
    for (auto w = first; w <= last; ++w) {
      (counts ? probe_.counted_ : probe_.accessed_).insert(w);
    }
  }

private:
  bool is_count(const isa::Op& op) {
    if (&op != last_) {
      const isa::Code& code = probe_.exec_.code();
      const ptx::Effect& effect = ptx::effect_of(code.function->body[op.instruction]);
      last_ = &op;
      last_is_data_ = probe_.live_.at(code, op).only_data;
      last_counts_ = effect.is(ptx::Effect::Kind::Update) && !probe_.live_.is_result_used(code, op);
    }
    return last_counts_;
  }

  Probe& probe_;
  AccessNotes notes_{probe_.exec_, /*max_reads=*/0};
  const isa::Op* last_ = nullptr;
  bool last_counts_ = false, last_is_data_ = false;
  bool saw_data_ = false;
};

/// What the future of a warp's lanes depends on, memory that others see aside. A lane that is
/// blocked has handed over values already, so all of its registers count.
Hash128
Probe::state_of(const Block& block, std::size_t w, const Block::WarpState& state, Registers which) {
  Hasher hasher;
  if (block.rules() != nullptr) {
    block.rules()->hash(w, hasher);
  }
  const isa::Warp& warp = state.warp;
  hasher.value(warp.live);
  hasher.value(warp.blocked);
  hasher.value(state.tired);
  hasher.value(state.ran);
  const auto whole = [&hasher](const isa::Frame* f) {
    hasher.bytes(f->registers.data(), f->registers.size());
  };
  const isa::Frame* callers_of = nullptr; // lanes of one frame mostly lie side by side
  for (LaneMask m = warp.live; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    const isa::Frame& frame = *warp.frame[lane];
    hasher.value(warp.pc[lane]);
    hasher.value(warp.frame[lane]);
    const bool blocked = (warp.blocked >> lane & 1) != 0;
    if (warp.frame[lane] != callers_of) {
      for (const isa::Frame* f = frame.caller; f != nullptr; f = f->caller) {
        whole(f);
      }
      callers_of = warp.frame[lane];
    }
    if (blocked) {
      whole(&frame);
    } else {
      const LiveState::At& at = live_.at(*frame.code, *warp.pc[lane]);
      hash_live(at, frame, lane, which == Registers::Live, hasher);
    }
    hasher.bytes(warp.local + lane * warp.local_stride, frame.local_end());
    const std::span<const std::byte> stack = warp.stack_of(static_cast<int>(lane));
    hasher.value(stack.size());
    hasher.bytes(stack.data(), stack.size());
  }
  return hasher.finish();
}

void Probe::look_at_modules(const isa::Warp& warp) {
  for (LaneMask m = warp.live; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    for (const isa::Frame* f = warp.frame[lane]; f != nullptr; f = f->caller) {
      const ptx::Module* const module = f->code->module;
      if (const auto [known, is_new] = reads_otherwise_.try_emplace(module, true); is_new) {
        known->second = reads_otherwise(*module);
      }
    }
  }
}

Probed Probe::warp(Block& block, std::size_t w) {
  Block::WarpState& state = block.warps()[w];
  look_at_modules(state.warp);
  Notes notes(*this);              // since the state was remembered
  std::vector<Written> all_writes; // before that
  const isa::Watching watching(exec_, notes);
  Probed result = Probed::Moves;
  auto which = Registers::Decisive;
  Recurrence circle(state_of(block, w, state, which));
  for (int turn = 1; turn <= max_turns && all_writes.size() < max_writes &&
                     counted_.size() + accessed_.size() < max_writes;
       ++turn) {
    state.fuel = turn_fuel;
    const isa::Stop stop = block.turn(exec_, w);
    if (stop == isa::Stop::Fault || stop == isa::Stop::Unsupported || stop == isa::Stop::Exited) {
      break;
    }
    Hash128 now = state_of(block, w, state, which);
    const bool is_back = circle.is_back(now) && undone(notes.writes());
    bool renewed = false;
    if (is_back && which == Registers::Decisive && notes.saw_data()) {
      which = Registers::Live;
      circle = Recurrence(now = state_of(block, w, state, which));
      renewed = true;
    } else if (is_back) {
      all_writes.insert(all_writes.end(), notes.writes().begin(), notes.writes().end());
      result = undone(all_writes) ? Probed::Circles : Probed::Settled;
      break;
    }
    if (renewed || circle.go_on(now)) {
      all_writes.insert(all_writes.end(), notes.writes().begin(), notes.writes().end());
      notes.clear();
    }
  }
  return result;
}

Probed Probe::cluster(Cluster& cluster) {
  Probed result = Probed::Circles;
  cluster.forget_progress();
  for (std::size_t rank = 0; rank < cluster.size(); ++rank) {
    Block& block = cluster.block(rank);
    const std::uint64_t now = block.globaltimer();
    for (std::size_t w = 0; w < block.warps().size(); ++w) {
      const isa::Warp& warp = block.warps()[w].warp;
      if ((warp.live & ~warp.blocked) == 0) {
        continue; // ended, or waits for threads of this cluster
      }
      block.stop_time_at(now);
      Probed probed = this->warp(block, w);
      if (block.time_was_read() && may_wait_for_time(warp)) {
        probed = Probed::Moves;
      }
      block.let_time_pass();
      result = std::min(result, probed);
      // A barrier that opened has freed warps that were passed over.
      if (result == Probed::Moves || cluster.progressed()) {
        return Probed::Moves;
      }
    }
  }
  return result;
}

void Probe::begin_pass() {
  counted_.clear();
  accessed_.clear();
}

bool Probe::nobody_reads_counters() const {
  const bool otherwise =
      std::ranges::any_of(reads_otherwise_, [](const auto& module) { return module.second; });
  return counted_.empty() ||
         (!otherwise && std::ranges::none_of(counted_, [this](std::uintptr_t w) {
           return accessed_.contains(w);
         }));
}

} // namespace heddle::machine
