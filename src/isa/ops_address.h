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
#include "isa/lane_count.h"

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

template <Space S> void addresses(Exec& exec, const Op& op, std::uint64_t (&address)[lane_count]) {
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
    for (int lane = 0; lane < lane_count; ++lane) {
      if constexpr (S == Space::Generic) {
        address[lane] = base[lane] + static_cast<std::uint64_t>(offset);
      } else {
        address[lane] = base[lane] + static_cast<std::uint32_t>(offset); // windows wrap at 4 GiB
      }
    }
  } else {
    const auto* base = exec.in<std::uint64_t>(op.a);
    for (int lane = 0; lane < lane_count; ++lane) {
      address[lane] = base[lane] + static_cast<std::uint64_t>(offset);
    }
  }
}

/// Completes fault() with the state space as written and stops.
const Op* access_fault(Exec& exec, const Op& op);
/// Fills fault(): `a` does not lie in the state space that the instruction names.
std::byte* wrong_space(Exec& exec, int lane, memory::Address a, std::uint32_t bytes, bool store);

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
/// By differences: those of [register + offset] are the same for every offset, so that compiled
/// code finds them out once for each register.
template <class T> Pattern pattern(const T* address, T size) {
  T not_consecutive = 0;
  T not_same = 0;
  for (T lane = 0; lane < warp_size; ++lane) {
    const T distance = address[lane] - address[0];
    not_consecutive |= distance ^ lane * size;
    not_same |= distance;
  }
  return not_consecutive == 0 ? Pattern::Consecutive
                              : (not_same == 0 ? Pattern::Same : Pattern::Any);
}
/// The same for each eight lanes that follow each other: rows of a small tile. Consecutive: lane n
/// of each eight at the first one's address + n × size.
inline constexpr int pattern_lanes = 8;
template <class T> Pattern pattern_of_eights(const T* address, T size) {
  T first[warp_size];
  for (int n = 0; n < warp_size; n += pattern_lanes) {
    for (int lane = 0; lane < pattern_lanes; ++lane) {
      first[n + lane] = address[n];
    }
  }
  T not_consecutive = 0;
  T not_same = 0;
  for (T lane = 0; lane < warp_size; ++lane) {
    const T distance = address[lane] - first[lane];
    not_consecutive |= distance ^ lane % pattern_lanes * size;
    not_same |= distance;
  }
  return not_consecutive == 0 ? Pattern::Consecutive
                              : (not_same == 0 ? Pattern::Same : Pattern::Any);
}

/// How the addresses of `op` lie, all of them or those of each eight lanes. Looks at the base
/// register alone where that says it: offsets in .shared wrap at 4 GiB, far behind the end of every
/// range, so what wraps is not found in one.
template <Space S, bool Eights>
Pattern pattern_of(
    Exec& exec,
    const Op& op,
    const std::uint64_t (&address)[warp_size],
    std::uint32_t size
) {
  const auto look = []<class T>(const T* values, T bytes) {
    return Eights ? pattern_of_eights(values, bytes) : pattern(values, bytes);
  };
  if (op.a.none()) {
    return Pattern::Same;
  }
  if ((op.imm2 & Base32) == 0) {
    return look(exec.in<std::uint64_t>(op.a), std::uint64_t{size});
  }
  if constexpr (S == Space::Shared) {
    return look(exec.in<std::uint32_t>(op.a), size);
  }
  return look(&address[0], std::uint64_t{size});
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
/// Host pointers to `bytes` each at the address of the first of each eight lanes. False: one of
/// them does not lie in `range`, or is not aligned.
inline bool eights_in(
    const memory::Range& range,
    const std::uint64_t (&address)[warp_size],
    std::uint64_t bytes,
    std::uint64_t align,
    bool store,
    std::byte* (&at)[warp_size / pattern_lanes]
) {
  bool fit = true;
  for (int n = 0; n < warp_size / pattern_lanes; ++n) {
    at[n] = host_in(range, address[n * pattern_lanes], bytes, align, store);
    fit = fit && at[n] != nullptr;
  }
  return fit;
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
