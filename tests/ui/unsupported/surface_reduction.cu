// Reductions on surfaces are a gap of Heddle: present is fine, executed is exit code 3.
//@ command: run
//@ compare: no
//@ revisions: present executed
//@[present] program-args: 0
//@[present] exit: 0
//@[executed] program-args: 1
#include <cstdlib>

__global__ void add(unsigned long long surface, bool really) {
  if (really) {
    asm volatile("sured.b.1d.add.u32.clamp [%0, {%1}], %2;" ::"l"(surface), "r"(0), "r"(1)); //~[executed] ERROR unsupported instruction 'sured'
  }
}

int main(int, char** arguments) {
  add<<<1, 1>>>(1, std::atoi(arguments[1]) != 0);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 5;
}
