// Video instructions: their modifiers and operand selectors become a Video (ops_video.h) in the op
// (PTX ISA 9.0, 9.7.18).
#include "isa/lower_arithmetic.h"
#include "isa/ops_video.h"

#include <cstring>

namespace heddle::isa {

namespace {

using ops::Video;
using ops::VideoMad;
using ops::VideoPart;
using ptx::Mod;
using ptx::Opcode;
using U32 = std::uint32_t;

/// A description of up to 16 bytes lives in imm and imm2.
template <class D> void put(Op& op, const D& description) {
  std::uint64_t words[2] = {0, 0};
  std::memcpy(words, &description, sizeof description);
  op.imm = static_cast<std::int64_t>(words[0]);
  op.imm2 = words[1];
}
template <class D> D get(const Op& op) {
  const std::uint64_t words[2] = {static_cast<std::uint64_t>(op.imm), op.imm2};
  D description;
  std::memcpy(&description, words, sizeof description);
  return description;
}

template <class D, auto F> const Op* run(Exec& exec, const Op& op) {
  const D description = get<D>(op);
  const U32* a = exec.in<U32>(op.a);
  const U32* b = exec.in<U32>(op.b);
  const U32* c = exec.in<U32>(op.c);
  U32* d = exec.out<U32>(op.d);
  exec.each([&](int lane) { d[lane] = F(description, a[lane], b[lane], c[lane]); });
  return &op + 1;
}

// --- Selectors: Operand::part is 1 … 4 for .b0 … .b3, 5 and 6 for .h0 and .h1; several digits have
// bit 15, bit 14 for halves, the number of digits less one in bits 12-13, and 3 bits a digit.

VideoPart part_of(const ptx::Operand& operand) {
  const unsigned part = operand.part;
  if (part == 0 || part > 6) {
    return {32, 0};
  }
  return part <= 4 ? VideoPart{8, static_cast<std::uint8_t>(8 * (part - 1))}
                   : VideoPart{16, static_cast<std::uint8_t>(16 * (part - 5))};
}
/// Element numbers, 3 bits each; `standard` if nothing is written.
std::uint16_t select_of(const ptx::Operand& operand, std::uint16_t standard) {
  return static_cast<std::uint16_t>(operand.part == 0 ? standard : operand.part & 0xfffU);
}
std::uint8_t mask_of(const ptx::Operand& operand, unsigned elements) {
  const unsigned part = operand.part;
  if (part == 0) {
    return static_cast<std::uint8_t>((1U << elements) - 1);
  }
  if (part <= 6) {
    return static_cast<std::uint8_t>(1U << (part <= 4 ? part - 1 : part - 5));
  }
  unsigned mask = 0;
  for (unsigned digit = 0; digit <= ((part >> 12) & 3U); ++digit) {
    mask |= 1U << ((part >> (3 * digit)) & 7U);
  }
  return static_cast<std::uint8_t>(mask);
}

// --- Modifiers

std::optional<ops::VideoOperation> operation_of(Opcode opcode) {
  using O = ops::VideoOperation;
  switch (opcode) {
  case Opcode::Vadd:
  case Opcode::Vadd2:
  case Opcode::Vadd4:
    return O::Add;
  case Opcode::Vsub:
  case Opcode::Vsub2:
  case Opcode::Vsub4:
    return O::Sub;
  case Opcode::Vabsdiff:
  case Opcode::Vabsdiff2:
  case Opcode::Vabsdiff4:
    return O::AbsDiff;
  case Opcode::Vmin:
  case Opcode::Vmin2:
  case Opcode::Vmin4:
    return O::Min;
  case Opcode::Vmax:
  case Opcode::Vmax2:
  case Opcode::Vmax4:
    return O::Max;
  case Opcode::Vavrg2:
  case Opcode::Vavrg4:
    return O::Average;
  case Opcode::Vshl:
    return O::Shl;
  case Opcode::Vshr:
    return O::Shr;
  case Opcode::Vset:
  case Opcode::Vset2:
  case Opcode::Vset4:
    return O::Set;
  default:
    return std::nullopt;
  }
}
std::optional<ops::VideoCompare> compare_of(Form& form) {
  using C = ops::VideoCompare;
  switch (take_relation(form).value_or(Mod::Pred)) {
  case Mod::Eq:
    return C::Eq;
  case Mod::Ne:
    return C::Ne;
  case Mod::Lt:
    return C::Lt;
  case Mod::Le:
    return C::Le;
  case Mod::Gt:
    return C::Gt;
  case Mod::Ge:
    return C::Ge;
  default:
    return std::nullopt;
  }
}

/// What scalar and SIMD forms share. vset has no type for its result: it is unsigned.
Result<Video> describe(Form& form) {
  Video v;
  const auto operation = operation_of(form.opcode());
  if (!operation) {
    return form.unsupported_form();
  }
  v.operation = *operation;
  int next_type = 0;
  if (v.operation == ops::VideoOperation::Set) {
    const auto compare = compare_of(form);
    if (!compare) {
      return form.unsupported_form();
    }
    v.compare = *compare;
  } else {
    v.d_signed = form.take_type(next_type++) == Mod::S32;
  }
  v.a_signed = form.take_type(next_type++) == Mod::S32;
  v.b_signed = form.take_type(next_type) == Mod::S32;
  v.saturate = form.take(Mod::Sat);
  v.clamp = form.take(Mod::Clamp);
  form.take(Mod::Wrap);
  if (form.take(Mod::Add)) {
    v.second = ops::VideoSecond::Add;
  } else if (form.take(Mod::Min)) {
    v.second = ops::VideoSecond::Min;
  } else if (form.take(Mod::Max)) {
    v.second = ops::VideoSecond::Max;
  }
  return v;
}

/// d, a, b and, where there is none, zero for c.
Op operands(Form& form) {
  Op op = form.op(nullptr, {Mod::B32, Mod::B32});
  op.c = form.operand_count() > 3 ? form.source(3, Mod::B32) : form.lowering().constant_of(U32{0});
  return op;
}

Result<void> lower_scalar(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  TRY(Video v, describe(form));
  v.a = part_of(form.operand(1));
  v.b = part_of(form.operand(2));
  v.d = part_of(form.operand(0));
  v.merge = form.operand(0).part != 0;
  Op op = operands(form);
  op.execute = run<Video, ops::video_scalar>;
  put(op, v);
  return form.emit(op);
}

template <unsigned N> Result<void> lower_simd(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  TRY(Video v, describe(form));
  if (v.second == ops::VideoSecond::Min || v.second == ops::VideoSecond::Max) {
    return form.unsupported_form();
  }
  constexpr std::uint16_t first = N == 2 ? 0010 : 03210;  // a's own elements
  constexpr std::uint16_t second = N == 2 ? 0032 : 07654; // b's
  v.a_select = select_of(form.operand(1), first);
  v.b_select = select_of(form.operand(2), second);
  v.mask = mask_of(form.operand(0), N);
  Op op = operands(form);
  op.execute = run<Video, ops::video_simd<N>>;
  put(op, v);
  return form.emit(op);
}

Result<void> lower_vmad(Lowering& l, const ptx::Instruction& i) {
  Form form(l, i);
  VideoMad v;
  form.take_type(0); // the type of the result follows from the operands
  v.a_signed = form.take_type(1) == Mod::S32;
  v.b_signed = form.take_type(2) == Mod::S32;
  v.plus_one = form.take(Mod::Po);
  v.saturate = form.take(Mod::Sat);
  v.scale = form.take(Mod::Shr7) ? 7 : form.take(Mod::Shr15) ? 15 : 0;
  v.a = part_of(form.operand(1));
  v.b = part_of(form.operand(2));
  v.negate_product = form.operand(1).negated != form.operand(2).negated;
  v.negate_c = form.operand(3).negated;
  Op op = operands(form);
  op.execute = run<VideoMad, ops::video_mad>;
  put(op, v);
  return form.emit(op);
}

} // namespace

void register_video(LowerTable& table) {
  for (const Opcode opcode :
       {Opcode::Vadd,
        Opcode::Vsub,
        Opcode::Vabsdiff,
        Opcode::Vmin,
        Opcode::Vmax,
        Opcode::Vshl,
        Opcode::Vshr,
        Opcode::Vset}) {
    table[opcode] = lower_scalar;
  }
  for (const Opcode opcode :
       {Opcode::Vadd2,
        Opcode::Vsub2,
        Opcode::Vavrg2,
        Opcode::Vabsdiff2,
        Opcode::Vmin2,
        Opcode::Vmax2,
        Opcode::Vset2}) {
    table[opcode] = lower_simd<2>;
  }
  for (const Opcode opcode :
       {Opcode::Vadd4,
        Opcode::Vsub4,
        Opcode::Vavrg4,
        Opcode::Vabsdiff4,
        Opcode::Vmin4,
        Opcode::Vmax4,
        Opcode::Vset4}) {
    table[opcode] = lower_simd<4>;
  }
  table[Opcode::Vmad] = lower_vmad;
}

} // namespace heddle::isa
