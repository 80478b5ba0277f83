// Hasher: a 128-bit fingerprint of bytes, for states and contents (XXH3, not cryptographic).
//
//   Hasher h; h.bytes(p, n); h.value(pc); Hash128 id = h.finish();
//
// The same bytes give the same fingerprint in every process and on every machine of one endianness.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace heddle {

struct Hash128 {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Hash128&) const = default;
};

/// A number for both, in this order.
inline std::uint64_t combined(std::uint64_t first, std::uint64_t second) {
  const std::uint64_t both[2] = {first, second};
  return XXH3_64bits(both, sizeof both);
}

class Hasher {
public:
  Hasher() { XXH3_128bits_reset(&state_); }

  void bytes(const void* p, std::size_t count) { XXH3_128bits_update(&state_, p, count); }
  template <class T> void value(const T& v) {
    static_assert(std::has_unique_object_representations_v<T>, "padding would be hashed");
    bytes(&v, sizeof v);
  }
  void text(std::string_view s) {
    value(s.size());
    bytes(s.data(), s.size());
  }
  Hash128 finish() const {
    const XXH128_hash_t h = XXH3_128bits_digest(&state_);
    return {h.low64, h.high64};
  }

private:
  XXH3_state_t state_;
};

} // namespace heddle
