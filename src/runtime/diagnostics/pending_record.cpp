// Implements pending_record.h.
#include "runtime/diagnostics/pending_record.h"

#include "machine/block.h"

namespace heddle::runtime {
namespace {

constexpr std::uint64_t most_noted = std::uint64_t{1} << 20; // accesses: some tenths of a second
constexpr std::size_t most_pages_noted = 2048;               // 16 MiB
constexpr std::size_t most_places = 255;

} // namespace

machine::FaultReport place_in_kernel(const isa::Exec& exec) {
  const isa::Code& code = exec.code();
  machine::FaultReport place;
  machine::describe_instruction(code, *exec.current(), place);
  for (const isa::Op* op = exec.current(); place.source.line == 0 && op != code.ops.data();) {
    machine::FaultReport there;
    machine::describe_instruction(code, *--op, there);
    place.source = there.source;
    place.inlined_at = there.inlined_at;
  }
  return place;
}

bool PendingRecord::note(
    memory::Address at,
    std::uint32_t bytes,
    bool store,
    const void* op,
    const std::function<machine::FaultReport()>& describe
) {
  if (++noted_ > most_noted) {
    return false;
  }
  auto number = numbers_.find(op);
  if (number == numbers_.end()) {
    if (accesses_.size() == most_places) {
      return false;
    }
    accesses_.push_back({describe(), store});
    number = numbers_.emplace(op, static_cast<std::uint8_t>(accesses_.size())).first;
  }
  for (memory::Address byte = at; byte < at + bytes; ++byte) {
    auto page = pages_.find(byte / page_bytes);
    if (page == pages_.end()) {
      if (pages_.size() == most_pages_noted) {
        return false;
      }
      page = pages_.emplace(byte / page_bytes, std::make_unique<Page>()).first;
    }
    (store ? page->second->writer : page->second->reader)[byte % page_bytes] = number->second;
  }
  return true;
}

const PendingRecord::Access* PendingRecord::meets(memory::Address at, bool store) const {
  const auto page = pages_.find(at / page_bytes);
  if (page == pages_.end()) {
    return nullptr;
  }
  const std::uint8_t writer = page->second->writer[at % page_bytes];
  const std::uint8_t reader = page->second->reader[at % page_bytes];
  const std::uint8_t number = writer != 0 || !store ? writer : reader;
  return number == 0 ? nullptr : &accesses_[number - 1];
}

bool PendingRecord::has_any(memory::Address begin, memory::Address end) const {
  const auto page = pages_.lower_bound(begin / page_bytes);
  return page != pages_.end() && page->first * page_bytes < end;
}

} // namespace heddle::runtime
