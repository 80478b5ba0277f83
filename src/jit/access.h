// Accesses of several lanes at once: what becomes of region_reach(), and of the loads and stores
// behind the pointers that it returns.
//
// The range in which an op found its memory last is known to live (isa::Exec::last_range), and so
// are the block's shared memory, the parameters and the lanes' local memory. reach() checks that
// all executing lanes' bytes lie in that one range, aligned; if not, `fail` is where the code goes.
// Regular addresses whose distance is the size of the access are one vector of memory; lanes that
// do not execute may be read there too, if their bytes lie in the range. Addresses of which nothing
// is known at compile time are looked at: in most kernels whose threads are numbered by hand
// (threadIdx.x % 16), each 8 lanes' elements lie behind each other, or are one. To gather them one
// by one takes several times as long.
//
// Questions about all lanes are answered by the OR of their words, in one test; only if that says
// no are the executing lanes asked, in masks. Processors with AVX-512 gather and scatter by
// instructions; for others that is a loop over the executing lanes, which is as fast as their
// gathers and a tenth of the code that LLVM makes of them.
#pragma once

#include "isa/ops_address.h"
#include "jit/lane_values.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::jit {

class AccessFunctions;

/// Values of isa::RegionContext that accesses need.
struct AccessContext {
  llvm::Value* range = nullptr; // of this op, in memory
  llvm::Value* shared = nullptr;
  llvm::Value* shared_bytes = nullptr;
  llvm::Value* param = nullptr;
  llvm::Value* param_bytes = nullptr;
  llvm::Value* local = nullptr; // of the first lane
  llvm::Value* local_stride = nullptr;
  llvm::Value* local_bytes = nullptr;
  llvm::Value* alone = nullptr; // nobody else executes device code
  bool checks = true;           // LaunchShape::checks
  // Memory of the function, for loops over lanes: a word, and a vector of 16 bytes, for each.
  llvm::Value* words = nullptr;
  llvm::Value* elements = nullptr;
};

class Access {
public:
  /// `active`: bits of the lanes that execute, not zero.
  Access(
      llvm::IRBuilder<>& b,
      LaneBuilder& lanes,
      llvm::Value* active,
      llvm::BasicBlock* fail,
      const AccessContext& context
  )
      : b_(b),
        lanes_(lanes),
        active_(active),
        fail_(fail),
        context_(context) {}

  /// The next reach() is followed by loads of all bytes as elements of one type, or by one store of
  /// all of them. Irregular addresses are then the business of a function (access_functions.h).
  /// `inlined`: which becomes a part of this one.
  void through(AccessFunctions& functions, bool inlined) {
    functions_ = &functions;
    inlined_ = inlined;
  }
  /// The next reach() goes to `offset` behind `pointer`, and asks only unless `good`.
  void checked_if(llvm::Value* good, llvm::Value* pointer, std::int64_t offset) {
    good_ = good;
    good_pointer_ = pointer;
    good_offset_ = offset;
  }
  void reach(const LaneValue& address, std::uint32_t bytes, isa::Space space, bool store);
  /// Of bytes from `begin` to `end`, from a regular address on: whether all lanes' lie in the
  /// memory, aligned, and the host's address for that one.
  std::pair<llvm::Value*, llvm::Value*> reach_together(
      const LaneValue& address,
      std::int64_t begin,
      std::int64_t end,
      std::uint32_t align,
      isa::Space space,
      bool store
  );
  /// The next reach() fails where others can look meanwhile.
  void only_alone(isa::Space space);
  /// For loops over lanes, behind reach(): begin_places(), then the place of one of them.
  void begin_places();
  llvm::Value* place(llvm::Value* lane);
  bool is_one_place() const { return shape_.is_uniform(); }
  void reach_own(llvm::Value* place, llvm::Value* distance, std::uint32_t bytes);
  LaneValue load(llvm::Type* type, std::int64_t offset);
  void store(const LaneValue& value, std::int64_t offset);

private:
  /// Where an access goes: bytes from `begin` on, at host address `delta` + address.
  struct Memory {
    llvm::Value* begin = nullptr;
    llvm::Value* size = nullptr;
    llvm::Value* delta = nullptr;
    llvm::Value* good = nullptr; // may be accessed at all
    bool aligned_always = false; // the interpreter does not ask
  };
  Memory memory(isa::Space space, bool store);
  llvm::Value* call(llvm::Type* element, llvm::Value* stored);
  void reach_regular(const LaneValue& address, isa::Space space, bool store);
  llvm::Value* is_good(
      llvm::Value* lowest,
      llvm::Value* span,
      std::uint32_t align,
      const Memory& m,
      isa::Space space
  );
  void reach_each(llvm::Value* all, const Memory& m);
  llvm::Value* all_fit(llvm::Value* offsets, const Memory& m);
  llvm::Value* all_execute();
  llvm::Value* executing_fit(llvm::Value* offsets, const Memory& m);
  llvm::Value* mask();
  llvm::Value* is_zero_in_all(llvm::Value* words);
  void go_on_if(llvm::Value* condition);
  void fetch_ahead(bool store);
  llvm::Value* fits(llvm::Value* offset, llvm::Value* span, llvm::Value* size, std::uint32_t align);
  llvm::Value* offsets(); // of all lanes, from base_
  llvm::Value* pointers(std::int64_t offset);
  void look_at_neighbours(std::int64_t size, bool store);
  llvm::Value* at(std::int64_t offset); // of the first lane

  /// What becomes of addresses of which nothing is known before they are there.
  struct Neighbours {
    llvm::BasicBlock* rows = nullptr; // each 8 lanes' elements lie behind each other
    llvm::BasicBlock* same = nullptr; // each 8 lanes access one element
    llvm::BasicBlock* any = nullptr;
    llvm::BasicBlock* done = nullptr;
  };
  std::vector<llvm::Value*> firsts(std::int64_t offset); // pointers of each 8 lanes
  LaneValue load_each(llvm::Type* type, std::int64_t offset);
  void store_each(llvm::Value* all, std::int64_t offset);
  void store_vector(llvm::Value* all, std::int64_t offset);
  llvm::Value* part(llvm::Type* type, std::int64_t offset);
  llvm::Value* gather_narrow(llvm::Type* type, std::int64_t offset);
  llvm::Value* gather(llvm::Type* type, std::int64_t offset);
  void scatter(llvm::Value* all, std::int64_t offset);
  void copy_each(llvm::Type* type, unsigned count, std::int64_t offset, bool store);
  llvm::Value* elements(unsigned n, std::uint64_t size);

  llvm::Value* good_ = nullptr; // checked_if()
  llvm::Value* good_pointer_ = nullptr;
  std::int64_t good_offset_ = 0;
  AccessFunctions* functions_ = nullptr; // nullptr: code of its own
  bool inlined_ = false;
  llvm::Value* called_with_ = nullptr;  // addresses, if a function is called
  llvm::Value* own_distance_ = nullptr; // from lane to lane, if each has its own
  llvm::Value* loaded_ = nullptr;       // by that function
  isa::Space space_ = isa::Space::Generic;
  Neighbours neighbours_;
  llvm::IRBuilder<>& b_;
  LaneBuilder& lanes_;
  llvm::Value* active_;
  llvm::BasicBlock* fail_;
  const AccessContext context_;
  Shape shape_;                     // of the addresses
  llvm::Value* base_ = nullptr;     // pointer of lane 0, if regular; else of offset 0
  llvm::Value* offsets_ = nullptr;  // of all lanes, if not regular: i64, or i32 without sign
  llvm::Value* all_in_ = nullptr;   // lanes that do not execute may be accessed, too
  std::vector<llvm::Value*> parts_; // that part() has loaded
  std::uint32_t bytes_ = 0;
};

} // namespace heddle::jit
