"""Programs of a Triton kernel that take turns: in the order of their numbers, or, with `ticket`, as they come."""
import sys

import heddle
import torch
import triton
import triton.language as tl


@triton.jit
def in_turn(turn, tickets, out, TICKET: tl.constexpr):
    mine = tl.atomic_add(tickets, 1) if TICKET else tl.program_id(0)
    while tl.atomic_cas(turn, mine, mine) != mine:  # the wait
        pass
    tl.store(out + mine, mine)
    tl.debug_barrier()
    tl.atomic_xchg(turn, mine + 1)


turn, tickets, out = (torch.zeros(2, dtype=torch.int32, device="cuda") for _ in range(3))
ticket = "ticket" in sys.argv
in_turn.warmup(turn, tickets, out, TICKET=ticket, grid=(2,), num_warps=1)
with heddle.search():
    in_turn[(2,)](turn, tickets, out, TICKET=ticket, num_warps=1)
print(out.tolist())
