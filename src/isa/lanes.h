// Handlers from plain functions: unary<F, D, A>, binary<F, D, A, B>, ternary<…>, compare<…>.
//
//   op.execute = binary<ops::add<std::int32_t>, std::int32_t, std::int32_t, std::int32_t>;
//
// F is the instruction's one definition: a plain function over typed values of one thread. The loop
// over 32 lanes is written without aliasing between iterations so that the compiler vectorises it.
#pragma once

#include "isa/exec.h"

namespace heddle::isa {

template <auto F, class D, class A> const Op* unary(Exec& exec, const Op& op) {
  D* d = exec.out<D>(op.d);
  const A* a = exec.in<A>(op.a);
  if (exec.mask() == all_lanes) {
    D result[warp_size];
    for (int lane = 0; lane < warp_size; ++lane) {
      result[lane] = F(a[lane]);
    }
    std::memcpy(d, result, sizeof result);
  } else {
    exec.each([&](int lane) { d[lane] = F(a[lane]); });
  }
  return &op + 1;
}

template <auto F, class D, class A, class B> const Op* binary(Exec& exec, const Op& op) {
  D* d = exec.out<D>(op.d);
  const A* a = exec.in<A>(op.a);
  const B* b = exec.in<B>(op.b);
  if (exec.mask() == all_lanes) {
    D result[warp_size];
    for (int lane = 0; lane < warp_size; ++lane) {
      result[lane] = F(a[lane], b[lane]);
    }
    std::memcpy(d, result, sizeof result);
  } else {
    exec.each([&](int lane) { d[lane] = F(a[lane], b[lane]); });
  }
  return &op + 1;
}

template <auto F, class D, class A, class B, class C> const Op* ternary(Exec& exec, const Op& op) {
  D* d = exec.out<D>(op.d);
  const A* a = exec.in<A>(op.a);
  const B* b = exec.in<B>(op.b);
  const C* c = exec.in<C>(op.c);
  if (exec.mask() == all_lanes) {
    D result[warp_size];
    for (int lane = 0; lane < warp_size; ++lane) {
      result[lane] = F(a[lane], b[lane], c[lane]);
    }
    std::memcpy(d, result, sizeof result);
  } else {
    exec.each([&](int lane) { d[lane] = F(a[lane], b[lane], c[lane]); });
  }
  return &op + 1;
}

/// Lanes (of all 32) for which F holds, as a mask; only the executing lanes' bits mean anything.
template <auto F, class A, class B> LaneMask lanes_where(const A* a, const B* b) {
  LaneMask result = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    result |= static_cast<LaneMask>(F(a[lane], b[lane])) << lane;
  }
  return result;
}

} // namespace heddle::isa
