// select_update: from an operation and a type to the function that updates one element, for every
// instruction that updates memory (atom, red, red.async, cp.reduce.async.bulk).
//
//   struct Make {
//     template <class T, auto F, auto InShared> static Handler handler(Space space);
//   };
//   op.execute = select_update<Make>(space, Mod::Add, Mod::U32); // nullptr: no such form
//
// T: unsigned type of the element's size; F updates global memory, InShared shared memory.
#pragma once

#include "isa/lowering.h"
#include "isa/ops_atomic.h"

namespace heddle::isa {

/// "atom.add.f8" as an Unsupported error.
Result<void> unknown_form(const ptx::Instruction& i);

/// atom d, [a], b{, c} (destination given) and red [a], b: emits the update of the operands from
/// `first` on.
Result<void> lower_update(
    Lowering& l,
    const ptx::Instruction& i,
    const ptx::Operand* destination,
    std::size_t first
);

/// Operations on unsigned integers T, read as Value by min and max.
template <class Make, class T, class Value>
Handler select_integer(Space space, ptx::Mod operation) {
  using ptx::Mod;
  switch (operation) {
  case Mod::Add:
    return Make::template handler<T, ops::atomic_add<T>, ops::atomic_add<T>>(space);
  case Mod::And:
    return Make::template handler<T, ops::atomic_and<T>, ops::atomic_and<T>>(space);
  case Mod::Or:
    return Make::template handler<T, ops::atomic_or<T>, ops::atomic_or<T>>(space);
  case Mod::Xor:
    return Make::template handler<T, ops::atomic_xor<T>, ops::atomic_xor<T>>(space);
  case Mod::Min:
    return Make::template handler<T, ops::atomic_min<T, Value>, ops::atomic_min<T, Value>>(space);
  case Mod::Max:
    return Make::template handler<T, ops::atomic_max<T, Value>, ops::atomic_max<T, Value>>(space);
  case Mod::Inc:
    return Make::template handler<T, ops::atomic_inc<T>, ops::atomic_inc<T>>(space);
  case Mod::Dec:
    return Make::template handler<T, ops::atomic_dec<T>, ops::atomic_dec<T>>(space);
  default:
    return nullptr;
  }
}

template <class Make, class H> Handler select_half(Space space, ptx::Mod operation) {
  using ptx::Mod;
  using T = std::uint16_t;
  switch (operation) {
  case Mod::Add:
    return Make::template handler<T, ops::atomic_add_half<H>, ops::atomic_add_half<H>>(space);
  case Mod::Min:
    return Make::template handler<T, ops::atomic_min_half<H>, ops::atomic_min_half<H>>(space);
  case Mod::Max:
    return Make::template handler<T, ops::atomic_max_half<H>, ops::atomic_max_half<H>>(space);
  default:
    return nullptr;
  }
}

template <class Make, class H> Handler select_pair(Space space, ptx::Mod operation) {
  using ptx::Mod;
  using T = std::uint32_t;
  constexpr auto add = ops::atomic_pair<ops::atomic_add_half<H>>;
  constexpr auto min = ops::atomic_pair<ops::atomic_min_half<H>>;
  constexpr auto max = ops::atomic_pair<ops::atomic_max_half<H>>;
  switch (operation) {
  case Mod::Add:
    return Make::template handler<T, add, add>(space);
  case Mod::Min:
    return Make::template handler<T, min, min>(space);
  case Mod::Max:
    return Make::template handler<T, max, max>(space);
  default:
    return nullptr;
  }
}

template <class Make> Handler select_update(Space space, ptx::Mod operation, ptx::Type type) {
  using ptx::Mod;
  switch (type) {
  case Mod::U32:
  case Mod::B32:
    return select_integer<Make, std::uint32_t, std::uint32_t>(space, operation);
  case Mod::S32:
    return select_integer<Make, std::uint32_t, std::int32_t>(space, operation);
  case Mod::U64:
  case Mod::B64:
    return select_integer<Make, std::uint64_t, std::uint64_t>(space, operation);
  case Mod::S64:
    return select_integer<Make, std::uint64_t, std::int64_t>(space, operation);
  case Mod::F32:
    return operation == Mod::Add ? Make::template handler<
                                       std::uint32_t,
                                       ops::atomic_add_f32<true>,
                                       ops::atomic_add_f32<false>>(space)
                                 : nullptr;
  case Mod::F64:
    return operation == Mod::Add ? Make::template handler<
                                       std::uint64_t,
                                       ops::atomic_add_f64_global,
                                       ops::atomic_add_f64>(space)
                                 : nullptr;
  case Mod::F16:
    return select_half<Make, ops::Half>(space, operation);
  case Mod::Bf16:
    return select_half<Make, ops::Bfloat>(space, operation);
  case Mod::F16x2:
    return select_pair<Make, ops::Half>(space, operation);
  case Mod::Bf16x2:
    return select_pair<Make, ops::Bfloat>(space, operation);
  default:
    return nullptr;
  }
}

} // namespace heddle::isa
