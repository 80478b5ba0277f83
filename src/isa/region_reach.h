// How a handler that is compiled for regions reaches memory: ops_memory_region.h.
#pragma once

#include <cstddef>
#include <cstdint>

/// Host pointer to `bytes` at the address; `how`: the Space, and flags. There is no definition:
/// src/jit/access.cpp makes code of each call.
extern "C" std::byte*
heddle_region_reach(std::uint64_t address, std::uint32_t bytes, std::uint32_t how);

namespace heddle::isa {

inline constexpr std::uint32_t region_space = 15;
inline constexpr std::uint32_t region_store = 16; // it is written
/// Only where no other worker can access the memory, so that a plain access is as good as an atomic
/// one; elsewhere the op is the interpreter's.
inline constexpr std::uint32_t region_alone = 32;
/// It is loaded, changed and stored, by one lane after the other, lowest first.
inline constexpr std::uint32_t region_update = 64;

} // namespace heddle::isa
