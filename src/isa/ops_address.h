// From an address operand to host memory: what every instruction that touches memory shares.
//
// Implements PTX ISA 9.0, 6.4.1 (addresses as operands) and 5.1 (state spaces). lower_access()
// (lower_memory_address.cpp) fills op.a, op.imm and the AddressFlags in op.imm2; handlers then call
//
//   std::uint64_t address[warp_size];
//   addresses<S>(exec, op, address);                    // of all 32 lanes, executing or not
//   std::byte* p = host<S>(exec, op, lane, address[lane], bytes, store);
//   if (p == nullptr) return access_fault(exec, op);
//
// May be wrong in this direction: an access that PTX leaves undefined (.shared::cta with an address
// of another block of the cluster) is carried out instead of reported.
#pragma once

#include "isa/exec.h"

namespace heddle::isa {

/// Where an access goes. Global and const accesses are Generic ones for which the windows are
/// closed (NoWindow); formal parameters and arguments of functions are Local ones (FrameRelative).
enum class Space : std::uint8_t {
  Generic,
  Shared,
  Local,
  Param
};

/// In the low byte of op.imm2 of every op with an address.
enum AddressFlags : std::uint64_t {
  Base32 = 1,        // op.a holds 32-bit values
  FrameRelative = 2, // relative to the frame's local variables
  NoWindow = 4       // as written .global or .const: shared, local and param windows are a fault
};

template <Space S> void addresses(Exec& exec, const Op& op, std::uint64_t (&address)[warp_size]) {
  std::int64_t offset = op.imm;
  if constexpr (S == Space::Local) {
    if ((op.imm2 & FrameRelative) != 0) {
      offset += exec.frame().local_base;
    }
  }
  if (op.a.none()) {
    for (std::uint64_t& a : address) {
      a = static_cast<std::uint64_t>(offset);
    }
  } else if ((op.imm2 & Base32) != 0) {
    const auto* base = exec.in<std::uint32_t>(op.a);
    for (int lane = 0; lane < warp_size; ++lane) {
      if constexpr (S == Space::Generic) {
        address[lane] = base[lane] + static_cast<std::uint64_t>(offset);
      } else {
        address[lane] = base[lane] + static_cast<std::uint32_t>(offset); // windows wrap at 4 GiB
      }
    }
  } else {
    const auto* base = exec.in<std::uint64_t>(op.a);
    for (int lane = 0; lane < warp_size; ++lane) {
      address[lane] = base[lane] + static_cast<std::uint64_t>(offset);
    }
  }
}

#if defined(HEDDLE_REGION_HANDLERS) // a region leaves to the interpreter what may be a fault
inline const Op* access_fault(Exec&, const Op&) {
  return nullptr;
}
inline std::byte* wrong_space(Exec&, int, memory::Address, std::uint32_t, bool) {
  return nullptr;
}
#else
/// Completes fault() with the state space as written and stops.
const Op* access_fault(Exec& exec, const Op& op);
/// Fills fault(): `a` does not lie in the state space that the instruction names.
std::byte* wrong_space(Exec& exec, int lane, memory::Address a, std::uint32_t bytes, bool store);
#endif

inline bool in_window(memory::Address a) {
  return a - memory::window_base < 3 * memory::window_size;
}

/// Host pointer for an access of `bytes` (a power of two) by `lane`; nullptr with fault() filled
/// in.
template <Space S>
std::byte*
host(Exec& exec, const Op& op, int lane, std::uint64_t address, std::uint32_t bytes, bool store) {
  if constexpr (S == Space::Generic) {
    if ((op.imm2 & NoWindow) != 0 && in_window(address)) [[unlikely]] {
      return wrong_space(exec, lane, address, bytes, store);
    }
    return exec.translate(lane, address, bytes, store);
  } else if constexpr (S == Space::Shared) {
    return exec.translate_shared(lane, address, bytes, store);
  } else if constexpr (S == Space::Local) {
    return exec.translate_local(lane, address, bytes, store);
  } else {
    return store ? wrong_space(exec, lane, address, bytes, store)
                 : exec.translate_param(lane, address, bytes);
  }
}

/// How the addresses of a whole warp lie; the two regular patterns need one translation only.
enum class Pattern : std::uint8_t {
  Any,
  Consecutive, // lane n at address[0] + n × size
  Same
};
inline Pattern pattern(const std::uint64_t (&address)[warp_size], std::uint64_t size) {
  std::uint64_t not_consecutive = 0;
  std::uint64_t not_same = 0;
  for (std::uint64_t lane = 0; lane < warp_size; ++lane) {
    not_consecutive |= address[lane] ^ (address[0] + lane * size);
    not_same |= address[lane] ^ address[0];
  }
  return not_consecutive == 0 ? Pattern::Consecutive
                              : (not_same == 0 ? Pattern::Same : Pattern::Any);
}

/// Memory that is at hand without a look-up: what lies in it needs no translation lane by lane.
template <Space S> memory::Range range_at_hand(Exec& exec) {
  static_assert(S == Space::Generic || S == Space::Shared);
  if constexpr (S == Space::Generic) {
    return exec.last_range();
  } else {
    return exec.shared_range();
  }
}
/// Host pointer to `bytes` at `address` if they lie in `range` and are aligned; else nullptr.
inline std::byte* host_in(
    const memory::Range& range,
    std::uint64_t address,
    std::uint64_t bytes,
    std::uint64_t align,
    bool store
) {
  const bool fits = bytes <= range.size && address - range.base <= range.size - bytes &&
                    (address & (align - 1)) == 0 && (!store || range.writable);
  return fits ? reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(range.delta))
              : nullptr;
}
/// Do all 32 lanes' accesses of `bytes` lie in `range`, aligned?
inline bool all_in(
    const memory::Range& range,
    const std::uint64_t (&address)[warp_size],
    std::uint64_t bytes,
    bool store
) {
  if (bytes > range.size || (store && !range.writable)) {
    return false;
  }
  const std::uint64_t last = range.size - bytes;
  std::uint64_t outside = 0;
  std::uint64_t low_bits = 0;
  for (const std::uint64_t a : address) {
    outside |= static_cast<std::uint64_t>(a - range.base > last);
    low_bits |= a;
  }
  return outside == 0 && (low_bits & (bytes - 1)) == 0;
}

} // namespace heddle::isa
