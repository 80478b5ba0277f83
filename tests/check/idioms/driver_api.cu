// Waiting between blocks of a kernel that the driver API loads and launches.
#include "cases.h"

#include <cuda.h>

// Block 0 waits for what block 1 writes.
static const char* const text = R"ptx(
.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 flag = 0;
.visible .entry pair()
{
  .reg .pred %p;
  .reg .b32 %r<3>;
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p, %r1, 0;
  @%p bra writer;
reader:
  ld.acquire.gpu.global.u32 %r2, [flag];
  setp.eq.u32 %p, %r2, 0;
  @%p bra reader;
  ret;
writer:
  st.release.gpu.global.u32 [flag], 1;
  ret;
}
)ptx";

static CUfunction loaded() {
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  const bool good = cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
                    cuCtxSetCurrent(context) == CUDA_SUCCESS && cuModuleLoadData(&module, text) == CUDA_SUCCESS &&
                    cuModuleGetFunction(&kernel, module, "pair") == CUDA_SUCCESS;
  if (!good)
    std::exit(2);
  return kernel;
}

//@ case: plain
//@ verdict: may-hang
//@ finding: starvation CLUSTER
static int plain(Setup) {
  cuLaunchKernel(loaded(), 2, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  return cuCtxSynchronize();
}

//@ case: cooperative
//@ verdict: terminates
static int cooperative(Setup) {
  cuLaunchCooperativeKernel(loaded(), 2, 1, 1, 1, 1, 1, 0, nullptr, nullptr);
  return cuCtxSynchronize();
}

// Two launches of a stream: the second one cannot release the first.
//@ case: two-launches
//@ verdict: may-hang
//@ finding: livelock
//@ case: two-streams
//@ verdict: may-hang
//@ finding: starvation
template <unsigned Flags> static int two(Setup) {
  CUstream first, second;
  const CUfunction kernel = loaded();
  cuStreamCreate(&first, CU_STREAM_NON_BLOCKING);
  cuStreamCreate(&second, CU_STREAM_NON_BLOCKING);
  cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, first, nullptr, nullptr);
  cuLaunchKernel(kernel, 2, 1, 1, 1, 1, 1, 0, Flags != 0 ? first : second, nullptr, nullptr);
  return cuCtxSynchronize();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"plain", plain},
      {"cooperative", cooperative},
      {"two-launches", two<1>},
      {"two-streams", two<0>},
  });
}
