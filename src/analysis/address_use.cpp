// Implements address_use.h: a data flow over the registers of one function, from the beginning to
// the end.
#include "analysis/address_use.h"

#include "analysis/cfg.h"
#include "analysis/liveness.h"
#include "ptx/effect.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::analysis {

namespace {

// Of what an allocation begins at: of the API's, and of malloc's in a kernel.
constexpr std::uint64_t aligned_bits = 0xff, aligned_bits_of_heap = 0xf;

/// What a register may hold that is made of addresses.
struct MadeOfAddress {
  std::uint64_t objects = 0;        // an address; by object, modulo 63; others are bit 63
  std::uint64_t low = aligned_bits; // bits that are zero at the beginning of each of these objects
  bool negative = false;            // that address, negated or with all its bits inverted
  bool mixed = false;               // something else, which depends on where memory lies …
  bool shifted = false;             // … in its low bits, too
  unsigned left = 0;                // else: by how many bits to the left those are that are known
  bool operator==(const MadeOfAddress&) const = default;
  bool any() const { return objects != 0 || mixed; }
  void add(const MadeOfAddress& other) {
    shifted = shifted || (any() && other.any() && left != other.left);
    left = any() ? left : other.left;
    objects |= other.objects;
    low &= other.low;
    negative = negative || other.negative;
    mixed = mixed || other.mixed;
    shifted = shifted || other.shifted;
  }
  bool is_address() const { return objects != 0 && !negative && !mixed; }
  bool is_negative() const { return objects != 0 && negative && !mixed; }
};
constexpr std::uint64_t of_unknown_object = std::uint64_t{1} << 63;
constexpr unsigned most_left = 16;
constexpr MadeOfAddress mixture{.mixed = true};
constexpr MadeOfAddress shifted_mixture{.mixed = true, .shifted = true};

class AddressUse {
public:
  AddressUse(const ptx::Function& function, const ptx::Module* module)
      : function_(function),
        module_(module),
        registers_(function.registers.size()) {}

  std::optional<std::uint32_t> run() {
    find_heap_results();
    const Cfg cfg(function_);
    entry_.assign(cfg.blocks().size(), Registers(function_.registers.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = 0; b < cfg.blocks().size(); ++b) {
        changed = flow_through(cfg, b) || changed;
      }
    }
    for (std::size_t b = 0; b < cfg.blocks().size(); ++b) {
      registers_ = entry_[b];
      for (std::uint32_t n = cfg.blocks()[b].first; n < cfg.blocks()[b].last; ++n) {
        if (decides(function_.body[n])) {
          return n;
        }
        execute(function_.body[n]);
      }
    }
    return std::nullopt;
  }

private:
  using Registers = std::vector<MadeOfAddress>;

  /// What was there before is gone, except under a guard.
  void execute(const ptx::Instruction& i) {
    const MadeOfAddress result = made_by(i);
    each_register(i, [&](RegisterUse use) {
      if (use.write) {
        MadeOfAddress& made = registers_[use.index];
        made = i.guard ? made : MadeOfAddress();
        made.add(result);
      }
    });
  }

  /// Has anything been new to a block that follows?
  bool flow_through(const Cfg& cfg, std::size_t b) {
    registers_ = entry_[b];
    for (std::uint32_t n = cfg.blocks()[b].first; n < cfg.blocks()[b].last; ++n) {
      execute(function_.body[n]);
    }
    bool is_new = false;
    for (const std::uint32_t to : cfg.blocks()[b].successors) {
      for (std::size_t r = 0; to < entry_.size() && r < registers_.size(); ++r) {
        MadeOfAddress all = entry_[to][r];
        all.add(registers_[r]);
        is_new = is_new || all != entry_[to][r];
        entry_[to][r] = all;
      }
    }
    return is_new;
  }

  /// Parameters in which malloc returns an address.
  void find_heap_results() {
    for (const ptx::Instruction& i : function_.body) {
      const bool is_malloc = effect_of(i).is(ptx::Effect::Kind::Call) &&
                             std::ranges::any_of(i.operands, [](const ptx::Operand& operand) {
                               return operand.name == "malloc";
                             });
      frees_ = frees_ || (effect_of(i).is(ptx::Effect::Kind::Call) &&
                          std::ranges::any_of(i.operands, [](const ptx::Operand& operand) {
                            return operand.name == "free";
                          }));
      if (is_malloc && !i.operands.empty()) {
        for (const ptx::Operand& result : i.operands.front().elements) {
          heap_results_.push_back(result.name);
          of_heap_ |= heap_object(result.name).objects;
        }
      }
    }
  }

  static MadeOfAddress object(std::string_view name, std::uint64_t low) {
    constexpr std::uint64_t most = 63;
    return {
        .objects = std::uint64_t{1} << std::hash<std::string_view>()(name) % most,
        .low = low & aligned_bits
    };
  }
  static MadeOfAddress heap_object(const std::string& name) {
    return object("malloc " + name, aligned_bits_of_heap);
  }
  /// At least 4: atomics of one byte and two, which libcu++ makes of larger ones, ask where in its
  /// word a variable lies, and do the same wherever that is.
  static std::uint64_t alignment_of(const ptx::Variable& v) {
    return std::max<std::uint64_t>(v.align != 0 ? v.align : v.element_bytes(), 4);
  }
  /// A variable of the global or the local space.
  const ptx::Variable* variable(std::string_view name) const {
    const auto is_it = [&](const ptx::Variable& v) {
      return v.name == name && (v.space == ptx::Mod::Local || v.space == ptx::Mod::Global);
    };
    for (const auto* const all :
         {&function_.variables, module_ != nullptr ? &module_->variables : nullptr}) {
      const auto known =
          all != nullptr ? std::ranges::find_if(*all, is_it) : function_.variables.end();
      if (all != nullptr && known != all->end()) {
        return &*known;
      }
    }
    return nullptr;
  }

  MadeOfAddress of(const ptx::Operand& operand) const {
    MadeOfAddress result;
    if (operand.kind == ptx::OperandKind::Register) {
      result = registers_[operand.index];
    }
    for (const ptx::Operand& element : operand.elements) {
      result.add(of(element));
    }
    return result;
  }

  bool loads_heap_result(const ptx::Instruction& i) const {
    return i.opcode == ptx::Opcode::Ld && i.has(ptx::Mod::Param) && i.operands.size() == 2 &&
           i.operands[1].elements.size() == 1 &&
           std::ranges::count(heap_results_, i.operands[1].elements[0].name) != 0;
  }

  /// Only the low bits of it are left.
  static bool is_cut(const ptx::Instruction& i, const MadeOfAddress& all) {
    return i.opcode == ptx::Opcode::And &&
           std::ranges::any_of(i.operands, [&](const ptx::Operand& operand) {
             return operand.kind == ptx::OperandKind::Integer && operand.bits <= all.low
                                                                                     << all.left;
           });
  }
  /// Only they are gone.
  static bool is_rounded(const ptx::Instruction& i, const MadeOfAddress& all) {
    return i.opcode == ptx::Opcode::And &&
           std::ranges::any_of(i.operands, [&](const ptx::Operand& operand) {
             return operand.kind == ptx::OperandKind::Integer && ~operand.bits <= all.low;
           });
  }

  MadeOfAddress made_by(const ptx::Instruction& i) const {
    if (loads_heap_result(i)) {
      return heap_object(i.operands[1].elements[0].name);
    }
    if (!effect_of(i).is(ptx::Effect::Kind::Compute) || i.operands.size() < 2 ||
        i.opcode == ptx::Opcode::Setp) {
      return {};
    }
    MadeOfAddress all;
    for (std::size_t o = 1; o < i.operands.size(); ++o) {
      all.add(of(i.operands[o]));
    }
    if (!all.any() || (is_cut(i, all) && !all.shifted)) {
      return i.opcode == ptx::Opcode::Mov || i.opcode == ptx::Opcode::Cvta ? first_of(i)
                                                                           : MadeOfAddress();
    }
    if (all.shifted) {
      return all;
    }
    const auto at = [&](std::size_t o) {
      return o < i.operands.size() ? of(i.operands[o]) : MadeOfAddress();
    };
    switch (i.opcode) {
    case ptx::Opcode::Mov:
    case ptx::Opcode::Selp:
      return all;
    case ptx::Opcode::Cvta:
      return i.has(ptx::Mod::Global) || i.has(ptx::Mod::Local) ? all : MadeOfAddress();
    case ptx::Opcode::Isspacep:
      return {};
    case ptx::Opcode::Add:
      return at(1).any() && at(2).any() ? difference_or_mixture(at(1), at(2)) : all;
    case ptx::Opcode::Sub:
      return at(2).any() && !at(1).any() ? negated(all)
             : at(2).any()               ? difference(at(1), at(2))
                                         : all;
    case ptx::Opcode::Not:
    case ptx::Opcode::Neg:
      return negated(all);
    case ptx::Opcode::Mad:
      return at(1).any() || at(2).any() ? shifted_mixture : all;
    case ptx::Opcode::Xor:
      return i.operands[2].kind == ptx::OperandKind::Integer && ~i.operands[2].bits == 0
                 ? negated(all)
                 : mixture;
    case ptx::Opcode::Shl:
      return i.operands[2].kind == ptx::OperandKind::Integer && i.operands[2].bits < most_left
                 ? MadeOfAddress{.mixed = true, .left = all.left + static_cast<unsigned>(i.operands[2].bits)}
                 : shifted_mixture;
    case ptx::Opcode::And:
      return is_rounded(i, all) ? all : mixture;
    case ptx::Opcode::Or: // as an addition to what is aligned, or a mark in a low bit
      return at(1).any() && at(2).any() ? mixture : all;
    case ptx::Opcode::Cvt: // to fewer bits
      return mixture;
    default:
      return shifted_mixture;
    }
  }

  /// An address that begins here.
  MadeOfAddress first_of(const ptx::Instruction& i) const {
    const bool converts =
        i.opcode == ptx::Opcode::Cvta && (i.has(ptx::Mod::Global) || i.has(ptx::Mod::Local));
    if (i.operands[1].kind == ptx::OperandKind::Symbol) {
      return i.opcode == ptx::Opcode::Mov || converts ? of_symbol(i) : MadeOfAddress();
    }
    return converts ? MadeOfAddress{.objects = of_unknown_object} : MadeOfAddress();
  }
  static MadeOfAddress negated(MadeOfAddress made) {
    if (made.is_negative()) {
      return mixture;
    }
    made.negative = made.objects != 0;
    return made;
  }
  /// May they be of one object, or is nothing known of either?
  static bool may_be_one(const MadeOfAddress& a, const MadeOfAddress& b) {
    return (a.objects & b.objects) != 0 || ((a.objects | b.objects) & ~of_unknown_object) == 0;
  }
  static MadeOfAddress difference(const MadeOfAddress& a, const MadeOfAddress& b) {
    return a.is_address() && b.is_address() && may_be_one(a, b) ? MadeOfAddress() : mixture;
  }
  static MadeOfAddress difference_or_mixture(const MadeOfAddress& a, const MadeOfAddress& b) {
    const bool is_difference =
        (a.is_address() && b.is_negative()) || (a.is_negative() && b.is_address());
    return is_difference && may_be_one(a, b) ? MadeOfAddress() : mixture;
  }

  MadeOfAddress of_symbol(const ptx::Instruction& i) const {
    const std::string_view name = i.operands[1].name;
    const ptx::Variable* const known = variable(name);
    return known != nullptr ? object(name, alignment_of(*known) - 1) : MadeOfAddress();
  }

  /// Of addresses; what is compared with them is one, too, or zero, or nobody knows what.
  bool comparison_decides(const ptx::Instruction& i) const {
    const ptx::Operand &x = i.operands[1], &y = i.operands[2];
    const MadeOfAddress a = of(x), b = of(y);
    if (a.mixed || b.mixed || a.negative || b.negative) {
      return true;
    }
    const ptx::Operand& other = a.any() ? y : x;
    if (!(a.any() && b.any()) && other.kind == ptx::OperandKind::Integer) {
      return other.bits > aligned_bits;
    }
    const auto how = i.one_of(ptx::Category::Compare);
    const bool is_equality = how && (*how == ptx::Mod::Eq || *how == ptx::Mod::Ne);
    if (is_equality) { // a piece that was freed may be given again
      return frees_ && a.any() && b.any() && a.objects != b.objects &&
             ((a.objects | b.objects) & of_heap_) != 0;
    }
    return a.any() && b.any() && !may_be_one(a, b);
  }

  bool decides(const ptx::Instruction& i) const {
    bool reads = false, reads_mixture = false;
    each_register(i, [&](RegisterUse use) {
      reads = reads || (!use.write && registers_[use.index].any());
      const MadeOfAddress& made = registers_[use.index];
      reads_mixture = reads_mixture || (!use.write && (made.mixed || made.negative));
    });
    if (!reads) {
      return false;
    }
    if ((i.opcode == ptx::Opcode::Setp || i.opcode == ptx::Opcode::Set) && i.operands.size() > 2) {
      return comparison_decides(i);
    }
    if (!reads_mixture) {
      return false;
    }
    const ptx::Effect& effect = effect_of(i);
    if (effect.is(ptx::Effect::Kind::Compute) || effect.is(ptx::Effect::Kind::Hint)) {
      return false;
    }
    if (effect.is(ptx::Effect::Kind::Store) && !i.has(ptx::Mod::Param)) {
      return std::ranges::any_of(i.operands, [&](const ptx::Operand& operand) {
        const MadeOfAddress made = of(operand);
        return operand.kind == ptx::OperandKind::Address && (made.mixed || made.negative);
      });
    }
    return true;
  }

  const ptx::Function& function_;
  const ptx::Module* module_;
  Registers registers_;
  std::vector<Registers> entry_; // of each basic block
  std::vector<std::string_view> heap_results_;
  std::uint64_t of_heap_ = 0; // objects
  bool frees_ = false;
};

} // namespace

std::optional<std::uint32_t>
address_decides(const ptx::Function& function, const ptx::Module* module) {
  return AddressUse(function, module).run();
}

} // namespace heddle::analysis
