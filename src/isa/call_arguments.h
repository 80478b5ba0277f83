// Arguments and results of calls: the .param variables of the caller, as lower_call of
// lower_control.cpp lists them in Code::refs.
#pragma once

#include "isa/exec.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace heddle::isa {

inline std::byte* frame_memory(Exec& exec, const Frame& frame, int lane) {
  return exec.warp().local + static_cast<std::uint64_t>(lane) * exec.warp().local_stride +
         frame.local_base;
}

/// Copies a variable of each of these lanes to another one: offsets in the lane's local memory.
inline void copy_variable(
    Exec& exec,
    LaneMask lanes,
    std::uint64_t to,
    std::uint64_t from,
    std::uint32_t bytes
) {
  const std::uint64_t stride = exec.warp().local_stride;
  const auto copy = [&](auto size) {
    for (LaneMask m = lanes; m != 0; m &= m - 1) {
      std::byte* local =
          exec.warp().local + static_cast<std::uint64_t>(std::countr_zero(m)) * stride;
      std::memcpy(local + to, local + from, size);
    }
  };
  switch (bytes) { // mostly a word or two: a copy of unknown size is a call
  case 4:
    return copy(std::integral_constant<std::size_t, 4>{});
  case 8:
    return copy(std::integral_constant<std::size_t, 8>{});
  default:
    return copy(std::size_t{bytes});
  }
}

/// What a call op calls.
enum class CallKind : std::uint8_t {
  Function, // Op::imm: its Code
  Address,  // Op::a: the address of a function for each lane
  Heap,     // malloc and free
  Other
};
CallKind what_calls(const Op& op);

/// From the caller's variables to the callee's frame.
inline void pass_arguments(
    Exec& exec,
    const Op& call,
    LaneMask lanes,
    const Frame& caller,
    const Frame& callee
) {
  const Ref* arguments = caller.code->refs.data() + call.list + 2 * call.imm2;
  for (std::uint32_t n = 0; n < call.count; ++n) {
    const std::uint32_t from = caller.local_base + arguments[2 * n].raw;
    const std::uint32_t bytes = arguments[2 * n + 1].raw;
    copy_variable(exec, lanes, callee.local_base + callee.code->parameter_offsets[n], from, bytes);
  }
}

/// From the callee's frame to its caller's variables.
inline void pass_results(Exec& exec, LaneMask lanes, const Frame& callee) {
  const Frame& caller = *callee.caller;
  const Op& call = callee.return_op[-1];
  const Ref* results = caller.code->refs.data() + call.list;
  const std::vector<std::uint32_t>& from = callee.code->return_offsets;
  for (std::uint32_t n = 0; n < call.imm2 && n < from.size(); ++n) {
    const std::uint32_t bytes = results[2 * n + 1].raw;
    copy_variable(
        exec,
        lanes,
        caller.local_base + results[2 * n].raw,
        callee.local_base + from[n],
        bytes
    );
  }
}

/// Value of argument n of a call of a function that Heddle provides, for a lane.
template <class T> T argument(Exec& exec, const Op& op, int lane, std::uint32_t n) {
  T value{};
  const Ref* arguments = exec.code().refs.data() + op.list + 2 * op.imm2;
  if (n < op.count) {
    std::memcpy(
        &value,
        frame_memory(exec, exec.frame(), lane) + arguments[2 * n].raw,
        std::min<std::size_t>(sizeof value, arguments[2 * n + 1].raw)
    );
  }
  return value;
}

template <class T> void give_back(Exec& exec, const Op& op, int lane, T value) {
  if (op.imm2 != 0) {
    const Ref* results = exec.code().refs.data() + op.list;
    std::memcpy(
        frame_memory(exec, exec.frame(), lane) + results[0].raw,
        &value,
        std::min<std::size_t>(sizeof value, results[1].raw)
    );
  }
}

} // namespace heddle::isa
