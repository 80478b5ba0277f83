// The rule document's example 4.
#include <cooperative_groups.h>
using namespace cooperative_groups;
__device__ void kernel(int flag) {
  thread_block g = this_thread_block();
  if (flag)
    g.sync(); // Ok, condition is not CTA-divergent.
  if (blockIdx.x < flag)
    g.sync(); // Ok, condition is not CTA-divergent.
  if (g.thread_rank() < 2)
    g.sync(); // expect: thread_synchronization_in_divergent_region
  g.sync();
  if (threadIdx.x < flag)
    g.sync(); // Ok: the last statement of the kernel.
}
