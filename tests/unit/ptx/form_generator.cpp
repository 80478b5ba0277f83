#include "form_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heddle::ptx {
namespace {

struct Choice {
  std::vector<std::optional<Mod>> mods; // by slot
  bool optional_operands = false;

  bool has(const ModSet& set) const {
    return std::any_of(mods.begin(), mods.end(), [&](const auto& mod) {
      return mod && set[static_cast<std::size_t>(*mod)];
    });
  }
  int type_bits_of(int n) const {
    for (const auto& mod : mods) {
      if (mod && category(*mod) == Category::Type && n-- == 0) {
        return type_bits(*mod);
      }
    }
    return 0;
  }
  int vector() const {
    for (const auto& mod : mods) {
      if (mod == Mod::V2 || mod == Mod::V4 || mod == Mod::V8) {
        return mod == Mod::V2 ? 2 : mod == Mod::V4 ? 4 : 8;
      }
    }
    return 0;
  }
};

class OperandWriter {
public:
  OperandWriter(Opcode opcode, const Choice& choice) : opcode_(opcode), choice_(choice) {}

  std::string operand(const OperandRule& rule) {
    int bits = wanted_bits(rule);
    switch (rule.kind) {
    case 'd':
    case 'o':
    case 'a':
    case 's':
    case 'r':
    case 'k':
    case 'K':
      return reg(bits);
    case 'e':
      return reg(bits) + "|" + reg(1);
    case 'p':
      return reg(1) + "|" + reg(1);
    case 'i':
      return opcode_ == Opcode::Cp ? "16" : "0"; // the one size all copies know
    case 'D':
    case 'S': {
      int count = choice_.vector();
      return count == 0 ? reg(bits) : list(count, bits);
    }
    case 'm':
      return "[" + reg(64) + "+16]";
    case 'M':
      return "[" + reg(64) + ", " + list(2, 32) + "]";
    case 'v':
      return list(4, 32);
    case 'w':
      return list(4, 32) + "|" + reg(1);
    case 'l':
      return "Target";
    case 'f':
      return "callee";
    case 'L':
      return "()";
    case 'T':
      return "Targets";
    default:
      return reg(64);
    }
  }

private:
  int wanted_bits(const OperandRule& rule) const {
    switch (rule.type_rule) {
    case TypeRule::Any:
      return 64;
    case TypeRule::Fixed:
      return type_bits(rule.type);
    case TypeRule::Double:
      return 2 * choice_.type_bits_of(0);
    case TypeRule::Indexed:
      break;
    }
    return choice_.type_bits_of(rule.type_index);
  }

  std::string reg(int bits) {
    // Nothing is declared narrower than a byte, except predicates.
    int width = bits == 0 ? 32 : bits == 1 ? 1 : std::max(bits, 8);
    return fmt::format("%w{}_{}", width, next_++ % 8);
  }

  std::string list(int count, int bits) {
    std::string result = "{";
    for (int i = 0; i < count; ++i) {
      result += (i == 0 ? "" : ", ") + reg(bits);
    }
    return result + "}";
  }

  Opcode opcode_;
  const Choice& choice_;
  int next_ = 0;
};

std::string write(const Form& form, const Choice& choice) {
  std::string result(text(form.opcode));
  for (const auto& mod : choice.mods) {
    if (mod) {
      result += "." + std::string(text(*mod));
    }
  }
  OperandWriter writer(form.opcode, choice);
  bool first = true;
  for (const OperandRule& rule : form.rules) {
    bool present =
        rule.conditional ? choice.has(rule.when) : !rule.optional || choice.optional_operands;
    if (present) {
      result += (first ? " " : ", ") + writer.operand(rule);
      first = false;
    }
  }
  return result + ";";
}

std::vector<Mod> members(const Slot& slot) {
  std::vector<Mod> result;
  for (std::size_t m = 0; m < modifier_count; ++m) {
    if (slot.accepts[m]) {
      result.push_back(static_cast<Mod>(m));
    }
  }
  return result;
}

} // namespace

std::string generated_declarations() {
  return "\t.reg .pred %w1_<8>;\n\t.reg .b8 %w8_<8>;\n\t.reg .b16 %w16_<8>;\n\t.reg .b32 "
         "%w32_<8>;\n"
         "\t.reg .b64 %w64_<8>;\n\t.reg .b128 %w128_<8>;\n"
         "Targets: .branchtargets Target;\n";
}

std::string generated_labels() {
  return "Target:\n\tret;\n";
}

std::vector<std::string> generate(const Form& form) {
  std::vector<std::string> result;
  Choice bare;
  Choice full;
  full.optional_operands = true;
  for (const Slot& slot : form.slots) {
    Mod first = members(slot).front();
    bare.mods.push_back(slot.optional ? std::nullopt : std::optional(first));
    full.mods.emplace_back(first);
  }
  result.push_back(write(form, bare));
  bare.optional_operands = true;
  result.push_back(write(form, bare));
  result.push_back(write(form, full));
  for (std::size_t s = 0; s < form.slots.size(); ++s) {
    for (Mod mod : members(form.slots[s])) {
      for (const Choice* base : {&bare, &full}) {
        Choice choice = *base;
        choice.mods[s] = mod;
        // What is written together comes together.
        for (std::size_t t = s; t > 0 && form.slots[t].after_previous; --t) {
          choice.mods[t - 1] = full.mods[t - 1];
        }
        for (std::size_t t = s + 1; t < form.slots.size() && form.slots[t].after_previous; ++t) {
          choice.mods[t] = full.mods[t];
        }
        result.push_back(write(form, choice));
      }
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace heddle::ptx
