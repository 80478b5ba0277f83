// AccessNotes: what a run has read and written, noted as it happens.
//
//   AccessNotes notes(exec, /*max_reads=*/256);
//   exec.watch(&notes);
//   exec.run(…);
//   notes.writes …   notes.reads …
//
// Direction of error: an access of which is not known that it only writes counts as a read as well.
#pragma once

#include "isa/exec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace heddle::machine {

class Cone;
class OrderData;
class DeviceHeap;
class WeakOrder;

/// A place that was written, with its bytes before.
struct Written {
  std::byte* at = nullptr;
  std::uint32_t bytes = 0;
  std::array<std::byte, 16> before{};
};

class AccessNotes final : public isa::AccessWatch {
public:
  /// Is told of each access, too; nullptr: nobody is.
  void tell(OrderData* data) { order_data_ = data; }
  void tell(Cone* cone) { cone_ = cone; }
  void tell(WeakOrder* weak) { weak_ = weak; }
  /// Whose allocations accesses have to lie in, if they are to its memory.
  void watch(const DeviceHeap* heap) { heap_ = heap; }
  /// Notes the reads of `exec` too, up to so many.
  AccessNotes(const isa::Exec& exec, std::size_t max_reads) : exec_(exec), max_reads_(max_reads) {}

  struct Read {
    std::byte* at = nullptr;
    std::uint32_t bytes = 0;
  };
  /// An access by an instruction that is strong (atomic, volatile, relaxed, …).
  struct Strong {
    std::byte* at = nullptr;
    std::uint32_t bytes = 0;
    const isa::Op* op = nullptr;
    const isa::Code* code = nullptr;
    int lane = 0;
  };
  struct Misuse {                // of the device's heap
    const isa::Op* op = nullptr; // nullptr: there was none
    const isa::Code* code = nullptr;
    int lane = 0;
    std::byte* at = nullptr;
    std::uint32_t bytes = 0;
    bool store = false;
  };
  Misuse misuse; // the first one
  std::vector<Written> writes;
  std::vector<Read> reads;
  std::vector<Strong> strong;
  std::unordered_set<const isa::Op*> also_strong; // counted among them
  /// Were they all noted?
  bool complete() const { return complete_; }
  void clear();
  void read(std::byte* at, std::uint32_t bytes);
  void written(std::byte* at, std::uint32_t bytes); // before it is

  void accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) override;

private:
  const isa::Exec& exec_;
  std::size_t max_reads_;
  OrderData* order_data_ = nullptr;
  Cone* cone_ = nullptr;
  WeakOrder* weak_ = nullptr;
  const DeviceHeap* heap_ = nullptr;
  bool complete_ = true;
};

} // namespace heddle::machine
