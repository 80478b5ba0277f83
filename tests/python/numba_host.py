"""numba-cuda, and memory that host code and devices share: numba_host.py CASE [wait]. Without the wait each is a race."""
import sys
import warnings

import numpy
from numba import cuda

warnings.simplefilter("ignore")


@cuda.jit
def fill(to):
    i = cuda.grid(1)
    if i < to.size:
        to[i] = i


def managed(stream, wait):
    data = cuda.managed_array(256, dtype=numpy.float32)
    data[:] = 1
    fill[1, 256, stream](data)
    wait()
    return data.sum()  # managed: too early


def mapped(stream, wait):
    data = cuda.mapped_array(256, dtype=numpy.float32)
    fill[1, 256, stream](data)
    wait()
    return data[3]  # mapped: too early


def pinned_result(stream, wait):
    on_device = cuda.device_array(256, dtype=numpy.float32)
    fill[1, 256, stream](on_device)
    data = cuda.pinned_array(256, dtype=numpy.float32)
    on_device.copy_to_host(data, stream=stream)
    wait()
    return data.sum()  # pinned_result: too early


def pinned_refilled(stream, wait):
    data = cuda.pinned_array(256, dtype=numpy.float32)
    on_device = cuda.device_array(256, dtype=numpy.float32)
    data[:] = 1
    on_device.copy_to_device(data, stream=stream)
    wait()
    data[:] = 2  # pinned_refilled: too early
    stream.synchronize()
    return 0


def main():
    stream = cuda.stream()
    wait = stream.synchronize if "wait" in sys.argv else lambda: None
    value = {f.__name__: f for f in (managed, mapped, pinned_result, pinned_refilled)}[sys.argv[1]](stream, wait)
    stream.synchronize()
    print("done", value if "wait" in sys.argv else "")


if __name__ == "__main__":
    main()
