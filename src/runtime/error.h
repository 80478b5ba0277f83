// Error codes: names and texts (error.def), the code for a device fault, and each thread's last
// error.
//
// As measured on an H200 with CUDA 13.0: every call that fails records its code as the thread's
// last error (cudaErrorNotReady excepted); cudaGetLastError clears it, also after a device fault;
// after a fault every call that needs the device fails with the fault's code.
#pragma once

#include "machine/world.h"
#include "runtime/cudart.h"

namespace heddle::runtime {

/// "cudaErrorInvalidValue"; "unrecognized error code" for numbers that are no code.
const char* error_name(cudaError_t code);
/// "invalid argument"
const char* error_text(cudaError_t code);

/// The code that a real device reports for this fault.
cudaError_t error_of(const machine::FaultReport& fault);

} // namespace heddle::runtime
