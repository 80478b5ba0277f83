// Slots that one compare-exchange changes: 8 bytes for keys and values of up to 4 bytes each, 16
// bytes for up to 8 bytes each; and the few memory operations on them that the packed tables need.
//
//   word8    bits 0..31  key field      bits 32..63  other field
//   word16   bits 0..63  key field      bits 64..127 other field
//
// The key field is the complement of the key's bits, so memory of zeros is a table of empty slots.
// A key field of 0 marks a word that holds no pair; its other field then says what it is:
//
//   bit 0    erased (a tombstone)
//   bit 1    locked by an inserter
//   bits 2.. stamp of an empty word
//
// Only one key would have the field 0: the one of all ones, if keys fill the field. The tables keep
// it in a slot of its own, so no key and no value is reserved.
//
// Direction of error: device loads of a group are vector loads, which PTX defines as one access per
// element in any order. Nothing here relies on more.
#pragma once

#include "configuration.cuh"

namespace heddle {
namespace detail {

enum class access {
  relaxed,
  acquire
};

/// Words of a bucket. 4 makes buckets of three slots, which tests fill with few keys.
#if !defined(HEDDLE_BUCKET_UNITS)
#define HEDDLE_BUCKET_UNITS 8
#endif

struct alignas(8) word8 {
  using field = std::uint32_t;
  field key;
  field other;
  static constexpr int bucket_units = HEDDLE_BUCKET_UNITS;
  static constexpr int granule_units = 2;
};

struct alignas(16) word16 {
  using field = std::uint64_t;
  field key;
  field other;
  static constexpr int bucket_units = HEDDLE_BUCKET_UNITS;
  static constexpr int granule_units = 1;
};

template <class Word> HEDDLE_ANYWHERE bool same(Word a, Word b) {
  return a.key == b.key && a.other == b.other;
}
template <class Word> HEDDLE_ANYWHERE bool is_empty(Word w) {
  return w.key == 0 && (w.other & 1) == 0;
}
template <class Word> HEDDLE_ANYWHERE bool is_tombstone(Word w) {
  return w.key == 0 && (w.other & 1) != 0;
}
template <class Word> HEDDLE_ANYWHERE bool is_locked(Word w) {
  return w.key == 0 && (w.other & 3) == 2;
}
template <class Word> HEDDLE_ANYWHERE Word tombstone() {
  return {0, 1};
}
template <class Word> HEDDLE_ANYWHERE Word locked(Word empty) {
  return {0, static_cast<typename Word::field>(empty.other | 2)};
}
/// What follows a locked empty word. Stamps wrap around after 2^30 re-uses of tombstones that end
/// at one slot; a thread would have to sleep through all of them between two instructions to be
/// misled.
template <class Word> HEDDLE_ANYWHERE Word unlocked(Word held) {
  return {0, static_cast<typename Word::field>((held.other | 3) + 1)};
}

/// The bytes of a trivially copyable object as an unsigned number.
template <class Field, class T> HEDDLE_ANYWHERE Field to_field(const T& object) {
  static_assert(sizeof(T) <= sizeof(Field), "does not fit");
  Field field = 0;
  memcpy(&field, &object, sizeof(T));
  return field;
}
template <class T, class Field> HEDDLE_ANYWHERE T from_field(Field field) {
  union bytes { // T need not be default-constructible
    char raw[sizeof(T)];
    T object;
    HEDDLE_ANYWHERE bytes() {}
  } copy;
  memcpy(copy.raw, &field, sizeof(T));
  return copy.object;
}

// --- memory operations, by scope

#if defined(__CUDA_ARCH__)
#define HEDDLE_BY_SCOPE(MACRO)                                                                     \
  if constexpr (Scope == cuda::thread_scope_system) {                                              \
    MACRO("sys");                                                                                  \
  } else {                                                                                         \
    MACRO("gpu");                                                                                  \
  }
#endif

template <cuda::thread_scope Scope> HEDDLE_ANYWHERE auto atomic_number(std::uint64_t* p) {
  return cuda::atomic_ref<std::uint64_t, Scope>(*p);
}

HEDDLE_ANYWHERE inline std::uint64_t pack(word8 w) {
  return w.key | static_cast<std::uint64_t>(w.other) << 32;
}
HEDDLE_ANYWHERE inline word8 unpack(std::uint64_t bits) {
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

template <cuda::thread_scope Scope> struct memory {
  // 8 bytes
  HEDDLE_ANYWHERE static word8 load(word8* p, access order) {
    const auto number = atomic_number<Scope>(reinterpret_cast<std::uint64_t*>(p));
    if (order == access::acquire) {
      return unpack(number.load(cuda::memory_order_acquire));
    }
    return unpack(number.load(cuda::memory_order_relaxed));
  }
  /// Returns what was there; the exchange happened if that is `expected`. If it synchronizes it
  /// releases, and acquires what was there unless `reads` is relaxed: for who has acquired
  /// `expected`, and does not use anything else that was there.
  HEDDLE_ANYWHERE static word8 compare_exchange(
      word8* p,
      word8 expected,
      word8 desired,
      ordering order,
      access reads = access::acquire
  ) {
    std::uint64_t seen = pack(expected);
    if (order == ordering::synchronizing && reads == access::relaxed) {
      atomic_number<Scope>(reinterpret_cast<std::uint64_t*>(p))
          .compare_exchange_strong(
              seen,
              pack(desired),
              cuda::memory_order_release,
              cuda::memory_order_relaxed
          );
    } else if (order == ordering::relaxed) {
      atomic_number<Scope>(reinterpret_cast<std::uint64_t*>(p))
          .compare_exchange_strong(
              seen,
              pack(desired),
              cuda::memory_order_relaxed,
              cuda::memory_order_relaxed
          );
    } else {
      atomic_number<Scope>(reinterpret_cast<std::uint64_t*>(p))
          .compare_exchange_strong(
              seen,
              pack(desired),
              cuda::memory_order_acq_rel,
              cuda::memory_order_acquire
          );
    }
    return unpack(seen);
  }
  HEDDLE_ANYWHERE static void store_release(word8* p, word8 value) {
    atomic_number<Scope>(reinterpret_cast<std::uint64_t*>(p))
        .store(pack(value), cuda::memory_order_release);
  }
  /// Two neighbours, 16-byte aligned; each is read by itself, in any order.
  HEDDLE_ANYWHERE static void load_pair(word8* p, access order, word8& first, word8& second) {
#if defined(__CUDA_ARCH__)
    if constexpr (Scope == cuda::thread_scope_device || Scope == cuda::thread_scope_system) {
      std::uint64_t a, b; // maps of smaller scopes are in shared memory
      const std::uint64_t address = __cvta_generic_to_global(p);
#define HEDDLE_LOAD(SCOPE)                                                                         \
  if (order == access::acquire) {                                                                  \
    asm volatile("ld.acquire." SCOPE ".global.v2.b64 {%0,%1}, [%2];"                               \
                 : "=l"(a), "=l"(b)                                                                \
                 : "l"(address)                                                                    \
                 : "memory");                                                                      \
  } else {                                                                                         \
    asm volatile("ld.relaxed." SCOPE ".global.v2.b64 {%0,%1}, [%2];"                               \
                 : "=l"(a), "=l"(b)                                                                \
                 : "l"(address)                                                                    \
                 : "memory");                                                                      \
  }
      HEDDLE_BY_SCOPE(HEDDLE_LOAD)
#undef HEDDLE_LOAD
      first = unpack(a);
      second = unpack(b);
      return;
    }
#endif
    first = load(p, order);
    second = load(p + 1, order);
  }

  // 16 bytes
  HEDDLE_ANYWHERE static word16 load(word16* p, access order) {
    word16 result;
#if defined(__CUDA_ARCH__)
    const std::uint64_t address = __cvta_generic_to_global(p);
#define HEDDLE_LOAD(SCOPE)                                                                         \
  if (order == access::acquire) {                                                                  \
    asm volatile("{\n\t.reg .b128 r;\n\tld.acquire." SCOPE                                         \
                 ".global.b128 r, [%2];\n\tmov.b128 {%0,%1}, r;\n\t}"                              \
                 : "=l"(result.key), "=l"(result.other)                                            \
                 : "l"(address)                                                                    \
                 : "memory");                                                                      \
  } else {                                                                                         \
    asm volatile("{\n\t.reg .b128 r;\n\tld.relaxed." SCOPE                                         \
                 ".global.b128 r, [%2];\n\tmov.b128 {%0,%1}, r;\n\t}"                              \
                 : "=l"(result.key), "=l"(result.other)                                            \
                 : "l"(address)                                                                    \
                 : "memory");                                                                      \
  }
    HEDDLE_BY_SCOPE(HEDDLE_LOAD)
#undef HEDDLE_LOAD
#elif defined(HEDDLE_THREAD_SANITIZER)
    (void)order;
    result = as_word(__atomic_load_n(as_number(p), __ATOMIC_ACQUIRE));
#elif defined(__x86_64__)
    // Processors with AVX load 16 aligned bytes in one access, also by the older instruction (both
    // vendors document it); loads acquire on x86.
    (void)order;
    __m128i bytes;
#if defined(__AVX__)
    asm volatile("vmovdqa %1, %0" : "=x"(bytes) : "m"(*reinterpret_cast<__m128i*>(p)) : "memory");
#else
    if (!__builtin_cpu_supports("avx")) {
      result.key = atomic_number<Scope>(&p->key).load(cuda::memory_order_acquire);
      result.other = atomic_number<Scope>(&p->other).load(cuda::memory_order_acquire);
      return compare_exchange(p, result, result, ordering::synchronizing);
    }
    asm volatile("movdqa %1, %0" : "=x"(bytes) : "m"(*reinterpret_cast<__m128i*>(p)) : "memory");
#endif
    memcpy(&result, &bytes, sizeof result);
#else
    (void)order;
    result.key = atomic_number<Scope>(&p->key).load(cuda::memory_order_acquire);
    result.other = atomic_number<Scope>(&p->other).load(cuda::memory_order_acquire);
    result = compare_exchange(p, result, result, ordering::synchronizing);
#endif
    return result;
  }
  HEDDLE_ANYWHERE static word16 compare_exchange(
      word16* p,
      word16 expected,
      word16 desired,
      ordering order,
      access reads = access::acquire
  ) {
#if defined(__CUDA_ARCH__)
    word16 seen;
#if __CUDA_ARCH__ >= 900
    const std::uint64_t address = __cvta_generic_to_global(p);
#define HEDDLE_CAS_AS(ORDER, SCOPE)                                                                \
  asm volatile(                                                                                    \
      "{\n\t.reg .b128 r, c, n;\n\tmov.b128 c, {%3,%4};\n\tmov.b128 n, {%5,%6};\n\t" ORDER SCOPE   \
      ".global.cas.b128 r, [%2], c, n;\n\tmov.b128 {%0,%1}, r;\n\t}"                               \
      : "=l"(seen.key), "=l"(seen.other)                                                           \
      : "l"(address), "l"(expected.key), "l"(expected.other), "l"(desired.key), "l"(desired.other) \
      : "memory"                                                                                   \
  )
#define HEDDLE_CAS(SCOPE)                                                                          \
  if (order == ordering::relaxed) {                                                                \
    HEDDLE_CAS_AS("atom.relaxed.", SCOPE);                                                         \
  } else if (reads == access::relaxed) {                                                           \
    HEDDLE_CAS_AS("atom.release.", SCOPE);                                                         \
  } else {                                                                                         \
    HEDDLE_CAS_AS("atom.acq_rel.", SCOPE);                                                         \
  }
    HEDDLE_BY_SCOPE(HEDDLE_CAS)
#undef HEDDLE_CAS
#undef HEDDLE_CAS_AS
#else
    // Not reached: concurrent_map refuses this layout when an architecture below sm_90 is compiled
    // for.
    (void)p, (void)expected, (void)desired, (void)order, (void)reads;
    __trap();
    seen = {};
#endif
    return seen;
#elif defined(__x86_64__) && !defined(HEDDLE_THREAD_SANITIZER)
    (void)order, (void)reads; // a locked instruction is sequentially consistent
    asm volatile("lock cmpxchg16b %2"
                 : "+a"(expected.key), "+d"(expected.other), "+m"(*p)
                 : "b"(desired.key), "c"(desired.other)
                 : "cc", "memory");
    return expected;
#else
    (void)order, (void)reads;
    unsigned __int128 seen = as_number(expected);
    __atomic_compare_exchange_n(
        as_number(p),
        &seen,
        as_number(desired),
        false,
        __ATOMIC_ACQ_REL,
        __ATOMIC_ACQUIRE
    );
    return as_word(seen);
#endif
  }
  HEDDLE_ANYWHERE static void store_release(word16* p, word16 value) {
    // Only used on words that this thread holds locked, so the first exchange succeeds.
    word16 seen = load(p, access::relaxed);
    for (word16 held; !same(held = compare_exchange(p, seen, value, ordering::synchronizing), seen);
         seen = held) {
    }
  }
  HEDDLE_ANYWHERE static void load_pair(word16* p, access order, word16& first, word16& second) {
    first = load(p, order);
    second = load(p + 1, order);
  }

  // control words
  HEDDLE_ANYWHERE static void set_bits(word8* p, std::uint64_t bits) {
    atomic_number<Scope>(reinterpret_cast<std::uint64_t*>(p))
        .fetch_or(bits, cuda::memory_order_relaxed);
  }
  /// By exchange of all 16 bytes: accesses of different widths to one place are outside every
  /// memory model.
  HEDDLE_ANYWHERE static void set_bits(word16* p, std::uint64_t bits) {
    word16 seen = load(p, access::relaxed);
    for (word16 held; (seen.key & bits) != bits; seen = held) {
      held = compare_exchange(p, seen, {seen.key | bits, seen.other}, ordering::relaxed);
      if (same(held, seen)) {
        return;
      }
    }
  }

private:
  using number = unsigned __int128;
  HEDDLE_ANYWHERE static number* as_number(word16* p) { return reinterpret_cast<number*>(p); }
  HEDDLE_ANYWHERE static number as_number(word16 w) {
    return static_cast<number>(w.other) << 64 | w.key;
  }
  HEDDLE_ANYWHERE static word16 as_word(number n) {
    return {static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(n >> 64)};
  }
};

HEDDLE_ANYWHERE inline std::uint64_t control_bits(word8 w) {
  return pack(w);
}
HEDDLE_ANYWHERE inline std::uint64_t control_bits(word16 w) {
  return w.key;
}

} // namespace detail
} // namespace heddle
