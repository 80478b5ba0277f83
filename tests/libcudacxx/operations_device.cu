// Every operation of cuda::atomic and cuda::atomic_ref in thread_scope_device, with every order, for every type.
//@ exercises: the matrix of operations.h on host threads, device threads, and both at once
//@ flags: -gencode arch=compute_90,code=compute_90 -Xcicc -O1
#include "matrix.h"

int main() {
  return check_scope<cuda::thread_scope_device>();
}
