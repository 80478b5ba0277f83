// FrameMemory: registers of a group's lanes in the interpreter's frame.
#pragma once

#include "jit/lane_values.h"
#include "jit/register_map.h"

#include <llvm/IR/IRBuilder.h>

namespace heddle::jit {

/// Vectors have an element for each lane of the group; a predicate is a vector of i1.
class FrameMemory {
public:
  /// `first_lane` (i64): the group's first lane in its warp.
  FrameMemory(llvm::IRBuilder<>& b, LaneBuilder& lanes, llvm::Value* frame, llvm::Value* first_lane)
      : b_(b),
        lanes_(lanes),
        frame_(frame),
        first_lane_(first_lane) {}

  /// Of the group's first lane; of a predicate, of all lanes of the warp. `offset`:
  /// RegisterPlace's.
  llvm::Value* place(const RegisterPlace& place, llvm::Value* offset);
  llvm::Value* load(const RegisterPlace& place, llvm::Value* offset);
  /// For the lanes of these bits.
  void store(const RegisterPlace& place, llvm::Value* offset, llvm::Value* all, llvm::Value* lanes);

private:
  llvm::Type* bits() { return b_.getIntNTy(lanes_.lanes()); }
  llvm::Value* as_mask(llvm::Value* lanes) {
    return b_.CreateBitCast(lanes, lanes_.widened(b_.getInt1Ty()));
  }

  llvm::IRBuilder<>& b_;
  LaneBuilder& lanes_;
  llvm::Value* frame_;
  llvm::Value* first_lane_;
};

/// A call of RegionContext::interpret. The answer is true if the handler goes on behind its op;
/// else it has stopped with a fault.
llvm::Value*
call_interpreter(llvm::IRBuilder<>& b, llvm::Value* context, llvm::Value* op, llvm::Value* lanes);

} // namespace heddle::jit
