#include "analysis/liveness.h"

#include "ptx/effect.h"
#include "ptx/form.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace heddle::analysis {
namespace {

void each_in(const ptx::Operand& operand, bool write, const std::function<void(RegisterUse)>& f) {
  if (operand.kind == ptx::OperandKind::Register) {
    f({operand.index, write});
    return;
  }
  // The registers of an address are read, wherever it stands.
  bool writes = write && operand.kind != ptx::OperandKind::Address;
  for (const ptx::Operand& element : operand.elements) {
    each_in(element, writes, f);
  }
}

/// The first operand is the destination if its rule says so; nothing else is one.
bool has_destination(const ptx::Instruction& i) {
  if (i.operands.empty()) {
    return false;
  }
  if (i.opcode == ptx::Opcode::Call) {
    // call (returns), f, …: the callee follows the list.
    return i.operands.size() > 1 && i.operands[0].kind == ptx::OperandKind::List;
  }
  const ptx::Form& form = ptx::form_table().at(i.form);
  static constexpr std::string_view destinations = "doepDkvw";
  return !form.rules.empty() &&
         destinations.find(form.rules.front().kind) != std::string_view::npos;
}

/// Can it be left out if its destination is not live? It must not fault.
bool only_computes(const ptx::Instruction& i) {
  const ptx::Effect& effect = effect_of(i);
  // The carry flag is not a register, so this analysis cannot see which instructions read it.
  return effect.is(ptx::Effect::Kind::Hint) ||
         (effect.is(ptx::Effect::Kind::Compute) && !i.has(ptx::Mod::Cc) && !reads_carry(i));
}

/// As only_computes(), provided that it lies within its object.
bool only_reads(const ptx::Instruction& i) {
  const ptx::Effect& effect = effect_of(i);
  return effect.is(ptx::Effect::Kind::Load) && !effect.is_strong();
}

} // namespace

void each_register(const ptx::Instruction& i, const std::function<void(RegisterUse)>& f) {
  if (i.guard) {
    f({i.guard->register_index, false});
  }
  bool destination = has_destination(i);
  for (std::size_t o = destination ? 1 : 0; o < i.operands.size(); ++o) {
    each_in(i.operands[o], false, f);
  }
  if (destination) {
    if (i.opcode == ptx::Opcode::Wgmma) { // adds to its destination
      each_in(i.operands[0], false, f);
    }
    each_in(i.operands[0], true, f);
  }
}

Liveness::Liveness(const ptx::Function& function, const Cfg& cfg, Of of)
    : Liveness(function, cfg, of, BitVector()) {}

Liveness::Liveness(const ptx::Function& function, const Cfg& cfg, BitVector data_stores)
    : Liveness(function, cfg, Of::Decisions, std::move(data_stores)) {}

Liveness::Liveness(const ptx::Function& function, const Cfg& cfg, Of of, BitVector data_stores)
    : function_(function),
      cfg_(cfg),
      of_(of),
      data_stores_(std::move(data_stores)),
      entry_(cfg.blocks().size(), BitVector(function.registers.size())),
      end_(entry_) {
  if (of == Of::Reads) {
    find_reads();
  } else {
    find_effects();
  }
}

/// Return values in registers come first among the registers of a body; the caller reads them.
BitVector Liveness::returned() const {
  BitVector result(function_.registers.size());
  std::size_t next = 0;
  for (const ptx::Variable& variable : function_.returns) {
    if (function_.defined && variable.space == ptx::Mod::Reg) {
      result.set(next++);
    }
  }
  return result;
}

void Liveness::find_detours() {
  for (std::uint32_t b = 0; b < cfg_.blocks().size(); ++b) {
    const BasicBlock& block = cfg_.blocks()[b];
    const std::uint32_t branch = block.last - 1;
    if (block.first == block.last || block.successors.size() < 2 ||
        !effect_of(function_.body[branch]).is(ptx::Effect::Kind::Branch)) {
      continue;
    }
    const std::optional<std::uint32_t> meet = cfg_.reconvergence(branch);
    if (!meet) {
      continue;
    }
    Detour detour{cfg_.block_of(*meet), BitVector(function_.registers.size())};
    enum class Seen : std::uint8_t {
      UnderWay,
      Left
    };
    std::map<std::uint32_t, Seen> seen;
    // False: it comes back to where it was, or does more than to compute.
    const std::function<bool(std::uint32_t)> visit = [&](std::uint32_t at) {
      if (at == detour.meet) {
        return true;
      }
      const auto [known, is_new] = seen.try_emplace(at, Seen::UnderWay);
      if (!is_new || at == b || at == cfg_.exit()) {
        return !is_new && known->second == Seen::Left;
      }
      for (std::uint32_t i = cfg_.blocks()[at].first; i < cfg_.blocks()[at].last; ++i) {
        const ptx::Instruction& instruction = function_.body[i];
        if (!effect_of(instruction).is(ptx::Effect::Kind::Branch) && !only_computes(instruction)) {
          return false;
        }
        each_register(instruction, [&](RegisterUse use) {
          if (use.write) {
            detour.written.set(use.index);
          }
        });
      }
      const auto& next = cfg_.blocks()[at].successors;
      const bool fine = std::ranges::all_of(next, visit);
      known->second = Seen::Left;
      return fine;
    };
    if (std::ranges::all_of(block.successors, visit)) {
      detours_.emplace(branch, std::move(detour));
    }
  }
}

/// Does it do anything but make registers that are not live, `live` being what is behind it?
bool Liveness::has_effect(std::uint32_t instruction, const BitVector& live) const {
  const ptx::Instruction& i = function_.body[instruction];
  if (of_ == Of::Reads) {
    return true;
  }
  if (const auto detour = detours_.find(instruction); detour != detours_.end()) {
    bool changes = false;
    detour->second.written.each([&](std::size_t r) {
      changes = changes || entry_[detour->second.meet].test(r);
    });
    return changes;
  }
  bool wanted = !only_computes(i) && !(of_ == Of::Decisions && only_reads(i));
  each_register(i, [&](RegisterUse use) {
    wanted = wanted || (use.write && live.test(use.index));
  });
  return wanted;
}

/// What an instruction makes live depends on what is live behind it, so each is looked at in turn.
void Liveness::find_effects() {
  const BitVector at_exit = returned();
  find_detours();
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = cfg_.blocks().size(); b-- > 0;) {
      const BasicBlock& block = cfg_.blocks()[b];
      for (const std::uint32_t to : block.successors) {
        end_[b].unite(to == cfg_.exit() ? at_exit : entry_[to]);
      }
      BitVector live = end_[b];
      for (std::uint32_t i = block.last; i-- > block.first;) {
        step_back(live, i);
      }
      changed = entry_[b].unite(live) || changed;
    }
  }
}

void Liveness::find_reads() {
  const std::size_t n = cfg_.blocks().size();
  const BitVector empty(function_.registers.size());
  // live = read ∪ (end − written), from the text's end to its start until nothing changes.
  std::vector<BitVector> read(n, empty);
  std::vector<BitVector> written(n, empty);
  for (std::size_t b = 0; b < n; ++b) {
    for (std::uint32_t i = cfg_.blocks()[b].first; i < cfg_.blocks()[b].last; ++i) {
      const ptx::Instruction& instruction = function_.body[i];
      each_register(instruction, [&](RegisterUse use) {
        if (!use.write && !written[b].test(use.index)) {
          read[b].set(use.index);
        } else if (use.write && !instruction.guard) {
          written[b].set(use.index);
        }
      });
    }
  }
  const BitVector at_exit = returned();
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = n; b-- > 0;) {
      for (std::uint32_t to : cfg_.blocks()[b].successors) {
        changed = end_[b].unite(to == cfg_.exit() ? at_exit : entry_[to]) || changed;
      }
      BitVector live = end_[b];
      live.subtract(written[b]);
      live.unite(read[b]);
      changed = entry_[b].unite(live) || changed;
    }
  }
}

void Liveness::step_back(BitVector& live, std::uint32_t at) const {
  if (!has_effect(at, live)) {
    return;
  }
  const ptx::Instruction& instruction = function_.body[at];
  if (of_ == Of::Decisions && data_stores_.test(at)) {
    if (instruction.guard) {
      live.set(instruction.guard->register_index);
    }
    return;
  }
  if (!instruction.guard) {
    each_register(instruction, [&](RegisterUse use) {
      if (use.write) {
        live.reset(use.index);
      }
    });
  }
  each_register(instruction, [&](RegisterUse use) {
    if (!use.write) {
      live.set(use.index);
    }
  });
}

BitVector Liveness::idle() const {
  BitVector result(function_.body.size());
  for (std::size_t b = 0; b < cfg_.blocks().size(); ++b) {
    BitVector live = end_[b];
    for (std::uint32_t i = cfg_.blocks()[b].last; i-- > cfg_.blocks()[b].first;) {
      if (!has_effect(i, live)) {
        result.set(i);
      }
      step_back(live, i);
    }
  }
  return result;
}

BitVector Liveness::unused() const {
  BitVector result(function_.body.size());
  for (std::size_t b = 0; b < cfg_.blocks().size(); ++b) {
    BitVector live = end_[b];
    for (std::uint32_t i = cfg_.blocks()[b].last; i-- > cfg_.blocks()[b].first;) {
      bool used = false;
      each_register(function_.body[i], [&](RegisterUse use) {
        used = used || (use.write && live.test(use.index));
      });
      if (!used) {
        result.set(i);
      }
      step_back(live, i);
    }
  }
  return result;
}

BitVector Liveness::before(std::uint32_t instruction) const {
  std::uint32_t block = cfg_.block_of(instruction);
  BitVector live = end_[block];
  for (std::uint32_t i = cfg_.blocks()[block].last; i-- > instruction;) {
    step_back(live, i);
  }
  return live;
}

std::vector<BitVector> Liveness::before_each() const {
  std::vector<BitVector> result(function_.body.size());
  for (std::size_t b = 0; b < cfg_.blocks().size(); ++b) {
    BitVector live = end_[b];
    for (std::uint32_t i = cfg_.blocks()[b].last; i-- > cfg_.blocks()[b].first;) {
      step_back(live, i);
      result[i] = live;
    }
  }
  return result;
}

} // namespace heddle::analysis
