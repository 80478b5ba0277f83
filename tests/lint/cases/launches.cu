// What the host side says: launch sizes, and waiting for a kernel.
#include <cuda/atomic>
__device__ cuda::atomic<int, cuda::thread_scope_system> flag;
__global__ void flat(int* p) {
  if (threadIdx.y == 0) {
    p[0] = 1;
    __syncthreads();
  }
  if (threadIdx.x < 64) {
    p[1] = 1;
    __syncthreads();
  }
  p[2] = 1;
}
__global__ void flat_bad(int* p) {
  if (threadIdx.x < 63) {
    p[1] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[2] = 1;
}
__global__ void producer(cuda::atomic<int, cuda::thread_scope_system>* f) { f->store(1); }
void launch(int* p, cuda::atomic<int, cuda::thread_scope_system>* f) {
  flat<<<4, 64>>>(p);
  flat_bad<<<4, 64>>>(p);
}
void waits_bad(cuda::atomic<int, cuda::thread_scope_system>* f) {
  producer<<<1, 1>>>(f);
  while (f->load() == 0); // expect: cuda_progress_host_spin
  cudaDeviceSynchronize();
}
void waits(cuda::atomic<int, cuda::thread_scope_system>* f) {
  producer<<<1, 1>>>(f);
  while (f->load() == 0) cudaStreamQuery(0);
  cudaDeviceSynchronize();
}
// Loops over the command line and over files end by what the calls give.
#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
int reads_options(int argc, char** argv, int* p) {
  int option = 0;
  int size = 0;
  while ((option = getopt(argc, argv, "n:h")) != -1) {
    if (option == 'n') size = optarg[0];
  }
  flat<<<4, 64>>>(p);
  return size;
}
double reads_file(const char* name, int* p) {
  std::ifstream in(name);
  std::string line;
  do std::getline(in, line);
  while (line[0] == '%');
  double value = 0;
  double sum = 0;
  while (in >> value) sum += value;
  flat<<<4, 64>>>(p);
  return sum;
}
int reads_characters(FILE* file, int* p) {
  flat<<<4, 64>>>(p);
  int lines = 0;
  while (fgetc(file) != '\n') {
  }
  while (!feof(file)) lines += fgetc(file) == '\n';
  return lines;
}
