// Host code that dereferences device memory: the most common mistake of CUDA's beginners.
//
// The addresses cudaMalloc returns lie in a range that the host cannot read, so the access ends in
// SIGSEGV. The handler recognises the range, prints what happened, the allocation and where in the
// program, and ends the process with exit code 1. Every other SIGSEGV goes to whoever would have
// got it without us. A program that crashes after a call was refused or failed ends with the exit
// code of what was reported for it (outcome.h): it went on with what the call did not give. Never
// reports an access that is legal; misses those through HMM (pageable access), which the virtual
// device does not have.
#pragma once

#include "memory/address_space.h"

namespace heddle::runtime {

void install_host_fault_handler(const memory::AddressSpace& space);

} // namespace heddle::runtime
