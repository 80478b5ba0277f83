"""A kernel that tilelang compiles when it is called, on tensors: each block adds to one sum, atomically or ("plain") not."""
import sys

import tilelang
import tilelang.language as T
import torch


@tilelang.jit
def total(n, plain):
    @T.prim_func
    def main(x: T.Tensor((n,), "float32"), out: T.Tensor((1,), "float32")):
        with T.Kernel(n, threads=32) as block:
            if T.get_thread_binding() == 0:
                if plain:
                    out[0] = out[0] + x[block]  # the race
                else:
                    T.atomic_add(out[0], x[block])

    return main


x = torch.arange(4, dtype=torch.float32, device="cuda")
out = torch.zeros(1, device="cuda")
total(4, "plain" in sys.argv)(x, out)
print(out.item())
