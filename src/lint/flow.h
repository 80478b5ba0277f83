// flow.h: a translation unit as the analyses see it. The front end (lower*.cpp, the only part that
// knows Clang) makes a Function of every function body; inlining (graph.h) makes one Graph of every
// entry; everything after that knows neither Clang nor C++.
//
// A Function is a graph of basic blocks over instructions. An instruction computes at most one
// value, named by its index; values do not cross iterations, variables do, through Load and Store
// of addresses. Objects of class type are always addresses. In the example, %n is instruction n:
//
//   int i = threadIdx.x;        %0 = Symbol ThreadIndexX    %1 = LocalAddress 1    Store %1 %0
//   if (i < n) { … }            %3 = Load %1   %4 = Load …  %5 = Arithmetic Less %3 %4
//                               end: Branch on %5
//
// What is lost: integer widths and signedness (casts are transparent), exceptions, destructors of
// temporaries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::lint {

/// The widest group of threads that agree. Ordered: what holds for a grid holds for its blocks.
enum class Level : std::uint8_t {
  Grid,
  Cluster,
  Block,
  Warp,
  Thread
};

enum class Symbol : std::uint8_t {
#define HEDDLE_SYMBOL(enumerator, text, level) enumerator,
#include "lint/symbol.def"
#undef HEDDLE_SYMBOL
};

enum class Effect : std::uint8_t {
#define HEDDLE_EFFECT(enumerator) enumerator,
#include "lint/effect.def"
#undef HEDDLE_EFFECT
};

enum class Operator : std::uint8_t {
#define HEDDLE_OPERATOR(enumerator, text) enumerator,
#include "lint/operator.def"
#undef HEDDLE_OPERATOR
};

/// A range of source text. Lines and columns count from 1; line 0: unknown.
struct Spot {
  std::uint32_t file = 0; // index into Unit::files
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t begin = 0; // offsets into the file
  std::uint32_t end = 0;
  bool in_macro = false;  // comes from the body of a macro
  bool in_system = false; // in a system header, or in a file of Heddle's own

  bool contains(const Spot& other) const {
    return file == other.file && begin <= other.begin && other.end <= end;
  }
  bool operator==(const Spot&) const = default;
};

enum class Op : std::uint8_t {
  Constant,      // number
  Undefined,     // an uninitialised variable
  Symbol,        // symbol
  Parameter,     // number: index; the value, or the address of a class object
  LocalAddress,  // number: index into Function::locals
  GlobalAddress, // number: index into Unit::globals
  Field,         // operands: address; number: an id of the member
  Element,       // operands: address, index
  Load,          // operands: address
  Store,         // operands: address, value
  CopyObject,    // operands: destination, source
  Arithmetic,    // arithmetic; operands
  Known,         // effect, name; operands: the arguments, the object first
  Call,          // number: index into Unit::functions; operands: the arguments, the object first
  FrameEnd,      // inlined calls only: the locals of frame `number` are gone
};

using ValueId = std::uint32_t;
inline constexpr ValueId no_value = UINT32_MAX;

enum class MemoryOrder : std::uint8_t {
  None,
  Relaxed,
  Acquire,
  Release,
  Both
};
enum class Scope : std::uint8_t {
  None,
  Thread,
  Block,
  Cluster,
  Device,
  System
};

struct Instruction {
  Op op{};
  Symbol symbol{};
  Effect effect{};
  Operator arithmetic{};
  MemoryOrder order = MemoryOrder::None;
  Scope scope = Scope::None;
  bool is_volatile = false;
  bool is_float = false;
  bool is_whole = true;         // Arithmetic: on whole numbers, of whatever type
  bool may_synchronise = false; // Known: which function it is nobody knows, in a template
  bool is_object = false; // Call: the result is an object; Element: an array becomes a pointer
  std::int64_t number = 0;
  std::vector<ValueId> operands;
  std::string name; // Known: as written; Store: of the variable
  Spot spot;
};

/// The statement that decides where a branch goes, for explanations and for "lexically inside".
enum class Construct : std::uint8_t {
  If,
  While,
  Do,
  For,
  Switch,
  Conditional
};

enum class JumpKind : std::uint8_t {
  None,
  Goto,
  Break,
  Continue,
  Return
};

struct Terminator {
  enum class Kind : std::uint8_t {
    Jump,    // one successor
    Branch,  // two or more, decided by `condition`
    Return,  // the one successor is the exit block
    Exit,    // of the exit block: nothing follows
    Trapped, // the kernel has ended with an error
    Dead     // this thread has ended
  } kind = Kind::Jump;
  ValueId condition = no_value;
  std::vector<std::uint32_t> successors;
  Construct construct{};
  Spot statement;                 // Branch: all of the statement
  Spot condition_spot;            // Branch
  JumpKind jump = JumpKind::None; // Jump, Return: by which statement
  Spot jump_spot;
  bool is_case = false; // Branch of a switch
};

struct BasicBlock {
  std::uint32_t first = 0, last = 0; // instructions [first, last)
  Terminator end;
};

enum class Space : std::uint8_t {
  Private,
  Shared,
  Constant,
  Global
};

struct Variable {
  std::string name;
  Space space = Space::Private;
  bool is_volatile = false;
  bool is_parameter = false;
  bool is_host = false;    // global variables of the host
  bool is_managed = false; // of both sides
  Spot spot;
};

/// A local variable that is read before anything has been written to it.
struct UnwrittenLocal {
  std::string name;
  Spot declared, use;
  Spot branch; // on one way out of this statement; line 0: always
};

struct Function {
  std::string name;
  bool is_kernel = false;
  bool is_device = false;
  bool is_host = false;
  bool is_instantiation = false; // of a template
  bool is_pattern = false;       // of a template, not instantiated
  bool in_system = false;
  bool is_called = false;                   // by something in this unit
  std::optional<std::uint32_t> max_threads; // __launch_bounds__
  std::optional<std::uint32_t> cluster_x;   // __cluster_dims__
  Spot spot;
  std::vector<Variable> locals; // 0: the returned value; then the parameters; then the rest
  std::uint32_t parameters = 0; // including the object
  std::vector<Instruction> code;
  std::vector<BasicBlock> blocks; // 0: entry; 1: exit
  std::vector<UnwrittenLocal> unwritten;
};

/// kernel<<<grid, block, shared, stream>>>(…), or a call of cudaLaunchKernel and relatives.
struct Launch {
  std::uint32_t kernel = 0;   // index into Unit::functions
  std::uint32_t caller = 0;   // index into Unit::functions
  std::uint32_t position = 0; // order within the caller
  bool cooperative = false;
  std::optional<std::int64_t> block_size[3]; // where they are constants
  std::optional<std::int64_t> grid_size[3];
  std::string stream;                 // as written; empty: the default stream
  std::vector<std::string> arguments; // as written
  Spot spot;
};

struct Unit {
  std::vector<std::string> files; // 0: unknown
  std::vector<std::string> read;  // every file on the disk that was read, relative to the command
  std::vector<Function> functions;
  std::vector<Variable> globals;
  std::vector<Launch> launches;
  std::uint32_t errors = 0;
  std::uint32_t lines = 0; // of the main file
  std::string first_error;
};

const char* text(Symbol symbol);
const char* text(Operator op);
Level level(Symbol symbol);

} // namespace heddle::lint
