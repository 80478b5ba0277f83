// Memory: which bits of global, shared and local memory somebody has written, and what the others
// stand for: the place where they were read first.
//
//   Area* area = memory.global(address);       // nullptr: nobody asks about what lies there
//   area->written(offset, bytes);
//   area->bits(offset, 4)                      // of 4 bytes, those that nobody has written
//
// Only memory that begins without contents is looked at: what cudaMalloc and malloc in kernels
// give, shared and local memory. Variables of modules begin with zeros, and who writes memory of
// the host (pinned, managed) is not seen: both count as written.
#pragma once

#include "memory/address_space.h"
#include "unwritten/values.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

namespace heddle::unwritten {

/// Which read an unwritten value goes back to, see Unwritten::origin(); 0: none yet. `computed`:
/// not only moved about since then.
using Origin = std::uint32_t;
inline constexpr Origin computed = 1U << 31;

/// A piece of memory. Nothing is paid for what nobody touches: the pages come from calloc.
class Area {
public:
  Area(memory::Address base, std::uint64_t size, std::uint64_t id);

  memory::Address base() const { return base_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t id() const { return id_; }
  bool contains(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset;
  }
  /// Has any byte been written?
  bool touched() const { return touched_; }
  /// Of up to 16 bytes: the bits that nobody has written.
  Bits bits(std::uint64_t offset, unsigned bytes) const;
  /// Has somebody written all bits of these bytes?
  bool all_written(std::uint64_t offset, std::uint64_t bytes) const;
  Origin origin(std::uint64_t offset) const { return origins_.get()[offset / 4]; }
  void written(std::uint64_t offset, std::uint64_t bytes);
  /// Of up to 16 bytes: as written, but for these bits.
  void write(std::uint64_t offset, unsigned bytes, Bits unwritten, Origin origin);
  void forget(std::uint64_t offset, std::uint64_t bytes);
  void copy(std::uint64_t offset, const Area& from, std::uint64_t from_offset, std::uint64_t bytes);

private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  memory::Address base_;
  std::uint64_t size_;
  std::uint64_t id_;
  bool touched_ = false;
  std::unique_ptr<std::uint8_t, Free> known_; // a bit for each: somebody has written it
  std::unique_ptr<Origin, Free> origins_;     // one for four bytes
};

/// Global memory.
class Memory {
public:
  explicit Memory(const memory::AddressSpace& space) : space_(space) {}
  /// The area that holds address `a`.
  Area* global(memory::Address a);
  /// Bytes of device memory, by the host's pointer to them, have been written.
  void written_at(const std::byte* p, std::uint64_t bytes);

private:
  const memory::AddressSpace& space_;
  std::map<memory::Address, Area> areas_;
  std::uint64_t generation_ = 0;
  // What was looked up last.
  memory::Address begin_ = 1;
  memory::Address end_ = 1;
  Area* last_ = nullptr;
  std::optional<std::int64_t> delta_; // of device memory
};

} // namespace heddle::unwritten
