// Rule CUDA-1.14: more ways through a function. Every case has its compliant twin.
// Temporal divergence: who leaves a loop earlier holds another value.
__global__ void leaves_by_break_bad(const int* p, int* q, int n) {
  int k;
  for (k = 0; k < n; ++k)
    if (p[k * blockDim.x + threadIdx.x] == 0) break;
  for (int i = 0; i < k; ++i) {
    q[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  q[0] = 1;
}
__global__ void leaves_by_break(const int* p, int* q, int n) {
  int k;
  for (k = 0; k < n; ++k)
    if (p[k] == 0) break;
  for (int i = 0; i < k; ++i) {
    q[i] = 1;
    __syncthreads();
  }
  q[0] = 1;
}
__global__ void counts_inside_bad(const int* p, int* q, int n) {
  int rounds = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) ++rounds;
  while (rounds-- > 0) {
    q[0] = p[0];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  q[1] = 1;
}
__global__ void counts_inside(const int* p, int* q, int n) {
  int rounds = 0;
  for (int i = blockIdx.x; i < n; i += gridDim.x) ++rounds;
  while (rounds-- > 0) {
    q[0] = p[0];
    __syncthreads();
  }
  q[1] = 1;
}
__global__ void flag_after_loop_bad(const int* p, int* q, int n) {
  bool found = false;
  for (int i = threadIdx.x; i < n && !found; i += 32) found = p[i] == 7;
  if (found) {
    q[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  q[1] = 1;
}
__global__ void flag_after_loop(const int* p, int* q, int n) {
  bool found = false;
  for (int i = 0; i < n && !found; i += 32) found = p[i] == 7;
  if (found) {
    q[0] = 1;
    __syncthreads();
  }
  q[1] = 1;
}
// Irreducible: two ways into a loop.
__global__ void two_entries_bad(int* p, int n) {
  int i = 0;
  if (threadIdx.x & 1) goto inside;
again:
  p[i] = 1;
inside:
  ++i;
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
  if (i < (threadIdx.x & 3)) goto again;
  p[n] = 1;
}
__global__ void two_entries(int* p, int n) {
  int i = 0;
  if (n & 1) goto inside;
again:
  p[i] = 1;
inside:
  ++i;
  __syncthreads();
  if (i < n) goto again;
  p[n] = 1;
}
__global__ void goto_loop_bad(int* p) {
  int i = threadIdx.x;
top:
  p[i] = 1;
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
  if (--i > 0) goto top;
  p[0] = 2;
}
__global__ void goto_loop(int* p, int n) {
  int i = n;
top:
  p[i] = 1;
  __syncthreads();
  if (--i > 0) goto top;
  p[0] = 2;
}
__global__ void goto_out_of_loops_bad(int* p, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (p[threadIdx.x + i * j] < 0) goto out; // expect: thread_synchronization_bypassed
      __syncthreads();
    }
out:
  p[0] = 1;
}
__global__ void goto_within_block(int* p, int n) {
  if (threadIdx.x > 4) goto skip;
  p[threadIdx.x] = n;
skip:
  __syncthreads();
  p[0] = 1;
}
// Switches.
__global__ void switch_default_bad(int* p) {
  switch (p[threadIdx.x]) {
  case 1: p[0] = 1; break;
  default:
    p[1] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[2] = 1;
}
__global__ void switch_default(const int* q, int* p) {
  switch (q[blockIdx.x]) {
  case 1: p[0] = 1; break;
  default:
    p[1] = 1;
    __syncthreads();
  }
  p[2] = 1;
}
__global__ void switch_falls_bad(int* p) {
  switch (threadIdx.x / 32) {
  case 0: p[0] = 1;
  case 1: p[1] = 1;
  case 2:
    p[2] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[3] = 1;
}
__global__ void switch_falls(int* p, int mode) {
  switch (mode) {
  case 0: p[0] = 1;
  case 1: p[1] = 1;
  case 2:
    p[2] = 1;
    __syncthreads();
  }
  p[3] = 1;
}
__global__ void switch_in_loop_bad(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    switch (p[i * blockDim.x + threadIdx.x]) {
    case 0: continue; // expect: thread_synchronization_bypassed
    case 1: p[0] = i; break;
    }
    __syncthreads();
  }
  p[1] = 1;
}
__global__ void switch_in_loop(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    switch (p[i * blockDim.x + threadIdx.x]) {
    case 0: p[1] = i; break;
    case 1: p[0] = i; break;
    }
    __syncthreads();
  }
  p[1] = 1;
}
// do-while.
__global__ void do_by_data_bad(int* p) {
  int again;
  do {
    again = p[threadIdx.x]--;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  } while (again > 0);
  p[0] = 1;
}
__global__ void do_by_vote(int* p) {
  int again;
  do {
    again = p[threadIdx.x]--;
  } while (__syncthreads_or(again > 0));
  p[0] = 1;
}
__global__ void do_with_continue_bad(int* p, int n) {
  int i = 0;
  do {
    if (p[threadIdx.x] == i) continue; // expect: thread_synchronization_bypassed
    p[i] = 0;
    __syncthreads();
  } while (++i < n);
}
__global__ void do_with_continue(const int* q, int* p, int n) {
  int i = 0;
  do {
    if (q[blockIdx.x] == i) continue;
    p[i] = 0;
    __syncthreads();
  } while (++i < n);
}
// Short circuits and conditional operators.
__device__ bool heavy(int* p, int i) { p[i] += 1; return p[i] > 3; }
__global__ void right_side_bad(int* p, int n) {
  if (n > 0 || heavy(p, threadIdx.x)) {
    if (heavy(p, threadIdx.x) && n > 2) {
      p[n] = 1;
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
  }
  p[0] = 1;
}
__global__ void right_side(int* p, int n) {
  bool mine = heavy(p, threadIdx.x);
  if (n > 0 && n < 5) {
    p[n] = mine;
    __syncthreads();
  }
  p[0] = 1;
}
__global__ void barrier_in_condition_bad(int* p, int n) {
  if (threadIdx.x < n && __syncthreads_or(p[threadIdx.x])) p[0] = 1; // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void barrier_in_condition(int* p, int n) {
  if (__syncthreads_or(threadIdx.x < n ? p[threadIdx.x] : 0) && threadIdx.x < n) p[0] = 1;
  p[1] = 1;
}
__global__ void chosen_value_bad(int* p, int n) {
  int rounds = threadIdx.x > 7 ? n : n + 1;
  for (int i = 0; i < rounds; ++i) {
    p[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void chosen_value(int* p, int n) {
  int rounds = blockIdx.x > 7 ? n : n + 1;
  for (int i = 0; i < rounds; ++i) {
    p[i] = 1;
    __syncthreads();
  }
}
__global__ void barrier_as_operand_bad(int* p) {
  int all = threadIdx.x < 9 ? __syncthreads_count(p[0]) : 0; // expect: thread_synchronization_in_divergent_region
  p[threadIdx.x] = all;
}
__global__ void barrier_as_operand(int* p, int n) {
  int all = n < 9 ? __syncthreads_count(p[0]) : 0;
  p[threadIdx.x] = all;
}
__global__ void comma_bad(int* p) {
  if (p[threadIdx.x]) p[0] = 1, __syncthreads(), p[1] = 1; // expect: thread_synchronization_in_divergent_region
  p[2] = 1;
}
__global__ void comma(int* p, int n) {
  if (n) p[0] = 1, __syncthreads(), p[1] = 1;
  p[2] = 1;
}
__global__ void negated_bad(int* p, int n) {
  if (!(threadIdx.x >= n)) {
    p[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void negated(int* p, int n) {
  if (!(blockIdx.x >= n)) {
    p[0] = 1;
    __syncthreads();
  }
  p[1] = 1;
}
__global__ void init_in_if_bad(int* p) {
  if (int v = p[threadIdx.x]; v > 3) {
    p[v] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void init_in_if(const int* q, int* p) {
  if (int v = q[blockIdx.x]; v > 3) {
    p[v] = 1;
    __syncthreads();
  }
  p[1] = 1;
}
// Early ends.
__global__ void return_in_loop_bad(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    if (p[i + threadIdx.x] < 0) return; // expect: early_exit_before_synchronization
    __syncthreads();
    p[i] = 1;
  }
}
__global__ void return_in_loop(const int* q, int* p, int n) {
  for (int i = 0; i < n; ++i) {
    if (q[i + blockIdx.x] < 0) return;
    __syncthreads();
    p[i] = 1;
  }
}
__global__ void return_after(int* p, int n) {
  p[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x >= n) return;
  p[threadIdx.x] += p[n];
}
__global__ void two_returns_bad(int* p, int n, int m) {
  if (threadIdx.x >= n) return; // expect: early_exit_before_synchronization
  p[0] = 1;
  if (threadIdx.x >= m) return; // expect: early_exit_before_synchronization
  __syncthreads();
  p[1] = 1;
}
__global__ void two_returns(int* p, int n, int m) {
  if (blockIdx.x >= n) return;
  p[0] = 1;
  if (gridDim.x >= m) return;
  __syncthreads();
  p[1] = 1;
}
// Macros.
#define CHECK_BOUND(i, n) if ((i) >= (n)) return
#define SYNC() __syncthreads()
#define SYNC_IF(c) do { if (c) __syncthreads(); } while (0)
__global__ void macro_return_bad(int* p, int n) {
  CHECK_BOUND(threadIdx.x, n); // expect: early_exit_before_synchronization
  SYNC();
  p[0] = 1;
}
__global__ void macro_return(int* p, int n) {
  CHECK_BOUND(blockIdx.x, n);
  SYNC();
  p[0] = 1;
}
__global__ void macro_sync_bad(int* p, int n) {
  SYNC_IF(threadIdx.x < n); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void macro_sync(int* p, int n) {
  SYNC_IF(blockIdx.x < n);
  p[0] = 1;
}
// Nested.
__global__ void deep_bad(int* p, int n) {
  if (n > 1)
    for (int i = 0; i < n; ++i)
      if (i & 1)
        while (p[i]) {
          if (threadIdx.x > i) {
            p[i] = 0;
            __syncthreads(); // expect: thread_synchronization_in_divergent_region
          }
          p[i] = 0;
        }
  p[1] = 1;
}
__global__ void deep(int* p, int n) {
  if (n > 1)
    for (int i = 0; i < n; ++i)
      if (i & 1)
        for (int j = i; j < n; ++j) {
          if (blockIdx.x > i) {
            p[i] = 0;
            __syncthreads();
          }
          if (threadIdx.x == 0) p[i] = 0;
        }
  p[1] = 1;
}
__global__ void else_only_bad(int* p, int n) {
  if (threadIdx.x < n) p[0] = 1;
  else if (n > 3) {
    p[1] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[2] = 1;
}
__global__ void else_only(int* p, int n) {
  if (blockIdx.x < n) p[0] = 1;
  else if (n > 3) {
    p[1] = 1;
    __syncthreads();
  }
  p[2] = 1;
}
__global__ void three_arms_bad(int* p) {
  if (threadIdx.x < 8) {
    p[0] = 1;
    __syncthreads(); // expect: unaligned_synchronization
  } else if (threadIdx.x < 16) {
    p[1] = 1;
    __syncthreads(); // expect: unaligned_synchronization
  } else {
    p[2] = 1;
    __syncthreads();
  }
  p[3] = 1;
}
__global__ void three_arms(int* p) {
  if (threadIdx.x < 8) p[0] = 1;
  else if (threadIdx.x < 16) p[1] = 1;
  else p[2] = 1;
  __syncthreads();
  p[3] = 1;
}
