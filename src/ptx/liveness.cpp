#include "ptx/liveness.h"

#include "ptx/form.h"

namespace heddle::ptx {
namespace {

void each_in(const Operand& operand, bool write, const std::function<void(RegisterUse)>& f) {
  if (operand.kind == OperandKind::Register) {
    f({operand.index, write});
    return;
  }
  // The registers of an address are read, wherever it stands.
  bool writes = write && operand.kind != OperandKind::Address;
  for (const Operand& element : operand.elements) {
    each_in(element, writes, f);
  }
}

/// The first operand is the destination if its rule says so; nothing else is one.
bool has_destination(const Instruction& i) {
  if (i.operands.empty()) {
    return false;
  }
  if (i.opcode == Opcode::Call) {
    // call (returns), f, …: the callee follows the list.
    return i.operands.size() > 1 && i.operands[0].kind == OperandKind::List;
  }
  const Form& form = form_table().at(i.form);
  static constexpr std::string_view destinations = "doepDkvw";
  return !form.rules.empty() &&
         destinations.find(form.rules.front().kind) != std::string_view::npos;
}

} // namespace

void each_register(const Instruction& i, const std::function<void(RegisterUse)>& f) {
  if (i.guard) {
    f({i.guard->register_index, false});
  }
  bool destination = has_destination(i);
  for (std::size_t o = destination ? 1 : 0; o < i.operands.size(); ++o) {
    each_in(i.operands[o], false, f);
  }
  if (destination) {
    if (i.opcode == Opcode::Wgmma) {
      each_in(i.operands[0], false, f);
    }
    each_in(i.operands[0], true, f);
  }
}

Liveness::Liveness(const Function& function, const Cfg& cfg) : function_(function), cfg_(cfg) {
  std::size_t n = cfg.blocks().size();
  BitVector empty(function.registers.size());
  entry_.assign(n, empty);
  end_.assign(n, empty);
  // live = read ∪ (end − written), from the text's end to its start until nothing changes.
  std::vector<BitVector> read(n, empty);
  std::vector<BitVector> written(n, empty);
  for (std::size_t b = 0; b < n; ++b) {
    for (std::uint32_t i = cfg.blocks()[b].first; i < cfg.blocks()[b].last; ++i) {
      const Instruction& instruction = function.body[i];
      each_register(instruction, [&](RegisterUse use) {
        if (!use.write && !written[b].test(use.index)) {
          read[b].set(use.index);
        } else if (use.write && !instruction.guard) {
          written[b].set(use.index);
        }
      });
    }
  }
  // Return values in registers come first among the registers of a body; the caller reads them.
  BitVector returned = empty;
  std::size_t next = 0;
  for (const Variable& variable : function.returns) {
    if (function.defined && variable.space == Mod::Reg) {
      returned.set(next++);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = n; b-- > 0;) {
      for (std::uint32_t to : cfg.blocks()[b].successors) {
        changed = end_[b].unite(to == cfg.exit() ? returned : entry_[to]) || changed;
      }
      BitVector live = end_[b];
      live.subtract(written[b]);
      live.unite(read[b]);
      changed = entry_[b].unite(live) || changed;
    }
  }
}

void Liveness::step_back(BitVector& live, const Instruction& instruction) const {
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

BitVector Liveness::before(std::uint32_t instruction) const {
  std::uint32_t block = cfg_.block_of(instruction);
  BitVector live = end_[block];
  for (std::uint32_t i = cfg_.blocks()[block].last; i-- > instruction;) {
    step_back(live, function_.body[i]);
  }
  return live;
}

std::vector<BitVector> Liveness::before_each() const {
  std::vector<BitVector> result(function_.body.size());
  for (std::size_t b = 0; b < cfg_.blocks().size(); ++b) {
    BitVector live = end_[b];
    for (std::uint32_t i = cfg_.blocks()[b].last; i-- > cfg_.blocks()[b].first;) {
      step_back(live, function_.body[i]);
      result[i] = live;
    }
  }
  return result;
}

} // namespace heddle::ptx
