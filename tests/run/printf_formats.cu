// Device printf with every conversion, flag, width and precision that it supports.
//@ exercises: vprintf, argument promotion, %% %c %s %d %i %u %o %x %X %ld %lld %llu %f %e %g %a %p, flags, * as width, return value (the documented subset: no z, hh or precision by argument)
#include "support.h"

__device__ const char* const names[] = {"zero", "one", "two"};

__global__ void formats() {
  printf("plain text\n");
  printf("percent %%\n");
  printf("char [%c] [%3c] [%-3c]\n", 'x', 'y', 'z');
  printf("string [%s] [%10s] [%-10s] [%.2s] [%s]\n", "text", "right", "left", "cut", names[2]);
  printf("int [%d] [%i] [%5d] [%-5d] [%05d] [%+d] [% d] [%.3d]\n", 42, -42, 42, 42, 42, 42, 42, 7);
  printf("unsigned [%u] [%o] [%x] [%X] [%#x] [%#o]\n", 4000000000u, 8u, 255u, 255u, 255u, 8u);
  printf("long [%ld] [%lu] [%lld] [%llu] [%llx]\n", -5000000000l, 5000000000ul, -1ll, ~0ull, 0xdeadbeefcafell);
  printf("short [%hd] [%hu]\n", static_cast<short>(-3), static_cast<unsigned short>(65535));
  printf("float [%f] [%.2f] [%8.3f] [%-8.1f] [%+f] [%e] [%g] [%G]\n", 3.14159f, 2.71828, 1.5, 1.5, 0.5, 12345.678,
         0.0001, 1e20);
  printf("special [%f] [%f] [%f] [%g]\n", 1.0 / 0.0, -1.0 / 0.0, -0.0, 5e-324);
  printf("hexadecimal float [%a]\n", 0.15625);
  printf("star [%*d]\n", 6, 42);
  printf("many %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  printf("mixed %c%d%s%f%lld%c\n", 'a', 1, "b", 2.5, 3ll, 'c');
  printf("bool %d size %lu\n", true, static_cast<unsigned long>(sizeof(double)));
  printf("null pointer is %s\n", static_cast<void*>(nullptr) == nullptr ? "null" : "not null");
  int count = printf("three %d %d %d\n", 1, 2, 3);
  printf("returned %d\n", count);
  count = printf("no arguments\n");
  printf("returned %d\n", count);
  printf("no newline at the end, ");
  printf("continued\n");
  printf("tab\tquote\"backslash\\\n");
  printf("");
  printf("%s", "done\n");
}

__global__ void ordered(int turns, volatile int* turn) {
  // Threads print one after the other: the order is the program's, not the machine's.
  for (int i = 0; i < turns; ++i) {
    if (*turn == threadIdx.x) {
      printf("thread %d of %d\n", threadIdx.x, blockDim.x);
      *turn = threadIdx.x + 1;
      __threadfence_block();
    }
    __syncthreads();
  }
}

template <class T> __device__ void describe(T value);
template <> __device__ void describe(int value) { printf("int %d\n", value); }
template <> __device__ void describe(float value) { printf("float %.3f\n", value); }
template <> __device__ void describe(const char* value) { printf("text %s\n", value); }

template <class... Ts> __global__ void describe_all(Ts... values) { (describe(values), ...); }

int main() {
  formats<<<1, 1>>>();
  SYNC_OK();
  std::fflush(stdout);
  Buffer<int> turn(1);
  ordered<<<1, 5>>>(5, turn);
  SYNC_OK();
  describe_all<<<1, 1>>>(3, 2.5f, -7);
  SYNC_OK();
  std::printf("host line after the kernels\n");
  for (int i = 0; i < 3; ++i) {
    describe_all<<<1, 1>>>(i);
  }
  SYNC_OK();
  std::size_t size = 0;
  CUDA_OK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
  std::printf("buffer at least 1 MB %d\n", size >= 1 << 20);
}
