// Implements address_space.h. The device range is two reservations of the process: one that nobody
// can read (the addresses programs see) and one that holds the bytes, a constant distance away.
#include "memory/address_space.h"

#include "base/check.h"
#include "base/environment.h"
#include "base/outside.h"
#include "memory/heap_records.h"
#include "memory/usual_address.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

namespace heddle::memory {
namespace {

constexpr int any_device = -1;

constexpr Address device_base = 0x0000'2000'0000'0000ULL;
constexpr std::uint64_t device_range_bytes = 1ULL << 40;
constexpr Address bytes_base = 0x0000'2200'0000'0000ULL;
constexpr std::int64_t device_delta = static_cast<std::int64_t>(bytes_base - device_base);
constexpr std::uint64_t gap_bytes = 256; // after every allocation: belongs to nobody
constexpr std::uint64_t page_bytes = 4096;
constexpr const char* heap_name = "device heap";
// What device code allocates lies that much farther, where memory lies otherwise.
constexpr std::uint64_t other_distance = 0x5'3a6c'9000;

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

void reserve(Address at, std::uint64_t bytes, int protection) {
  void* p = ::mmap(
      reinterpret_cast<void*>(at),
      bytes,
      protection,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
      -1,
      0
  );
  if (p == MAP_FAILED && errno == ENOMEM) {
    no_memory("the addresses of device memory", bytes);
  }
  HEDDLE_CHECK(
      p == reinterpret_cast<void*>(at),
      "cannot reserve {} bytes of address space at {:#x}: {}",
      bytes,
      at,
      std::strerror(errno)
  );
}

Allocation allocation_of(const HeapRecord& record) {
  Allocation allocation;
  allocation.base = record.base;
  allocation.size = record.size;
  allocation.delta = device_delta;
  allocation.kind = AllocationKind::Heap;
  allocation.device = record.device;
  allocation.id = record.id;
  allocation.freed = record.freed;
  allocation.name = heap_name;
  return allocation;
}

/// What a search would have placed in the same order, by base.
class UsualPlaces {
public:
  void note(Address base, std::uint64_t bytes, std::uint64_t align) {
    if (is_elsewhere_) {
      const Address usual = round_up(next_, align);
      next_ = usual + bytes + gap_bytes;
      places_[base] = {bytes, usual};
    }
  }
  void note_part(Address base, std::uint64_t bytes, Address usual) {
    places_.erase(places_.lower_bound(base), places_.lower_bound(base + bytes));
    places_[base] = {bytes, usual};
  }
  Address find(Address a) const {
    const auto behind = places_.upper_bound(a);
    if (!is_elsewhere_ || behind == places_.begin()) {
      return a;
    }
    const auto& [base, place] = *std::prev(behind);
    return a - base < place.first + gap_bytes ? a - base + place.second : a;
  }

private:
  bool is_elsewhere_ = is_other(SystemAnswer::DeviceAddresses) || is_other(SystemAnswer::Reuse);
  Address next_ = device_base;
  std::map<Address, std::pair<std::uint64_t, Address>> places_; // size, base in a search
};

UsualPlaces& usual_places() {
  static UsualPlaces places; // there is one space in a process
  return places;
}

} // namespace

Address usual_address(Address a) {
  return usual_places().find(a);
}

void note_usual_address(Address base, std::uint64_t bytes, Address usual) {
  usual_places().note_part(base, bytes, usual);
}

struct AddressSpace::Records {
  std::uint64_t next_id = 1;
  HeapRecords heap;                    // of most that device code has allocated
  std::array<Freed, most_freed> freed; // the last ones, by generation
  // Where memory lies otherwise (base/outside.h): below that, and what is given again.
  Address lowest = device_base + device_range_bytes;
  std::vector<std::pair<Address, std::uint64_t>> again;
};

AddressSpace::AddressSpace()
    : next_(device_base + (is_other(SystemAnswer::DeviceAddresses) ? other_distance : 0)),
      records_(std::make_unique<Records>()) {
  reserve(window_base, 3 * window_size, PROT_NONE);
  reserve(device_base, device_range_bytes, PROT_NONE);
  reserve(bytes_base, device_range_bytes, PROT_READ | PROT_WRITE);
  ::madvise(reinterpret_cast<void*>(bytes_base), device_range_bytes, MADV_DONTDUMP);
}

AddressSpace::~AddressSpace() {
  ::munmap(reinterpret_cast<void*>(window_base), 3 * window_size);
  ::munmap(reinterpret_cast<void*>(device_base), device_range_bytes);
  ::munmap(reinterpret_cast<void*>(bytes_base), device_range_bytes);
}

Address AddressSpace::device_address(const void* bytes) {
  const auto at = reinterpret_cast<Address>(bytes);
  return at - bytes_base < device_range_bytes ? at - static_cast<Address>(device_delta) : at;
}

bool AddressSpace::in_device_range(Address a) {
  return a - device_base < device_range_bytes;
}

bool AddressSpace::is_host_memory(Address a) {
  const bool ours = in_device_range(a) || a - bytes_base < device_range_bytes ||
                    a - window_base < 3 * window_size;
  unsigned char resident = 0;
  // mincore() fails for pages that are not mapped.
  return !ours &&
         ::mincore(reinterpret_cast<void*>(a / page_bytes * page_bytes), 1, &resident) == 0;
}

/// In another order than place(), or again: as another run may find it. 0: nowhere.
Address AddressSpace::place_otherwise(std::uint64_t bytes, std::uint64_t align) {
  auto& again = records_->again;
  const auto fits = [&](const auto& free) {
    return free.second >= bytes && free.first % align == 0;
  };
  if (const auto last = std::find_if(again.rbegin(), again.rend(), fits); last != again.rend()) {
    const Address at = last->first;
    again.erase(std::next(last).base());
    forget_freed(at, at + bytes + gap_bytes);
    return at;
  }
  if (!is_other(SystemAnswer::DeviceAddresses) || bytes >= records_->lowest - next_) {
    return 0;
  }
  const Address at = (records_->lowest - bytes - gap_bytes) / align * align;
  if (at <= next_ + gap_bytes) {
    return 0;
  }
  records_->lowest = at;
  return at;
}

Address AddressSpace::place(std::uint64_t bytes, std::uint64_t align) {
  const Address end = device_base + device_range_bytes;
  Address at = round_up(next_, align);
  if (bytes < device_range_bytes && at + bytes + gap_bytes <= end) {
    return at;
  }
  // Every address has been used once: look for a gap between live allocations.
  at = device_base;
  Address found = 0;
  for_each_live([&](const Allocation& allocation) {
    if (found != 0 || !in_device_range(allocation.base)) {
      return;
    }
    at = round_up(at, align);
    if (at + bytes + gap_bytes <= allocation.base) {
      found = at;
    }
    at = allocation.end() + gap_bytes;
  });
  if (found != 0) {
    return found;
  }
  at = round_up(at, align);
  return bytes < device_range_bytes && at + bytes + gap_bytes <= end ? at : 0;
}

void AddressSpace::forget_freed(Address begin, Address end) {
  records_->heap.forget_freed(begin, end);
  auto it = allocations_.lower_bound(begin);
  if (it != allocations_.begin()) {
    auto before = std::prev(it);
    if (before->second.end() > begin) {
      it = before;
    }
  }
  while (it != allocations_.end() && it->first < end) {
    it = it->second.freed ? allocations_.erase(it) : std::next(it);
  }
}

Result<Address> AddressSpace::allocate(
    std::uint64_t bytes,
    std::uint64_t align,
    AllocationKind kind,
    int device,
    std::string name
) {
  HEDDLE_CHECK(std::has_single_bit(align), "alignment {} is no power of two", align);
  std::unique_lock lock(mutex_);
  if (bytes >= page_bytes) {
    align = std::max(align, page_bytes); // so that freeing gives whole pages back
  }
  const Address other = place_otherwise(bytes, align);
  const Address base = other != 0 ? other : place(bytes, align);
  if (base == 0) {
    return input_error("the virtual device is out of memory");
  }
  if (base < next_) { // used before
    forget_freed(base, base + bytes + gap_bytes);
  }
  Allocation allocation;
  allocation.base = base;
  allocation.size = bytes;
  allocation.delta = device_delta;
  allocation.kind = kind;
  allocation.device = device;
  allocation.id = records_->next_id++;
  allocation.name = std::move(name);
  allocations_.emplace_hint(allocations_.end(), base, std::move(allocation)); // mostly the last one
  usual_places().note(base, bytes, align);
  if (other == 0) {
    next_ = std::max(next_, base + bytes + gap_bytes);
  }
  in_use_[device] += bytes;
  return base;
}

Result<Address> AddressSpace::allocate_heap(std::uint64_t bytes, int device) {
  constexpr std::uint64_t align = 16;
  if (bytes < page_bytes) {
    const std::unique_lock lock(mutex_);
    const Address base = round_up(next_, align);
    if (base + bytes + gap_bytes <= device_base + device_range_bytes) {
      records_->heap.add(
          {.base = base, .size = bytes, .id = records_->next_id++, .device = device}
      );
      usual_places().note(base, bytes, align);
      next_ = base + bytes + gap_bytes;
      in_use_[device] += bytes;
      return base;
    }
  }
  return allocate(bytes, align, AllocationKind::Heap, device, heap_name);
}

std::optional<std::uint64_t> AddressSpace::release_heap(Address base) {
  {
    const std::unique_lock lock(mutex_);
    if (HeapRecord* record = records_->heap.holding(base)) {
      if (record->base != base || record->freed) {
        return std::nullopt;
      }
      record->freed = true;
      in_use_[record->device] -= record->size;
      clear(base, record->size);
      note_freed(base, record->size);
      return record->size;
    }
  }
  const std::optional<Allocation> allocation = find(base);
  const bool is_one = allocation && allocation->base == base &&
                      allocation->kind == AllocationKind::Heap && release(base);
  return is_one ? std::optional(allocation->size) : std::nullopt;
}

Result<void> AddressSpace::add_host(void* p, std::uint64_t bytes, AllocationKind kind, int device) {
  const Address base = reinterpret_cast<Address>(p);
  std::unique_lock lock(mutex_);
  forget_freed(base, base + bytes);
  auto next = allocations_.lower_bound(base);
  const bool hits_next = next != allocations_.end() && next->first < base + bytes;
  const bool hits_previous = next != allocations_.begin() && std::prev(next)->second.end() > base;
  if (hits_next || hits_previous) {
    return input_error("the range overlaps memory that is already registered");
  }
  Allocation allocation;
  allocation.base = base;
  allocation.size = bytes;
  allocation.kind = kind;
  allocation.device = device;
  allocation.id = records_->next_id++;
  allocations_.emplace(base, std::move(allocation));
  generation_.fetch_add(1, std::memory_order_acq_rel);
  if (host_memory_listener_) {
    host_memory_listener_(base, bytes);
  }
  return {};
}

void AddressSpace::on_host_memory(std::function<void(Address, std::uint64_t)> listener) {
  const std::unique_lock lock(mutex_);
  for_each_live([&](const Allocation& allocation) {
    if (!in_device_range(allocation.base)) {
      listener(allocation.base, allocation.size);
    }
  });
  host_memory_listener_ = std::move(listener);
}

Result<void> AddressSpace::release(Address base) {
  std::unique_lock lock(mutex_);
  auto it = allocations_.find(base);
  if (it == allocations_.end() || it->second.freed) {
    return input_error(fmt::format("{:#x} is not the start of a live allocation", base));
  }
  Allocation& allocation = it->second;
  allocation.freed = true;
  if (in_device_range(base)) {
    in_use_[allocation.device] -= allocation.size;
    clear(base, allocation.size);
    if (is_other(SystemAnswer::Reuse) && allocation.kind == AllocationKind::Device) {
      records_->again.emplace_back(base, allocation.size);
    }
  }
  note_freed(base, allocation.size);
  return {};
}

/// Bytes of device-side memory must read as zero if their addresses are used again; whole pages are
/// given back.
void AddressSpace::clear(Address base, std::uint64_t bytes) {
  const auto host = [](Address a) {
    return reinterpret_cast<void*>(a + static_cast<std::uint64_t>(device_delta));
  };
  const Address end = base + bytes;
  const std::uint64_t first = round_up(base, page_bytes);
  const std::uint64_t last = end / page_bytes * page_bytes;
  if (last <= first) {
    std::memset(host(base), 0, bytes);
    return;
  }
  ::madvise(host(first), last - first, MADV_DONTNEED);
  std::memset(host(base), 0, first - base); // parts of pages shared with neighbours
  std::memset(host(last), 0, end - last);
}

void AddressSpace::note_freed(Address base, std::uint64_t bytes) {
  const std::uint64_t generation = generation_.load(std::memory_order_relaxed) + 1;
  records_->freed[generation % most_freed] = {base, bytes, generation};
  generation_.store(generation, std::memory_order_release);
}

std::optional<std::size_t> AddressSpace::freed_since(
    std::uint64_t from,
    std::array<Freed, most_freed>& freed,
    std::uint64_t& to
) const {
  const std::shared_lock lock(mutex_);
  to = generation_.load(std::memory_order_relaxed);
  const std::uint64_t count = to - from;
  if (count > most_freed) {
    return std::nullopt;
  }
  for (std::uint64_t n = 0; n < count; ++n) {
    freed[n] = records_->freed[(from + 1 + n) % most_freed];
    if (freed[n].generation != from + 1 + n) {
      return std::nullopt;
    }
  }
  return count;
}

Result<void> AddressSpace::revive(Address base) {
  std::unique_lock lock(mutex_);
  const auto it = allocations_.find(base);
  if (it == allocations_.end() || !it->second.freed || !in_device_range(base)) {
    return input_error(fmt::format("nothing was freed at {:#x}", base));
  }
  it->second.freed = false;
  it->second.id = records_->next_id++;
  in_use_[it->second.device] += it->second.size;
  generation_.fetch_add(1, std::memory_order_acq_rel);
  return {};
}

void AddressSpace::each_live(const std::function<void(const Allocation&)>& f) const {
  std::shared_lock lock(mutex_);
  for_each_live(f);
}

void AddressSpace::for_each_live(const std::function<void(const Allocation&)>& f) const {
  auto of_heap = records_->heap.all().begin();
  const auto heap_up_to = [&](Address end) {
    for (; of_heap != records_->heap.all().end() && of_heap->base < end; ++of_heap) {
      if (!of_heap->freed) {
        f(allocation_of(*of_heap));
      }
    }
  };
  for (const auto& [base, allocation] : allocations_) {
    heap_up_to(base);
    if (!allocation.freed) {
      f(allocation);
    }
  }
  heap_up_to(~Address{0});
}

std::optional<Allocation> AddressSpace::find(Address a) const {
  std::shared_lock lock(mutex_);
  if (const HeapRecord* record = records_->heap.holding(a)) {
    return record->freed ? std::nullopt : std::optional(allocation_of(*record));
  }
  auto it = allocations_.upper_bound(a);
  if (it == allocations_.begin()) {
    return std::nullopt;
  }
  --it;
  // A zero-byte allocation is found at its base.
  if (it->second.freed || (a >= it->second.end() && a != it->first)) {
    return std::nullopt;
  }
  return it->second;
}

void AddressSpace::share_with_processes() {
  const std::unique_lock lock(mutex_);
  shared_ = true;
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

Range AddressSpace::find_range(Address a) const {
  return find_range(a, any_device);
}

void AddressSpace::restrict_to_peers(Address base) {
  const std::unique_lock lock(mutex_);
  if (const auto it = allocations_.find(base); it != allocations_.end()) {
    it->second.by_peers = true;
  }
}

void AddressSpace::set_peer_access(int device, int peer, bool may) {
  const std::unique_lock lock(mutex_);
  if (may) {
    peer_access_.emplace(device, peer);
  } else {
    peer_access_.erase({device, peer});
  }
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

Range AddressSpace::find_range(Address a, int device) const {
  std::shared_lock lock(mutex_);
  if (const HeapRecord* record = records_->heap.holding(a)) {
    if (record->freed || record->size == 0) {
      return {};
    }
    return {record->base, record->size, device_delta, /*writable=*/true, !shared_};
  }
  auto it = allocations_.upper_bound(a);
  if (it == allocations_.begin()) {
    return {};
  }
  const Allocation& allocation = std::prev(it)->second;
  if (allocation.freed || a >= allocation.end()) {
    return {};
  }
  if (allocation.by_peers && device != any_device && device != allocation.device &&
      !peer_access_.contains({device, allocation.device})) {
    return {};
  }
  // Reserved ranges (device -1) may have memory of other processes mapped.
  const bool of_devices = (allocation.kind == AllocationKind::Device && allocation.device >= 0) ||
                          allocation.kind == AllocationKind::Global ||
                          allocation.kind == AllocationKind::Heap;
  return Range{
      allocation.base,
      allocation.size,
      allocation.delta,
      allocation.kind != AllocationKind::Constant,
      of_devices && !shared_
  };
}

std::optional<Allocation> AddressSpace::nearest(Address a) const {
  std::shared_lock lock(mutex_);
  auto after = allocations_.upper_bound(a);
  std::optional<Allocation> best;
  std::uint64_t best_distance = ~0ULL;
  const auto consider = [&](const Allocation& candidate) {
    const std::uint64_t distance = a < candidate.base    ? candidate.base - a
                                   : a < candidate.end() ? 0
                                                         : a - candidate.end() + 1;
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  };
  if (after != allocations_.begin()) {
    consider(std::prev(after)->second);
  }
  if (const HeapRecord* record = records_->heap.before(a); record != nullptr && !record->gone) {
    consider(allocation_of(*record));
  }
  if (after != allocations_.end()) {
    consider(after->second);
  }
  if (const HeapRecord* record = records_->heap.after(a); record != nullptr && !record->gone) {
    consider(allocation_of(*record));
  }
  return best;
}

void* AddressSpace::host_pointer(Address a, std::uint64_t n) const {
  const std::optional<Allocation> allocation = find(a);
  if (!allocation || !allocation->contains(a, n)) {
    return nullptr;
  }
  return reinterpret_cast<void*>(a + static_cast<std::uint64_t>(allocation->delta));
}

std::uint64_t AddressSpace::bytes_in_use(int device) const {
  std::shared_lock lock(mutex_);
  auto it = in_use_.find(device);
  return it == in_use_.end() ? 0 : it->second;
}

} // namespace heddle::memory
