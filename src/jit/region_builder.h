// RegionBuilder: one Code to one function of LLVM IR, a Region (isa/region.h).
//
//   BuiltRegion region = build_region(module, functions, code, shape, "region0");
//
// Each op becomes its LaneFunction's instructions, widened to so many lanes (lane_values.h), with
// scalars where a register is the same in all lanes or regular (uniformity.h). Registers are
// variables of the stack, of which LLVM makes values. Lanes outside of the mask compute what nobody
// reads; a guarded op keeps the old values of the lanes that its guard leaves out. Lanes that part
// at a branch stay in the region (waiting.h).
//
// An op that touches memory looks first whether all addresses lie where it accessed last; else the
// interpreter's handler is called, and so for ops that have no straight LaneFunction, and for
// strong accesses, fences and collectives (RegionBuilder::may_interpret). Another op without
// bitcode ends the region, but for calls (isa/region_calls.cpp), and for barriers and ends of a
// whole block (isa/region.h).
#pragma once

#include "isa/op.h"
#include "jit/access_functions.h"
#include "jit/lane_function.h"
#include "jit/launch_shape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::jit {

/// What the regions of an image share.
struct RegionFunctions {
  LaneFunctions lanes;
  AccessFunctions accesses;
};

struct BuiltRegion {
  std::string name; // of the function
  bool built = false;
  std::vector<std::uint32_t> entries;     // from the interpreter
  std::vector<std::uint32_t> left;        // ops that are left to the interpreter
  std::vector<std::uint32_t> interpreted; // ops for which it is called
  std::size_t size = 0; // ops, and registers at entries and exits: what the time to compile goes by
};

/// Not `built`: nothing of this code is worth it, or its size is more than `most`.
BuiltRegion build_region(
    llvm::Module& module,
    RegionFunctions& functions,
    const isa::Code& code,
    const LaunchShape& shape,
    const std::string& name,
    std::size_t most
);

} // namespace heddle::jit
