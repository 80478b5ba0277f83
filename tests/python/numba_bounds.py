"""numba-cuda: a kernel that writes beyond its array; a finding names this file's line."""
import warnings

import numpy
from numba import cuda

warnings.simplefilter("ignore")


@cuda.jit(lineinfo=True)
def fill(x):
    i = cuda.grid(1)
    x[i + 100000] = 1.0  # beyond its end


if __name__ == "__main__":
    array = cuda.to_device(numpy.zeros(32, dtype=numpy.float32))
    fill[1, 32](array)
    cuda.synchronize()
