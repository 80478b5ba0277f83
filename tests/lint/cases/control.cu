// Loops, switches, jumps, short circuits.
__global__ void switch_bad(int* p) {
  switch (threadIdx.x & 3) {
  case 0:
    p[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    break;
  case 1:
    p[1] = 2;
    break;
  }
  p[threadIdx.x] = 1;
}
__global__ void switch_ok(int* p, int mode) {
  switch (mode) {
  case 0:
    p[0] = 1;
    __syncthreads();
    break;
  case 1:
    p[1] = 2;
    __syncthreads();
  default:
    __syncthreads();
  }
  p[threadIdx.x] = 1;
}
__global__ void unaligned(int* p) {
  if (threadIdx.x < 16) {
    p[0] = 1;
    __syncthreads(); // expect: unaligned_synchronization
    p[2] = 1;
  } else {
    p[1] = 1;
    __syncthreads();
  }
  p[threadIdx.x] = 1;
}
__global__ void aligned(int* p) {
  if (blockIdx.x < 16) {
    p[0] = 1;
    __syncthreads();
  } else {
    p[1] = 1;
    __syncthreads();
  }
  p[threadIdx.x] = 1;
}
__global__ void continue_bad(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    if (p[threadIdx.x] == i) continue; // expect: thread_synchronization_bypassed
    p[i] = 1;
    __syncthreads();
  }
}
__global__ void continue_ok(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    if (i == 3) continue;
    p[i] = 1;
    __syncthreads();
  }
}
__global__ void break_bad(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    if (p[threadIdx.x] == i) break; // expect: thread_synchronization_bypassed
    p[i] = 1;
  }
}
__global__ void break_before(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    if (p[threadIdx.x] == i) break;
    p[i] = 1;
  }
  __syncthreads();
  p[0] = 2;
}
__global__ void goto_bad(int* p) {
  if (threadIdx.x == 3) goto done; // expect: thread_synchronization_bypassed
  p[0] = 1;
  __syncthreads();
done:
  p[1] = 1;
}
__global__ void nested_uniform(int* p, int n, bool flag) {
  if (flag) {
    for (int i = 0; i < n; ++i) {
      if (blockIdx.y > i) {
        p[i] = 1;
        __syncthreads();
      }
    }
  }
}
__global__ void nested_bad(int* p, int n, bool flag) {
  if (threadIdx.x < n) {
    for (int i = 0; i < n; ++i) {
      if (flag) {
        p[i] = 1;
        __syncthreads(); // expect: thread_synchronization_in_divergent_region
      }
    }
  }
  p[0] = 3;
}
__global__ void short_circuit_bad(int* p, int n) {
  if (n > 3 && threadIdx.x < 7) {
    p[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void short_circuit(int* p, int n) {
  if (n > 3 && blockIdx.x < 7 || gridDim.x == 1) {
    p[0] = 1;
    __syncthreads();
  }
  p[1] = 1;
}
__global__ void control_dependence_bad(int* p, int n) {
  int steps = n;
  if (threadIdx.x == 0) steps = n + 1;
  for (int i = 0; i < steps; ++i) {
    p[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void control_dependence(int* p, int n) {
  int steps = n;
  if (blockIdx.x == 0) steps = n + 1;
  for (int i = 0; i < steps; ++i) {
    p[i] = 1;
    __syncthreads();
  }
}
__global__ void temporal_bad(int* p, int n) {
  int i = 0;
  while (p[threadIdx.x + i] != 0) ++i;
  if (i > n) {
    p[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void temporal(int* p, int n) {
  int i = 0;
  while (i * i < n) ++i;
  if (i > n) {
    p[0] = 1;
    __syncthreads();
  }
  p[1] = 1;
}
__global__ void do_while_bad(int* p) {
  int left = threadIdx.x;
  do {
    p[left] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    left -= 2;
  } while (left > 0);
}
__global__ void do_while(int* p, int n) {
  int left = n;
  do {
    p[left] = 1;
    __syncthreads();
    left -= 2;
  } while (left > 0);
}
__global__ void irreducible_bad(int* p, int n) {
  int i = 0;
  if (n > 5) goto middle;
top:
  p[i] = 1;
middle:
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
  ++i;
  if (i < threadIdx.x) goto top;
  p[n] = 1;
}
__global__ void reconverged(int* p, int n) {
  int v = 0;
  if (threadIdx.x < n) v = p[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) p[threadIdx.x] = v;
  else p[0] = 0;
  __syncthreads();
  p[1] = 1;
}
__global__ void conditional_bad(int* p, int n) {
  threadIdx.x > 3 ? __syncthreads() : (void)0; // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void conditional(int* p, int n) {
  n > 3 ? __syncthreads() : (void)0;
  p[1] = 1;
}
__global__ void asserted(int* p, int n) {
  assert(threadIdx.x < n);
  if (p[threadIdx.x] < 0) __trap();
  __syncthreads();
  p[1] = 1;
}
__global__ void array_of_bounds(int* p, int n) {
  int bounds[2] = {n, (int)threadIdx.x};
  for (int i = 0; i < bounds[0]; ++i) {
    p[i] = 1;
    __syncthreads();
  }
}
__global__ void array_of_bounds_bad(int* p, int n) {
  int bounds[2] = {n, (int)threadIdx.x};
  for (int i = 0; i < bounds[1]; ++i) {
    p[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void block_index_from_rank(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i / blockDim.x < n) {
    p[i] = 1;
    __syncthreads();
  }
  p[0] = 1;
}
__global__ void base_from_rank(int* p, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i - threadIdx.x < n; i += gridDim.x * blockDim.x) {
    p[i] = 1;
    __syncthreads();
  }
}
__global__ void assembly_bad(int* p) {
  if (threadIdx.x < 3) {
    p[0] = 1;
    asm volatile("bar.sync 0;" ::: "memory"); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void assembly(int* p) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("bar.sync 0;" ::: "memory");
  if (lane == 0) p[1] = 1;
  if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
  p[2] = 1;
}
__global__ void lane_bad(int* p) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane == 0) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void exits_by_assembly_bad(int* p) {
  if (threadIdx.x > 3) asm("exit;"); // expect: early_exit_before_synchronization
  __syncthreads();
  p[0] = 1;
}
