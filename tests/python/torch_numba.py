"""numba-cuda on PyTorch's tensors: neighbours in a block exchange values through shared memory.

With "early" a thread reads its neighbour's value before the barrier.
"""
import sys
import warnings

import torch
from numba import cuda, float32

warnings.simplefilter("ignore")


@cuda.jit(lineinfo=True)
def rotate(x, y, early):
    tile = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    if not early:
        cuda.syncthreads()
    y[i] = tile[(i + 1) % 128]  # the read


x = torch.arange(128, dtype=torch.float32, device="cuda")
y = torch.empty_like(x)
rotate[1, 128](cuda.as_cuda_array(x), cuda.as_cuda_array(y), "early" in sys.argv)
print((y - x).sum().item())
