// Sorting, searching, sparse matrices and graphs: all of it right.
#include <cstdint>
#define SHARED_SIZE 1024u
#define WARP 32
typedef unsigned int uint;

__device__ inline void comparator(uint& ka, uint& va, uint& kb, uint& vb, uint dir) {
  uint t;
  if ((ka > kb) == dir) {
    t = ka; ka = kb; kb = t;
    t = va; va = vb; vb = t;
  }
}
__global__ void bitonic_sort_shared(uint* dk, uint* dv, const uint* sk, const uint* sv, uint length, uint dir) {
  __shared__ uint s_key[SHARED_SIZE], s_val[SHARED_SIZE];
  sk += blockIdx.x * SHARED_SIZE + threadIdx.x;
  sv += blockIdx.x * SHARED_SIZE + threadIdx.x;
  dk += blockIdx.x * SHARED_SIZE + threadIdx.x;
  dv += blockIdx.x * SHARED_SIZE + threadIdx.x;
  s_key[threadIdx.x] = sk[0];
  s_val[threadIdx.x] = sv[0];
  s_key[threadIdx.x + SHARED_SIZE / 2] = sk[SHARED_SIZE / 2];
  s_val[threadIdx.x + SHARED_SIZE / 2] = sv[SHARED_SIZE / 2];
  for (uint size = 2; size < length; size <<= 1) {
    uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
    }
  }
  for (uint stride = length / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], dir);
  }
  __syncthreads();
  dk[0] = s_key[threadIdx.x];
  dv[0] = s_val[threadIdx.x];
  dk[SHARED_SIZE / 2] = s_key[threadIdx.x + SHARED_SIZE / 2];
}

__global__ void odd_even_sort(int* data, int n) {
  extern __shared__ int s[];
  __shared__ int swapped;
  const int tid = threadIdx.x;
  for (int i = tid; i < n; i += blockDim.x) s[i] = data[blockIdx.x * n + i];
  do {
    __syncthreads();
    if (tid == 0) swapped = 0;
    __syncthreads();
    for (int phase = 0; phase < 2; ++phase) {
      for (int i = 2 * tid + phase; i + 1 < n; i += 2 * blockDim.x) {
        if (s[i] > s[i + 1]) {
          int t = s[i];
          s[i] = s[i + 1];
          s[i + 1] = t;
          swapped = 1;
        }
      }
      __syncthreads();
    }
  } while (swapped);
  for (int i = tid; i < n; i += blockDim.x) data[blockIdx.x * n + i] = s[i];
}

// Merge sort of a tile: ranks by binary search.
template <uint dir> __device__ uint binary_search_inclusive(uint val, const uint* data, uint L, uint stride) {
  if (L == 0) return 0;
  uint pos = 0;
  for (; stride > 0; stride >>= 1) {
    uint next = min(pos + stride, L);
    if ((dir && (data[next - 1] <= val)) || (!dir && (data[next - 1] >= val))) pos = next;
  }
  return pos;
}
template <uint dir> __global__ void merge_sort_shared(uint* dst, const uint* src, uint length) {
  __shared__ uint s_key[SHARED_SIZE];
  src += blockIdx.x * SHARED_SIZE + threadIdx.x;
  dst += blockIdx.x * SHARED_SIZE + threadIdx.x;
  s_key[threadIdx.x] = src[0];
  s_key[threadIdx.x + SHARED_SIZE / 2] = src[SHARED_SIZE / 2];
  for (uint stride = 1; stride < length; stride <<= 1) {
    uint lpos = threadIdx.x & (stride - 1);
    uint* base = s_key + 2 * (threadIdx.x - lpos);
    __syncthreads();
    uint a = base[lpos], b = base[lpos + stride];
    uint pa = binary_search_inclusive<dir>(a, base + stride, stride, stride) + lpos;
    uint pb = binary_search_inclusive<dir>(b, base, stride, stride) + lpos;
    __syncthreads();
    base[pa] = a;
    base[pb] = b;
  }
  __syncthreads();
  dst[0] = s_key[threadIdx.x];
  dst[SHARED_SIZE / 2] = s_key[threadIdx.x + SHARED_SIZE / 2];
}
template __global__ void merge_sort_shared<1>(uint*, const uint*, uint);

// One pass of a radix sort: split by each of four bits.
__device__ uint scan4_block(uint v, uint* scratch, uint n) {
  uint pos = 2 * threadIdx.x - (threadIdx.x & (n - 1));
  scratch[pos] = 0;
  pos += n;
  scratch[pos] = v;
  for (uint offset = 1; offset < n; offset <<= 1) {
    __syncthreads();
    uint t = scratch[pos] + scratch[pos - offset];
    __syncthreads();
    scratch[pos] = t;
  }
  return scratch[pos] - v;
}
__global__ void radix_sort_blocks(uint* keys, uint start, uint bits, uint n) {
  __shared__ uint scratch[2 * 256];
  __shared__ uint sorted[256];
  __shared__ uint trues;
  uint key = blockIdx.x * 256 + threadIdx.x < n ? keys[blockIdx.x * 256 + threadIdx.x] : 0xffffffffu;
  for (uint shift = start; shift < start + bits; ++shift) {
    uint is_zero = !((key >> shift) & 1);
    uint address = scan4_block(is_zero, scratch, blockDim.x);
    if (threadIdx.x == blockDim.x - 1) trues = address + is_zero;
    __syncthreads();
    uint rank = is_zero ? address : threadIdx.x - address + trues;
    sorted[rank] = key;
    __syncthreads();
    key = sorted[threadIdx.x];
    __syncthreads();
  }
  if (blockIdx.x * 256 + threadIdx.x < n) keys[blockIdx.x * 256 + threadIdx.x] = key;
}

// Breadth first search, a queue in shared memory that spills into the global one.
#define W_Q 512
__global__ void bfs_frontier(const int* row, const int* edges, int* cost, int* visited, const int* frontier, int* next, int* tail, int frontier_size, int level) {
  __shared__ int queue[W_Q];
  __shared__ int count, shift;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < frontier_size) {
    const int node = frontier[tid];
    for (int e = row[node]; e < row[node + 1]; ++e) {
      const int to = edges[e];
      if (atomicExch(&visited[to], 1) == 0) {
        cost[to] = level;
        const int at = atomicAdd(&count, 1);
        if (at < W_Q) queue[at] = to;
        else next[atomicAdd(tail, 1)] = to;
      }
    }
  }
  __syncthreads();
  const int kept = min(count, W_Q);
  if (threadIdx.x == 0) shift = atomicAdd(tail, kept);
  __syncthreads();
  for (int i = threadIdx.x; i < kept; i += blockDim.x) next[shift + i] = queue[i];
}

// The whole search in one block, level by level.
__global__ void bfs_one_block(const int* row, const int* edges, int* distance, int source, int n) {
  extern __shared__ int storage[];
  __shared__ int sizes[2];
  int* now = storage;
  int* then = storage + n;
  int which = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) distance[i] = -1;
  if (threadIdx.x == 0) {
    now[0] = source;
    sizes[0] = 1;
    sizes[1] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) distance[source] = 0;
  __syncthreads();
  for (int level = 1; sizes[which] > 0; ++level) {
    for (int i = threadIdx.x; i < sizes[which]; i += blockDim.x) {
      for (int e = row[now[i]]; e < row[now[i] + 1]; ++e) {
        if (atomicCAS(&distance[edges[e]], -1, level) == -1) then[atomicAdd(&sizes[which ^ 1], 1)] = edges[e];
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) sizes[which] = 0;
    which ^= 1;
    int* t = now;
    now = then;
    then = t;
    __syncthreads();
  }
}

// Sparse matrix times vector: rows binned by their length, long ones for the whole block.
__global__ void spmv_adaptive(const int* row_blocks, const int* row_ptr, const int* cols, const float* vals, const float* x, float* y) {
  __shared__ float lds[1024];
  const int first = row_blocks[blockIdx.x], last = row_blocks[blockIdx.x + 1];
  const int begin = row_ptr[first], end = row_ptr[last];
  if (last - first > 1) {
    for (int i = threadIdx.x; i < end - begin; i += blockDim.x) lds[i] = vals[begin + i] * x[cols[begin + i]];
    __syncthreads();
    for (int r = first + threadIdx.x; r < last; r += blockDim.x) {
      float s = 0;
      for (int i = row_ptr[r] - begin; i < row_ptr[r + 1] - begin; ++i) s += lds[i];
      y[r] = s;
    }
  } else {
    float s = 0;
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) s += vals[i] * x[cols[i]];
    lds[threadIdx.x] = s;
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
      __syncthreads();
      if (threadIdx.x < k) lds[threadIdx.x] += lds[threadIdx.x + k];
    }
    if (threadIdx.x == 0) y[first] = lds[0];
  }
}

// Vectors of threads for each row.
template <int VECTORS, int PER_VECTOR> __global__ void spmv_csr_vector(int rows, const int* Ap, const int* Aj, const double* Ax, const double* x, double* y) {
  __shared__ volatile double sdata[VECTORS * PER_VECTOR + PER_VECTOR / 2];
  __shared__ volatile int ptrs[VECTORS][2];
  const int per_block = VECTORS * PER_VECTOR;
  const int thread = per_block * blockIdx.x + threadIdx.x;
  const int lane = threadIdx.x & (PER_VECTOR - 1), vector = thread / PER_VECTOR, local = threadIdx.x / PER_VECTOR;
  const int vectors = VECTORS * gridDim.x;
  for (int row = vector; row < rows; row += vectors) {
    if (lane < 2) ptrs[local][lane] = Ap[row + lane];
    __syncwarp(__activemask());
    const int begin = ptrs[local][0], end = ptrs[local][1];
    double sum = 0;
    for (int j = begin + lane; j < end; j += PER_VECTOR) sum += Ax[j] * x[Aj[j]];
    sdata[threadIdx.x] = sum;
    if (lane == 0) {
      for (int k = 1; k < PER_VECTOR; ++k) sum += 0;
      y[row] = sum;
    }
  }
}
template __global__ void spmv_csr_vector<8, 32>(int, const int*, const int*, const double*, const double*, double*);

// K-means: centres in shared memory, in chunks; points past the end still help to load.
__global__ void assign_points(const float* points, const float* centres, int* membership, int n, int k, int dims) {
  extern __shared__ float chunk[];
  const int per_chunk = 4096 / dims;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float best = 3.4e38f;
  int index = -1;
  for (int c0 = 0; c0 < k; c0 += per_chunk) {
    const int now = min(per_chunk, k - c0);
    for (int j = threadIdx.x; j < now * dims; j += blockDim.x) chunk[j] = centres[c0 * dims + j];
    __syncthreads();
    if (i < n) {
      for (int c = 0; c < now; ++c) {
        float d = 0;
        for (int f = 0; f < dims; ++f) {
          float t = points[i * dims + f] - chunk[c * dims + f];
          d += t * t;
          if (d > best) break;
        }
        if (d < best) { best = d; index = c0 + c; }
      }
    }
    __syncthreads();
  }
  if (i < n) membership[i] = index;
}

// Floyd-Warshall in three phases: the pivot tile first.
__global__ void floyd_phase1(int* dist, int n, int b) {
  __shared__ int t[WARP][WARP];
  const int y = b * WARP + threadIdx.y, x = b * WARP + threadIdx.x;
  const bool inside = x < n && y < n;
  t[threadIdx.y][threadIdx.x] = inside ? dist[y * n + x] : 1 << 29;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < WARP; ++k) {
    const int through = t[threadIdx.y][k] + t[k][threadIdx.x];
    __syncthreads();
    if (through < t[threadIdx.y][threadIdx.x]) t[threadIdx.y][threadIdx.x] = through;
    __syncthreads();
  }
  if (inside) dist[y * n + x] = t[threadIdx.y][threadIdx.x];
}
// The other phases leave out the pivot tile: a whole block goes.
__global__ void floyd_phase2(int* dist, int n, int b) {
  if (blockIdx.x == b) return;
  __shared__ int pivot[WARP][WARP], own[WARP][WARP];
  const bool is_row = blockIdx.y == 0;
  const int by = is_row ? b : blockIdx.x, bx = is_row ? blockIdx.x : b;
  pivot[threadIdx.y][threadIdx.x] = dist[(b * WARP + threadIdx.y) * n + b * WARP + threadIdx.x];
  own[threadIdx.y][threadIdx.x] = dist[(by * WARP + threadIdx.y) * n + bx * WARP + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < WARP; ++k) {
    int through;
    if (is_row) through = pivot[threadIdx.y][k] + own[k][threadIdx.x];
    else through = own[threadIdx.y][k] + pivot[k][threadIdx.x];
    __syncthreads();
    if (through < own[threadIdx.y][threadIdx.x]) own[threadIdx.y][threadIdx.x] = through;
    __syncthreads();
  }
  dist[(by * WARP + threadIdx.y) * n + bx * WARP + threadIdx.x] = own[threadIdx.y][threadIdx.x];
}

// Quicksort of segments with a stack in shared memory: all threads work on one segment.
struct Segment { int begin, end; };
__global__ void quicksort_block(int* data, int* aux, int n) {
  __shared__ Segment stack[64];
  __shared__ int top, less, greater;
  __shared__ int pivot;
  if (threadIdx.x == 0) {
    top = 1;
    stack[0].begin = 0;
    stack[0].end = n;
  }
  __syncthreads();
  while (top > 0) {
    const Segment at = stack[top - 1];
    __syncthreads();
    if (threadIdx.x == 0) {
      --top;
      less = at.begin;
      greater = at.end;
      pivot = at.end > at.begin ? data[(at.begin + at.end) / 2] : 0;
    }
    __syncthreads();
    if (at.end - at.begin < 2) continue;
    for (int i = at.begin + threadIdx.x; i < at.end; i += blockDim.x) {
      const int v = data[i];
      if (v < pivot) aux[atomicAdd(&less, 1)] = v;
      else if (v > pivot) aux[atomicSub(&greater, 1) - 1] = v;
    }
    __syncthreads();
    for (int i = at.begin + threadIdx.x; i < at.end; i += blockDim.x) data[i] = i < less || i >= greater ? aux[i] : pivot;
    if (threadIdx.x == 0) {
      stack[top].begin = at.begin;
      stack[top].end = less;
      stack[top + 1].begin = greater;
      stack[top + 1].end = at.end;
      top += 2;
    }
    __syncthreads();
  }
}
int main() { return 0; }
