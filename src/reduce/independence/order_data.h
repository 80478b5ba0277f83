// Order data: what depends on the order of accesses that the search does not choose.
//
// An atomic or volatile access whose result decides nothing (analysis/value_flow.h) need not be
// chosen, although others access the same place meanwhile: whichever comes first, all threads
// execute the same instructions (tickets that only say where something is written, old values that
// are added up, the last of several writers). Such accesses are called *unordered* (Sums::Access).
// What they give differs from order to order, and so does what is made of it. So these values are
// followed through registers and memory: if something is decided by one after all, the accesses
// that it comes from are contended, and the search begins again.
//
//   OrderData data(exec, space, /*unordered=*/buckets);
//   data.in_block(data.memory_of(cluster, block));  // before a thread of it runs
//   data.accessed(lane, at, bytes, store);         // as isa::AccessWatch
//   data.host_accesses(at, bytes);                 // by an atomic or volatile access
//   data.mark(at, bytes, buckets);                 // the bytes depend on the order of those
//   if (data.take_news()) …                        // known moves may have something to mark
//   data.decided_by()                              // buckets: these must be chosen
//   data.saw_retries()                             // … or nothing may go on forever, see below
//
// Marks name a place in the shared memory of a block by its offset, whichever block of the kernel
// it is: the search may have taken blocks for each other. Local memory has no marks.
// analysis/value_flow.h follows values through that of a kernel that calls nothing; else who stores
// such a value there, by a generic address, decides by it.
//
// Why that is enough: take an execution, and the one that was explored. As long as nothing is
// decided by what differs, each thread executes the same instructions in both, and reads and writes
// the same places but where a place itself is such data; then all of the variable or allocation
// counts. So does it where only some threads write, and others in another order; if none has until
// its kernel ends, nobody knows where, and the order is chosen after all. Marks are never taken
// back. An update that a thread makes of compare-and-swap, again and again until it succeeds
// (analysis/retry_loops.h), counts as one instruction; that it succeeds is certain only if others
// do not change the place forever, which they cannot if no state ever repeats.
//
// May be wrong: that a place which depends on the order lies in the allocation for each order is
// not checked; stores that only some threads make are looked for in the first launch of a kernel.
// Values that the host copies or reads by plain accesses are not followed.
#pragma once

#include "analysis/value_flow.h"
#include "isa/exec.h"
#include "isa/program.h"
#include "machine/block.h"
#include "memory/address_space.h"
#include "reduce/independence/owned.h"
#include "reduce/mutant.h"

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::reduce {

using namespace machine;

class OrderData final : public isa::AccessWatch {
public:
  OrderData(
      const isa::Exec& exec,
      const memory::AddressSpace& space,
      std::uint64_t unordered,
      bool retries,
      Mutant mutant = Mutant::None
  )
      : exec_(exec),
        space_(space),
        unordered_(unordered),
        retries_(retries),
        mutant_(mutant) {}

  /// Is nothing but data made of what the access gives? (It may be made into what decides later.)
  bool only_data(const isa::Code& code, const isa::Op& op);

  struct Memory {                           // of the block that runs
    std::span<const std::byte> shared = {}; // if its cluster has no other block
    std::span<const std::byte> local = {};
    const isa::Kernel* kernel = nullptr;
  };
  static Memory memory_of(Cluster& cluster, std::size_t block);
  void in_block(const Memory& memory);
  void accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) override;
  void mark(const std::byte* at, std::uint64_t bytes, std::uint64_t buckets);
  /// A copy has been carried out.
  void copied(const std::byte* from, std::uint64_t bytes, const std::byte* to);
  /// All threads of a kernel have ended.
  void ended(const isa::Kernel& kernel);
  /// A host thread accesses them, and may go by what it finds.
  void host_accesses(const std::byte* at, std::uint64_t bytes) {
    decided_by_ |= all_marks_ == 0 ? 0 : marks_of(at, bytes);
  }
  /// A call of which nobody knows what it reads.
  void called_library();
  bool take_news() { return std::exchange(news_, false); }
  std::uint64_t decided_by() const { return decided_by_; }
  /// True once how often a retry loop goes round has depended on the order.
  bool saw_retries() const { return saw_retries_; }

private:
  struct Function {
    Function(const ptx::Function& f, analysis::ValueFlow::Options options)
        : flow(f, options),
          read(f.body.size()),
          stored(f.body.size()),
          placed(f.body.size()) {}
    analysis::ValueFlow flow;
    // By instruction, the buckets on whose order depends: what it has read, what it writes, where.
    std::vector<std::uint64_t> read, stored, placed;
    std::map<std::uint32_t, std::uint64_t> owed; // stores that only another order might show
  };
  using Place = std::uint64_t; // an address, or what names a byte of shared memory
  Function& function(const ptx::Function& f);
  bool decides(const analysis::ValueFlow::Reach& reach) const {
    return reach.decides || (reach.retries && !retries_);
  }
  void has_read(Function& f, std::uint32_t instruction, std::uint64_t buckets);
  Place place_of(const std::byte* at) const;
  bool is_shared(const std::byte* at) const { return lies_in(at, memory_.shared); }
  bool is_local(const std::byte* at) const { return lies_in(at, memory_.local); }
  static bool lies_in(const std::byte* at, std::span<const std::byte> bytes) {
    return at >= bytes.data() && at < bytes.data() + bytes.size();
  }
  std::uint64_t marks_of(const std::byte* at, std::uint64_t bytes) const;
  void mark_around(const std::byte* at, std::uint64_t buckets);
  void mark_region(Place begin, Place end, std::uint64_t buckets);

  const isa::Exec& exec_;
  const memory::AddressSpace& space_;
  std::uint64_t unordered_;
  bool retries_;
  Mutant mutant_;
  bool saw_retries_ = false;
  Memory memory_;
  Place shared_name_ = 0;                               // of its first byte
  std::unordered_map<const isa::Kernel*, Place> names_; // the same of all kernels
  std::unordered_map<const ptx::Function*, Function> functions_;
  static constexpr std::uint64_t granule = 4;
  std::unordered_map<std::uint64_t, std::uint64_t> marks_; // by granule
  struct Region {
    Place begin = 0, end = 0;
    std::uint64_t buckets = 0;
  };
  std::vector<Region> regions_;
  std::uint64_t all_marks_ = 0;
  std::uint64_t decided_by_ = 0;
  bool news_ = false;
};

} // namespace heddle::reduce
