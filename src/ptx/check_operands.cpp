#include "ptx/check_operands.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::ptx {
namespace {

class Checker {
public:
  Checker(const Form& form, const Instruction& instruction, const Function& function)
      : form_(form),
        i_(instruction),
        function_(function) {
    for (Mod mod : i_.modifiers) {
      if (mod == Mod::V2 || mod == Mod::V4 || mod == Mod::V8) {
        vector_ = mod == Mod::V2 ? 2 : mod == Mod::V4 ? 4 : 8;
      }
    }
  }

  OperandFailure run() {
    OperandFailure result;
    const bool matched = match(0, 0);
    if (matched) {
      message_.clear(); // of rules that were tried in vain
      furthest_ = 0;
    }
    if (!matched || !negations_fit()) {
      result.failed = true;
      result.operand = furthest_;
      result.message = std::move(message_);
    }
    return result;
  }

private:
  /// Rules from `rule` on against operands from `at` on; backs up over optional operands.
  bool match(std::size_t rule, std::size_t at) {
    if (rule == form_.rules.size()) {
      if (at == i_.operands.size()) {
        return true;
      }
      return refuse(at, count_message());
    }
    const OperandRule& r = form_.rules[rule];
    bool present =
        !r.conditional || std::any_of(i_.modifiers.begin(), i_.modifiers.end(), [&](Mod mod) {
          return r.when[static_cast<std::size_t>(mod)];
        });
    if (!present) {
      return match(rule + 1, at);
    }
    if (at == i_.operands.size()) {
      return r.optional ? match(rule + 1, at) : refuse(at, count_message());
    }
    if (fits(r, i_.operands[at], at) && match(rule + 1, at + 1)) {
      return true;
    }
    return r.optional && match(rule + 1, at);
  }

  std::string count_message() const {
    std::size_t least = 0;
    std::size_t most = 0;
    for (const OperandRule& r : form_.rules) {
      bool present =
          !r.conditional || std::any_of(i_.modifiers.begin(), i_.modifiers.end(), [&](Mod mod) {
            return r.when[static_cast<std::size_t>(mod)];
          });
      most += present ? 1 : 0;
      least += present && !r.optional ? 1 : 0;
    }
    std::string wanted =
        least == most ? std::to_string(most) : fmt::format("{} to {}", least, most);
    return fmt::format(
        "{} takes {} operand{}, not {}",
        text(i_.opcode),
        wanted,
        most == 1 ? "" : "s",
        i_.operands.size()
    );
  }

  /// Keeps the complaint about the operand furthest to the right, the first one of those.
  bool refuse(std::size_t at, std::string message) {
    if (message_.empty() || at > furthest_) {
      furthest_ = at;
      message_ = std::move(message);
    }
    return false;
  }

  bool wrong(std::size_t at, const char* what) {
    return refuse(at, fmt::format("operand {} of {} must be {}", at + 1, text(i_.opcode), what));
  }

  bool not_a_predicate(std::size_t at) {
    return refuse(
        at,
        fmt::format("operand {} of {}: '!' is for predicates", at + 1, text(i_.opcode))
    );
  }

  /// '!' before what is no predicate, wherever it stands: a function, a label, in a list.
  bool negations_fit() {
    const auto fits = [this](const Operand& o) {
      return !o.negated || i_.opcode == Opcode::Vmad ||
             (o.kind == OperandKind::Register && function_.registers[o.index].type == Mod::Pred);
    };
    for (std::size_t at = 0; at < i_.operands.size(); ++at) {
      const Operand& o = i_.operands[at];
      if (!fits(o) || !std::ranges::all_of(o.elements, fits)) {
        return not_a_predicate(at);
      }
    }
    return true;
  }

  int wanted_bits(const OperandRule& r) const {
    switch (r.type_rule) {
    case TypeRule::Any:
      return 0;
    case TypeRule::Fixed:
      return type_bits(r.type);
    case TypeRule::Indexed:
    case TypeRule::Double:
      break;
    }
    auto type = i_.type(r.type_index);
    int bits = type ? type_bits(*type) : 0;
    return r.type_rule == TypeRule::Double ? 2 * bits : bits;
  }

  bool register_fits(const OperandRule& r, const Operand& o, std::size_t at) {
    if (o.part != 0) {
      return true; // a byte or half of it: the video instructions widen
    }
    const Register& reg = function_.registers[o.index];
    int wanted = wanted_bits(r);
    int bits = type_bits(reg.type);
    if (wanted == 0 || bits == wanted) {
      return true;
    }
    if (r.loose && wanted != 1 && bits > wanted) {
      return true;
    }
    if (wanted == 1 || bits == 1) {
      return refuse(
          at,
          fmt::format(
              "operand {} of {}: {} is {} predicate register",
              at + 1,
              text(i_.opcode),
              reg.name,
              bits == 1 ? "a" : "not a"
          )
      );
    }
    return refuse(
        at,
        fmt::format(
            "operand {} of {}: {} is {} bits wide, {}{} wanted",
            at + 1,
            text(i_.opcode),
            reg.name,
            bits,
            wanted,
            r.loose ? " or more" : ""
        )
    );
  }

  bool
  scalar(const OperandRule& r, const Operand& o, std::size_t at, bool constants, bool symbols) {
    bool predicate = wanted_bits(r) == 1;
    if (o.negated && !predicate && i_.opcode != Opcode::Vmad) { // vmad: a minus sign
      return not_a_predicate(at);
    }
    switch (o.kind) {
    case OperandKind::Register:
      return register_fits(r, o, at);
    case OperandKind::Special:
      return constants || wrong(at, "a register");
    case OperandKind::Integer:
      return constants || wrong(at, "a register");
    case OperandKind::Float:
      return (constants && !predicate) || wrong(at, "a register");
    case OperandKind::Symbol:
      return symbols || wrong(at, "a register or a constant, not the name of a variable");
    default:
      return wrong(at, constants ? "a register or a constant" : "a register");
    }
  }

  bool destination(const OperandRule& r, const Operand& o, std::size_t at, bool sink) {
    if (o.kind == OperandKind::Sink && sink) {
      return true;
    }
    return scalar(r, o, at, /*constants=*/false, /*symbols=*/false);
  }

  /// {a, b, …}: each element by `r`, `count` of them (0: any number).
  bool vector(
      const OperandRule& r,
      const Operand& o,
      std::size_t at,
      std::size_t count,
      bool constants
  ) {
    if (count != 0 && o.elements.size() != count) {
      return refuse(
          at,
          fmt::format(
              "operand {} of {}: {} elements, not {}",
              at + 1,
              text(i_.opcode),
              count,
              o.elements.size()
          )
      );
    }
    for (const Operand& element : o.elements) {
      bool good =
          element.kind == OperandKind::Sink || scalar(r, element, at, constants, /*symbols=*/false);
      if (!good) {
        return false;
      }
    }
    return !o.elements.empty() || wrong(at, "a vector that is not empty");
  }

  /// mov.b32 {a, b}, c: the elements share the width evenly.
  bool pack(const OperandRule& r, const Operand& o, std::size_t at, bool constants) {
    int wanted = wanted_bits(r);
    auto count = static_cast<int>(o.elements.size());
    if (count < 2 || wanted % count != 0) {
      return wrong(at, "a vector of 2, 4 or 8 elements");
    }
    OperandRule part = r;
    part.type_rule = TypeRule::Any;
    for (const Operand& element : o.elements) {
      if (element.kind == OperandKind::Sink) {
        continue;
      }
      if (!scalar(part, element, at, constants, /*symbols=*/false)) {
        return false;
      }
      if (element.kind == OperandKind::Register) {
        const Register& reg = function_.registers[element.index];
        if (type_bits(reg.type) * count != wanted) {
          return refuse(
              at,
              fmt::format(
                  "operand {} of {}: {} is {} bits wide, {} wanted",
                  at + 1,
                  text(i_.opcode),
                  reg.name,
                  type_bits(reg.type),
                  wanted / count
              )
          );
        }
      }
    }
    return true;
  }

  /// v: registers in any number and width; matrix fragments.
  bool fragment(const Operand& o, std::size_t at) {
    auto element_fits = [](const Operand& e) {
      return e.kind == OperandKind::Register || e.kind == OperandKind::Sink ||
             e.kind == OperandKind::Integer || e.kind == OperandKind::Float ||
             e.kind == OperandKind::Special;
    };
    if (o.kind == OperandKind::Vector) {
      return std::all_of(o.elements.begin(), o.elements.end(), element_fits) ||
             wrong(at, "a vector of registers");
    }
    return element_fits(o) || wrong(at, "a register or a vector of registers");
  }

  bool address(const Operand& o, std::size_t at, bool texture) {
    if (o.kind != OperandKind::Address) {
      return wrong(at, "an address in [ ]");
    }
    if (!texture && o.elements.size() != 1) {
      return wrong(at, "an address of one element");
    }
    const Operand& base = o.elements.front();
    if (base.kind == OperandKind::Register) {
      int bits = type_bits(function_.registers[base.index].type);
      if (bits != 32 && bits != 64) {
        return refuse(
            at,
            fmt::format(
                "operand {} of {}: {} is {} bits wide, an address has 32 or 64",
                at + 1,
                text(i_.opcode),
                function_.registers[base.index].name,
                bits
            )
        );
      }
    }
    return true;
  }

  bool pair(const OperandRule& r, const Operand& o, std::size_t at, bool both_predicates) {
    OperandRule predicate = r;
    predicate.type_rule = TypeRule::Fixed;
    predicate.type = Mod::Pred;
    const OperandRule& first = both_predicates ? predicate : r;
    if (o.kind == OperandKind::PredicatePair) {
      return destination(first, o.elements[0], at, /*sink=*/true) &&
             destination(predicate, o.elements[1], at, /*sink=*/true);
    }
    return destination(first, o, at, /*sink=*/!both_predicates);
  }

  bool fits(const OperandRule& r, const Operand& o, std::size_t at) {
    switch (r.kind) {
    case 'd':
      return destination(r, o, at, /*sink=*/false);
    case 'o':
      return destination(r, o, at, /*sink=*/true);
    case 'e':
      return pair(r, o, at, /*both_predicates=*/false);
    case 'p':
      return pair(r, o, at, /*both_predicates=*/true);
    case 'a':
      return scalar(r, o, at, /*constants=*/true, /*symbols=*/false);
    case 's':
      return scalar(r, o, at, /*constants=*/true, /*symbols=*/true);
    case 'r':
      return scalar(r, o, at, /*constants=*/false, /*symbols=*/false);
    case 'i':
      return o.kind == OperandKind::Integer || wrong(at, "an integer constant");
    case 'k':
      return o.kind == OperandKind::Vector ? pack(r, o, at, /*constants=*/false)
                                           : destination(r, o, at, /*sink=*/false);
    case 'K':
      return o.kind == OperandKind::Vector ? pack(r, o, at, /*constants=*/true)
                                           : scalar(r, o, at, /*constants=*/true, /*symbols=*/true);
    case 'D':
    case 'S': {
      bool constants = r.kind == 'S';
      if (vector_ != 0) {
        if (o.kind == OperandKind::Special && constants) {
          return true; // mov.v4.u32 {…}, %tid
        }
        return o.kind == OperandKind::Vector ? vector(r, o, at, vector_, constants)
                                             : wrong(at, "a vector { }");
      }
      // A vector of one element is written with and without braces.
      return o.kind == OperandKind::Vector && o.elements.size() == 1
                 ? vector(r, o, at, 1, constants)
                 : scalar(r, o, at, constants, /*symbols=*/false);
    }
    case 'v':
      return fragment(o, at);
    case 'w': {
      if (o.kind != OperandKind::PredicatePair) {
        return fragment(o, at);
      }
      OperandRule predicate = r;
      predicate.type_rule = TypeRule::Fixed;
      predicate.type = Mod::Pred;
      return fragment(o.elements[0], at) &&
             destination(predicate, o.elements[1], at, /*sink=*/true);
    }
    case 'm':
      return address(o, at, /*texture=*/false);
    case 'M':
      return address(o, at, /*texture=*/true);
    case 'l':
      return o.kind == OperandKind::Label || wrong(at, "a label");
    case 'f':
      return o.kind == OperandKind::Symbol || o.kind == OperandKind::Register ||
             wrong(at, "a function or a register");
    case 'L':
      return o.kind == OperandKind::List || wrong(at, "a list in ( )");
    case 'T':
      return o.kind == OperandKind::Symbol || wrong(at, "the name of a target list or prototype");
    default:
      return true;
    }
  }

  const Form& form_;
  const Instruction& i_;
  const Function& function_;
  std::size_t vector_ = 0; // N of .vN
  std::size_t furthest_ = 0;
  std::string message_;
};

} // namespace

OperandFailure
check_operands(const Form& form, const Instruction& instruction, const Function& function) {
  return Checker(form, instruction, function).run();
}

std::uint16_t encode_selector(bool half, std::string_view digits) {
  if (digits.size() == 1 && digits[0] < (half ? '2' : '4')) {
    return static_cast<std::uint16_t>(digits[0] - '0' + (half ? 5 : 1));
  }
  std::uint32_t packed = 0;
  for (char c : digits) {
    packed = packed << 3 | static_cast<std::uint32_t>(c - '0');
  }
  return static_cast<std::uint16_t>(
      0x8000U | (half ? 0x4000U : 0U) | static_cast<std::uint32_t>(digits.size() - 1) << 12 | packed
  );
}

std::string selector_text(std::uint16_t part) {
  if (part == 0) {
    return "";
  }
  if ((part & 0x8000U) == 0) {
    return part < 5 ? fmt::format(".b{}", part - 1) : fmt::format(".h{}", part - 5);
  }
  std::string result = (part & 0x4000U) != 0 ? ".h" : ".b";
  for (int digit = part >> 12 & 3; digit >= 0; --digit) {
    result += static_cast<char>('0' + (part >> (3 * digit) & 7));
  }
  return result;
}

} // namespace heddle::ptx
