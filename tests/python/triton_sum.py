"""Triton: a kernel with a mask, one with a reduction and a loop, one that uses a scratch of tl.dot.

Triton itself asks PyTorch for the device; this driver asks CUDA, so that the test needs no PyTorch.
"""
import ctypes

import triton
import triton.language as tl
from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code != 0:
        raise RuntimeError(f"{name} returns {code}")


class Driver(CudaDriver):
    def __init__(self):
        context = ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        call("cuCtxSetCurrent", context)
        self.utils = CudaUtils()
        self.launcher_cls = CudaLauncher
        self.get_current_device = lambda: 0
        self.set_current_device = lambda device: None
        self.get_current_stream = lambda device: 0
        self.get_device_capability = lambda device=0: (self.attribute(75), self.attribute(76))

    @staticmethod
    def attribute(number):
        value = ctypes.c_int()
        call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
        return value.value


class Array:
    """Device memory, as far as Triton asks: a pointer and a type."""

    def __init__(self, values, dtype="fp32"):
        self.dtype = dtype
        self.host = (ctypes.c_float * len(values))(*values)
        pointer = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(ctypes.sizeof(self.host)))
        call("cuMemcpyHtoD_v2", pointer, self.host, ctypes.c_size_t(ctypes.sizeof(self.host)))
        self.pointer = pointer

    def data_ptr(self):
        return self.pointer.value

    def read(self):
        call("cuMemcpyDtoH_v2", self.host, self.pointer, ctypes.c_size_t(ctypes.sizeof(self.host)))
        return list(self.host)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def row_sum(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0))


@triton.jit
def matmul(a, b, c, N: tl.constexpr):
    row = tl.arange(0, N)[:, None]
    column = tl.arange(0, N)[None, :]
    product = tl.dot(tl.load(a + row * N + column), tl.load(b + row * N + column), input_precision="ieee")
    tl.store(c + row * N + column, product)


def main():
    triton.runtime.driver.set_active(Driver())
    n = 1000
    x, y, out = Array([float(i) for i in range(n)]), Array([2.0] * n), Array([0.0] * n)
    add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
    print(sum(out.read()))
    rows = Array([0.0] * 10)
    row_sum[(10,)](x, rows, 100, BLOCK=64)
    print(rows.read()[:3])
    side = 16
    a = Array([float(i % 7) for i in range(side * side)])
    b = Array([float(i % 5) for i in range(side * side)])
    c = Array([0.0] * (side * side))
    matmul[(1,)](a, b, c, N=side)
    expected = [sum((i * side + k) % 7 * ((k * side + j) % 5) for k in range(side))
                for i in range(side) for j in range(side)]
    print(c.read() == [float(value) for value in expected])


if __name__ == "__main__":
    main()
