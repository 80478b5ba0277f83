// lint-options: --arch=sm_90 -- -std=c++17
// Other elements of the array that a condition reads, and copies of a table that barriers guard.
// --- A block leaves by an element; one thread writes the next one
__global__ void leaves_by_last(int* ids, int length, int end) {
  int last = blockIdx.x * length + length - 1;
  if (ids[last] == end) {
    if (threadIdx.x == 0) ids[last + 1] = end;
    return;
  }
  __syncthreads();
  ids[last] = threadIdx.x;
}
__global__ void leaves_by_last_bad(int* ids, int length, int end) {
  int last = blockIdx.x * length + length - 1;
  if (ids[last] == end) {
    if (threadIdx.x == 0) ids[last + 1 - 1] = end + 1;
    return; // expect: potentially_early_exit_before_synchronization
  }
  __syncthreads();
  ids[last] += threadIdx.x;
}
__global__ void leaves_by_own_bad(int* ids, int length, int end) {
  int last = blockIdx.x * length + length - 1;
  if (ids[last] == end) {
    if (threadIdx.x < 2) ids[last - 1 + threadIdx.x] = end;
    return; // expect: potentially_early_exit_before_synchronization
  }
  __syncthreads();
  ids[last] += threadIdx.x;
}
// --- An element behind the table of all blocks
__global__ void behind_the_table(int* ids, int length, int end) {
  if (ids[blockIdx.x * length + length - 1] == end) {
    if (threadIdx.x == 0) ids[gridDim.x * length + blockIdx.x] = end;
    return;
  }
  __syncthreads();
  ids[blockIdx.x * length] = threadIdx.x;
}
__global__ void in_the_table_bad(int* ids, int length, int end) {
  if (ids[blockIdx.x * length + length - 1] == end) {
    if (threadIdx.x == 0) ids[(gridDim.x - 1) * length + blockIdx.x] = end + 1;
    return; // expect: potentially_early_exit_before_synchronization
  }
  __syncthreads();
  ids[blockIdx.x * length] = threadIdx.x;
}
// --- The next element, from another trip of a loop
__global__ void next_trip_bad(int* ids, int length, int end) {
  for (int i = 0; i < length; ++i) {
    if (ids[i] == end) break; // expect: potentially_thread_synchronization_bypassed
    if (threadIdx.x == 0) ids[i + 1] = end;
    if (i == 100) __syncthreads();
  }
}
// --- A table that is filled again each 128 trips, between barriers that the counter decides about
struct Table {
  int entries[128];
};
struct Visitor {
  Table& table;
  const int* source;
  int count, done = 0;
  __device__ Visitor(Table& table, const int* source, int count) : table(table), source(source), count(count) { fill(); }
  __device__ void fill() {
    if (threadIdx.x < 128 && done + threadIdx.x < count) table.entries[threadIdx.x] = source[done + threadIdx.x];
  }
  __device__ bool next(int& entry) {
    if (done >= count) return false;
    int at = done % 128;
    if (at == 0) __syncthreads();
    entry = table.entries[at];
    if (++done % 128 == 0) {
      __syncthreads();
      fill();
    }
    return true;
  }
  __device__ bool next_early_bad(int& entry) {
    if (done >= count) return false;
    int at = done % 128;
    if (at == 0) __syncthreads();
    entry = table.entries[at];
    if (++done % 128 == 0) {
      fill();
      __syncthreads();
    }
    return true;
  }
};
__global__ void visits(const int* source, int count, int* out) {
  __shared__ Table table;
  Visitor visitor(table, source, count);
  int entry = 0;
  while (visitor.next(entry))
    for (int i = 0; i < entry; ++i) {
      out[threadIdx.x] += entry;
      __syncthreads();
    }
}
__global__ void visits_and_leaves(const int* source, int count, int* out) {
  __shared__ Table table;
  Visitor visitor(table, source, count);
  int entry = 0;
  while (visitor.next(entry)) {
    if (entry < 0) continue;
    out[threadIdx.x] += entry;
    if (entry > 7) __syncthreads();
  }
}
__global__ void visits_bad(const int* source, int count, int* out) {
  __shared__ Table table;
  Visitor visitor(table, source, count);
  int entry = 0;
  while (visitor.next_early_bad(entry)) {
    if (entry < 0) break; // expect: potentially_thread_synchronization_bypassed
    out[threadIdx.x] += entry;
    if (entry > 7) __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  }
}

// --- Scalars behind one place of shared memory
__global__ void scalars_in_dynamic_memory(const int* in, int* out, int n) {
  extern __shared__ char memory[];
  int* scalars = reinterpret_cast<int*>(memory + 3072);
  int& count = scalars[0];
  int& last = scalars[1];
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();
  for (int pass = 0; pass < 3; ++pass) {
    if (threadIdx.x == in[pass]) {
      last = threadIdx.x;
    }
    __syncthreads();
    if (last == 0) {
      out[atomicAdd(&count, 1)] = n;
      __syncthreads();
      break;
    }
    __syncthreads();
  }
}
__global__ void one_scalar_in_dynamic_memory_bad(const int* in, int* out, int n) {
  extern __shared__ char memory[];
  int* scalars = reinterpret_cast<int*>(memory + 3072);
  int& last = scalars[1];
  for (int pass = 0; pass < 3; ++pass) {
    if (threadIdx.x == in[pass]) {
      last = threadIdx.x;
    }
    __syncthreads();
    if (last == 0) {
      out[atomicAdd(&last, 1)] = n;
      __syncthreads(); // expect: potentially_unaligned_synchronization
      break;           // expect: potentially_thread_synchronization_bypassed
    }
    __syncthreads();
  }
}
