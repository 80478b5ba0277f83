// ld and st in the bitcode for regions (region_exec.h): the same conversions as in ops_memory.h,
// which includes this, for one lane, without a branch. Where the bytes are is the business of the
// compiler of regions: it checks what region_reach() is asked for all lanes at once, and lets the
// interpreter execute the op where the check fails.
#pragma once

#include "isa/ops_address.h"
#include "isa/region_reach.h"

namespace heddle::isa {

template <Space S>
std::byte* reach(Exec& exec, const Op& op, std::uint32_t bytes, std::uint32_t flags) {
  std::uint64_t address[lane_count];
  addresses<S>(exec, op, address);
  return heddle_region_reach(address[0], bytes, static_cast<std::uint32_t>(S) | flags);
}

template <Space S, class M, class R> const Op* load(Exec& exec, const Op& op) {
  *exec.out<R>(op.d) = ops::widen<R>(ops::weak_load<M>(reach<S>(exec, op, sizeof(M), 0)));
  return &op + 1;
}
template <Space S, class M, class R> const Op* store(Exec& exec, const Op& op) {
  ops::weak_store<M>(
      reach<S>(exec, op, sizeof(M), region_store),
      static_cast<M>(*exec.in<R>(op.b))
  );
  return &op + 1;
}

/// A strong load counts as a poll: the compiler of regions does that before it.
template <Space S, class M, class R, bool Strong> const Op* load_vector(Exec& exec, const Op& op) {
  const auto bytes = static_cast<std::uint32_t>(op.count * sizeof(M));
  const std::byte* p = reach<S>(exec, op, bytes, Strong ? region_alone : 0);
  const Ref* refs = exec.refs(op);
#pragma clang loop unroll(full)
  for (int k = 0; k < 8; ++k, p += sizeof(M)) { // unrolled, so that it has no loop
    if (k < op.count && !refs[k].none()) {
      *exec.out<R>(refs[k]) = ops::widen<R>(ops::weak_load<M>(p));
    }
  }
  return &op + 1;
}
template <Space S, class M, class R, bool Strong> const Op* store_vector(Exec& exec, const Op& op) {
  const auto bytes = static_cast<std::uint32_t>(op.count * sizeof(M));
  std::byte* p = reach<S>(exec, op, bytes, region_store | (Strong ? region_alone : 0));
  const Ref* refs = exec.refs(op);
#pragma clang loop unroll(full)
  for (int k = 0; k < 8; ++k, p += sizeof(M)) {
    if (k < op.count) {
      ops::weak_store<M>(p, static_cast<M>(*exec.in<R>(refs[k])));
    }
  }
  return &op + 1;
}
template <Space S, class M, int N> const Op* load_elements(Exec& exec, const Op& op) {
  const std::byte* p = reach<S>(exec, op, N * sizeof(M), 0);
#pragma clang loop unroll(full)
  for (int k = 0; k < N; ++k) {
    *exec.out<M>(exec.refs(op)[k]) = ops::weak_load<M>(p + k * sizeof(M));
  }
  return &op + 1;
}
template <Space S, class M, int N> const Op* store_elements(Exec& exec, const Op& op) {
  std::byte* p = reach<S>(exec, op, N * sizeof(M), region_store);
#pragma clang loop unroll(full)
  for (int k = 0; k < N; ++k) {
    ops::weak_store<M>(p + k * sizeof(M), *exec.in<M>(exec.refs(op)[k]));
  }
  return &op + 1;
}

} // namespace heddle::isa
