// Kernels given to the driver API as PTX text, launched and checked with it, beside the runtime API.
//@ exercises: cuInit, devices, contexts, cuModuleLoadDataEx, cuLaunchKernel with both forms of arguments, memory, sets, pitched copies, streams, events, cuGetProcAddress, and runtime calls on the same memory
//@ flags: -lcuda
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const CUresult result = (call);                                                                \
    if (result != CUDA_SUCCESS) {                                                                  \
      const char* name = "?";                                                                      \
      cuGetErrorName(result, &name);                                                               \
      std::printf("line %d: %s: %s\n", __LINE__, #call, name);                                     \
      return 1;                                                                                    \
    }                                                                                              \
  } while (false)

// saxpy(float* y, const float* x, float a, unsigned n), and a variable that it adds.
static const char* const text = R"ptx(
.version 8.0
.target sm_75
.address_size 64

.visible .global .align 4 .f32 offset = 0f3F800000;
.visible .const .align 4 .b32 unused[4] = {1, 2, 3, 4};

.visible .entry saxpy(.param .u64 py, .param .u64 px, .param .f32 pa, .param .u32 pn)
{
  .reg .pred %p;
  .reg .f32 %f<5>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [py];
  ld.param.u64 %rd2, [px];
  ld.param.f32 %f1, [pa];
  ld.param.u32 %r1, [pn];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd5];
  ld.global.f32 %f3, [%rd4];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  ld.global.f32 %f4, [offset];
  add.f32 %f3, %f3, %f4;
  st.global.f32 [%rd4], %f3;
done:
  ret;
}

.visible .entry count_up(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  atom.global.add.u32 %r1, [%rd1], 1;
  ret;
}
)ptx";

__global__ void twice(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] *= 2;
}

static const char* name_of(CUresult result) {
  const char* name = "?";
  cuGetErrorName(result, &name);
  return name;
}

int main() {
  int devices = 0;
  std::printf("before cuInit: %s\n", name_of(cuDeviceGetCount(&devices)));
  CHECK(cuInit(0));
  CHECK(cuDeviceGetCount(&devices));
  CUdevice device;
  CHECK(cuDeviceGet(&device, 0));
  int major = 0, warp = 0;
  CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CHECK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  char name[64];
  CHECK(cuDeviceGetName(name, sizeof name, device));
  std::size_t total = 0;
  CHECK(cuDeviceTotalMem(&total, device));
  std::printf("warp %d, has a name: %d, memory: %d\n", warp, name[0] != 0, total > 0);

  CUdeviceptr nothing;
  std::printf("without a context: %s\n", name_of(cuMemAlloc(&nothing, 4)));
  CUcontext context;
  CHECK(cuCtxCreate(&context, nullptr, CU_CTX_SCHED_AUTO, device));

  char log[512] = "?";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log), reinterpret_cast<void*>(32)};
  CUmodule module;
  CHECK(cuModuleLoadDataEx(&module, text, 3, options, values));
  std::printf("log: '%s'\n", log);
  CUfunction saxpy, count_up, missing;
  CHECK(cuModuleGetFunction(&saxpy, module, "saxpy"));
  CHECK(cuModuleGetFunction(&count_up, module, "count_up"));
  std::printf("no such kernel: %s\n", name_of(cuModuleGetFunction(&missing, module, "nobody")));
  unsigned kernels = 0;
  CHECK(cuModuleGetFunctionCount(&kernels, module));
  CUdeviceptr offset;
  std::size_t bytes = 0;
  CHECK(cuModuleGetGlobal(&offset, &bytes, module, "offset"));
  std::printf("%u kernels, offset has %zu bytes\n", kernels, bytes);

  constexpr unsigned n = 1000;
  std::vector<float> x(n), y(n);
  for (unsigned i = 0; i < n; ++i) {
    x[i] = float(i);
    y[i] = 1;
  }
  CUdeviceptr dx, dy;
  CHECK(cuMemAlloc(&dx, n * sizeof(float)));
  CHECK(cuMemAlloc(&dy, n * sizeof(float)));
  CHECK(cuMemcpyHtoD(dx, x.data(), n * sizeof(float)));
  CHECK(cuMemcpyHtoD(dy, y.data(), n * sizeof(float)));
  float a = 3;
  unsigned count = n;
  void* arguments[] = {&dy, &dx, &a, &count};
  CHECK(cuLaunchKernel(saxpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(y.data(), dy, n * sizeof(float)));
  std::printf("y[0] %g, y[999] %g\n", y[0], y[999]); // 2 and 2999

  // The same with a packed block, after a change of the variable.
  const float ten = 10;
  CHECK(cuMemcpyHtoD(offset, &ten, sizeof ten));
  struct {
    CUdeviceptr y, x;
    float a;
    unsigned n;
  } packed{dy, dx, 0, n};
  std::size_t packed_bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes, CU_LAUNCH_PARAM_END};
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUevent start, stop;
  CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
  CHECK(cuEventRecord(start, stream));
  CHECK(cuLaunchKernel(saxpy, 8, 1, 1, 128, 1, 1, 0, stream, nullptr, extra));
  CHECK(cuEventRecord(stop, stream));
  CHECK(cuMemcpyDtoHAsync(y.data(), dy, n * sizeof(float), stream));
  CHECK(cuStreamSynchronize(stream));
  float milliseconds = -1;
  CHECK(cuEventElapsedTime(&milliseconds, start, stop));
  std::printf("y[0] %g, y[999] %g, time passed: %d\n", y[0], y[999], milliseconds >= 0);

  // The runtime API works on the same memory, in the same context.
  twice<<<8, 128>>>(reinterpret_cast<float*>(dy), n);
  float last = 0;
  cudaMemcpy(&last, reinterpret_cast<float*>(dy) + 999, sizeof last, cudaMemcpyDefault);
  std::printf("doubled by the runtime: %g, %s\n", last, cudaGetErrorName(cudaGetLastError()));

  // Sets of three widths, rows, and a copy of a part.
  CUdeviceptr rows;
  std::size_t pitch = 0;
  CHECK(cuMemAllocPitch(&rows, &pitch, 24, 4, 4));
  CHECK(cuMemsetD2D8(rows, pitch, 0x11, 24, 4));
  CHECK(cuMemsetD2D16(rows, pitch, 0x2233, 4, 2));
  CHECK(cuMemsetD32(rows + pitch, 0x44556677, 2));
  unsigned char part[4][12];
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = rows;
  copy.srcPitch = pitch;
  copy.srcXInBytes = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = part;
  copy.dstPitch = 12;
  copy.WidthInBytes = 12;
  copy.Height = 4;
  CHECK(cuMemcpy2D(&copy));
  for (const auto& row : part) {
    for (const unsigned char byte : row)
      std::printf("%02x", byte);
    std::printf("\n");
  }

  // A counter in host memory that the device reaches, by its mapped address.
  unsigned* counter;
  CHECK(cuMemHostAlloc(reinterpret_cast<void**>(&counter), sizeof *counter, CU_MEMHOSTALLOC_DEVICEMAP));
  *counter = 0;
  CUdeviceptr mapped;
  CHECK(cuMemHostGetDevicePointer(&mapped, counter, 0));
  void* one[] = {&mapped};
  CHECK(cuLaunchKernel(count_up, 5, 1, 1, 33, 1, 1, 0, nullptr, one, nullptr));
  CHECK(cuCtxSynchronize());
  std::printf("counted %u\n", *counter);
  CUmemorytype type{};
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, dx));
  std::printf("device memory: %d\n", type == CU_MEMORYTYPE_DEVICE);

  // What a kernel is like.
  int threads = 0, blocks = 0, block = 0, grid = 0;
  CHECK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, saxpy));
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, 256, 0));
  CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, saxpy, nullptr, 0, 0));
  std::printf("%d threads, blocks fit: %d, a block size: %d\n", threads, blocks > 0, block > 0 && grid > 0);
  std::printf("too many threads: %s\n", name_of(cuLaunchKernel(saxpy, 1, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr)));
  std::printf("the runtime heard of no error: %s\n", cudaGetErrorName(cudaPeekAtLastError()));

  // Functions found by name: the driver's own way and the runtime's.
  void* found = nullptr;
  CUdriverProcAddressQueryResult how;
  CHECK(cuGetProcAddress("cuMemAlloc", &found, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &how));
  CUdeviceptr other;
  CHECK(reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(found)(&other, 16));
  CHECK(cuMemFree(other));
  cudaDriverEntryPointQueryResult status;
  cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &found, CUDA_VERSION, cudaEnableDefault, &status);
  int again = 0;
  CHECK(reinterpret_cast<CUresult (*)(int*)>(found)(&again));
  std::printf("found: %d, the same number: %d\n", status == cudaDriverEntryPointSuccess, again == devices);
  std::printf("no such function: %s\n", name_of(cuGetProcAddress("cuNobody", &found, CUDA_VERSION, 0, &how)));

  // Contexts: a stack.
  CUcontext top, primary;
  CUdeviceptr dy_too;
  CHECK(cuCtxPopCurrent(&top));
  std::printf("popped ours: %d, then: %s\n", top == context, name_of(cuMemAlloc(&dy_too, 4)));
  CHECK(cuMemFree(dx)); // the address tells whose memory it is
  CHECK(cuDevicePrimaryCtxRetain(&primary, device));
  CHECK(cuCtxPushCurrent(primary));
  CUcontext current;
  CHECK(cuCtxGetCurrent(&current));
  std::printf("the primary one is current: %d\n", current == primary && primary != context);
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuMemFree(dy));
  CHECK(cuMemFree(rows));
  CHECK(cuMemFreeHost(counter));
  CHECK(cuEventDestroy(start));
  CHECK(cuEventDestroy(stop));
  CHECK(cuStreamDestroy(stream));
  CHECK(cuModuleUnload(module));
  std::printf("an unloaded kernel: %s\n", name_of(cuLaunchKernel(saxpy, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr)));
  CHECK(cuDevicePrimaryCtxRelease(device));
  CHECK(cuCtxDestroy(context));
  const char* words = nullptr;
  CHECK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &words));
  std::printf("%s\n", words);
  return 0;
}
