"""Programs of Triton kernels that wait for each other, as split-K products, look-back scans and semaphores do.

    triton_waits.py split [first]     # partial sums behind a lock; first: the one with number 0 must begin
    triton_waits.py scan [ticket]     # each waits for the one before it; ticket: numbers are drawn as they come
"""
import sys

import heddle
import torch
import triton
import triton.language as tl


@triton.jit
def split(x, out, lock, FIRST: tl.constexpr):
    """Each adds its part; the lock is taken by whom it finds free, or (FIRST) in the order of numbers."""
    part = tl.program_id(0)
    i = tl.arange(0, 32)
    value = tl.load(x + part * 32 + i)
    wanted = part if FIRST else 0
    while tl.atomic_cas(lock, wanted, -1) != wanted:  # the lock
        pass
    tl.store(out + i, tl.load(out + i) + value)
    tl.debug_barrier()
    tl.atomic_xchg(lock, part + 1 if FIRST else 0)


@triton.jit
def scan(x, out, flags, tickets, TICKET: tl.constexpr):
    """A scan in one pass: the sum of those before comes from the one before."""
    part = tl.atomic_add(tickets, 1) if TICKET else tl.program_id(0)
    before = 0
    if part > 0:
        while tl.atomic_add(flags + part - 1, 0) == 0:  # the look back
            pass
        before = tl.load(out + part - 1)
    tl.store(out + part, before + tl.load(x + part))
    tl.debug_barrier()
    tl.atomic_xchg(flags + part, 1)


x = torch.arange(64, dtype=torch.int32, device="cuda")
out = torch.zeros(32, dtype=torch.int32, device="cuda")
flags, tickets = (torch.zeros(2, dtype=torch.int32, device="cuda") for _ in range(2))
if sys.argv[1] == "split":
    kernel, arguments = split, (x, out, flags, "first" in sys.argv)
else:
    kernel, arguments = scan, (x, out, flags, tickets, "ticket" in sys.argv)
kernel.warmup(*arguments, grid=(2,), num_warps=1)
with heddle.search():
    kernel[(2,)](*arguments, num_warps=1)
print(out.tolist()[:2])
