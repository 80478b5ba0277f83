// Exits, loops and jumps in the shapes in which checker suites and real code have them.
__global__ void return_in_else_bad(int* p, int n) {
  if (threadIdx.x < n) {
    p[threadIdx.x] = 1;
  } else {
    return; // expect: early_exit_before_synchronization
  }
  __syncthreads();
  p[0] = 2;
}
__global__ void return_in_else(int* p, int n) {
  if (blockIdx.x < n) {
    p[threadIdx.x] = 1;
  } else {
    return;
  }
  __syncthreads();
  p[0] = 2;
}
__global__ void nested_return_bad(int* p, int n) {
  if (n > 4) {
    for (int i = 0; i < n; ++i) {
      if (p[i + threadIdx.x] == 7) {
        p[0] = 3;
        return; // expect: early_exit_before_synchronization
      }
    }
  }
  __syncthreads();
  p[1] = 2;
}
__global__ void nested_return(int* p, int n) {
  if (n > 4) {
    for (int i = 0; i < n; ++i) {
      if (i * i == n) {
        p[0] = 3;
        return;
      }
    }
  }
  __syncthreads();
  p[1] = 2;
}
__global__ void return_before_loop_bad(float* p, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return; // expect: early_exit_before_synchronization
  __shared__ float tile[16][16];
  for (int t = 0; t < width / 16; ++t) {
    tile[threadIdx.y][threadIdx.x] = p[y * width + t * 16 + threadIdx.x];
    __syncthreads();
    p[y * width + x] += tile[threadIdx.y][0];
    __syncthreads();
  }
}
__global__ void return_after_last(float* p, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= n) return;
  p[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void return_of_whole_block(float* p, int n) {
  if (blockIdx.x * blockDim.x >= n) return;
  __shared__ float s[256];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void flag_for_return(float* p, int n) {
  bool active = blockIdx.x * blockDim.x + threadIdx.x < n;
  __shared__ float s[256];
  if (active) s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  if (!active) return;
  p[threadIdx.x] = s[0];
}
__global__ void switch_return_bad(int* p, int mode) {
  switch (mode + threadIdx.x % 2) {
  case 0: p[0] = 1; break;
  case 1: return; // expect: early_exit_before_synchronization
  default: p[1] = 1;
  }
  __syncthreads();
  p[2] = 1;
}
__global__ void switch_return(int* p, int mode) {
  switch (mode) {
  case 0: p[0] = 1; break;
  case 1: return;
  default: p[1] = 1;
  }
  __syncthreads();
  p[2] = 1;
}
__global__ void while_true_break_bad(int* p) {
  int i = threadIdx.x;
  while (true) {
    if (i > 100) break; // expect: thread_synchronization_bypassed
    p[i] = 1;
    __syncthreads();
    i += 3;
  }
}
__global__ void while_true_break(int* p, int n) {
  int i = 0;
  while (true) {
    if (i > n) break;
    p[i + threadIdx.x] = 1;
    __syncthreads();
    i += 3;
  }
}
__global__ void for_ever_bad(int* p) {
  for (;;) {
    p[threadIdx.x] += 1;
    __syncthreads();
    if (p[threadIdx.x] > 10) return; // expect: early_exit_before_synchronization
  }
}
__global__ void for_ever(int* p) {
  __shared__ int done;
  for (;;) {
    if (threadIdx.x == 0) done = p[0]++ > 10;
    __syncthreads();
    if (done) return;
    __syncthreads();
  }
}
__global__ void grid_stride_bad(int* p, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    p[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void grid_stride(int* p, int n) {
  for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
    const int i = base + threadIdx.x;
    if (i < n) p[i] = 1;
    __syncthreads();
  }
}
__global__ void row_of_csr_bad(const int* rows, const int* columns, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float part[128];
  for (int k = rows[row]; k < rows[row + 1]; ++k) {
    part[threadIdx.x] = columns[k];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    y[row] += part[0];
  }
}
__global__ void row_of_csr(const int* rows, const int* columns, float* y) {
  const int row = blockIdx.x;
  __shared__ float part[128];
  for (int k = rows[row]; k < rows[row + 1]; k += blockDim.x) {
    part[threadIdx.x] = k + threadIdx.x < rows[row + 1] ? columns[k + threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x == 0) y[row] += part[0];
    __syncthreads();
  }
}
__global__ void do_or_bad(int* p) {
  int changed;
  do {
    changed = p[threadIdx.x] != 0;
    p[threadIdx.x] /= 2;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  } while (changed);
}
__global__ void do_or(int* p) {
  int changed;
  do {
    changed = p[threadIdx.x] != 0;
    p[threadIdx.x] /= 2;
  } while (__syncthreads_or(changed));
}
__global__ void while_and(int* p, int n) {
  int i = 0;
  while (!__syncthreads_and(p[threadIdx.x] > i)) {
    p[threadIdx.x] += n;
    __syncthreads();
    ++i;
  }
}
__global__ void for_count(int* p) {
  for (int left = __syncthreads_count(p[threadIdx.x] > 0); left > 32; left /= 2) {
    p[left] = 1;
    __syncthreads();
  }
}
__global__ void and_of_count_bad(int* p) {
  if (threadIdx.x < 32 && __syncthreads_count(p[threadIdx.x]) > 3) { // expect: thread_synchronization_in_divergent_region
    p[0] = 1;
  }
  p[1] = 1;
}
__global__ void and_of_count(int* p, int n) {
  if (n < 32 && __syncthreads_count(p[threadIdx.x]) > 3) {
    p[0] = 1;
  }
  p[1] = 1;
}
__global__ void or_of_barrier_bad(int* p) {
  const bool x = p[threadIdx.x] > 0 || __syncthreads_or(p[threadIdx.x] < 0); // expect: thread_synchronization_in_divergent_region
  p[threadIdx.x] = x;
}
__global__ void or_of_barrier(int* p, int n) {
  const bool x = n > 0 || __syncthreads_or(p[threadIdx.x] < 0);
  p[threadIdx.x] = x;
}
__device__ int meet(int* p) {
  __syncthreads();
  return p[0];
}
__device__ int meet_apart(int* p) {
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
  return p[0];
}
__global__ void ternary_call_bad(int* p) {
  const int v = threadIdx.x & 1 ? meet_apart(p) : 0;
  p[threadIdx.x] = v;
}
__global__ void ternary_call(int* p, int n) {
  const int v = n & 1 ? meet(p) : 0;
  p[threadIdx.x] = v;
}
__global__ void comma(int* p, int n) {
  for (int i = 0; i < n; __syncthreads(), ++i) p[threadIdx.x] = i;
}
__global__ void comma_bad(int* p) {
  for (int i = 0; i < p[threadIdx.x]; __syncthreads(), ++i) p[1] = i; // expect: thread_synchronization_in_divergent_region
}
__global__ void goto_back_bad(int* p) {
  int i = threadIdx.x;
again:
  p[i] = 1;
  __syncthreads(); // expect: thread_synchronization_in_divergent_region
  if (--i > 0) goto again;
}
__global__ void goto_back(int* p, int n) {
again:
  p[n] = 1;
  __syncthreads();
  if (--n > 0) goto again;
  p[0] = 1;
}
__global__ void goto_out_of_loops_bad(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (p[threadIdx.x + j] == i) goto out; // expect: thread_synchronization_bypassed
      p[j] = 1;
    }
    __syncthreads();
  }
out:
  p[0] = 1;
}
__global__ void fall_through_bad(int* p) {
  switch (threadIdx.x) {
  case 0:
    p[0] = 1;
  case 1:
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  default:
    p[1] = 1;
  }
  p[2] = 1;
}
__global__ void fall_through(int* p, int mode) {
  switch (mode) {
  case 0:
    p[0] = 1;
    [[fallthrough]];
  case 1:
    __syncthreads();
    [[fallthrough]];
  default:
    p[1] = 1;
  }
  p[2] = 1;
}
__global__ void all_cases_bad(int* p) {
  switch (threadIdx.x % 2) {
  case 0:
    p[0] = 1;
    __syncthreads(); // expect: unaligned_synchronization
    break;
  default:
    __syncthreads();
  }
  p[2] = 1;
}
__global__ void duff(int* p, int n) {
  int i = 0;
  switch (n % 3) {
  case 0:
    do {
      __syncthreads();
      ++i;
  case 2: ++i;
  case 1: ++i;
    } while (i < n);
  }
  p[i] = threadIdx.x;
}
__global__ void break_of_uniform_search(const int* p, int* q, int n) {
  int i;
  for (i = 0; i < n; ++i) {
    if (p[i] > 5) break;
  }
  if (i < n) {
    q[threadIdx.x] = i;
    __syncthreads();
    q[0] += 1;
  }
}
__global__ void break_of_search_bad(const int* p, int* q, int n) {
  int i;
  for (i = 0; i < n; ++i) {
    if (p[i] > threadIdx.x) break;
  }
  if (i < n) {
    q[threadIdx.x] = i;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    q[0] += 1;
  }
}
__global__ void binary_search_bad(const int* keys, int* out, int n) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keys[middle] < out[threadIdx.x]) low = middle + 1;
    else high = middle;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  out[threadIdx.x] = low;
}
__global__ void binary_search(const int* keys, int* out, int n) {
  int low = 0;
  for (int step = n; step > 0; step /= 2) {
    if (low + step < n && keys[low + step] < out[threadIdx.x]) low += step;
    __syncthreads();
  }
  out[threadIdx.x] = low;
}
__global__ void last_statement_nested(int* p, int n) {
  if (n > 3) {
    if (threadIdx.x < n) {
      p[threadIdx.x] = 1;
      __syncthreads();
    }
  }
}
__global__ void last_statement_with_return(int* p, int n) {
  if (threadIdx.x < n) {
    p[threadIdx.x] = 1;
    __syncthreads();
    return;
  }
}
__global__ void not_last_other_work_bad(int* p, int n) {
  if (threadIdx.x < n) {
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  } else {
    p[threadIdx.x] = 1;
  }
}
__global__ void not_last_loop_bad(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < i) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void not_last_print_bad(int n) {
  if (threadIdx.x < n) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  printf("after\n");
}
__global__ void not_last_two_bad(int* p, int n) {
  if (threadIdx.x < n) {
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    p[0] = 1;
    __syncthreads();
  }
}
__global__ void computes_only(int n) {
  int x = 0;
  if (threadIdx.x < n) __syncthreads();
  x += threadIdx.x;
}
__device__ void guarded(int* p, int i, int n) {
  if (i >= n) return; // expect: thread_synchronization_bypassed
  p[i] = 1;
  __syncthreads();
  p[i] += p[0];
}
__global__ void calls_guarded(int* p, int n) { guarded(p, threadIdx.x, n); p[0] = 1; }
