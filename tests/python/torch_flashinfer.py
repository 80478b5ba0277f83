"""A kernel of FlashInfer, which compiles it when it is called: on set rows, or, with `unset`, on rows that nobody has written."""
import sys

import flashinfer
import torch

x = torch.empty(4, 128, device="cuda", dtype=torch.float16)
weight = torch.ones(128, device="cuda", dtype=torch.float16)
if "unset" not in sys.argv:
    x.normal_()
y = flashinfer.norm.rmsnorm(x, weight)  # the call
print(y.shape[0])
if "unset" not in sys.argv:
    expected = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
    print(bool(torch.allclose(y.float(), expected, atol=1e-2)))
