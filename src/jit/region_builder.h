// RegionBuilder: one Code to one function of LLVM IR, a Region (isa/region.h).
//
//   RegionBuilder builder(module, bitcode, handlers, code);
//   BuiltRegion region = builder.build("region0");
//
// Each op becomes a call of its handler's bitcode, which is inlined later, on an Exec and an Op of
// its own: the operands are copied into slots of the stack before, results back to the registers
// behind it. Registers are variables of the stack, too; LLVM makes values of vectors of all of
// them.
// A region is for whole warps: a guarded op computes all 32 lanes and keeps the old values of the
// others.
//
// An op that may fail (its handler may return nullptr: accesses to memory) is executed in compiled
// code only if all 32 lanes execute it and the handler finds nothing special; else the
// interpreter's handler is called. An op without bitcode ends the region.
#pragma once

#include "isa/op.h"
#include "jit/handlers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::jit {

struct BuiltRegion {
  std::string name; // of the function
  std::vector<std::uint32_t> entries;
  std::vector<std::uint32_t> left; // ops that are left to the interpreter
};

/// Empty `entries`: nothing of this code is worth it.
BuiltRegion build_region(
    llvm::Module& module,
    const llvm::Module& bitcode,
    const Handlers& handlers,
    const isa::Code& code,
    const std::string& name
);

} // namespace heddle::jit
