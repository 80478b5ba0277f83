// Handles that the API gives out: made of a tag and a number that is never used twice; recognisable
// in a debugger, and never a valid pointer. The real library's handles are pointers, so programs
// only copy and compare them. In which order they come nothing promises (spec/answers.md).
//
//   return to_handle<cudaStream_t>(stream_tag, id);
//   const std::uint64_t id = to_id(stream_tag, handle);   // 0: that is no such handle
#pragma once

#include "base/outside.h"

#include <cstdint>

namespace heddle::runtime {

inline constexpr std::uint64_t handle_tag_mask = 0xffff'0000'0000'0000ULL;

inline std::uint64_t in_handle(std::uint64_t id) {
  constexpr std::uint64_t most = ~handle_tag_mask >> 4;
  return is_other(SystemAnswer::HostAddresses) ? most - id : id;
}

template <class Handle> Handle to_handle(std::uint64_t tag, std::uint64_t id) {
  return reinterpret_cast<Handle>(tag | (in_handle(id) << 4));
}

template <class Handle> std::uint64_t to_id(std::uint64_t tag, Handle handle) {
  const auto bits = reinterpret_cast<std::uint64_t>(handle);
  return (bits & handle_tag_mask) == tag ? in_handle((bits & ~handle_tag_mask) >> 4) : 0;
}

} // namespace heddle::runtime
