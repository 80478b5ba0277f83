// Objects of one thread scope passed where another is asked for: the compiler refuses each marked line, and nothing else.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

using System = cuda::atomic<int, cuda::thread_scope_system>;
using Device = cuda::atomic<int, cuda::thread_scope_device>;
using Block = cuda::atomic<int, cuda::thread_scope_block>;
using Thread = cuda::atomic<int, cuda::thread_scope_thread>;
using DeviceRef = cuda::atomic_ref<int, cuda::thread_scope_device>;
using BlockRef = cuda::atomic_ref<int, cuda::thread_scope_block>;

__host__ __device__ void takes_system(System&);
__host__ __device__ void takes_device(Device&);
__host__ __device__ void takes_block(Block&);
__host__ __device__ void takes_pointer(Device*);
__host__ __device__ void takes_reference(DeviceRef);
__host__ __device__ void takes_barrier(cuda::barrier<cuda::thread_scope_device>&);
__host__ __device__ void takes_latch(cuda::latch<cuda::thread_scope_system>&);
__host__ __device__ void takes_semaphore(cuda::binary_semaphore<cuda::thread_scope_block>&);

__host__ __device__ void right(System& system, Device& device, Block& block, int& plain) {
  takes_system(system);
  takes_device(device);
  takes_block(block);
  takes_pointer(&device);
  takes_reference(DeviceRef(plain));
  static_assert(sizeof(System) == sizeof(int) && sizeof(Block) == sizeof(int));
}

__host__ __device__ void wrong(
    System& system, Device& device, Block& block, Thread& thread, int& plain, cuda::barrier<cuda::thread_scope_block>& barrier,
    cuda::latch<cuda::thread_scope_device>& latch, cuda::binary_semaphore<cuda::thread_scope_thread>& semaphore) {
  takes_device(block);              // refused
  takes_device(system);             // refused
  takes_system(device);             // refused
  takes_system(block);              // refused
  takes_block(thread);              // refused
  takes_block(device);              // refused
  takes_pointer(&block);            // refused
  takes_pointer(&system);           // refused
  takes_reference(BlockRef(plain)); // refused
  takes_barrier(barrier);           // refused
  takes_latch(latch);               // refused
  takes_semaphore(semaphore);       // refused
  Device copy(device);              // refused
}
