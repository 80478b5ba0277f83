// Stores of which the text tells which object they write to, whatever the values of registers are.
//
//   const BitVector stores = stores_into_known_objects(kernel);   // by instruction
//
// The object is a variable, or what a pointer parameter of the kernel points into. The address may
// depend on anything as long as it is made of one such pointer by adding numbers to it: an access
// within bounds lies in the object that its address was made from. Only weak stores of kernels
// count.
//
// Conservative: may leave out stores, and never has one that could write elsewhere. What it
// takes for granted of the program: pointers are not made of 32-bit numbers that come from memory.
#pragma once

#include "analysis/bit_vector.h"
#include "ptx/module.h"

namespace heddle::analysis {

BitVector stores_into_known_objects(const ptx::Function& function);

} // namespace heddle::analysis
