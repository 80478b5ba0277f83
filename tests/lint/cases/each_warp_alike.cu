// Each warp computes by itself what the block then follows, from the same data: the results agree. With twins.
struct Problem {
  int rows, columns;
};
// Each lane holds the last tile of one problem; the warp scans, and picks the problem of the block's tile.
struct Visitor {
  const Problem* problems;
  int count, tile, start, problem, ending;
  __device__ Visitor(const Problem* p, int n, int first) : problems(p), count(n), tile(first), start(0), problem(-32), ending(0) {}
  __device__ bool next() {
    if (tile < __shfl_sync(~0u, ending, problem % 32)) return true;
    int group_end = __shfl_sync(~0u, ending, 31);
    problem = problem / 32 * 32;
    while (group_end <= tile) {
      problem += 32;
      if (problem > count) return false;
      start = group_end;
      int lane = threadIdx.x % 32;
      int mine = problem + lane;
      ending = 0;
      if (mine < count) ending = problems[mine].rows * problems[mine].columns;
      for (int i = 1; i < 32; i <<= 1) {
        int value = __shfl_up_sync(~0u, ending, i);
        if (lane >= i) ending += value;
      }
      int tiles = __shfl_sync(~0u, ending, 31);
      ending += start;
      group_end += tiles;
    }
    int within = __popc(__ballot_sync(~0u, ending <= tile));
    problem = problem + within;
    if (within > 0) start = __shfl_sync(~0u, ending, within - 1);
    return true;
  }
};
__global__ void grouped(const Problem* problems, int count, float* out) {
  Visitor visitor(problems, count, blockIdx.x);
  while (visitor.next()) {
    __syncthreads();
    out[threadIdx.x] += visitor.problem;
    int columns = problems[visitor.problem].columns;
    for (int k = 0; k < columns; ++k) __syncthreads();
    visitor.tile += gridDim.x;
  }
}
// A row is a warp.
__global__ void grouped_by_warp_bad(const Problem* problems, int count, float* out) {
  Visitor visitor(problems, count, blockIdx.x * 4 + threadIdx.y);
  while (visitor.next()) {
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[threadIdx.x] += visitor.problem;
    visitor.tile += gridDim.x;
  }
}
__global__ void sums_of_parts(const float* in, float* out, int warps) {
  __shared__ float part[32];
  if (threadIdx.x < 32) part[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int w = 0; w < warps; ++w) sum += part[(threadIdx.x % 32) * warps + w & 31];
  if (__any_sync(~0u, sum > 1)) __syncthreads();
  out[threadIdx.x] = sum;
}
__global__ void sums_of_own_parts_bad(const float* in, float* out, int warps) {
  float sum = 0;
  for (int w = 0; w < warps; ++w) sum += in[threadIdx.x * warps + w];
  if (__any_sync(~0u, sum > 1)) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  out[threadIdx.x] = sum;
}
// The lanes that vote are others in another warp.
__global__ void votes_of_some_bad(const float* in, float* out) {
  unsigned votes = 0;
  if (threadIdx.x < 50) votes = __ballot_sync(__activemask(), in[threadIdx.x % 32] > 1);
  if (votes) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  out[threadIdx.x] = votes;
}
// A lane keeps what it read in the last trip; warps make different numbers of them.
__global__ void trips_of_warps_bad(const float* in, float* out) {
  float kept = 0;
  for (int i = 0; i < threadIdx.x / 32; ++i) kept = in[i * 32 + threadIdx.x % 32];
  if (__any_sync(~0u, kept > 1)) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  out[threadIdx.x] = kept;
}
