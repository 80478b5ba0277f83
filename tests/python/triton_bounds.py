"""Triton: a kernel that has forgotten its mask; a finding names this file's line."""
import triton
import triton.language as tl

from triton_sum import Array, Driver


@triton.jit
def fill(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 1.0)  # no mask


if __name__ == "__main__":
    triton.runtime.driver.set_active(Driver())
    array = Array([0.0] * 1000)
    fill[(40,)](array, BLOCK=256)
    array.read()
