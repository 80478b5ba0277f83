// Misuse of heddle::concurrent_map that must not compile. Each case is compiled alone with -DCASE=n, and the compiler
// must say the text behind `refused:`. CASE 0 is the right program.
#include "../../include/heddle/concurrent_map.cuh"

#include <cooperative_groups.h>
#include <string>

using heddle::concurrent_map;

#if CASE == 1 // refused: a host thread may use a map of thread_scope_system only
void misuse() { concurrent_map<int, int> map(1); map.try_insert(1, 2); }
#elif CASE == 2 // refused: a map in memory that blocks share needs thread_scope_device or thread_scope_system
void misuse() { concurrent_map<int, int, cuda::thread_scope_block> map(1); }
#elif CASE == 3 // refused: this map's memory is not accessible to the host
using in_device = concurrent_map<int, int, cuda::thread_scope_system, heddle::hash<int>, heddle::equal_to<int>, heddle::device_allocator>;
void misuse() { in_device map(1); map.erase(1); }
#elif CASE == 4 // refused: this map's memory is not accessible to the device
using in_host = concurrent_map<int, int, cuda::thread_scope_system, heddle::hash<int>, heddle::equal_to<int>, heddle::host_allocator>;
void misuse() { in_host map(1); map.ref(); }
#elif CASE == 5 // refused: calling a __device__ function
void misuse() { concurrent_map<int, int, cuda::thread_scope_system> map(1); map.ref().try_insert(1, 2); }
#elif CASE == 6 // refused: layout::packed8 needs
using wide = concurrent_map<int, double, cuda::thread_scope_device, heddle::hash<int>, heddle::equal_to<int>, heddle::device_allocator, heddle::layout::packed8>;
void misuse() { wide map(1); }
#elif CASE == 7 // refused: memory that the host cannot touch takes trivially copyable keys and values only
void misuse() { concurrent_map<int, std::string> map(1); }
#elif CASE == 8 // refused: 128-bit compare-exchange: compile for sm_90 and later only
using pairs = concurrent_map<long, long, cuda::thread_scope_device, heddle::hash<long>, heddle::equal_to<long>, heddle::device_allocator, heddle::layout::packed16>;
void misuse() { pairs map(1); }
#elif CASE == 9 // refused: layout::packed16 is for global memory
using pairs = heddle::shared_map<long, long, 10, heddle::hash<long>, heddle::equal_to<long>, heddle::layout::packed16>;
__global__ void misuse() { __shared__ pairs map; map.ref(); }
#elif CASE == 10 // refused: no instance of overloaded function
__global__ void misuse(concurrent_map<int, int>::ref_type map) {
  map.find(cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block()), 1);
}
#else
__global__ void kernel(concurrent_map<int, int, cuda::thread_scope_system>::ref_type map) { map.try_insert(1, 2); }
void use() {
  concurrent_map<int, int, cuda::thread_scope_system> map(1);
  kernel<<<1, 1>>>(map.ref());
  map.try_insert(1, 2);
}
#endif
