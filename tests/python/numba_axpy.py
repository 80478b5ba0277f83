"""numba-cuda: a plain kernel, shared memory with a barrier, an atomic, a reduction, device arrays."""
import warnings

import numba
import numpy
from numba import cuda

warnings.simplefilter("ignore")


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@cuda.jit
def reverse(x):
    tile = cuda.shared.array(64, numba.float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    x[i] = tile[63 - i]


@cuda.jit
def count(x, result):
    cuda.atomic.add(result, int(x[cuda.grid(1)]) % 4, 1)


@cuda.reduce
def total(a, b):
    return a + b


def main():
    x = cuda.to_device(numpy.arange(1000, dtype=numpy.float32))
    y = cuda.to_device(numpy.ones(1000, dtype=numpy.float32))
    axpy[4, 256](2.0, x, y)
    print(y.copy_to_host()[:4].tolist())
    part = cuda.to_device(numpy.arange(64, dtype=numpy.float32))
    reverse[1, 64](part)
    print(part.copy_to_host()[:3].tolist())
    counts = numpy.zeros(4, dtype=numpy.int32)
    count[10, 100](x, counts)
    print(counts.tolist())
    print(float(total(numpy.arange(100, dtype=numpy.float64))))


if __name__ == "__main__":
    main()
