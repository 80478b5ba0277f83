// A PTX module as read: types, operands, instructions, functions, variables.
//
// This is the only form in which the rest of Heddle sees PTX. It keeps enough to be printed back
// (print → parse is the identity) and nothing that depends on how it will be executed.
// Source of every rule here: PTX ISA 9.0.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::ptx {

/// Every dot-word an instruction can carry (`.rn`, `.global`, `.u32`, `.acquire`, …), one row each
/// in modifier.def; types, spaces, scopes and orders are modifiers too.
enum class Mod : std::uint16_t {
#define HEDDLE_MODIFIER(name, text, category) name,
#include "ptx/modifier.def"
#undef HEDDLE_MODIFIER
};

/// The role a modifier plays; an instruction form (opcode.def) is a sequence of categories.
enum class Category : std::uint8_t {
#define HEDDLE_CATEGORY(name) name,
#include "ptx/category.def"
#undef HEDDLE_CATEGORY
};

/// One value per base opcode (`add`, `ld`, `bar`, …); the instruction forms are in opcode.def.
enum class Opcode : std::uint16_t {
#define HEDDLE_OPCODE(name, text) name,
#include "ptx/opcode_name.def"
#undef HEDDLE_OPCODE
};

std::string_view text(Mod mod);       // "rn" (no dot)
std::string_view text(Opcode opcode); // "add"
Category category(Mod mod);
/// Whether a word can play a role: category(mod), or a second one (.lo is a Half and a Compare).
bool is(Mod mod, Category category);
std::optional<Mod> find_modifier(std::string_view word);
std::optional<Opcode> find_opcode(std::string_view word);

/// A fundamental type is a modifier of category Type.
using Type = Mod;
int type_bits(Type type);    // .pred is 1, .b128 is 128, .f16x2 is 32
bool is_signed(Type type);   // .s8 … .s64
bool is_unsigned(Type type); // .u8 … .u64
bool is_bits(Type type);     // .b8 … .b128
bool is_float(Type type);    // f16 bf16 f32 f64 and packed forms

/// A place in the PTX text; both count from 1, 0 means none.
struct TextPosition {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// A place in the CUDA source, from `.loc` (index into Module::source_locations).
struct SourceLocation {
  std::uint32_t file = 0; // number given in `.file`
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string function; // of inlined code: the inlined function's name, else empty
  std::optional<std::uint32_t> inlined_at; // index of the location of the call, if inlined
};

enum class OperandKind : std::uint8_t {
  Register,      // `index` = index into Function::registers (the name is there)
  Special,       // %tid.x, %laneid, %clock64, %envreg1 …: name with the dot part
  Integer,       // bits = value (two's complement)
  Float,         // bits = IEEE double for 0d…/decimal, IEEE single (low 32) for 0f…; see float_bits
  Symbol,        // a variable, function or .param name, plus `offset`
  Label,         // branch target; `index` = index into Function::labels
  Address,       // [base + offset]: elements[0] is Register, Symbol, Special or Integer
  Vector,        // {a, b, c, d}: elements
  Sink,          // _
  PredicatePair, // p|q: elements[0], elements[1]
  List           // ( … ) of a call: elements
};

struct Operand {
  OperandKind kind = OperandKind::Sink;
  bool negated = false;        // !p; of a number (vmad): -a
  std::uint8_t float_bits = 0; // 32 or 64, for Float
  std::uint16_t part = 0;      // video instructions: .b0 … .b3 are 1 … 4, .h0 .h1 are 5 6; else 0
  std::uint32_t index = 0;     // see kind
  std::int64_t offset = 0;     // Symbol+offset, [base+offset]
  std::uint64_t bits = 0;
  std::string name; // Special ("%tid.x") and Symbol only; empty where `index` says all
  std::vector<Operand> elements;
};

struct Guard {
  std::uint32_t register_index = 0;
  bool negated = false;
};

struct Effect; // effect.h

struct Instruction {
  Opcode opcode{};
  std::uint16_t form = 0;        // row of opcode.def this instruction matched
  std::vector<Mod> modifiers;    // in written order, types included
  std::vector<Operand> operands; // in written order, destination first
  std::optional<Guard> guard;
  TextPosition at;
  std::uint32_t location = no_location; // index into Module::source_locations
  const Effect* effect = nullptr;       // its row, once it has been parsed: for effect_of() alone

  static constexpr std::uint32_t no_location = ~0U;

  bool has(Mod mod) const;
  /// The first modifier of a category, e.g. one_of(Category::Scope).
  std::optional<Mod> one_of(Category category) const;
  /// The n-th type modifier: cvt.f32.s32 has type(0) = f32, type(1) = s32. None past the last.
  std::optional<Type> type(int n = 0) const;
};

struct Register {
  std::string name; // "%r1"; registers of an inner { } scope get their own entries
  Type type{};
};

enum class Linkage : std::uint8_t {
  Internal,
  Visible,
  Extern,
  Weak,
  Common
};

/// One initialiser element of a variable: bytes at an offset, or an address to be filled in.
struct SymbolInit {
  std::uint64_t byte_offset = 0; // where in the variable
  std::uint32_t bytes = 8;       // width of the slot; less than 8 with mask(): which byte
  std::uint64_t mask = ~0ULL;    // 0xFF00(sym) writes byte 1 of the address
  bool generic = false;          // generic(sym)
  std::string symbol;
  std::int64_t addend = 0;
};

struct Variable {
  std::string name;
  Mod space{}; // global, shared, const, local, param, tex, reg (function parameters)
  Type type{};
  std::uint32_t vector = 1;           // .v2, .v4
  std::vector<std::uint64_t> extents; // [4][8]; 0 for []
  std::uint32_t align = 0;            // 0: natural
  Linkage linkage = Linkage::Internal;
  bool has_init = false;
  std::vector<std::uint8_t> init; // bytes, may be shorter than the variable: rest is zero
  std::vector<SymbolInit> symbols;
  std::vector<std::string>
      attributes; // "managed", "unified(…)", ".ptr .global .align 4" for params
  TextPosition at;

  std::uint64_t element_bytes() const; // type × vector
  std::uint64_t byte_size() const;     // 0 for an unsized array
  std::uint32_t alignment() const;     // explicit, else natural
};

struct Label {
  std::string name;
  std::uint32_t instruction = 0; // index of the instruction that follows (may be == size)
};

/// `.branchtargets`, `.calltargets`, `.callprototype` directives inside a function.
struct TargetList {
  std::string name;
  std::vector<std::string> targets;
  std::vector<std::uint32_t> labels; // .branchtargets: indexes into Function::labels
};
struct CallPrototype {
  std::string name;
  std::vector<Variable> returns;
  std::vector<Variable> parameters;
  bool noreturn = false;
};

struct Function {
  std::string name;
  bool entry = false;   // .entry (kernel) or .func
  bool defined = false; // has a body
  bool noreturn = false;
  Linkage linkage = Linkage::Internal;
  std::vector<Variable> returns; // .func only
  std::vector<Variable> parameters;
  std::vector<Register> registers; // all scopes, dense
  std::vector<Variable>
      variables; // .local/.shared/.param/.global declared in the body, all scopes;
                 // name is unique in the function (inner scopes are renamed)
  std::vector<Label> labels;
  std::vector<TargetList> targets;
  std::vector<CallPrototype> prototypes;
  std::vector<Instruction> body;
  /// Performance directives, 0 where absent: .maxntid/.reqntid/.reqnctapercluster x,y,z …
  std::uint32_t max_ntid[3] = {0, 0, 0};
  std::uint32_t req_ntid[3] = {0, 0, 0};
  std::uint32_t req_cluster[3] = {0, 0, 0};
  std::uint32_t max_cluster_rank = 0;
  std::uint32_t min_nctapersm = 0;
  std::uint32_t max_nreg = 0;
  bool explicit_cluster = false;
  std::vector<std::string> directives; // any other, as written without the dot: "abi_preserve 4"
  std::vector<std::string> pragmas;
  TextPosition at;

  const Variable* find_variable(std::string_view name) const; // parameters, returns, variables
};

/// `.alias name, aliasee;`: calls of `name` go to `aliasee`.
struct Alias {
  std::string name;
  std::string aliasee;
};

struct Module {
  std::string name;          // how diagnostics name the PTX text
  std::uint64_t content = 0; // names the code, whatever its places in the source
  int version_major = 0;
  int version_minor = 0;
  std::string target;                      // "sm_90a"
  std::vector<std::string> target_options; // "debug", "texmode_independent"
  int address_size = 64;
  std::unordered_map<std::uint32_t, std::string> files; // .file
  std::vector<SourceLocation> source_locations;
  std::vector<std::string> pragmas;
  std::vector<Alias> aliases;
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>>
      functions; // in text order, declarations merged into definitions

  /// The definition if there is one, else the declaration; follows aliases.
  const Function* find_function(std::string_view name) const;
  const Variable* find_variable(std::string_view name) const;
};

} // namespace heddle::ptx
