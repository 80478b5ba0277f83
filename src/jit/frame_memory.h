// FrameMemory: registers of a group's lanes in the interpreter's frame. SlowPaths: an op by the
// interpreter's handler, as a function that regions call where it is seldom needed.
#pragma once

#include "jit/lane_values.h"
#include "jit/register_map.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

class SlowPaths {
public:
  SlowPaths(llvm::Module& module, unsigned lanes) : module_(module), lanes_(lanes) {}

  struct Input {
    RegisterPlace place;
    LaneValue value;
  };
  /// What the region has; see FrameMemory.
  struct Group {
    llvm::Value* context;
    llvm::Value* frame;
    llvm::Value* first_lane;
  };
  /// Writes the inputs to the frame, calls the interpreter for the op, and reads the outputs back.
  /// The result is a structure of the vectors of the outputs, and call_interpreter()'s answer.
  llvm::Value* call(
      llvm::IRBuilder<>& b,
      const Group& group,
      llvm::Value* op,
      llvm::Value* lanes,
      const std::vector<Input>& inputs,
      const std::vector<RegisterPlace>& outputs
  );

private:
  void build(
      llvm::Function& f,
      const std::vector<Input>& inputs,
      const std::vector<RegisterPlace>& outputs
  );

  llvm::Module& module_;
  unsigned lanes_;
  std::map<std::string, llvm::Function*> known_;
};

} // namespace heddle::jit
