// Which table stands behind a concurrent_map, chosen by type or by name, and the default hash and
// equality.
#pragma once

#include "slot_table.cuh"

#include <functional>

namespace heddle {

/// True if two keys are equal exactly when their bytes are. Specialise it for your own types to let
/// them use the packed layouts (with the default equality).
template <class Key>
struct is_bitwise_comparable
    : std::bool_constant<
          std::is_integral<Key>::value || std::is_enum<Key>::value || std::is_pointer<Key>::value> {
};

template <class Key> struct equal_to {
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE bool operator()(const Key& a, const Key& b) const { return a == b; }
};

/// Integers, enumerations and pointers as numbers; other types without padding by their bytes;
/// everything else by std::hash, on the host. The map mixes every hash once more, so an injective
/// one is as good as a random one.
template <class Key, class = void> struct hash {
  std::size_t operator()(const Key& key) const { return std::hash<Key>()(key); }
};
template <class Key>
struct hash<Key, std::enable_if_t<is_bitwise_comparable<Key>::value && sizeof(Key) <= 8>> {
  HEDDLE_ANYWHERE std::uint64_t operator()(const Key& key) const {
    return detail::to_field<std::uint64_t>(key);
  }
};
template <class Key>
struct hash<
    Key,
    std::enable_if_t<
        !(is_bitwise_comparable<Key>::value && sizeof(Key) <= 8) &&
        std::is_trivially_copyable<Key>::value &&
        std::has_unique_object_representations<Key>::value>> {
  HEDDLE_ANYWHERE std::uint64_t operator()(const Key& key) const {
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(&key);
    std::uint64_t h = sizeof(Key);
    for (std::size_t i = 0; i < sizeof(Key); ++i) {
      h = (h ^ bytes[i]) * 0x100000001b3ull;
      h ^= h >> 29;
    }
    return h;
  }
};

namespace layout {
/// packed8 if it fits, else packed16 if it fits and every architecture compiled for has the
/// instruction, else state.
struct automatic;
/// Keys and values of up to 4 bytes each, one 64-bit compare-exchange.
struct packed8;
/// Keys and values of up to 8 bytes each, one 128-bit compare-exchange (sm_90 and later; x86-64
/// hosts).
struct packed16;
/// Any key and value; a state next to each slot.
struct state;
/// Any key and value; states, keys and values in three arrays: the layout of the talk, as a
/// baseline.
struct talk;
} // namespace layout

namespace detail {

template <class Key, class Value, class KeyEqual>
constexpr bool can_pack =
    is_bitwise_comparable<Key>::value && std::is_same<KeyEqual, equal_to<Key>>::value &&
    std::is_trivially_copyable<Value>::value;
template <class Key, class Value, class KeyEqual>
constexpr bool fits8 = can_pack<Key, Value, KeyEqual> && sizeof(Key) <= 4 && sizeof(Value) <= 4;
template <class Key, class Value, class KeyEqual>
constexpr bool fits16 = can_pack<Key, Value, KeyEqual> && sizeof(Key) <= 8 && sizeof(Value) <= 8;

template <class Layout, class Key, class Value, class KeyEqual> struct resolve {
  using type = Layout;
};
template <class Key, class Value, class KeyEqual>
struct resolve<layout::automatic, Key, Value, KeyEqual> {
  using wide = std::conditional_t<
      fits16<Key, Value, KeyEqual> && architectures_have_cas128(),
      layout::packed16,
      layout::state>;
  using type = std::conditional_t<fits8<Key, Value, KeyEqual>, layout::packed8, wide>;
};

template <
    class Layout,
    class Key,
    class Value,
    cuda::thread_scope Scope,
    class Hash,
    class KeyEqual>
struct table_for {
  static_assert(sizeof(Layout) == 0, "heddle: unknown layout");
};

template <class Key, class Value, cuda::thread_scope Scope, class Hash, class KeyEqual>
struct table_for<layout::packed8, Key, Value, Scope, Hash, KeyEqual> {
  static_assert(
      fits8<Key, Value, KeyEqual>,
      "heddle: layout::packed8 needs a bitwise comparable key and a trivially copyable value of up "
      "to 4 "
      "bytes each, and the default equality"
  );
  using type = packed_table<word8, Key, Value, Scope, Hash>;
  HEDDLE_ANYWHERE static type make(void* memory, std::uint32_t buckets, Hash hash, KeyEqual) {
    return type(memory, buckets, hash);
  }
};
template <class Key, class Value, cuda::thread_scope Scope, class Hash, class KeyEqual>
struct table_for<layout::packed16, Key, Value, Scope, Hash, KeyEqual> {
  static_assert(
      fits16<Key, Value, KeyEqual>,
      "heddle: layout::packed16 needs a bitwise comparable key and a trivially copyable value of "
      "up to 8 "
      "bytes each, and the default equality"
  );
  static_assert(
      sizeof(Key) != 0 && architectures_have_cas128(), // for the instances only
      "heddle: layout::packed16 needs 128-bit compare-exchange: compile for sm_90 and later only"
  );
  using type = packed_table<word16, Key, Value, Scope, Hash>;
  HEDDLE_ANYWHERE static type make(void* memory, std::uint32_t buckets, Hash hash, KeyEqual) {
    return type(memory, buckets, hash);
  }
};
template <class Key, class Value, cuda::thread_scope Scope, class Hash, class KeyEqual>
struct table_for<layout::state, Key, Value, Scope, Hash, KeyEqual> {
  using type = slot_table<slots_together<Key, Value>, Key, Value, Scope, Hash, KeyEqual>;
  HEDDLE_ANYWHERE static type make(void* memory, std::uint32_t buckets, Hash hash, KeyEqual equal) {
    return type(memory, buckets, hash, equal);
  }
};
template <class Key, class Value, cuda::thread_scope Scope, class Hash, class KeyEqual>
struct table_for<layout::talk, Key, Value, Scope, Hash, KeyEqual> {
  using type = slot_table<slots_apart<Key, Value>, Key, Value, Scope, Hash, KeyEqual>;
  HEDDLE_ANYWHERE static type make(void* memory, std::uint32_t buckets, Hash hash, KeyEqual equal) {
    return type(memory, buckets, hash, equal);
  }
};

} // namespace detail
} // namespace heddle
