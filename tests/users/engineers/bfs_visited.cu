#include <cstdio>
// A ring with chords: some nodes have two neighbours in the frontier.
__global__ void level(const int* frontier, int count, int* visited, int* next, int* next_count, int n) {
  int i = threadIdx.x;
  if (i >= count) return;
  int node = frontier[i];
  for (int step = 1; step <= 2; ++step) {
    int other = (node + step) % n;
#ifdef RIGHT
    if (atomicExch(&visited[other], 1) == 0) next[atomicAdd(next_count, 1)] = other;
#else
    if (visited[other] == 0) {  //~ data-race
      visited[other] = 1;
      next[atomicAdd(next_count, 1)] = other;
    }
#endif
  }
}
int main() {
  const int n = 64;
  int first[4] = {0, 1, 2, 3}, *frontier, *visited, *next, *count, h;
  cudaMalloc(&frontier, sizeof first);
  cudaMalloc(&visited, n * sizeof(int));
  cudaMalloc(&next, n * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(frontier, first, sizeof first, cudaMemcpyHostToDevice);
  cudaMemset(visited, 0, n * sizeof(int));
  cudaMemset(count, 0, sizeof(int));
  level<<<1, 32>>>(frontier, 4, visited, next, count, n);
  cudaMemcpy(&h, count, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h);
  cudaFree(frontier);
  cudaFree(visited);
  cudaFree(next);
  cudaFree(count);
}
