"""A Triton kernel that adds up a whole block, of which only the first n elements were written.

    heddle run --uninitialised masked_lane.py          # the load has no mask
    heddle run --uninitialised masked_lane.py masked   # with one: nothing is found
"""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if MASKED:
        v = tl.load(x + i, mask=i < n, other=0.0)
    else:
        v = tl.load(x + i)
    tl.store(out, tl.sum(v, axis=0))


n = 100
x = torch.empty(128, device="cuda")
x[:n] = 1.0
out = torch.empty(1, device="cuda")
total[(1,)](x, out, n, BLOCK=128, MASKED="masked" in sys.argv)
print(out.item())
