"""numba-cuda: a block that waits for another one, which need not have started (heddle check)."""
import warnings

import numpy
from numba import cuda

warnings.simplefilter("ignore")


@cuda.jit(lineinfo=True)
def chain(done):
    block = cuda.blockIdx.x
    if block > 0:
        while cuda.atomic.add(done, block - 1, 0) == 0:  # the block before this one
            pass
    cuda.atomic.add(done, block, 1)


if __name__ == "__main__":
    array = cuda.to_device(numpy.zeros(2, dtype=numpy.int32))
    chain[2, 1](array)
    cuda.synchronize()
