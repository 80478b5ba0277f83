// Independence: the first of the four parts of the reductions (spec/reductions.md): which moves are
// free, because they are independent of all that others do, and the one monitor of that.
//
//   independence.operations().classify(lane)   // what its operation is to others
//   independence.accesses(), open()            // are told what threads access
//   independence.note_ends(work, cluster);     // after each move: what barriers have told
//   if (independence.clash()) …                // an assumption was wrong: the search is invalid
//   independence.add_refuted(learned);         // … and the next one is made without it
//
// It owns what knows one kind of object each: accesses (access_monitor.h, sums.h, left_movers.h),
// mbarriers and barriers (operations.h), the heap (device_heap.h), data that depends on an order
// (order_data.h).
#pragma once

#include "reduce/independence/access_monitor.h"
#include "reduce/independence/device_heap.h"
#include "reduce/independence/open_monitor.h"
#include "reduce/independence/operations.h"
#include "reduce/independence/order_data.h"
#include "reduce/learned.h"
#include "reduce/options.h"
#include "reduce/states/machine.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace heddle::reduce {

class Independence {
public:
  /// `decided_by_anything`: called for each call of a function of which nobody knows what it reads.
  Independence(
      Machine& machine,
      const StepperOptions& options,
      const std::function<void()>& decided_by_anything
  );

  Operations& operations() { return operations_; }
  const Operations& operations() const { return operations_; }
  AccessMonitor& accesses() { return accesses_; }
  const AccessMonitor& accesses() const { return accesses_; }
  OpenMonitor& open() { return open_; }
  OrderData& order() { return order_; }
  const OrderData& order() const { return order_; }
  /// nullptr: no kernel may use it.
  DeviceHeap* heap() { return heap_.get(); }
  /// Before the first launch of a kernel: it may call malloc.
  void know(const isa::Kernel& kernel);

  /// What barriers have told since it was last asked; `note_ends`: and whether blocks end too
  /// early ([RED-NEIGHBOURS]).
  void note_doubts(Work& work, std::size_t cluster);
  void note_ends(Work& work, std::size_t cluster);

  /// Were accesses not independent?
  bool clash() const;
  /// All that this search has refuted.
  void add_refuted(Learned& learned) const;

private:
  bool is(Mutant mutant) const { return options_.mutant == mutant; }
  /// Unordered accesses whose order has decided something.
  std::uint64_t decided_by() const {
    return is(Mutant::DataOrderNeverDecides) ? 0 : order_.decided_by();
  }

  struct Doubts {                // set, never cleared
    bool turns = false;          // it may matter when threads arrive at barriers
    bool in_pieces = false;      // some lanes of a warp came to a barrier without the others
    bool neighbour_gone = false; // a block may end while another one accesses its shared memory
  };

  Machine& machine_;
  const StepperOptions& options_;
  OrderData order_;
  Operations operations_;
  AccessMonitor accesses_;
  OpenMonitor open_;
  std::unique_ptr<DeviceHeap> heap_;
  Doubts doubts_;
};

} // namespace heddle::reduce
