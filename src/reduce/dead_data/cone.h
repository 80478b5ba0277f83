// Cone: the monitor of data that is left out of states because it decides nothing ([RED-CONE], the
// cone of influence of all decisions).
//
//   Cone cone(exec, space, live, learned);
//   cone.look_again();                              // whenever allocations have changed
//   cone.accessed(at, store);                       // of isa::AccessWatch
//   cone.carried_out(command);                      // a copy, or any command that is not a kernel
//   cone.in_block(kernel, shared);                  // before a thread of it runs
//   if (cone.has(word)) …                           // it is not part of the state
//   if (cone.clash()) … cone.refuted()              // what the next search keeps apart
//   if (cone.host_got_data()) …                     // by a copy
//
// An allocation is *kept* if its contents may decide something: then it is part of each state. The
// others are *data*. All accesses are decisive except those that LiveState::At::only_data names. In
// a search without a clash no decisive access reads data, and no store of data (whose value and
// place are not part of a state either) writes to a kept allocation. Always kept are memory that
// the host could see, the heap, local memory, and the shared memory of clusters of several blocks.
// A variable in shared memory counts like an allocation.
//
// May be wrong: it is not checked that a store lies within the object that its address was made
// from (analysis/object_stores.h); with `host_decides` false, what the host makes of data is not
// followed.
#pragma once

#include "isa/exec.h"
#include "isa/program.h"
#include "machine/live_state.h"
#include "machine/world.h"
#include "memory/address_space.h"
#include "model/memory_journal.h"
#include "reduce/learned.h"
#include "reduce/mutant.h"

#include <cstdint>
#include <vector>

namespace heddle::reduce {

using namespace machine;
using namespace model;

class Cone final : public isa::AccessWatch, public MemoryJournal::LeftOut {
public:
  Cone(
      const isa::Exec& exec,
      const memory::AddressSpace& space,
      LiveState& live,
      const Learned& learned,
      bool host_decides,
      Mutant mutant = Mutant::None
  )
      : exec_(exec),
        space_(space),
        live_(live),
        learned_(learned),
        host_decides_(host_decides),
        mutant_(mutant) {}

  void look_again() override;
  /// Whose shared memory lies there, while a thread of it runs; nullptr: nobody's.
  void in_block(const isa::Kernel* kernel, const std::byte* shared);
  void accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) override;
  void carried_out(const Command& command);
  /// Something reads what is there and decides by it.
  void decided_by(memory::Address at);
  /// Somebody does of whom nobody knows what it reads.
  void decided_by_anything();

  bool has(const void* at) const override { return find(at) != nullptr; }
  /// Of the kernel's variables in shared memory, by bits: those that are data.
  std::uint64_t data_in_shared(const isa::Kernel& kernel) const;
  bool clash() const { return refuted_ != Learned(); }
  const Learned& refuted() const { return refuted_; }
  bool host_got_data() const { return host_got_data_; }

private:
  struct Data { // an allocation, where its bytes are
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    std::uint64_t bucket = 0; // of Learned::kept
    bool written = false;
  };
  Data* find(const void* at);
  const Data* find(const void* at) const { return const_cast<Cone*>(this)->find(at); }
  Data* find(memory::Address at);
  Data* find_in_shared(const std::byte* at);
  std::uint64_t all_written() const;
  void host_gets(std::uint64_t buckets);

  const isa::Exec& exec_;
  const memory::AddressSpace& space_;
  LiveState& live_;
  Learned learned_;
  Learned refuted_;
  std::vector<Data> data_; // by place
  const isa::Kernel* kernel_ = nullptr;
  const std::byte* shared_ = nullptr;
  Data in_shared_; // the variable that was accessed last
  bool host_decides_;
  Mutant mutant_;
  bool host_got_data_ = false;
};

} // namespace heddle::reduce
