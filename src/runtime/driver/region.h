// Copies of two and three dimensions as the driver API describes them, in the runtime's terms.
#pragma once

#include "runtime/runtime.h"

#include <cuda.h>

namespace heddle::runtime {

/// Which way a copy between two types of memory goes.
cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from);

tl::expected<cudaMemcpy3DParms, cudaError_t> region_of(Runtime& rt, const CUDA_MEMCPY3D* p);

} // namespace heddle::runtime
