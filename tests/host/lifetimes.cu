// Objects whose life ends while work that uses them may not be over: lifetimes.cu CASE racy|right.
// Directives beside each case: what plain `heddle run` and `--races` say of the racy twin; "-": nothing.
#include "../race/cases.h"

#include <cstdlib>
#include <cuda.h>

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void from_texture(cudaTextureObject_t t, float* to) { to[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
__global__ void to_surface(cudaSurfaceObject_t s) { surf1Dwrite(1.f, s, threadIdx.x * 4); }

constexpr int threads = 32, bytes = threads * sizeof(int);

constexpr const char* text = R"ptx(
.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 variable;
.visible .entry put(.param .u64 to) {
  .reg .u64 %a;
  ld.param.u64 %a, [to];
  st.global.u32 [%a], 7;
  ret;
}
)ptx";

void must(CUresult result) {
  if (result != CUDA_SUCCESS) {
    std::printf("driver error %d\n", static_cast<int>(result));
  }
}

cudaStream_t stream() {
  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}

void wait_if(bool right, cudaStream_t s) {
  if (right) {
    must(cudaStreamSynchronize(s));
  }
}

// --- Code ----------------------------------------------------------------------------------------

// Today's drivers wait for all kernels, and nothing says so.
//@ run: -
//@ races: warning\[use-after-free\]: kernel 'put<<<1,1>>>' in stream 1 may run after its code has been unloaded
CASE(module, "") {
  int* data = device_memory<int>(threads);
  cudaStream_t s = stream();
  must(cudaDeviceSynchronize());
  CUmodule module;
  CUfunction put;
  must(cuModuleLoadData(&module, text));
  must(cuModuleGetFunction(&put, module, "put"));
  void* arguments[] = {&data};
  must(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr));
  wait_if(right, s);
  must(cuModuleUnload(module));
}

//@ run: -
//@ races: warning\[use-after-free\]: kernel 'put<<<1,1>>>' in stream 1 may run after its code has been unloaded
CASE(library, "") {
  int* data = device_memory<int>(threads);
  cudaStream_t s = stream();
  must(cudaDeviceSynchronize());
  cudaLibrary_t library;
  cudaKernel_t put;
  must(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  must(cudaLibraryGetKernel(&put, library, "put"));
  void* arguments[] = {&data};
  must(cudaLaunchKernel(reinterpret_cast<void*>(put), 1, 1, arguments, 0, s));
  wait_if(right, s);
  must(cudaLibraryUnload(library));
}

// An event that is recorded behind the kernel and waited for is as good.
//@ run: -
//@ races: warning\[use-after-free\].*may run after its code
CASE(library_and_event, "") {
  int* data = device_memory<int>(threads);
  cudaStream_t s = stream();
  cudaEvent_t event;
  must(cudaEventCreate(&event));
  must(cudaDeviceSynchronize());
  cudaLibrary_t library;
  cudaKernel_t put;
  must(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  must(cudaLibraryGetKernel(&put, library, "put"));
  void* arguments[] = {&data};
  if (!right) {
    must(cudaEventRecord(event, s));
  }
  must(cudaLaunchKernel(reinterpret_cast<void*>(put), 1, 1, arguments, 0, s));
  if (right) {
    must(cudaEventRecord(event, s));
  }
  must(cudaEventSynchronize(event));
  must(cudaLibraryUnload(library));
}

// --- Textures and surfaces -----------------------------------------------------------------------

cudaTextureObject_t texture(float* data) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {data, cudaCreateChannelDesc<float>(), bytes};
  const cudaTextureDesc how{};
  cudaTextureObject_t object = 0;
  must(cudaCreateTextureObject(&object, &resource, &how, nullptr));
  return object;
}

cudaArray_t array() {
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t result = nullptr;
  must(cudaMallocArray(&result, &format, 64, 0, cudaArraySurfaceLoadStore));
  return result;
}

cudaSurfaceObject_t surface(cudaArray_t on) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = on;
  cudaSurfaceObject_t object = 0;
  must(cudaCreateSurfaceObject(&object, &resource));
  return object;
}

//@ run: error\[use-after-free\]: kernel 'from_texture<<<1,32>>>' in stream 1 is given a texture object
//@ races: error\[use-after-free\]: kernel 'from_texture<<<1,32>>>' in stream 1 is given a texture object
CASE(texture_object, "") {
  float* data = device_memory<float>(threads);
  float* to = device_memory<float>(threads);
  cudaStream_t s = stream();
  must(cudaDeviceSynchronize());
  const auto object = texture(data);
  from_texture<<<1, threads, 0, s>>>(object, to);
  wait_if(right, s);
  must(cudaDestroyTextureObject(object));
  cudaDeviceSynchronize();
  cudaGetLastError();
}

//@ run: error\[use-after-free\]: kernel 'to_surface<<<1,32>>>' in stream 1 is given a surface object
//@ races: error\[use-after-free\]: kernel 'to_surface<<<1,32>>>' in stream 1 is given a surface object
CASE(surface_object, "") {
  cudaStream_t s = stream();
  const auto object = surface(array());
  to_surface<<<1, threads, 0, s>>>(object);
  wait_if(right, s);
  must(cudaDestroySurfaceObject(object));
  cudaDeviceSynchronize();
  cudaGetLastError();
}

// Waited for, but in another stream.
//@ run: error\[use-after-free\]: kernel 'from_texture<<<1,32>>>' in stream 1 is given a texture object
//@ races: error\[use-after-free\]: kernel 'from_texture<<<1,32>>>' in stream 1 is given a texture object
CASE(texture_and_wrong_stream, "") {
  float* data = device_memory<float>(threads);
  float* to = device_memory<float>(threads);
  cudaStream_t s = stream(), t = stream();
  must(cudaDeviceSynchronize());
  const auto object = texture(data);
  from_texture<<<1, threads, 0, s>>>(object, to);
  must(cudaStreamSynchronize(right ? s : t));
  must(cudaDestroyTextureObject(object));
  cudaDeviceSynchronize();
  cudaGetLastError();
}

// --- Memory --------------------------------------------------------------------------------------

//@ run: -
//@ races: warning\[use-after-free\](.|\n)*only cudaFree stands between the two
CASE(freed_in_use, "") {
  int* data = device_memory<int>(threads);
  cudaStream_t s = stream();
  must(cudaDeviceSynchronize());
  fill<<<1, threads, 0, s>>>(data, 1);
  wait_if(right, s);
  must(cudaFree(data));
}

//@ run: warning\[use-after-free\](.|\n)*only cudaFree stands between the two
//@ races: warning\[use-after-free\](.|\n)*only cudaFree stands between the two
CASE(managed_freed_in_use, "") {
  int* data = nullptr;
  must(cudaMallocManaged(&data, bytes));
  cudaStream_t s = stream();
  fill<<<1, threads, 0, s>>>(data, 1);
  wait_if(right, s);
  must(cudaFree(data));
}

// The next allocation may lie at the same address: what was done there is forgotten.
//@ run: warning\[use-after-free\](.|\n)*only cudaFreeHost stands between the two
//@ races: warning\[use-after-free\](.|\n)*only cudaFreeHost stands between the two
CASE(pinned_freed_in_use, "") {
  cudaStream_t s = stream();
  for (int round = 0; round < 3; ++round) {
    int* data = nullptr;
    must(cudaMallocHost(&data, bytes));
    data[1] = round;
    fill<<<1, threads, 0, s>>>(data, 1);
    wait_if(right, s);
    must(cudaFreeHost(data));
  }
}

//@ run: warning\[use-after-free\](.|\n)*only cudaHostUnregister stands between the two
//@ races: warning\[use-after-free\](.|\n)*only cudaHostUnregister stands between the two
CASE(unregistered_in_use, "") {
  int* data = static_cast<int*>(std::aligned_alloc(4096, 4096));
  must(cudaHostRegister(data, 4096, cudaHostRegisterDefault));
  cudaStream_t s = stream();
  fill<<<1, threads, 0, s>>>(data, 1);
  wait_if(right, s);
  must(cudaHostUnregister(data));
  must(cudaHostRegister(data, 4096, cudaHostRegisterDefault));
  fill<<<1, threads, 0, s>>>(data, 2);
  must(cudaStreamSynchronize(s));
  must(cudaHostUnregister(data));
  std::free(data);
}

// Today's drivers do not wait.
//@ run: error\[use-after-free\]: kernel 'fill<<<1,32>>>' in stream 1 is given memory
//@ races: error\[use-after-free\]: write of 4 bytes of memory
CASE(unmapped_in_use, "") {
  cudaStream_t s = stream();
  constexpr std::size_t size = 2 << 20;
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle memory;
  CUdeviceptr at;
  must(cuMemCreate(&memory, size, &kind, 0));
  must(cuMemAddressReserve(&at, size, 0, 0, 0));
  must(cuMemMap(at, size, 0, memory, 0));
  CUmemAccessDesc access{};
  access.location = kind.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  must(cuMemSetAccess(at, size, &access, 1));
  fill<<<1, threads, 0, s>>>(reinterpret_cast<int*>(at), 1);
  wait_if(right, s);
  must(cuMemUnmap(at, size));
  must(cuMemRelease(memory));
}

// --- Handles that are used after their end, and such that may go early ---------------------------

//@ run: error\[api-misuse\]: an event is used after its destruction
//@ races: error\[api-misuse\]: an event is used after its destruction
CASE(event, "") { // destroyed before it is complete: its record and what waits for it stay
  int* data = device_memory<int>(threads);
  cudaStream_t s = stream(), t = stream();
  must(cudaDeviceSynchronize());
  cudaEvent_t e;
  must(cudaEventCreate(&e));
  fill<<<1, threads, 0, s>>>(data, 1);
  must(cudaEventRecord(e, s));
  if (right) {
    must(cudaStreamWaitEvent(t, e));
  }
  must(cudaEventDestroy(e));
  if (!right) {
    static_cast<void>(cudaStreamWaitEvent(t, e));
    must(cudaStreamSynchronize(s));
  }
  fill<<<1, threads, 0, t>>>(data, 2);
}

//@ run: error\[api-misuse\]: a stream is used after its destruction
//@ races: error\[api-misuse\]: a stream is used after its destruction
CASE(stream, "") { // destroyed with work in it: that goes on
  int* data = device_memory<int>(threads);
  cudaStream_t s = stream();
  must(cudaDeviceSynchronize());
  fill<<<1, threads, 0, s>>>(data, 1);
  must(cudaStreamDestroy(s));
  if (!right) {
    static_cast<void>(cudaStreamSynchronize(s));
  }
}

//@ run: error\[api-misuse\]: an executable graph is used after its destruction
//@ races: error\[api-misuse\]: an executable graph is used after its destruction
CASE(executable_graph, "") { // destroyed while it runs: it goes on
  int* data = device_memory<int>(threads);
  cudaStream_t s = stream();
  must(cudaDeviceSynchronize());
  cudaGraph_t graph;
  cudaGraphExec_t run;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  fill<<<1, threads, 0, s>>>(data, 1);
  must(cudaStreamEndCapture(s, &graph));
  must(cudaGraphInstantiate(&run, graph, 0));
  must(cudaGraphDestroy(graph));
  must(cudaGraphLaunch(run, s));
  must(cudaGraphExecDestroy(run));
  if (!right) {
    static_cast<void>(cudaGraphLaunch(run, s));
  }
}

//@ run: error\[api-misuse\]: a graph is used after its destruction
//@ races: error\[api-misuse\]: a graph is used after its destruction
CASE(graph, "") {
  cudaGraph_t graph;
  cudaGraphExec_t run;
  must(cudaGraphCreate(&graph, 0));
  if (!right) {
    must(cudaGraphDestroy(graph));
  }
  static_cast<void>(cudaGraphInstantiate(&run, graph, 0));
}

//@ run: error\[api-misuse\]: a memory pool is used after its destruction
//@ races: error\[api-misuse\]: a memory pool is used after its destruction
CASE(pool, "") { // destroyed with memory of it in use: that stays until it is freed
  cudaStream_t s = stream();
  cudaMemPool_t pool;
  cudaMemPoolProps kind{};
  kind.allocType = cudaMemAllocationTypePinned;
  kind.location.type = cudaMemLocationTypeDevice;
  must(cudaMemPoolCreate(&pool, &kind));
  int* data = nullptr;
  must(cudaMallocFromPoolAsync(&data, bytes, pool, s));
  must(cudaMemPoolTrimTo(pool, 0));
  must(cudaMemPoolDestroy(pool));
  fill<<<1, threads, 0, s>>>(data, 1);
  must(cudaFreeAsync(data, s));
  if (!right) {
    static_cast<void>(cudaMallocFromPoolAsync(&data, bytes, pool, s));
  }
}

// Memory of a graph outlives the executable graph that has allocated it, until it is freed.
//@ run: error\[use-after-free\]
//@ races: error\[use-after-free\]
CASE(memory_of_a_destroyed_graph, "") {
  cudaStream_t s = stream();
  cudaGraph_t graph;
  cudaGraphExec_t run;
  int* data = nullptr;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  must(cudaMallocAsync(&data, bytes, s));
  fill<<<1, threads, 0, s>>>(data, 1);
  must(cudaStreamEndCapture(s, &graph));
  must(cudaGraphInstantiate(&run, graph, 0));
  must(cudaGraphLaunch(run, s));
  must(cudaGraphExecDestroy(run));
  must(cudaGraphDestroy(graph));
  fill<<<1, threads, 0, s>>>(data, 2);
  must(cudaFreeAsync(data, s));
  if (!right) {
    fill<<<1, threads, 0, s>>>(data, 3);
  }
  cudaStreamSynchronize(s);
  cudaGetLastError();
}
