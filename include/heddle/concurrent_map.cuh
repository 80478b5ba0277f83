// heddle::concurrent_map: a hash map that host threads and device threads use at the same time.
// Header-only, C++17, nothing beneath but libcu++. docs/map.md has the reference, the proofs'
// outline and the figures.
//
//     heddle::concurrent_map<int, float> map(1'000'000);    // fixed capacity, device memory
//     kernel<<<blocks, threads>>>(map.ref());               // ref: trivially copyable, for kernels
//
//     __global__ void kernel(decltype(map)::ref_type map) {
//       if (map.try_insert(key, 1.0f) == heddle::insert_result::full) …
//       if (auto value = map.find(key)) use(*value);
//       map.insert_or_apply(key, [](float& v) { v += 1; });  // atomic accumulate
//       map.erase(key);
//     }
//     map.insert(keys, keys + n, values, stream);           // bulk, one thread per key
//
//     // Managed memory; a host thread inserts while kernels run:
//     heddle::concurrent_map<int, float, cuda::thread_scope_system> shared(1000);
//     shared.try_insert(key, 2.0f);
//
// Everything may be called at the same time on one map, except clear, rehash, moving and
// destruction, which need the map to themselves. No key and no value is reserved.
//
// Who may call: ref's members are device functions; the map's own members are host functions and
// need thread_scope_system and an allocator whose memory the host can touch, which a static_assert
// says. Without nvcc both are plain functions.
#pragma once

#include "map/allocator.cuh"
#include "map/bulk.cuh"
#include "map/operations.cuh"
#include "map/partitioned_insert.cuh"

namespace heddle {

/// Memory of a map: managed where the host takes part, the device's where it does not; the host's
/// without nvcc.
#if defined(__CUDACC__)
template <cuda::thread_scope Scope>
using default_allocator =
    std::conditional_t<Scope == cuda::thread_scope_system, managed_allocator, device_allocator>;
#else
template <cuda::thread_scope> using default_allocator = host_allocator;
#endif

/// What a kernel uses: trivially copyable, does not own. Order says how strongly its operations
/// synchronise.
///
/// Takes effect: find and contains at one load; erase at one exchange; insertions at one exchange
/// (packed layouts), or at the store that publishes the slot.
///
/// Progress: in packed layouts find, contains and erase wait for nothing, and an insertion waits
/// only for a thread that is about to re-use a tombstone of the same path. In the other layouts
/// all of them wait for whoever holds the slot.
///
/// Holders have started and need finitely many steps, so they are guaranteed to move: [DEV] of the
/// execution model. Errors: none but insert_result::full.
template <class Table, class Key, class Value, ordering Order = ordering::synchronizing>
class map_ref {
  using run = detail::operations<Table, Key, Value>;
#if defined(__CUDACC__)
  /// Refuses groups that are not of 32 threads, and what is no group.
  template <class Tile> using warp_of = std::enable_if_t<Tile::num_threads() == 32>;
  using warp = detail::packed_warp<Table, detail::lanes_of_any_block>;
#endif

public:
  using key_type = Key;
  using mapped_type = Value;

  map_ref() = default;
  HEDDLE_ANYWHERE explicit map_ref(Table table) : table_(table) {}

  /// The same map with operations that order nothing but the map's own contents. Faster in packed
  /// layouts; right whenever keys and values refer to nothing that was written before.
  HEDDLE_ANYWHERE map_ref<Table, Key, Value, ordering::relaxed> relaxed() const {
    return map_ref<Table, Key, Value, ordering::relaxed>(table_);
  }

  /// Inserts the pair unless the key is there.
  HEDDLE_DEVICE insert_result try_insert(const Key& key, const Value& value) const {
    return run::try_insert(table_, Order, key, value);
  }
  /// Inserts the pair, or replaces the value: then `exists`.
  HEDDLE_DEVICE insert_result insert_or_assign(const Key& key, const Value& value) const {
    return run::insert_or_assign(table_, Order, key, value);
  }
  /// Calls function(value&) for the value of the key, atomically; a key that is not there begins
  /// with Value{}. In packed layouts the function works on a copy and may be called again;
  /// elsewhere it must not use the map.
  template <class Function>
  HEDDLE_DEVICE insert_result insert_or_apply(const Key& key, Function&& function) const {
    return run::insert_or_apply(table_, Order, key, function);
  }
  /// The same, but a key that is not there gets `initial`, and the function is not called.
  template <class Function>
  HEDDLE_DEVICE insert_result
  insert_or_apply(const Key& key, const Value& initial, Function&& function) const {
    return run::insert_or_apply(table_, Order, key, initial, function);
  }
  /// Packed layouts: where searches for the key begin, for who wants to fetch it ahead of them.
  HEDDLE_DEVICE const void* first_place(const Key& key) const { return table_.first_place(key); }
  /// A copy of the value.
  HEDDLE_DEVICE cuda::std::optional<Value> find(const Key& key) const {
    return run::find(table_, Order, key);
  }
  /// Calls visit(const value&) once if the key is there. It sees one consistent value; it must not
  /// use the map.
  template <class Visit> HEDDLE_DEVICE bool find(const Key& key, Visit&& visit) const {
    return table_.visit(key, Order, visit);
  }
  HEDDLE_DEVICE bool contains(const Key& key) const {
    return table_.visit(key, Order, detail::ignore());
  }
  /// True if this call removed the key.
  HEDDLE_DEVICE bool erase(const Key& key) const { return table_.erase(key, Order); }

#if defined(__CUDACC__)
  // --- by a whole warp: tile is a cooperative group of 32 threads, all of which call
  //
  // Every lane brings a key of its own, or wanted = false. In packed layouts the warp reads the
  // buckets of its lanes together, one request for each, which is faster when searches fail or the
  // table is full; in the others each lane acts alone. Order, effect and progress are those of the
  // operations above; in between the lanes wait for each other.

  template <class Tile, class = warp_of<Tile>>
  HEDDLE_DEVICE insert_result
  try_insert(const Tile&, const Key& key, const Value& value, bool wanted = true) const {
    if constexpr (detail::has_warp_operations<Table>::value) {
      before();
      const insert_result result = warp::insert(table_, wanted, key, value);
      after();
      return result;
    } else {
      return wanted ? try_insert(key, value) : insert_result::exists;
    }
  }
  template <class Tile, class = warp_of<Tile>>
  HEDDLE_DEVICE cuda::std::optional<Value>
  find(const Tile&, const Key& key, bool wanted = true) const {
    cuda::std::optional<Value> result;
    if constexpr (detail::has_warp_operations<Table>::value) {
      __syncwarp(); // see below
      typename Table::word_type word;
      if (warp::search(table_, wanted, key, word) != nullptr) {
        result.emplace(detail::from_field<Value>(word.other));
      }
      after();
    } else if (wanted) {
      result = find(key);
    }
    return result;
  }
  template <class Tile, class = warp_of<Tile>>
  HEDDLE_DEVICE bool contains(const Tile&, const Key& key, bool wanted = true) const {
    if constexpr (detail::has_warp_operations<Table>::value) {
      __syncwarp(); // see below
      typename Table::word_type word;
      const bool found = warp::search(table_, wanted, key, word) != nullptr;
      after();
      return found;
    } else {
      return wanted && contains(key);
    }
  }
  template <class Tile, class = warp_of<Tile>>
  HEDDLE_DEVICE bool erase(const Tile&, const Key& key, bool wanted = true) const {
    if constexpr (detail::has_warp_operations<Table>::value) {
      __syncwarp(); // see below
      typename Table::word_type word;
      typename Table::word_type* const slot = warp::search(table_, wanted, key, word);
      const bool erased = table_.erase_at(slot, word, Order);
      after(); // a search that fails may have seen that somebody else erased the key
      return erased;
    } else {
      return wanted && erase(key);
    }
  }
#endif

  /// Places that visit_place knows; more than capacity() in some layouts.
  HEDDLE_ANYWHERE std::size_t places() const { return table_.places(); }
  /// Calls visit(key, value) for the pair at a place, if there is one. A loop over all places sees
  /// every pair that is there all the time exactly once, and of the others each at most once per
  /// insertion.
  template <class Visit> HEDDLE_DEVICE bool visit_place(std::size_t place, Visit&& visit) const {
    return table_.visit_place(place, visit);
  }
  HEDDLE_ANYWHERE std::size_t capacity() const { return table_.capacity(); }

private:
#if defined(__CUDACC__)
  /// The lanes of a warp read for each other. So a search begins when each lane knows what the
  /// others know (an insertion sees to that itself), and after an operation each knows what the
  /// others have read: shuffles do not order memory, __syncwarp does. Operations of warps are
  /// relaxed; fences synchronise.
  HEDDLE_DEVICE void before() const {
    if constexpr (Order == ordering::synchronizing) {
      cuda::atomic_thread_fence(cuda::memory_order_release, Table::scope);
    }
  }
  HEDDLE_DEVICE void after() const {
    if constexpr (Order == ordering::synchronizing) {
      cuda::atomic_thread_fence(cuda::memory_order_acquire, Table::scope);
    }
    __syncwarp();
  }
#endif
  Table table_;
};

template <
    class Key,
    class Value,
    cuda::thread_scope Scope = cuda::thread_scope_device,
    class Hash = heddle::hash<Key>,
    class KeyEqual = heddle::equal_to<Key>,
    class Allocator = default_allocator<Scope>,
    class Layout = layout::automatic>
class concurrent_map {
  static_assert(
      std::is_trivially_copyable<Hash>::value && std::is_trivially_copyable<KeyEqual>::value,
      "heddle: hash and equality travel to kernels, so they must be trivially copyable"
  );
  static_assert(
      Scope == cuda::thread_scope_system || Scope == cuda::thread_scope_device,
      "heddle: a map in memory that blocks share needs thread_scope_device or thread_scope_system"
  );
  static_assert(
      Allocator::host_accessible ||
          (std::is_trivially_copyable<Key>::value && std::is_trivially_copyable<Value>::value),
      "heddle: memory that the host cannot touch takes trivially copyable keys and values only"
  );
  using maker = detail::table_for<
      typename detail::resolve<Layout, Key, Value, KeyEqual>::type,
      Key,
      Value,
      Scope,
      Hash,
      KeyEqual>;
  using table = typename maker::type;
  using run = detail::operations<table, Key, Value>;
  static constexpr bool trivial_pairs =
      std::is_trivially_destructible<Key>::value && std::is_trivially_destructible<Value>::value;

public:
  using key_type = Key;
  using mapped_type = Value;
  using layout_type = typename detail::resolve<Layout, Key, Value, KeyEqual>::type;
  using ref_type = map_ref<table, Key, Value>;
  static_assert(std::is_trivially_copyable<ref_type>::value, "heddle: a ref is copied to kernels");

  /// Room for at least so many pairs. Throws std::bad_alloc or heddle::cuda_error.
  explicit concurrent_map(
      std::size_t capacity,
      Hash hash = Hash(),
      KeyEqual equal = KeyEqual(),
      Allocator allocator = Allocator()
  )
      : hash_(hash),
        equal_(equal),
        allocator_(allocator) {
    open(capacity);
  }
  concurrent_map(concurrent_map&& other) noexcept
      : hash_(other.hash_),
        equal_(other.equal_),
        allocator_(other.allocator_),
        memory_(other.memory_),
        buckets_(other.buckets_),
        table_(other.table_) {
    other.memory_ = nullptr;
#if defined(__CUDACC__)
    bins_ = std::move(other.bins_);
#endif
  }
  concurrent_map& operator=(concurrent_map&& other) noexcept {
    swap(other);
    return *this;
  }
  /// Waits for nothing: who queued work on the map waits for it first.
  ~concurrent_map() {
    if (memory_ != nullptr) {
      destroy_pairs();
      allocator_.deallocate(memory_, table::bytes(buckets_));
    }
  }
  void swap(concurrent_map& other) noexcept {
    std::swap(hash_, other.hash_);
    std::swap(equal_, other.equal_);
    std::swap(allocator_, other.allocator_);
    std::swap(memory_, other.memory_);
    std::swap(buckets_, other.buckets_);
    std::swap(table_, other.table_);
#if defined(__CUDACC__)
    std::swap(bins_, other.bins_);
#endif
  }

  std::size_t capacity() const { return table_.capacity(); }
  /// Memory of the map, in bytes.
  std::size_t bytes() const { return table::bytes(buckets_); }

  /// A map in memory of the caller's, who owns it: shared by processes, or inside something larger.
  /// `memory` has bytes_at(capacity) bytes, aligned to 128, all zero before the first use; each
  /// process makes a ref of its own, with the same capacity and equal hash functions.
  static constexpr std::size_t bytes_at(std::size_t capacity) {
    return table::bytes(table::buckets_for(capacity));
  }
  static ref_type
  ref_at(void* memory, std::size_t capacity, Hash hash = Hash(), KeyEqual equal = KeyEqual()) {
    return ref_type(maker::make(memory, table::buckets_for(capacity), hash, equal));
  }

  ref_type ref() const {
#if defined(__CUDACC__)
    static_assert(
        Allocator::device_accessible,
        "heddle: this map's memory is not accessible to the device"
    );
#endif
    return ref_type(table_);
  }

  // --- one host thread, one key: while device threads and other host threads do the same
  // As in ref; `make` and functions run on the calling thread, and what
  // they throw goes to the caller: the map stays usable, and nobody waits for the slot.

  insert_result try_insert(const Key& key, const Value& value) const {
    return run::try_insert(host_table(), ordering::synchronizing, key, value);
  }
  /// Constructs the value in place from the arguments. Unlike try_insert it may construct one in
  /// vain.
  template <class... Arguments>
  insert_result try_emplace(const Key& key, Arguments&&... arguments) const {
    return host_table().upsert(
        key,
        ordering::synchronizing,
        [&]() { return Value(std::forward<Arguments>(arguments)...); },
        detail::leave_it()
    );
  }
  insert_result insert_or_assign(const Key& key, const Value& value) const {
    return run::insert_or_assign(host_table(), ordering::synchronizing, key, value);
  }
  template <class Function>
  insert_result insert_or_apply(const Key& key, Function&& function) const {
    return run::insert_or_apply(host_table(), ordering::synchronizing, key, function);
  }
  template <class Function>
  insert_result insert_or_apply(const Key& key, const Value& initial, Function&& function) const {
    return run::insert_or_apply(host_table(), ordering::synchronizing, key, initial, function);
  }
  cuda::std::optional<Value> find(const Key& key) const {
    return run::find(host_table(), ordering::synchronizing, key);
  }
  template <class Visit, class = decltype(std::declval<Visit&>()(std::declval<const Value&>()))>
  bool find(const Key& key, Visit&& visit) const {
    return host_table().visit(key, ordering::synchronizing, visit);
  }
  bool contains(const Key& key) const {
    return host_table().visit(key, ordering::synchronizing, detail::ignore());
  }
  bool erase(const Key& key) const { return host_table().erase(key, ordering::synchronizing); }

  /// Calls function(const key&, const value&) for every pair that is there all the time, and
  /// perhaps for others.
  template <class Function> void for_each(Function&& function) const {
    const table t = host_table();
    for (std::size_t place = 0; place < t.places(); ++place) {
      t.visit_place(place, function);
    }
  }
  /// The number of pairs; exact if nobody changes the map meanwhile.
  std::size_t size() const {
    if constexpr (Allocator::host_accessible && Scope == cuda::thread_scope_system) {
      std::size_t n = 0;
      for_each([&n](const Key&, const Value&) { ++n; });
      return n;
    } else {
#if defined(__CUDACC__)
      return size(cudaStream_t(nullptr));
#else
      static_assert(
          Scope == cuda::thread_scope_system,
          "heddle: host threads need thread_scope_system"
      );
#endif
    }
  }

  // --- the map to oneself

  /// Removes everything. Nobody else may use the map meanwhile.
  void clear() {
    destroy_pairs();
    zero();
  }
  /// Moves everything into a table of another capacity, without tombstones. Every ref becomes
  /// stale. Nobody else may use the map meanwhile. If the new one is too small, or memory is, the
  /// map stays as it was and this throws.
  void rehash(std::size_t capacity) {
    concurrent_map other(capacity, hash_, equal_, allocator_);
    if constexpr (Allocator::host_accessible) {
      const table to = other.table_;
      bool lost = false;
      for (std::size_t place = 0; place < table_.places(); ++place) {
        table_.visit_place(place, [&](const Key& key, const Value& value) {
          lost = run::try_insert(to, ordering::synchronizing, key, value) == insert_result::full ||
                 lost;
        });
      }
      refuse(lost);
    } else {
#if defined(__CUDACC__)
      const detail::device_counter lost(nullptr);
      detail::launch_bulk(
          detail::bulk_copy<run, table>,
          table_.places(),
          nullptr,
          table_,
          other.table_,
          lost.get()
      );
      refuse(lost.wait() != 0);
#endif
    }
    swap(other);
  }

#if defined(__CUDACC__)
  // --- bulk, on a stream
  // Iterators are dereferenced on the device. Calls without a result return when the work is
  // queued. Several of them, on any streams, and kernels with a ref may run on one map at the same
  // time. Errors: heddle::cuda_error.

  /// try_insert of every (keys[i], values[i]). For many keys and a table much larger than the cache
  /// this takes memory for a copy of the pairs, if there is any, which the map keeps for the next
  /// call; it is much faster for it.
  template <class Keys, class Values>
  void insert(Keys first, Keys last, Values values, cudaStream_t stream) const {
    insert(first, last, values, nullptr, stream);
  }
  /// The same; results[i] = what it did.
  template <class Keys, class Values, class Results>
  void insert(Keys first, Keys last, Values values, Results results, cudaStream_t stream) const {
    const std::size_t n = static_cast<std::size_t>(last - first);
    if constexpr (
        detail::has_warp_operations<table>::value && std::is_same<Results, std::nullptr_t>::value
    ) {
      if (detail::insert_by_bins(device_table(), bins_, first, values, n, stream)) {
        return;
      }
    }
    detail::launch_bulk(
        detail::bulk_insert<run, table, Keys, Values, Results>,
        n,
        stream,
        device_table(),
        first,
        values,
        n,
        results,
        static_cast<unsigned long long*>(nullptr)
    );
  }
  /// values[i] = the value of keys[i], or `missing`.
  template <class Keys, class Values>
  void find(Keys first, Keys last, Values values, Value missing, cudaStream_t stream) const {
    find(first, last, values, missing, nullptr, stream);
  }
  /// The same; found[i] tells the two apart.
  template <class Keys, class Values, class Found>
  void find(
      Keys first,
      Keys last,
      Values values,
      Value missing,
      Found found,
      cudaStream_t stream
  ) const {
    const std::size_t n = static_cast<std::size_t>(last - first);
    detail::launch_bulk(
        detail::bulk_find<run, Value, table, Keys, Values, Found>,
        n,
        stream,
        device_table(),
        first,
        n,
        values,
        missing,
        found
    );
  }
  /// found[i] = whether keys[i] is there.
  template <class Keys, class Found>
  void contains(Keys first, Keys last, Found found, cudaStream_t stream) const {
    const std::size_t n = static_cast<std::size_t>(last - first);
    detail::launch_bulk(
        detail::bulk_contains<table, Keys, Found>,
        n,
        stream,
        device_table(),
        first,
        n,
        found
    );
  }
  template <class Keys> void erase(Keys first, Keys last, cudaStream_t stream) const {
    const std::size_t n = static_cast<std::size_t>(last - first);
    detail::launch_bulk(
        detail::bulk_erase<table, Keys>,
        n,
        stream,
        device_table(),
        first,
        n,
        static_cast<unsigned long long*>(nullptr)
    );
  }
  /// Copies at most `limit` pairs out, in no particular order; returns how many there are.
  template <class Keys, class Values>
  std::size_t retrieve_all(Keys keys, Values values, std::size_t limit, cudaStream_t stream) const {
    const detail::device_counter count(stream);
    detail::launch_bulk(
        detail::bulk_retrieve<table, Keys, Values>,
        table_.places(),
        stream,
        device_table(),
        keys,
        values,
        limit,
        count.get()
    );
    return count.wait();
  }
  /// function(const key&, const value&) on the device, for every pair.
  template <class Function> void for_each(Function function, cudaStream_t stream) const {
    detail::launch_bulk(
        detail::bulk_for_each<table, Function>,
        table_.places(),
        stream,
        device_table(),
        function
    );
  }
  std::size_t size(cudaStream_t stream) const {
    const detail::device_counter count(stream);
    detail::launch_bulk(
        detail::bulk_size<table>,
        table_.places(),
        stream,
        device_table(),
        count.get()
    );
    return count.wait();
  }
#endif

private:
  const table& host_table() const {
    static_assert(
        Scope == cuda::thread_scope_system,
        "heddle: a host thread may use a map of thread_scope_system only"
    );
    static_assert(
        Allocator::host_accessible,
        "heddle: this map's memory is not accessible to the host"
    );
    return table_;
  }
  const table& device_table() const {
    static_assert(
        Allocator::device_accessible,
        "heddle: this map's memory is not accessible to the device"
    );
    return table_;
  }

  void open(std::size_t capacity) {
    buckets_ = table::buckets_for(capacity);
    memory_ = allocator_.allocate(table::bytes(buckets_));
    table_ = maker::make(memory_, buckets_, hash_, equal_);
    try {
      zero();
    } catch (...) {
      allocator_.deallocate(memory_, table::bytes(buckets_));
      memory_ = nullptr;
      throw;
    }
#if defined(__CUDACC__)
    if constexpr (detail::has_warp_operations<table>::value && Allocator::device_accessible) {
      if (table::bytes(buckets_) >= detail::partitioned_bytes) {
        bins_.open();
      }
    }
#endif
  }
  /// Memory of zeros is an empty table, in every layout.
  void zero() {
#if defined(__CUDACC__)
    if constexpr (Allocator::device_accessible) {
      detail::check(cudaMemset(memory_, 0, table::bytes(buckets_)), "cudaMemset");
      detail::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      return;
    }
#endif
    if constexpr (Allocator::host_accessible) {
      std::memset(memory_, 0, table::bytes(buckets_));
    }
  }
  void destroy_pairs() {
    if constexpr (!trivial_pairs) {
      for (std::size_t place = 0; place < table_.places(); ++place) {
        table_.visit_place(place, [](const Key& key, const Value& value) {
          key.~Key();
          value.~Value();
        });
      }
    }
  }
  static void refuse(bool lost) {
    if (lost) {
      throw std::length_error("heddle::concurrent_map::rehash: the pairs do not fit");
    }
  }

  Hash hash_;
  KeyEqual equal_;
  Allocator allocator_;
  void* memory_ = nullptr;
  std::uint32_t buckets_ = 0;
  table table_;
#if defined(__CUDACC__)
  detail::bin_pool bins_;
#endif
};

#if defined(__CUDACC__)

/// A map of fixed capacity in shared memory, for the threads of one block.
///
///     __shared__ heddle::shared_map<int, int, 500> map;
///     map.clear(cooperative_groups::this_thread_block());      // once, by all threads: they wait
///     map.ref().insert_or_apply(key, [](int& n) { ++n; });     // ref: as that of concurrent_map
///
/// What waits for whom is as in concurrent_map. No 16-byte words: a state stands beside such pairs.
template <
    class Key,
    class Value,
    std::size_t Capacity,
    class Hash = heddle::hash<Key>,
    class KeyEqual = heddle::equal_to<Key>,
    class Layout =
        std::conditional_t<detail::fits8<Key, Value, KeyEqual>, layout::packed8, layout::state>>
class shared_map {
  static_assert(
      std::is_trivially_destructible<Key>::value && std::is_trivially_destructible<Value>::value,
      "heddle: nobody destroys what is left in shared memory at the end of a block"
  );
  static_assert(
      !std::is_same<Layout, layout::packed16>::value,
      "heddle: layout::packed16 is for global memory"
  );
  using maker = detail::table_for<Layout, Key, Value, cuda::thread_scope_block, Hash, KeyEqual>;
  using table = typename maker::type;
  static constexpr std::uint32_t buckets = table::buckets_for(Capacity);

public:
  using key_type = Key;
  using mapped_type = Value;
  using ref_type = map_ref<table, Key, Value>;

  /// Makes the map empty. All threads of the group call; they wait for each other before and after.
  template <class Group> HEDDLE_DEVICE void clear(const Group& group) {
    group.sync();
    for (std::size_t i = group.thread_rank(); i < sizeof memory_ / 8; i += group.size()) {
      reinterpret_cast<std::uint64_t*>(memory_)[i] = 0;
    }
    group.sync();
  }
  HEDDLE_DEVICE ref_type ref() {
    return ref_type(maker::make(memory_, buckets, Hash(), KeyEqual()));
  }

private:
  alignas(128) unsigned char memory_[(table::bytes(buckets) + 7) / 8 * 8];
};

#endif

} // namespace heddle
