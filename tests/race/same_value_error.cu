// With --same-value=error: writes of the same value are races like any other.
//@ find: same-value-error
#include "cases.h"

template <bool right> __global__ void same_value(int* flag) {
  if (right) {
    atomicExch(flag, 1);
  } else {
    *flag = 1;
  }
}
CASE(same_value, "of the same value") { same_value<right><<<2, 64>>>(device_memory<int>(1)); }
