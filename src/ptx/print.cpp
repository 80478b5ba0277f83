// print(): a Module as PTX text that parses to an equal Module.
//
// Scopes have been flattened by the parser, so every name of a function is declared at its top.
// Source locations are written as .loc directives, names of inlined functions as a .debug_str
// section.
#include "ptx/check_operands.h"
#include "ptx/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <set>

namespace heddle::ptx {
namespace {

/// For a string: what would end it, or be read as something else, behind a backslash.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '"' || c == '\\' ? "\\" : "";
    result += c;
  }
  return result;
}

class Printer {
public:
  explicit Printer(const Module& module) : module_(module) {}

  /// With the bodies of functions that are wanted; the others are only declared.
  std::string module(const std::function<bool(const Function&)>& wanted) {
    line(".version {}.{}", module_.version_major, module_.version_minor);
    std::string target = module_.target;
    for (const std::string& option : module_.target_options) {
      target += ", " + option;
    }
    if (!target.empty()) {
      line(".target {}", target);
    }
    line(".address_size {}", module_.address_size);
    for (const std::string& pragma : module_.pragmas) {
      line(".pragma \"{}\";", pragma);
    }
    // The numbers of files are kept in an unordered map; the text must not depend on its order.
    for (const auto& [index, path] :
         std::map<std::uint32_t, std::string>(module_.files.begin(), module_.files.end())) {
      line(".file {} \"{}\"", index, escaped(path));
    }
    for (const auto& function : module_.functions) {
      if (!function->entry || !function->defined || !wanted(*function)) {
        header(*function);
        out_ += ";\n";
      }
    }
    for (const Variable& variable : module_.variables) {
      declaration(variable);
      out_ += ";\n";
    }
    for (const auto& function : module_.functions) {
      if (function->defined && wanted(*function)) {
        definition(*function);
      }
    }
    for (const Alias& alias : module_.aliases) {
      line(".alias {}, {};", alias.name, alias.aliasee);
    }
    debug_strings();
    return std::move(out_);
  }

  std::string instruction(const Function& function, const Instruction& i) {
    function_ = &function;
    print_instruction(i);
    return std::move(out_);
  }

private:
  template <class... Args> void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    add(format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  // --- Variables

  static std::string_view linkage_text(Linkage linkage) {
    switch (linkage) {
    case Linkage::Internal:
      return "";
    case Linkage::Visible:
      return ".visible ";
    case Linkage::Extern:
      return ".extern ";
    case Linkage::Weak:
      return ".weak ";
    case Linkage::Common:
      return ".common ";
    }
    return "";
  }

  /// Everything but the initialiser and the semicolon.
  void declaration_head(const Variable& v) {
    add("{}.{}", linkage_text(v.linkage), text(v.space));
    for (const std::string& attribute : v.attributes) {
      if (attribute[0] != '.' && attribute[0] != '=') {
        add(" .attribute(.{})", attribute);
      }
    }
    if (v.align != 0) {
      add(" .align {}", v.align);
    }
    if (v.vector != 1) {
      add(" .v{}", v.vector);
    }
    add(" .{}", text(v.type));
    for (const std::string& attribute : v.attributes) {
      if (attribute[0] == '.') { // .ptr …
        add(" {}", attribute);
      }
    }
    add(" {}", v.name);
    for (std::uint64_t extent : v.extents) {
      if (extent == 0) {
        out_ += "[]";
      } else {
        add("[{}]", extent);
      }
    }
  }

  void declaration(const Variable& v) {
    declaration_head(v);
    if (!v.has_init) {
      return;
    }
    for (const std::string& attribute : v.attributes) {
      if (attribute[0] == '=') { // sampler state, kept as text
        add(" = {{{}}}", attribute.substr(1));
        return;
      }
    }
    bool braces = !v.extents.empty() || v.vector != 1;
    out_ += braces ? " = {" : " = ";
    std::uint64_t bytes = std::max<std::uint64_t>(1, v.element_bytes() / v.vector);
    std::size_t symbol = 0;
    for (std::uint64_t at = 0; at + bytes <= v.init.size(); at += bytes) {
      if (at != 0) {
        out_ += ", ";
      }
      if (symbol < v.symbols.size() && v.symbols[symbol].byte_offset == at) {
        symbol_init(v.symbols[symbol++]);
      } else {
        element(v, at, bytes);
      }
    }
    out_ += braces ? "}" : "";
  }

  void element(const Variable& v, std::uint64_t at, std::uint64_t bytes) {
    std::uint64_t bits = 0;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(bytes, 8); ++i) {
      bits |= std::uint64_t{v.init[at + i]} << (8 * i);
    }
    switch (v.type) {
    case Mod::F32:
      add("0f{:08X}", bits);
      break;
    case Mod::F64:
      add("0d{:016X}", bits);
      break;
    case Mod::F16:
    case Mod::Bf16:
      add("0d{:016X}", widen(bits, v.type == Mod::F16 ? 5 : 8, v.type == Mod::F16 ? 10 : 7));
      break;
    default:
      // 128-bit elements are sign extended from what is written here.
      if (bytes > 8 && v.init[at + 8] != 0) {
        add("{}", static_cast<std::int64_t>(bits));
      } else {
        add("{}{}", bits, bytes > 8 && bits >> 63 != 0 ? "U" : "");
      }
    }
  }

  /// A small float format as the bits of a double; exact.
  static std::uint64_t widen(std::uint64_t bits, int exponent_bits, int mantissa_bits) {
    std::uint64_t sign = bits >> (exponent_bits + mantissa_bits) & 1;
    std::uint64_t mask = (1ULL << exponent_bits) - 1;
    std::uint64_t exponent = bits >> mantissa_bits & mask;
    std::uint64_t mantissa = bits & ((1ULL << mantissa_bits) - 1);
    std::uint64_t bias = (1ULL << (exponent_bits - 1)) - 1;
    if (exponent == mask) {
      return sign << 63 | 0x7ffULL << 52 | mantissa << (52 - mantissa_bits);
    }
    if (exponent == 0 && mantissa == 0) {
      return sign << 63;
    }
    if (exponent == 0) {
      exponent = 1;
      while ((mantissa >> mantissa_bits) == 0) {
        mantissa <<= 1;
        --exponent; // wraps below 0 and comes back with the bias
      }
      mantissa &= (1ULL << mantissa_bits) - 1;
    }
    return sign << 63 | (exponent + 1023 - bias) << 52 | mantissa << (52 - mantissa_bits);
  }

  void symbol_init(const SymbolInit& init) {
    if (init.mask != ~0ULL) {
      add("0x{:X}(", init.mask);
    }
    out_ += init.generic ? "generic(" + init.symbol + ")" : init.symbol;
    if (init.addend != 0) {
      add("{}{}", init.addend > 0 ? "+" : "", init.addend);
    }
    if (init.mask != ~0ULL) {
      out_ += ')';
    }
  }

  // --- Functions

  void formals(const std::vector<Variable>& list) {
    out_ += '(';
    for (std::size_t i = 0; i < list.size(); ++i) {
      out_ += i == 0 ? "" : ", ";
      declaration_head(list[i]);
    }
    out_ += ')';
  }

  void dimensions(std::string_view name, const std::uint32_t (&d)[3]) {
    if (d[0] != 0 || d[1] != 0 || d[2] != 0) {
      add("\n.{} {}, {}, {}", name, d[0], d[1], d[2]);
    }
  }

  void header(const Function& f) {
    add("{}{} ", linkage_text(f.linkage), f.entry ? ".entry" : ".func");
    for (const std::string& directive : f.directives) {
      if (is_attribute(directive)) {
        add(".attribute(.{}) ", directive);
      }
    }
    if (!f.returns.empty()) {
      formals(f.returns);
      out_ += ' ';
    }
    out_ += f.name;
    formals(f.parameters);
    if (f.noreturn) {
      out_ += " .noreturn";
    }
    dimensions("maxntid", f.max_ntid);
    dimensions("reqntid", f.req_ntid);
    dimensions("reqnctapercluster", f.req_cluster);
    if (f.explicit_cluster) {
      out_ += "\n.explicitcluster";
    }
    for (auto [name, value] :
         {std::pair("maxclusterrank", f.max_cluster_rank),
          std::pair("minnctapersm", f.min_nctapersm),
          std::pair("maxnreg", f.max_nreg)}) {
      if (value != 0) {
        add("\n.{} {}", name, value);
      }
    }
    for (const std::string& directive : f.directives) {
      if (!is_attribute(directive)) {
        add("\n.{}", directive);
      }
    }
  }

  static bool is_attribute(std::string_view directive) {
    return directive.starts_with("managed") || directive.starts_with("unified");
  }

  static std::string_view stem_of(std::string_view name) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') {
      name.remove_suffix(1);
    }
    return name;
  }

  /// Runs %r0 %r1 … of one type as %r<n>, unless the parser could take another name for one of
  /// them.
  void registers(const Function& f) {
    std::size_t first = 0; // formal parameters in register space come first
    std::set<std::string, std::less<>> stems;
    for (const auto* list : {&f.returns, &f.parameters}) {
      for (const Variable& v : *list) {
        first += v.space == Mod::Reg ? 1 : 0;
        stems.emplace(stem_of(v.name));
      }
    }
    for (std::size_t r = first; r < f.registers.size();) {
      const Register& reg = f.registers[r];
      std::string_view prefix(reg.name.data(), reg.name.empty() ? 0 : reg.name.size() - 1);
      std::size_t count = 0;
      // "%", "_" and "$" alone are no names (PTX ISA, Identifiers): "%0" is one.
      const bool is_name = prefix.size() > 1 || prefix.find_first_of("%_$") != 0;
      if (!prefix.empty() && is_name && reg.name.back() == '0' && stem_of(reg.name) == prefix &&
          stems.find(prefix) == stems.end()) {
        while (r + count < f.registers.size() && f.registers[r + count].type == reg.type &&
               f.registers[r + count].name == fmt::format("{}{}", prefix, count)) {
          ++count;
        }
      }
      if (count != 0) {
        line("\t.reg .{} {}<{}>;", text(reg.type), prefix, count);
        r += count;
      } else {
        line("\t.reg .{} {};", text(reg.type), reg.name);
        stems.emplace(stem_of(reg.name));
        ++r;
      }
    }
  }

  void definition(const Function& f) {
    function_ = &f;
    location_ = Instruction::no_location;
    header(f);
    out_ += "\n{\n";
    for (const std::string& pragma : f.pragmas) {
      line("\t.pragma \"{}\";", pragma);
    }
    registers(f);
    for (const Variable& v : f.variables) {
      out_ += '\t';
      declaration(v);
      out_ += ";\n";
    }
    for (const CallPrototype& p : f.prototypes) {
      add("{}: .callprototype ", p.name);
      if (!p.returns.empty()) {
        formals(p.returns);
        out_ += ' ';
      }
      out_ += "_ ";
      formals(p.parameters);
      out_ += p.noreturn ? " .noreturn;\n" : ";\n";
    }
    for (const TargetList& list : f.targets) {
      add("{}: .{} ", list.name, list.labels.empty() ? "calltargets" : "branchtargets");
      for (std::size_t i = 0; i < list.targets.size(); ++i) {
        add("{}{}", i == 0 ? "" : ", ", list.targets[i]);
      }
      out_ += ";\n";
    }
    std::size_t label = 0;
    for (std::size_t i = 0; i <= f.body.size(); ++i) {
      for (; label < f.labels.size() && f.labels[label].instruction == i; ++label) {
        line("{}:", f.labels[label].name);
      }
      if (i == f.body.size()) {
        break;
      }
      const Instruction& instruction = f.body[i];
      if (instruction.location != location_ && instruction.location != Instruction::no_location) {
        print_location(instruction.location);
        location_ = instruction.location;
      }
      out_ += '\t';
      print_instruction(instruction);
      out_ += '\n';
    }
    out_ += "}\n";
  }

  // --- Source locations

  /// The chain of calls first: inlined_at means the latest .loc of that place.
  void print_location(std::uint32_t index) {
    const SourceLocation& location = module_.source_locations[index];
    if (location.inlined_at) {
      print_location(*location.inlined_at);
    }
    add("\t.loc {} {} {}", location.file, location.line, location.column);
    if (location.inlined_at) {
      const SourceLocation& call = module_.source_locations[*location.inlined_at];
      auto [entry, added] = strings_.try_emplace(location.function, strings_.size());
      if (added) {
        string_order_.push_back(location.function);
      }
      add(", function_name $L__info_string{}, inlined_at {} {} {}",
          entry->second,
          call.file,
          call.line,
          call.column);
    }
    out_ += '\n';
  }

  void debug_strings() {
    if (string_order_.empty()) {
      return;
    }
    out_ += ".section .debug_str\n{\n";
    for (std::size_t i = 0; i < string_order_.size(); ++i) {
      add("$L__info_string{}:\n.b8 ", i);
      for (char c : string_order_[i]) {
        add("{}, ", static_cast<unsigned>(static_cast<unsigned char>(c)));
      }
      out_ += "0\n";
    }
    out_ += "}\n";
  }

  // --- Instructions

  void print_instruction(const Instruction& i) {
    if (i.guard) {
      add("@{}{} ",
          i.guard->negated ? "!" : "",
          function_->registers[i.guard->register_index].name);
    }
    out_ += text(i.opcode);
    for (Mod mod : i.modifiers) {
      out_ += '.';
      out_ += text(mod);
    }
    for (std::size_t o = 0; o < i.operands.size(); ++o) {
      out_ += o == 0 ? " " : ", ";
      operand(i.operands[o]);
    }
    out_ += ';';
  }

  void list(const std::vector<Operand>& elements) {
    for (std::size_t e = 0; e < elements.size(); ++e) {
      out_ += e == 0 ? "" : ", ";
      operand(elements[e]);
    }
  }

  void offset(std::int64_t value) {
    if (value != 0) {
      add("{}{}", value > 0 ? "+" : "", value);
    }
  }

  void operand(const Operand& o) {
    if (o.negated) { // a number with a sign: vmad
      const bool number =
          o.kind == OperandKind::Register && function_->registers[o.index].type != Mod::Pred;
      out_ += number ? '-' : '!';
    }
    switch (o.kind) {
    case OperandKind::Register:
      out_ += function_->registers[o.index].name;
      out_ += selector_text(o.part);
      break;
    case OperandKind::Special:
      out_ += o.name;
      break;
    case OperandKind::Symbol:
      out_ += o.name;
      offset(o.offset);
      break;
    case OperandKind::Integer:
      add("{}", static_cast<std::int64_t>(o.bits));
      break;
    case OperandKind::Float:
      if (o.float_bits == 32) {
        add("0f{:08X}", o.bits);
      } else {
        add("0d{:016X}", o.bits);
      }
      break;
    case OperandKind::Label:
      out_ += function_->labels[o.index].name;
      break;
    case OperandKind::Address:
      out_ += '[';
      operand(o.elements.front());
      offset(o.offset);
      for (std::size_t e = 1; e < o.elements.size(); ++e) {
        out_ += ", ";
        operand(o.elements[e]);
      }
      out_ += ']';
      break;
    case OperandKind::Vector:
      out_ += '{';
      list(o.elements);
      out_ += '}';
      break;
    case OperandKind::Sink:
      out_ += '_';
      break;
    case OperandKind::PredicatePair:
      operand(o.elements[0]);
      out_ += '|';
      operand(o.elements[1]);
      break;
    case OperandKind::List:
      out_ += '(';
      list(o.elements);
      out_ += ')';
      break;
    }
  }

  const Module& module_;
  const Function* function_ = nullptr;
  std::uint32_t location_ = Instruction::no_location;
  std::map<std::string, std::size_t> strings_;
  std::vector<std::string> string_order_;
  std::string out_;
};

} // namespace

std::string print(const Module& module) {
  return Printer(module).module([](const Function&) { return true; });
}

std::string print_alone(const Module& module, const Function& function) {
  return Printer(module).module([&function](const Function& f) { return &f == &function; });
}

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  return Printer(module).instruction(function, instruction);
}

} // namespace heddle::ptx
