"""A Triton kernel whose programs race: each adds to the same place, without an atomic operation.

    heddle run --races lost_sum.py           # two programs read and write `out`
    heddle run --races lost_sum.py atomic    # tl.atomic_add: nothing is found
"""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr, ATOMIC: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0)
    if ATOMIC:
        tl.atomic_add(out, part)
    else:
        tl.store(out, tl.load(out) + part)  # the race


x = torch.ones(256, device="cuda")
out = torch.zeros(1, device="cuda")
total[(4,)](x, out, 256, BLOCK=64, ATOMIC="atomic" in sys.argv)
print(out.item())
