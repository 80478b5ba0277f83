// Implements lower_arithmetic.h. Special registers that change while a thread runs (%clock,
// %clock64, %clock_hi, %globaltimer, %globaltimer_lo, %globaltimer_hi; PTX ISA 9.0, 10.22-10.25)
// are read from the environment by an op of their own; all others are constant per thread and lie
// in the Special area.
#include "isa/lower_arithmetic.h"

#include <fmt/format.h>

namespace heddle::isa {

namespace {

using ptx::Mod;

template <class T, int Shift> const Op* read_clock(Exec& exec, const Op& op) {
  const auto value = static_cast<T>(exec.environment().clock() >> Shift);
  for_lanes(exec, exec.out<T>(op.d), [value](int) { return value; });
  return &op + 1;
}
template <class T, int Shift> const Op* read_globaltimer(Exec& exec, const Op& op) {
  const auto value = static_cast<T>(exec.environment().globaltimer() >> Shift);
  for_lanes(exec, exec.out<T>(op.d), [value](int) { return value; });
  return &op + 1;
}

const Op* join_words(Exec& exec, const Op& op) {
  const auto* low = exec.in<std::uint32_t>(op.a);
  const auto* high = exec.in<std::uint32_t>(op.b);
  for_lanes(exec, exec.out<std::uint64_t>(op.d), [=](int lane) {
    return std::uint64_t{high[lane]} << 32 | low[lane];
  });
  return &op + 1;
}
template <class T> const Op* convert_word(Exec& exec, const Op& op) {
  const auto* a = exec.in<std::uint32_t>(op.a);
  for_lanes(exec, exec.out<T>(op.d), [a](int lane) { return static_cast<T>(a[lane]); });
  return &op + 1;
}
template <class T> const Op* local_address(Exec& exec, const Op& op) {
  const auto address = static_cast<T>(exec.frame().local_base + static_cast<std::uint64_t>(op.imm));
  for_lanes(exec, exec.out<T>(op.d), [address](int) { return address; });
  return &op + 1;
}

const Op* negate_predicate(Exec& exec, const Op& op) {
  exec.set_predicate(op.d, ~exec.predicate(op.a));
  return &op + 1;
}

struct Clock {
  const char* name;
  Handler as_u32;
  Handler as_u64;
};
constexpr Clock clocks[] = {
    {"%clock", read_clock<std::uint32_t, 0>, read_clock<std::uint64_t, 0>},
    {"%clock_lo", read_clock<std::uint32_t, 0>, read_clock<std::uint64_t, 0>},
    {"%clock_hi", read_clock<std::uint32_t, 32>, read_clock<std::uint64_t, 32>},
    {"%clock64", read_clock<std::uint32_t, 0>, read_clock<std::uint64_t, 0>},
    {"%globaltimer", read_globaltimer<std::uint32_t, 0>, read_globaltimer<std::uint64_t, 0>},
    {"%globaltimer_lo", read_globaltimer<std::uint32_t, 0>, read_globaltimer<std::uint64_t, 0>},
    {"%globaltimer_hi", read_globaltimer<std::uint32_t, 32>, read_globaltimer<std::uint64_t, 32>},
};

} // namespace

Form::Form(Lowering& l, const ptx::Instruction& i) : l_(l), instruction_(i) {}

bool Form::take(ptx::Mod mod) {
  bool found = false;
  for (std::size_t n = 0; n < instruction_.modifiers.size(); ++n) {
    if (instruction_.modifiers[n] == mod) {
      taken_ |= std::uint64_t{1} << n;
      found = true;
    }
  }
  return found;
}

std::optional<ptx::Mod> Form::take_one_of(std::initializer_list<ptx::Mod> mods) {
  for (const ptx::Mod mod : mods) {
    if (take(mod)) {
      return mod;
    }
  }
  return std::nullopt;
}

ptx::Type Form::type(int n) const {
  return instruction_.type(n).value_or(ptx::Mod::Pred);
}

ptx::Type Form::take_type(int n) {
  int seen = 0;
  for (std::size_t m = 0; m < instruction_.modifiers.size(); ++m) {
    if (ptx::category(instruction_.modifiers[m]) == ptx::Category::Type && seen++ == n) {
      taken_ |= std::uint64_t{1} << m;
    }
  }
  return type(n);
}

Ref Form::source(std::size_t n, ptx::Type type) {
  return n < instruction_.operands.size() ? source(instruction_.operands[n], type) : Ref{};
}

Ref Form::source(const ptx::Operand& operand, ptx::Type type) {
  Ref ref;
  if (operand.kind == ptx::OperandKind::Special) {
    ref = special(operand, type);
  } else if (operand.kind == ptx::OperandKind::Symbol) {
    ref = symbol(operand, type);
  } else {
    ref = l_.source(operand, type);
    if (operand.negated && type == Mod::Pred) {
      Op op = l_.op(instruction_);
      op.execute = negate_predicate;
      op.a = ref;
      op.d = ref = l_.scratch_predicate();
      l_.emit(op);
    }
  }
  bad_operand_ |= ref.none();
  return ref;
}

Ref Form::special(const ptx::Operand& operand, ptx::Type type) {
  const int bits = ptx::type_bits(type);
  const auto read = [&](Handler handler, Ref a = {}, Ref b = {}, std::uint8_t flags = 0) {
    Op op = l_.op(instruction_);
    op.execute = handler;
    op.flags |= flags;
    op.a = a;
    op.b = b;
    op.d = l_.scratch(static_cast<std::uint32_t>(bits) / 8);
    l_.emit(op);
    return op.d;
  };
  for (const Clock& clock : clocks) {
    if (operand.name == clock.name) {
      const Handler handler = bits == 64 ? clock.as_u64 : bits == 32 ? clock.as_u32 : nullptr;
      return handler != nullptr ? read(handler, {}, {}, Visible) : Ref{};
    }
  }
  if (type == Mod::Pred) { // a mask of lanes in the Special area
    return operand.name == "%is_explicit_cluster" ? l_.source(operand, type) : Ref{};
  }
  if (operand.name == "%current_graph_exec") {
    return l_.constant_of(std::uint64_t{0}); // no graph is launched by kernels
  }
  if (operand.name == "%gridid") {
    const Ref low = Ref::at(Area::Special, SpecialLayout::offset(SpecialLayout::GridIdLo));
    const Ref high = Ref::at(Area::Special, SpecialLayout::offset(SpecialLayout::GridIdHi));
    return bits == 64 ? read(join_words, low, high) : low;
  }
  const Ref ref = l_.source(operand, Mod::U32); // all others have 32 bits
  if (ref.none() || bits == 32) {
    return ref;
  }
  return bits == 64   ? read(convert_word<std::uint64_t>, ref)
         : bits == 16 ? read(convert_word<std::uint16_t>, ref)
                      : Ref{};
}

/// mov d, symbol: the address in the symbol's own space (PTX ISA 9.0, mov).
Ref Form::symbol(const ptx::Operand& operand, ptx::Type type) {
  const int bits = ptx::type_bits(type);
  auto symbol = l_.symbol(operand.name);
  if (!symbol || (bits != 32 && bits != 64)) {
    return {};
  }
  using Kind = SymbolResolver::Symbol::Kind;
  const std::uint64_t address = symbol->address + static_cast<std::uint64_t>(operand.offset);
  if (symbol->kind == Kind::Local || symbol->kind == Kind::FunctionParam) {
    Op op = l_.op(instruction_); // each activation has its own
    op.execute = bits == 64 ? local_address<std::uint64_t> : local_address<std::uint32_t>;
    op.imm = static_cast<std::int64_t>(address);
    op.d = l_.scratch(static_cast<std::uint32_t>(bits) / 8);
    l_.emit(op);
    return op.d;
  }
  if (symbol->kind == Kind::Global || symbol->kind == Kind::Function) {
    return l_.address_constant(address, static_cast<std::uint32_t>(bits) / 8);
  }
  return bits == 64 ? l_.constant_of(address) : l_.constant_of(static_cast<std::uint32_t>(address));
}

Ref Form::destination() {
  return l_.destination(instruction_.operands[0]);
}

Op Form::op(Handler handler, std::initializer_list<ptx::Type> sources) {
  Op op = l_.op(instruction_);
  op.execute = handler;
  Ref* const places[] = {&op.a, &op.b, &op.c, &op.e};
  std::size_t n = 0;
  for (const ptx::Type type : sources) {
    *places[n] = source(n + 1, type);
    ++n;
  }
  op.d = destination();
  return op;
}

Result<void> Form::emit(Handler handler, std::initializer_list<ptx::Type> sources) {
  if (handler == nullptr || operand_count() < sources.size() + 1) {
    return unsupported_form();
  }
  const Op result = op(handler, sources);
  TRY_VOID(check());
  l_.emit(result);
  return {};
}

Result<void> Form::emit(const Op& op) {
  if (op.execute == nullptr) {
    return unsupported_form();
  }
  TRY_VOID(check());
  l_.emit(op);
  return {};
}

Result<void> Form::check() const {
  const std::size_t count = instruction_.modifiers.size();
  if (bad_operand_ || taken_ != (std::uint64_t{1} << count) - 1) {
    return unsupported_form();
  }
  return {};
}

tl::unexpected<Error> Form::unsupported_form() const {
  return unsupported(fmt::format("instruction form '{}'", name()));
}

std::string Form::name() const {
  std::string result(ptx::text(instruction_.opcode));
  for (const ptx::Mod mod : instruction_.modifiers) {
    result += '.';
    result += ptx::text(mod);
  }
  return result;
}

const Op* copy_predicate(Exec& exec, const Op& op) {
  exec.set_predicate(op.d, exec.predicate(op.a));
  return &op + 1;
}

bool is_half(ptx::Type type) {
  switch (type) {
  case ptx::Mod::F16:
  case ptx::Mod::F16x2:
  case ptx::Mod::Bf16:
  case ptx::Mod::Bf16x2:
    return true;
  default:
    return false;
  }
}

} // namespace heddle::isa
