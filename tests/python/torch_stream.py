"""A tensor of one stream that another stream uses: freed without record_stream, or with it."""
import sys

import torch

side = torch.cuda.Stream()
x = torch.ones(1 << 16, device="cuda")
torch.cuda.synchronize()
with torch.cuda.stream(side):
    y = x * 2
if "recorded" in sys.argv:
    x.record_stream(side)
del x  # its memory may be used again by the current stream, while `side` reads it
z = torch.zeros(1 << 16, device="cuda")
torch.cuda.synchronize()
