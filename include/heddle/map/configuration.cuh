// What the headers under heddle/ need to know about the compiler: marks for functions that run on
// both sides, the architectures compiled for, and how a thread waits politely.
//
// Names in these headers follow the standard library, because they stand beside it in users' code.
#pragma once

#include <cuda/atomic>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#if !defined(__CUDA_ARCH__) && defined(__x86_64__)
#include <emmintrin.h>
#endif
#if !defined(__CUDA_ARCH__)
#include <sched.h>
#endif

#if defined(__CUDACC__)
#define HEDDLE_ANYWHERE __host__ __device__
#define HEDDLE_DEVICE __device__
// A template that runs on both sides may call what a user type has on one side only; who
// instantiates it there is told by the compiler anyway.
#define HEDDLE_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")
#else
#define HEDDLE_ANYWHERE
#define HEDDLE_DEVICE
#define HEDDLE_NO_EXEC_CHECK
#endif

#if defined(__CUDA_ARCH__)
#define HEDDLE_UNROLL _Pragma("unroll")
#define HEDDLE_NO_UNROLL _Pragma("unroll 1")
#else
#define HEDDLE_UNROLL
#define HEDDLE_NO_UNROLL
#endif

#if defined(__SANITIZE_THREAD__)
#define HEDDLE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_THREAD_SANITIZER 1
#endif
#endif

namespace heddle {

/// How strongly an operation orders what the calling thread does around it.
///  * `synchronizing`: whoever sees the effect of an operation also sees everything that its caller
///    did before it (release by the one that changes the map, acquire by the one that sees it).
///  * `relaxed`: only the map's own contents are kept consistent, for each operation by itself. A
///  walk over all places may meet a pair that a search right after it misses. For keys and values
///  that refer to nothing else.
enum class ordering {
  relaxed,
  synchronizing
};

namespace detail {

/// True when every architecture of this compilation has 128-bit compare-exchange. The list is the
/// same in the host pass and in every device pass, so that all of them agree about the layout of a
/// map.
constexpr bool architectures_have_cas128() {
#if defined(__CUDA_ARCH_LIST__)
  constexpr int architectures[] = {__CUDA_ARCH_LIST__};
  for (int architecture : architectures) {
    if (architecture < 900) {
      return false;
    }
  }
#endif
  return true;
}

/// One turn of a loop that waits for another thread. Keeps no count on purpose: a waiting thread
/// comes back to the same state, which is what makes a hang recognisable to `heddle check`.
HEDDLE_ANYWHERE inline void wait_a_little() {
#if defined(__CUDA_ARCH__)
  __nanosleep(256);
#else
  sched_yield();
#endif
}

/// Spreads the entropy of any hash over 64 bits, so that a weak hash costs time only where keys
/// really collide. (Stafford's "Mix13", the finalizer of SplitMix64.)
HEDDLE_ANYWHERE inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

HEDDLE_ANYWHERE inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
#endif
}

HEDDLE_ANYWHERE inline std::uint32_t lowest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
#else
  return static_cast<std::uint32_t>(__builtin_ctz(bits));
#endif
}

/// Maps 32 random bits to [0, limit) without a division.
HEDDLE_ANYWHERE inline std::uint32_t scale(std::uint32_t random, std::uint32_t limit) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(random) * limit) >> 32);
}

} // namespace detail
} // namespace heddle
