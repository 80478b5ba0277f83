// AccessFunctions: an access by irregular addresses as a function that regions call.
//
//   llvm::Function* f = functions.of({isa::Space::Generic, i32, /*elements=*/1, store, narrow});
//
// The look at such addresses and the ways to their bytes are some fifteen blocks (access.h), and as
// many milliseconds of LLVM's time for four of them. A call costs the region what it keeps in
// vector registers, so a few of the calls, those in the innermost loops, are inlined
// (RegionBuilder::find_inlined).
#pragma once

#include "isa/ops_address.h"

#include <llvm/IR/Module.h>

#include <cstdint>
#include <map>
#include <tuple>

namespace heddle::jit {

struct EachAccess {
  isa::Space space = isa::Space::Generic;
  llvm::Type* element = nullptr;
  unsigned elements = 1; // behind each other; one that is stored
  bool store = false;
  bool narrow = false;  // addresses of 32 bits
  bool checked = false; // lanes' bytes lie at a constant distance, in memory that they may access
};

class AccessFunctions {
public:
  /// `checks`: LaunchShape::checks.
  AccessFunctions(llvm::Module& module, unsigned lanes, bool checks)
      : module_(module),
        lanes_(lanes),
        checks_(checks) {}

  /// Arguments: where the memory is (AccessContext::range, shared or local), its size if it is
  /// shared or local (i64), AccessContext::words and elements, bits of the executing lanes,
  /// AccessContext::local_stride, addresses, and what is stored; if they have been checked: lane
  /// 0's pointer in the place of where, the distance in that of the size, and no addresses. Result:
  /// a structure of the vectors that are loaded, and true, or anything and false if the lanes'
  /// bytes do not lie there.
  llvm::Function* of(const EachAccess& access);

private:
  void build(llvm::Function& f, const EachAccess& access);

  using Key = std::tuple<isa::Space, unsigned, unsigned, bool, bool, bool>;
  llvm::Module& module_;
  unsigned lanes_;
  bool checks_;
  std::map<Key, llvm::Function*> known_;
};

} // namespace heddle::jit
