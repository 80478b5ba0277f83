// The parser's state, private to src/ptx. Public entry: parse.h.
//
// Recursive descent over the Lexer's tokens; functions return false after fail() has recorded the
// first error. Statements and scopes are handled iteratively, so input cannot exhaust the stack:
// only constant expressions and nested lists recurse, to a fixed depth.
//
// Checks: every name is declared, labels are unique, instructions match a row of opcode.def (number
// and kind of operands, register widths). Not checked (accepted where ptxas would refuse): the
// target architecture and PTX version an instruction needs, agreement of signedness and float-ness
// of registers with the instruction's type, ranges of immediates, alignment of constant offsets.
#pragma once

#include "base/result.h"
#include "ptx/form.h"
#include "ptx/lexer.h"
#include "ptx/module.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heddle::ptx {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};
using StringSet = std::unordered_set<std::string, StringHash, std::equal_to<>>;
template <class T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

/// What a name stands for inside a function.
struct Entity {
  enum class Kind : std::uint8_t {
    Register,
    VectorRegister,
    Variable,
    Label,
    Targets,
    Prototype
  };
  Kind kind{};
  std::uint8_t width = 1;  // of a VectorRegister
  std::uint32_t index = 0; // first register, variable (see variable_name), label …
};

/// Names of one function: nested scopes, parameterised registers, unique names for the flat lists.
class Names {
public:
  void reset();
  void open_scope();
  void close_scope();
  std::size_t depth() const { return marks_.size(); }

  /// False: the name is already declared in the innermost scope.
  bool bind(std::string_view name, Entity entity);
  /// `prefix<count>`: registers prefix0 … from index `first` on. False: already declared here.
  bool bind_range(std::string_view prefix, std::uint32_t count, std::uint32_t first);
  const Entity* find(std::string_view name);
  /// Declared in the innermost scope itself?
  const Entity* find_here(std::string_view name);

  /// A name for the flat lists of the function: `name`, or a variant nobody else has.
  std::string unique(std::string_view name);
  /// The same for a prefix of `count` registers.
  std::string unique_prefix(std::string_view prefix, std::uint32_t count);

private:
  struct Binding {
    std::string_view name;
    Entity entity;
    std::uint32_t scope = 0;
    std::uint32_t previous = 0; // binding + 1 that this one hides
  };
  struct Range {
    std::string_view prefix;
    std::uint32_t count = 0;
    std::uint32_t first = 0;
    std::uint32_t scope = 0;
  };
  struct Mark {
    std::uint32_t bindings = 0;
    std::uint32_t ranges = 0;
  };
  bool taken(std::string_view name) const;

  std::vector<Binding> bindings_;
  std::vector<Range> ranges_;
  std::vector<Mark> marks_;
  std::unordered_map<std::string_view, std::uint32_t> heads_; // binding + 1
  std::uint32_t numbered_ = 0; // bindings whose names end in a digit and start with %
  Entity found_;
  StringSet flat_;                         // names in use
  StringMap<std::uint32_t> flat_prefixes_; // prefixes in use → count
  StringMap<std::uint32_t> stems_;         // names in use that end in digits, without the digits
  StringMap<std::uint32_t> next_suffix_;
};

class Parser {
public:
  Parser(std::string_view text, std::string_view name);
  Result<std::unique_ptr<Module>> run();

private:
  // --- Errors (parser.cpp)
  bool fail(std::uint32_t offset, std::string message);
  bool fail_here(std::string message); // at the current token; says what was found
  bool expect(char punctuation, const char* where);
  bool expect_word(std::string_view* word, const char* what);
  std::string found() const; // words for the current token
  TextPosition position(const Token& token) const;

  // --- Module level (parse_module.cpp)
  bool module();
  bool module_statement();
  bool version();
  bool target();
  bool pragma(std::vector<std::string>& list);
  bool file_directive();
  bool section();
  bool debug_strings();
  bool alias();
  bool finish_module();
  bool declare_module_variable(Variable variable, std::uint32_t offset);
  void use_module_name(std::string_view name, std::uint32_t offset);

  // --- Variables (parse_variable.cpp)
  struct Declared {
    std::string_view name;
    std::uint32_t offset = 0;
  };
  /// One or more variables after their space word has been taken: ".align 4 .b8 x[4] = {…}, y;".
  bool variable_declaration(
      Mod space,
      Linkage linkage,
      std::vector<std::string> attributes,
      const std::function<bool(Variable, const Token&)>& sink
  );
  bool variable_type(Variable& variable);
  bool variable_attributes(std::vector<std::string>& attributes);
  bool extents(Variable& variable);
  bool initialiser(Variable& variable);
  bool initialiser_list(
      Variable& variable,
      std::span<const std::uint64_t> shape,
      std::uint64_t first,
      int depth
  );
  bool initialiser_element(Variable& variable, std::uint64_t index);
  bool initialiser_symbol(SymbolInit& init, int depth);
  bool parameters(std::vector<Variable>& list, bool prototype);
  bool parameter(std::vector<Variable>& list, bool prototype);
  bool sampler_initialiser(Variable& variable);

  // --- Constants (parse_constant.cpp)
  struct Constant {
    bool is_float = false;
    bool is_unsigned = false;
    std::uint8_t float_bits = 0;
    std::uint64_t bits = 0;
  };
  bool constant(Constant& value);
  bool constant_ternary(Constant& value, int depth);
  bool constant_binary(Constant& value, int min_level, int depth);
  bool constant_unary(Constant& value, int depth);
  bool integer(std::uint64_t& value, const char* what); // not negative
  bool count(std::uint32_t& value);
  bool small_integer(std::uint32_t& value, const char* what);

  // --- Functions (parse_function.cpp)
  bool function(Linkage linkage, bool entry);
  bool function_directives(Function& function);
  bool dimensions(std::uint32_t (&out)[3]);
  bool add_function(std::unique_ptr<Function> function, std::uint32_t offset);
  bool bind_formals();
  bool body();
  bool statement();
  bool body_directive();
  bool registers();
  bool declare_register(const Token& name, Type type, std::uint32_t vector);
  bool local_variables(Mod space, Linkage linkage);
  bool label(std::string_view name, std::uint32_t offset);
  bool target_list(std::string_view name, std::uint32_t offset, bool branches);
  bool prototype(std::string_view name, std::uint32_t offset);
  bool close_scope();
  bool resolve_label_uses(bool outermost);
  bool location();

  // --- Instructions (parse_instruction.cpp)
  struct Decoded {
    Opcode opcode{};
    std::vector<Mod> modifiers;
    std::vector<const Form*> forms; // whose modifiers match
  };
  bool guarded_instruction();
  bool instruction(
      std::string_view word,
      std::uint32_t offset,
      TextPosition at,
      std::optional<Guard> guard
  );
  const Decoded* decode(std::string_view word, std::uint32_t offset);
  bool refuse_modifiers(std::string_view word, std::uint32_t offset, const Decoded& decoded);
  bool operands(Instruction& instruction);
  bool operand(Operand& out, int depth);
  bool operand_name(Operand& out);
  bool pair(Operand& first, int depth);
  bool operand_constant(Operand& out);
  bool operand_list(std::vector<Operand>& out, char close, int depth);
  bool address(Operand& out, int depth);
  bool selector(Operand& out);
  bool choose_form(Instruction& instruction, const Decoded& decoded, std::uint32_t offset);

  struct LabelUse {
    std::string_view name;
    std::uint32_t offset = 0;
    std::uint32_t instruction = 0; // body index, or target list | from_list
    std::uint32_t operand = 0;
    bool from_list = false;
  };

  Lexer lexer_;
  std::string name_;
  std::optional<std::string> error_;
  std::unique_ptr<Module> module_;

  // Module level
  struct ModuleName {
    bool function = false;
    std::uint32_t index = 0;
  };
  StringMap<ModuleName> module_names_;
  std::vector<Declared> module_uses_; // names to be found among module_names_ in the end
  StringSet module_uses_seen_;
  std::unordered_map<std::string_view, std::uint32_t>
      debug_offsets_; // label → offset in debug_text_
  std::string debug_text_;

  // Function level
  Function* function_ = nullptr;
  Names names_;
  StringSet kept_names_;                  // of name<n> variables: Names keeps views
  std::uint32_t formals_ = 0;             // parameters and returns of function_
  std::vector<std::uint32_t> scope_uses_; // first LabelUse of each open scope
  std::vector<LabelUse> label_uses_;
  std::vector<std::uint32_t> operand_offsets_; // of the instruction being read
  Opcode opcode_{};                            // of the instruction being read
  std::string_view label_name_;                // of the Label operand just read

  // Source locations
  struct LocationKey {
    std::uint32_t file, line, column, inlined_at, offset;
    std::string_view label;
    bool operator==(const LocationKey&) const = default;
  };
  struct LocationHash {
    std::size_t operator()(const LocationKey& key) const;
  };
  std::unordered_map<LocationKey, std::uint32_t, LocationHash> locations_;
  /// File, line, column → the latest .loc of this function that names it.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> place_locations_;
  std::vector<LocationKey> location_keys_; // of Module::source_locations
  std::uint32_t location_ = Instruction::no_location;

  StringMap<Decoded> decoded_;
  std::string scratch_;
};

} // namespace heddle::ptx
