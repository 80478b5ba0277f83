// Address use: does a function make more of an address than an address? Where device memory lies,
// and which piece malloc gives, nothing promises, so a program must not go by it.
//
//   if (const auto where = address_decides(function, module)) …   // an instruction that does
//
// Addresses are those of variables (global and local ones), those that are converted to or from the
// global or the local space, and what malloc returns. Adding to one, and cutting it down to a
// multiple of up to 256 bytes (the API's allocations begin at such; malloc's at multiples of 16,
// variables at those of their alignment), gives an address; what is cut off then, and the
// difference of two that may be of one object, are numbers. Everything else that is made of it
// depends on where the memory lies. That decides if it is compared, tested, looked up with or given
// away; it is data if it is stored. Two addresses may be compared for equality (but not one that
// malloc returns in a function that calls free, which may give it again), and for order if they
// come from one object, or neither from a variable nor from malloc (the ends of a range).
//
// Misses: addresses that have gone through memory, through other lanes, or into other functions;
// those of shared memory; an address that is converted nowhere.
#pragma once

#include "ptx/module.h"

#include <cstdint>
#include <optional>

namespace heddle::analysis {

/// `module`: with the variables that the function names; nullptr: it names none.
std::optional<std::uint32_t>
address_decides(const ptx::Function& function, const ptx::Module* module);

} // namespace heddle::analysis
