// Kernels of our own over cub's block-wide primitives, every algorithm of each, several shapes of blocks.
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>

struct Largest {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

template <class T, int X, cub::BlockReduceAlgorithm A, int Y = 1>
__global__ void reduce(const T* in, T* out, int n) {
  using Reduce = cub::BlockReduce<T, X, A, Y>;
  __shared__ typename Reduce::TempStorage storage;
  const int i = blockIdx.x * X * Y + threadIdx.y * X + threadIdx.x;
  T sum = Reduce(storage).Sum(i < n ? in[i] : T());
  __syncthreads();
  T some = Reduce(storage).Sum(i < n ? in[i] : T(), min(n - int(blockIdx.x) * X * Y, X * Y));
  __syncthreads();
  T most = Reduce(storage).Reduce(sum, Largest());
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    out[blockIdx.x] = sum + some + most;
  }
}
template __global__ void reduce<int, 128, cub::BLOCK_REDUCE_RAKING>(const int*, int*, int);
template __global__ void reduce<int, 96, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(const int*, int*, int);
template __global__ void reduce<int, 32, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(const int*, int*, int);
template __global__ void reduce<double, 100, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 2>(const double*, double*, int);

template <class T, int X, cub::BlockScanAlgorithm A> __global__ void scan(T* data, int n) {
  using Scan = cub::BlockScan<T, X, A>;
  __shared__ typename Scan::TempStorage storage;
  T running = T();
  for (int base = 0; base < n; base += X) {
    T value = base + threadIdx.x < n ? data[base + threadIdx.x] : T();
    T total;
    Scan(storage).ExclusiveSum(value, value, total);
    __syncthreads();
    if (base + threadIdx.x < n) {
      data[base + threadIdx.x] = value + running;
    }
    running += total;
  }
}
template __global__ void scan<int, 128, cub::BLOCK_SCAN_RAKING>(int*, int);
template __global__ void scan<int, 256, cub::BLOCK_SCAN_RAKING_MEMOIZE>(int*, int);
template __global__ void scan<float, 64, cub::BLOCK_SCAN_WARP_SCANS>(float*, int);

template <class K, int X, int I> __global__ void sort_tile(K* keys) {
  using Load = cub::BlockLoad<K, X, I, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<K, X, I, int>;
  using Store = cub::BlockStore<K, X, I, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
  } storage;
  K mine[I];
  int values[I];
  Load(storage.load).Load(keys + blockIdx.x * X * I, mine);
  for (int i = 0; i < I; ++i) values[i] = i;
  __syncthreads();
  Sort(storage.sort).SortBlockedToStriped(mine, values);
  __syncthreads();
  Store(storage.store).Store(keys + blockIdx.x * X * I, mine);
}
template __global__ void sort_tile<unsigned, 128, 4>(unsigned*);
template __global__ void sort_tile<double, 64, 7>(double*);

template <int X, cub::BlockHistogramAlgorithm A> __global__ void histogram(const unsigned char* in, unsigned* out) {
  using Histogram = cub::BlockHistogram<unsigned char, X, 4, 256, A>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned bins[256];
  unsigned char mine[4];
  cub::LoadDirectStriped<X>(threadIdx.x, in + blockIdx.x * X * 4, mine);
  Histogram(storage).Histogram(mine, bins);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += X) atomicAdd(&out[i], bins[i]);
}
template __global__ void histogram<128, cub::BLOCK_HISTO_SORT>(const unsigned char*, unsigned*);
template __global__ void histogram<256, cub::BLOCK_HISTO_ATOMIC>(const unsigned char*, unsigned*);

template <int X> __global__ void edges(const int* in, int* out) {
  using Edges = cub::BlockDiscontinuity<int, X>;
  using Difference = cub::BlockAdjacentDifference<int, X>;
  using Shuffle = cub::BlockShuffle<int, X>;
  using Exchange = cub::BlockExchange<int, X, 4>;
  __shared__ union {
    typename Edges::TempStorage edges;
    typename Difference::TempStorage difference;
    typename Shuffle::TempStorage shuffle;
    typename Exchange::TempStorage exchange;
  } storage;
  int mine[4], heads[4], tails[4];
  cub::LoadDirectBlocked(threadIdx.x, in, mine);
  Edges(storage.edges).FlagHeadsAndTails(heads, tails, mine, cuda::std::not_equal_to<>());
  __syncthreads();
  Difference(storage.difference).SubtractLeft(mine, heads, cuda::std::minus<>());
  __syncthreads();
  Shuffle(storage.shuffle).Down(mine, mine);
  __syncthreads();
  Exchange(storage.exchange).BlockedToStriped(mine, mine);
  cub::StoreDirectStriped<X>(threadIdx.x, out, mine);
}
template __global__ void edges<128>(const int*, int*);

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};
template <int X> __global__ void merge_tile(int* keys, int n) {
  using Sort = cub::BlockMergeSort<int, X, 4>;
  __shared__ typename Sort::TempStorage storage;
  int mine[4];
  cub::LoadDirectBlocked(threadIdx.x, keys, mine);
  Sort(storage).Sort(mine, Less());
  __syncthreads();
  Sort(storage).Sort(mine, Less(), n, 1 << 30);
  cub::StoreDirectBlocked(threadIdx.x, keys, mine);
}
template __global__ void merge_tile<128>(int*, int);
