// Processes share memory by descriptors that they send each other: memory of pools, and of cuMemCreate.
//@ flags: -lcuda
//@ exercises: cudaMemPoolExportToShareableHandle, cudaMemPoolImportFromShareableHandle, cudaMemPoolExportPointer, cudaMemPoolImportPointer, cudaFreeAsync of imported memory, cuMemExportToShareableHandle, cuMemImportFromShareableHandle, cuMemMap of imported memory
#include "support.h"

#include <cuda.h>

#include <cstring>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRIVER_OK(call) EXPECT((call) == CUDA_SUCCESS)

constexpr int ints = 5000;
constexpr int few = 10; // shares a page with others where it can

struct Message {
  cudaMemPoolPtrExportData many, few;
};

__global__ void add(int* p, int n, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    p[i] += what + i;
  }
}

static bool holds(const int* device, int n, int factor, int what) {
  std::vector<int> host(n);
  CUDA_OK(cudaMemcpy(host.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    if (host[i] != factor * i + what) {
      return false;
    }
  }
  return true;
}

static void send(int socket, const void* bytes, std::size_t count, const int (&files)[2]) {
  iovec part{const_cast<void*>(bytes), count};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof files)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* first = CMSG_FIRSTHDR(&header);
  first->cmsg_level = SOL_SOCKET;
  first->cmsg_type = SCM_RIGHTS;
  first->cmsg_len = CMSG_LEN(sizeof files);
  std::memcpy(CMSG_DATA(first), files, sizeof files);
  EXPECT(sendmsg(socket, &header, 0) == static_cast<ssize_t>(count));
}

static void receive(int socket, void* bytes, std::size_t count, int (&files)[2]) {
  iovec part{bytes, count};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof files)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  EXPECT(recvmsg(socket, &header, 0) == static_cast<ssize_t>(count));
  std::memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof files);
}

static CUmemAllocationProp shared_memory() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

/// Maps it anywhere, for reading and writing.
static int* map(CUmemGenericAllocationHandle memory, std::size_t bytes) {
  CUdeviceptr p = 0;
  DRIVER_OK(cuMemAddressReserve(&p, bytes, 0, 0, 0));
  DRIVER_OK(cuMemMap(p, bytes, 0, memory, 0));
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  DRIVER_OK(cuMemSetAccess(p, bytes, &access, 1));
  return reinterpret_cast<int*>(p);
}

static void unmap(int* p, std::size_t bytes) {
  DRIVER_OK(cuMemUnmap(reinterpret_cast<CUdeviceptr>(p), bytes));
  DRIVER_OK(cuMemAddressFree(reinterpret_cast<CUdeviceptr>(p), bytes));
}

static std::size_t granularity() {
  const CUmemAllocationProp properties = shared_memory();
  std::size_t bytes = 0;
  DRIVER_OK(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return bytes;
}

/// The one that is given the memory.
static void importer(int socket) {
  Message message;
  int files[2];
  receive(socket, &message, sizeof message, files);
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));

  cudaMemPool_t pool;
  CUDA_OK(cudaMemPoolImportFromShareableHandle(
      &pool, reinterpret_cast<void*>(static_cast<std::intptr_t>(files[0])), cudaMemHandleTypePosixFileDescriptor, 0));
  int *many = nullptr, *some = nullptr;
  CUDA_OK(cudaMemPoolImportPointer(reinterpret_cast<void**>(&many), pool, &message.many));
  CUDA_OK(cudaMemPoolImportPointer(reinterpret_cast<void**>(&some), pool, &message.few));
  EXPECT(holds(many, ints, 1, 7));
  EXPECT(holds(some, few, 1, 8));
  add<<<(ints + 127) / 128, 128, 0, stream>>>(many, ints, 100);
  add<<<1, 32, 0, stream>>>(some, few, 200);
  void* none = nullptr;
  std::printf("allocation from an imported pool: %s\n", cudaGetErrorName(cudaMallocFromPoolAsync(&none, 64, pool, stream)));
  cudaGetLastError();
  CUDA_OK(cudaFreeAsync(many, stream));
  CUDA_OK(cudaFree(some));
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaMemPoolDestroy(pool));
  close(files[0]);

  CUmemGenericAllocationHandle memory;
  DRIVER_OK(cuMemImportFromShareableHandle(
      &memory, reinterpret_cast<void*>(static_cast<std::intptr_t>(files[1])), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(files[1]);
  CUmemAllocationProp properties{};
  DRIVER_OK(cuMemGetAllocationPropertiesFromHandle(&properties, memory));
  std::printf("imported memory is on device %d\n", properties.location.id);
  int* mapped = map(memory, granularity());
  EXPECT(holds(mapped, ints, 1, 9));
  add<<<(ints + 127) / 128, 128>>>(mapped, ints, 300);
  CUDA_OK(cudaDeviceSynchronize());
  unmap(mapped, granularity());
  DRIVER_OK(cuMemRelease(memory));
  fflush(stdout);
  char done = 'd';
  EXPECT(write(socket, &done, 1) == 1);
}

/// The one that makes it.
static void exporter(int socket) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool, own;
  CUDA_OK(cudaMemPoolCreate(&pool, &properties));
  CUDA_OK(cudaDeviceGetDefaultMemPool(&own, 0));
  int *many = nullptr, *some = nullptr, *mine = nullptr;
  CUDA_OK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&many), ints * sizeof(int), pool, nullptr));
  CUDA_OK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&some), few * sizeof(int), pool, nullptr));
  CUDA_OK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&mine), few * sizeof(int), own, nullptr));
  CUDA_OK(cudaMemset(many, 0, ints * sizeof(int)));
  CUDA_OK(cudaMemset(some, 0, few * sizeof(int)));
  add<<<(ints + 127) / 128, 128>>>(many, ints, 7);
  add<<<1, 32>>>(some, few, 8);
  CUDA_OK(cudaStreamSynchronize(nullptr));

  int files[2] = {-1, -1};
  Message message{};
  std::printf("the default pool: %s\n", cudaGetErrorName(cudaMemPoolExportToShareableHandle(
                                            &files[0], own, cudaMemHandleTypePosixFileDescriptor, 0)));
  std::printf("a pointer of the default pool: %s\n", cudaGetErrorName(cudaMemPoolExportPointer(&message.few, mine)));
  cudaGetLastError();
  CUDA_OK(cudaMemPoolExportToShareableHandle(&files[0], pool, cudaMemHandleTypePosixFileDescriptor, 0));
  CUDA_OK(cudaMemPoolExportPointer(&message.many, many));
  CUDA_OK(cudaMemPoolExportPointer(&message.few, some));

  const CUmemAllocationProp shared = shared_memory();
  CUmemAllocationProp unshared = shared;
  unshared.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  CUmemGenericAllocationHandle memory, alone;
  DRIVER_OK(cuMemCreate(&memory, granularity(), &shared, 0));
  DRIVER_OK(cuMemCreate(&alone, granularity(), &unshared, 0));
  int none = -1;
  std::printf("memory that was not made to be shared: %d\n",
              cuMemExportToShareableHandle(&none, alone, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  int* mapped = map(memory, granularity());
  CUDA_OK(cudaMemset(mapped, 0, granularity()));
  add<<<(ints + 127) / 128, 128>>>(mapped, ints, 9);
  CUDA_OK(cudaDeviceSynchronize());
  DRIVER_OK(cuMemExportToShareableHandle(&files[1], memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  fflush(stdout);
  send(socket, &message, sizeof message, files);

  char done = 0;
  EXPECT(read(socket, &done, 1) == 1);
  std::printf("pool memory: %d %d, mapped memory: %d\n", holds(many, ints, 2, 107), holds(some, few, 2, 208),
              holds(mapped, ints, 2, 309));
  // Mapped in two places, if it is shared; it stays when the first is gone.
  int* again = map(memory, granularity());
  add<<<(ints + 127) / 128, 128>>>(again, ints, 1);
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("through the other mapping: %d\n", holds(mapped, ints, 3, 310));
  unmap(mapped, granularity());
  DRIVER_OK(cuMemRelease(memory));
  std::printf("after the first is gone: %d\n", holds(again, ints, 3, 310));
  unmap(again, granularity());
  CUDA_OK(cudaFree(many));
  CUDA_OK(cudaFreeAsync(some, nullptr));
  CUDA_OK(cudaFreeAsync(mine, nullptr));
  CUDA_OK(cudaMemPoolDestroy(pool));
  DRIVER_OK(cuMemRelease(alone));
}

int main() {
  int ends[2];
  EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    importer(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  exporter(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("the other process ended with %d\n", status);
}
