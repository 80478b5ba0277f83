// Copies in batches, libraries loaded from memory, and objects that graphs keep alive.
//@ exercises: cudaMemcpyBatchAsync, cudaMemcpy3DBatchAsync, cudaMemGetDefaultMemPool, cudaUserObjectCreate, cudaGraphRetainUserObject, cudaLibraryLoadData, cudaLibraryEnumerateKernels, cudaLibraryGetGlobal, cudaGetDriverEntryPointByVersion
//@ hardware: not run on a GPU yet
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>


static const char* const text = R"ptx(
.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .entry advance(.param .u64 p)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [step];
  atom.global.add.u32 %r2, [%rd1], %r1;
  ret;
}
)ptx";

static void gone(void* data) {
  std::printf("%s is gone\n", static_cast<const char*>(data));
}

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* device;
  cudaMalloc(&device, 64 * sizeof(int));
  int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  void* to[] = {device + 4, device};
  const void* from[] = {numbers, numbers + 4};
  std::size_t sizes[] = {4 * sizeof(int), 4 * sizeof(int)};
  cudaMemcpyAttributes attributes[1] = {};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  std::size_t starts[] = {0};
  std::printf("batch: %d\n", cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, starts, 1, stream));
  std::memset(numbers, 0, sizeof numbers);
  cudaMemcpyAsync(numbers, device, sizeof numbers, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::printf("%d %d %d\n", numbers[0], numbers[3], numbers[4]);
  starts[0] = 1;
  std::printf("no attributes for the first: %d\n", cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, starts, 1, stream));
  cudaMemcpy3DBatchOp box{};
  box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
  box.src.op.ptr.ptr = device;
  box.src.op.ptr.rowLength = 16;
  box.dst.op.ptr.ptr = numbers;
  box.extent = {8, 2, 1};
  box.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::printf("box: %d\n", cudaMemcpy3DBatchAsync(1, &box, 0, stream));
  cudaStreamSynchronize(stream);
  std::printf("%d %d %d %d\n", numbers[0], numbers[1], numbers[2], numbers[3]);

  cudaMemLocation place{};
  place.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool, same;
  std::printf("pool: %d\n", cudaMemGetDefaultMemPool(&pool, &place, cudaMemAllocationTypePinned));
  cudaDeviceGetDefaultMemPool(&same, 0);
  std::printf("the device's: %d\n", pool == same);

  cudaLibrary_t library;
  std::printf("load: %d\n", cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  cudaLibraryGetKernelCount(&count, library);
  cudaKernel_t kernel, again;
  std::printf("kernels: %u, %d\n", count, cudaLibraryEnumerateKernels(&kernel, 1, library));
  cudaLibraryGetKernel(&again, library, "advance");
  const char* name = nullptr;
  cudaFuncGetName(&name, reinterpret_cast<const void*>(kernel));
  std::printf("%s, the same handle: %d\n", name, kernel == again);
  std::printf("no such kernel: %d\n", cudaLibraryGetKernel(&again, library, "retreat"));
  void* step;
  std::size_t bytes;
  std::printf("variable: %d\n", cudaLibraryGetGlobal(&step, &bytes, library, "step"));
  int five = 5;
  cudaMemcpy(step, &five, sizeof five, cudaMemcpyHostToDevice);
  cudaMemset(device, 0, sizeof(int));
  void* arguments[] = {&device};
  std::printf("launch: %d\n", cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(2), dim3(4), arguments, 0, stream));
  int sum = 0;
  cudaMemcpyAsync(&sum, device, sizeof sum, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::printf("sum %d\n", sum);
  std::printf("unload: %d\n", cudaLibraryUnload(library));
  std::printf("then: %d\n", cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, stream));
  std::printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));

  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  std::printf("entry point: %d", cudaGetDriverEntryPointByVersion("cuCtxGetDevice", &function, 12000, cudaEnableDefault, &found));
  int number = -1;
  std::printf(", found: %d, answers %d", found == cudaDriverEntryPointSuccess, reinterpret_cast<int (*)(int*)>(function)(&number));
  std::printf(", device %d\n", number);

  static char first[] = "first", second[] = "second";
  cudaUserObject_t kept, moved;
  cudaUserObjectCreate(&kept, first, gone, 2, cudaUserObjectNoDestructorSync);
  cudaUserObjectCreate(&moved, second, gone, 1, cudaUserObjectNoDestructorSync);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  std::printf("retain: %d\n", cudaGraphRetainUserObject(graph, kept, 1, 0));
  std::printf("move: %d\n", cudaGraphRetainUserObject(graph, moved, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  std::printf("release one: %d\n", cudaUserObjectRelease(kept, 1));
  std::printf("release both: %d\n", cudaUserObjectRelease(kept, 2));
  std::printf("release the other: %d\n", cudaUserObjectRelease(kept, 1));
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  std::printf("destroying the last\n");
  cudaGraphExecDestroy(exec);
  return 0;
}
