// Lowering: one ptx::Instruction to Ops. Each instruction family has a file lower_<family>.cpp with
//
//   void register_<family>(LowerTable& table) { table[Opcode::Add] = lower_add; … }
//   Result<void> lower_add(Lowering& l, const ptx::Instruction& i) {
//     Op op = l.op(i);                       // guard and instruction index filled in
//     op.d = l.destination(i.operands[0]);
//     op.a = l.source(i.operands[1], type); op.b = l.source(i.operands[2], type);
//     op.execute = …;                        // chosen by modifiers and type
//     l.emit(op); return {};
//   }
//
// An instruction whose opcode has no entry, or whose lowering answers Unsupported, becomes an op
// that stops with Stop::Unsupported when (and only when) it is executed.
#pragma once

#include "base/result.h"
#include "isa/op.h"

#include <array>
#include <functional>
#include <optional>
#include <unordered_map>

namespace heddle::isa {

/// How wide registers of a type are here: at least 16 bits.
std::uint32_t register_bytes(ptx::Type type);
/// And an operand: a register has its own width, a constant that of `type`.
std::uint32_t
element_bytes(const ptx::Function& function, const ptx::Operand& operand, ptx::Type type);

class Lowering;
using LowerFn = Result<void> (*)(Lowering&, const ptx::Instruction&);
using LowerTable = std::unordered_map<ptx::Opcode, LowerFn>;

void register_integer(LowerTable&); // add sub mul mad … shifts, bits, video, set/setp on integers
void register_float(LowerTable&);   // the same opcodes on floats dispatch from one function each
void register_convert(LowerTable&); // cvt, mov, selp, slct, cvta, isspacep, prmt …
void register_control(LowerTable&); // bra, brx, call, ret, exit, trap, brkpt
void register_memory(LowerTable&);  // ld ldu st prefetch cp.async, mapa …
void register_texture(LowerTable&); // tex tld4 txq suld sust suq
void register_atomic(LowerTable&);  // atom red fence membar mbarrier
void register_sync(LowerTable&);    // bar barrier shfl vote match redux activemask elect nanosleep
const LowerTable& lower_table();

/// How symbols become addresses: implemented by the linked program (program.h).
class SymbolResolver {
public:
  virtual ~SymbolResolver() = default;
  struct Symbol {
    enum class Kind : std::uint8_t {
      Global,
      Shared,
      Local,
      Param,
      FunctionParam,
      Function
    } kind{};
    std::uint64_t address = 0; // Global (also .const): generic address; Shared: offset in the
                               // block's shared memory; Local, FunctionParam: offset in the frame's
                               // local memory; Param: offset in the kernel's parameter block;
                               // Function: address of the function
    const ptx::Variable* variable = nullptr;
  };
  /// Looks in the function first, then in the module and the modules linked with it.
  virtual Result<Symbol>
  resolve(const ptx::Module& module, const ptx::Function& function, std::string_view name) = 0;
  /// Code of a directly called function (lowered on demand, stable address); nullptr for the
  /// functions Heddle provides itself (vprintf, malloc, free, __assertfail), see control.
  virtual Result<const Code*> callee(const ptx::Module& module, std::string_view name) = 0;
};

class Lowering {
public:
  Lowering(Code& code, SymbolResolver& resolver);
  Result<void> run(); // lowers code.function into code

  /// An op with instruction index and guard filled in.
  Op op(const ptx::Instruction& i) const;
  std::uint32_t emit(const Op& op);
  /// Index of the op that will be emitted next.
  std::uint32_t next() const { return static_cast<std::uint32_t>(code_.ops.size()); }
  /// Makes ops[index].target the first op of a label, once known.
  void branch_to(std::uint32_t index, std::uint32_t label);
  /// Makes Code::refs[index].raw the index of the first op of a label, once known.
  void reference_to(std::uint32_t index, std::uint32_t label);

  // --- Operands ----------------------------------------------------------------------------------
  /// A register or special register as it is, an immediate broadcast at `type`'s width (at least
  /// 16 bits; f32 immediates of either spelling are converted to the type), a predicate constant.
  /// None for anything else (symbols, special registers that have no fixed value).
  Ref source(const ptx::Operand& operand, ptx::Type type);
  Ref destination(const ptx::Operand& operand); // Sink gives Ref::none()
  /// Width in bytes of the element a Ref to this operand has: declared register width (2, 4, 8,
  /// 16); for immediates and specials the width asked for. Needed where PTX lets registers be wider
  /// than the instruction's type (ld, st, cvt).
  std::uint32_t element_bytes(const ptx::Operand& operand, ptx::Type type) const;
  Ref constant(const void* element, std::uint32_t bytes); // broadcast; equal ones are shared
  template <class T> Ref constant_of(T value) { return constant(&value, sizeof(T)); }
  /// The same for an address in this process: shared with nothing else, and in Code::addresses.
  Ref address_constant(std::uint64_t address, std::uint32_t bytes);
  Ref scratch(std::uint32_t element_bytes); // a fresh register
  Ref scratch_predicate();                  // and a fresh predicate
  Ref carry();                              // the condition code register CC.CF, a predicate
  std::uint32_t list(const std::vector<Ref>& refs);

  /// [base + offset]: base register (or none), and the constant part; symbols are resolved.
  struct AddressParts {
    Ref base;                     // none: the address is `offset` alone
    std::uint32_t base_bytes = 8; // 4 or 8: width of the base register
    std::int64_t offset = 0;
    std::optional<SymbolResolver::Symbol> symbol; // of the constant part
  };
  Result<AddressParts> address(const ptx::Operand& operand);
  Result<SymbolResolver::Symbol> symbol(std::string_view name);

  Code& code() { return code_; }
  SymbolResolver& resolver() { return resolver_; }
  const ptx::Function& function() const { return *code_.function; }

private:
  std::uint32_t allocate_register(std::uint32_t element_bytes);
  std::pair<std::uint32_t, bool>
  place_constant(std::string key, const void* element, std::uint32_t bytes);
  void clear_at_entry();
  Code& code_;
  SymbolResolver& resolver_;
  std::vector<Ref> registers_;
  std::vector<std::uint32_t> label_ops_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> fixups_;           // op, label
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reference_fixups_; // index in refs, label
  std::unordered_map<std::string, std::uint32_t> constants_;
  std::uint32_t frame_bytes_ = 0;
  Ref carry_; // none until an instruction uses it
};

} // namespace heddle::isa
