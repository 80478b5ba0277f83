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
#pragma once

#include "jit/lane_values.h"

#include <cstdint>
#include <vector>

namespace heddle::jit {

/// Values of isa::RegionContext that accesses need.
struct AccessContext {
  llvm::Value* range = nullptr; // of this op, in memory
  llvm::Value* shared = nullptr;
  llvm::Value* shared_bytes = nullptr;
  llvm::Value* param = nullptr;
  llvm::Value* param_bytes = nullptr;
  llvm::Value* local = nullptr; // of the first lane
  llvm::Value* local_stride = nullptr;
};

class Access {
public:
  /// `active`: bits of the lanes that execute, not zero.
  Access(llvm::IRBuilder<>& b, LaneBuilder& lanes, llvm::Value* active, llvm::BasicBlock* fail)
      : b_(b),
        lanes_(lanes),
        active_(active),
        fail_(fail) {}

  void
  reach(const LaneValue& address, std::uint32_t bytes, std::uint32_t how, const AccessContext& c);
  LaneValue load(llvm::Type* type, std::int64_t offset);
  void store(const LaneValue& value, std::int64_t offset);

private:
  llvm::Value* mask();
  void go_on_if(llvm::Value* condition);
  void fetch_ahead(bool store);
  llvm::Value* fits(llvm::Value* offset, llvm::Value* span, llvm::Value* size, std::uint32_t align);
  llvm::Value* pointers(std::int64_t offset); // of all lanes
  void look_at_neighbours(llvm::Value* pointers, std::int64_t size, bool store);
  llvm::Value* at(std::int64_t offset); // of the first lane

  /// What becomes of addresses of which nothing is known before they are there.
  struct Neighbours {
    llvm::BasicBlock* rows = nullptr; // each 8 lanes' elements lie behind each other
    llvm::BasicBlock* same = nullptr; // each 8 lanes access one element
    llvm::BasicBlock* any = nullptr;
    llvm::BasicBlock* done = nullptr;
  };
  std::vector<llvm::Value*> firsts(llvm::Value* pointers); // of each 8 lanes
  std::vector<llvm::Value*> masks();                       // of each 8 lanes
  LaneValue load_each(llvm::Type* type, llvm::Value* pointers);
  void store_each(llvm::Value* all, llvm::Value* pointers);

  Neighbours neighbours_;
  llvm::IRBuilder<>& b_;
  LaneBuilder& lanes_;
  llvm::Value* active_;
  llvm::BasicBlock* fail_;
  Shape shape_;                 // of the addresses
  llvm::Value* base_ = nullptr; // pointer of lane 0, if regular
  llvm::Value* all_ = nullptr;  // pointers of all lanes otherwise
  std::uint32_t bytes_ = 0;
};

} // namespace heddle::jit
