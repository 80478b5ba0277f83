// Client programs of one layout of the map: see client.h. Compiled with -DLAYOUT=…, and with small
// buckets (-DHEDDLE_BUCKET_UNITS=4: three slots each), so that a few keys fill them.
#include "../../../include/heddle/concurrent_map.cuh"
#include "client.h"

#ifndef LAYOUT
#define LAYOUT packed8
#endif
#if defined(HOST_PART)
constexpr auto scope = cuda::thread_scope_system;
using allocator = heddle::managed_allocator;
#else
constexpr auto scope = cuda::thread_scope_device;
using allocator = heddle::device_allocator;
#endif
using Map = heddle::concurrent_map<
    int,
    int,
    scope,
    OnePath,
    heddle::equal_to<int>,
    allocator,
    heddle::layout::LAYOUT>;

int main(int argc, char** argv) {
  return run_client<Map>(argc, argv);
}
