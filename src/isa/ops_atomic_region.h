// atom and red in the bitcode for regions (region_exec.h): what one lane does, with the update
// functions of ops_atomic.h, which includes this. Where nobody else can look, an update is a load
// and a store; lanes do that one after the other, which is the business of the compiler of regions.
// Where others can look, it lets the interpreter execute the op. It also counts the poll of those
// that have a result.
#pragma once

#include "isa/ops_memory_region.h"

namespace heddle::isa {

inline constexpr std::uint32_t region_updates = region_store | region_alone | region_update;

/// Generic addresses in shared memory lie in no range, so F is right for all others.
template <Space S, class T, auto F, auto InShared = F> const Op* atomic(Exec& exec, const Op& op) {
  std::byte* p = reach<S>(exec, op, sizeof(T), region_updates);
  const T old = ops::weak_load<T>(p);
  const T b = *exec.in<T>(op.b);
  if constexpr (S == Space::Shared) {
    ops::weak_store<T>(p, InShared(old, b));
  } else {
    ops::weak_store<T>(p, F(old, b));
  }
  if (!op.d.none()) {
    *exec.out<T>(op.d) = old;
  }
  return &op + 1;
}

template <Space S, class T> const Op* atomic_cas(Exec& exec, const Op& op) {
  std::byte* p = reach<S>(exec, op, sizeof(T), region_updates);
  const T old = ops::weak_load<T>(p);
  const T expected = *exec.in<T>(op.b);
  const T desired = *exec.in<T>(op.c);
  ops::weak_store<T>(p, old == expected ? desired : old);
  if (!op.d.none()) {
    *exec.out<T>(op.d) = old;
  }
  return &op + 1;
}

/// The interpreter's.
template <Space S, class T, auto F, auto InShared = F>
const Op* atomic_vector(Exec& exec, const Op& op) {
  return exec.block(op, &op);
}

} // namespace heddle::isa
