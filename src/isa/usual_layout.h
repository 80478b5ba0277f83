// Where a search has what lies in shared memory, in a process that has the variables in another
// order (base/outside.h): a repetition is compared by that.
//
//   const auto [offset, bytes] = usual_place(code, offset_in_block, 8);
#pragma once

#include "isa/program.h"

#include <cstdint>

namespace heddle::isa {

struct UsualPlace {
  std::uint64_t offset = 0;
  unsigned bytes = 0; // so many of them lie side by side in a search, too
};

/// `code`: of the kernel, or of a function that it calls.
UsualPlace usual_place(const Code& code, std::uint64_t offset, unsigned bytes);

} // namespace heddle::isa
