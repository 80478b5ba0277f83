#pragma once

#include <cuda_runtime.h>

/// Enqueues a kernel that sets *flag.
void raise(volatile int* flag, cudaStream_t stream);
