"""Programs of a Triton kernel that take turns: each waits for the one before, or, with `next`, for the next."""
import sys

import heddle
import torch
import triton
import triton.language as tl


@triton.jit
def in_turn(turn, out, STEP: tl.constexpr):
    mine = tl.program_id(0)
    while tl.atomic_cas(turn, mine, mine) != mine:  # the wait
        pass
    tl.store(out + mine, mine)
    tl.debug_barrier()
    tl.atomic_xchg(turn, mine + STEP)


@triton.jit
def in_reverse(turn, out, STEP: tl.constexpr):
    mine = tl.num_programs(0) - 1 - tl.program_id(0)
    while tl.atomic_cas(turn, mine, mine) != mine:  # for a program that need not have begun
        pass
    tl.store(out + mine, mine)
    tl.debug_barrier()
    tl.atomic_xchg(turn, mine + STEP)


turn = torch.zeros(1, dtype=torch.int32, device="cuda")
out = torch.zeros(2, dtype=torch.int32, device="cuda")
kernel = in_reverse if "reverse" in sys.argv else in_turn
kernel.warmup(turn, out, STEP=1, grid=(2,), num_warps=1)
with heddle.search():
    kernel[(2,)](turn, out, STEP=1, num_warps=1)
print(out.tolist())
