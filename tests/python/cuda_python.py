"""cuda-python: NVRTC and the driver API of cuda.bindings; a program, a stream and a launch of cuda.core."""
import ctypes

from cuda.bindings import driver, nvrtc

SOURCE = rb"""
extern "C" __global__ void twice(int* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= 2;
}"""


def check(result):
    if result[0].value != 0:
        raise RuntimeError(result[0])
    return result[1] if len(result) == 2 else result[1:]


def with_bindings():
    check(driver.cuInit(0))
    device = check(driver.cuDeviceGet(0))
    context = check(driver.cuDevicePrimaryCtxRetain(device))
    check(driver.cuCtxSetCurrent(context))
    program = check(nvrtc.nvrtcCreateProgram(SOURCE, b"twice.cu", 0, [], []))
    check(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_90"]))
    image = b" " * check(nvrtc.nvrtcGetCUBINSize(program))
    check(nvrtc.nvrtcGetCUBIN(program, image))
    kernel = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(image)), b"twice"))
    values = (ctypes.c_int * 100)(*range(100))
    memory = check(driver.cuMemAlloc(ctypes.sizeof(values)))
    check(driver.cuMemcpyHtoD(memory, ctypes.addressof(values), ctypes.sizeof(values)))
    arguments = ((int(memory), 100), (ctypes.c_void_p, ctypes.c_int))
    check(driver.cuLaunchKernel(kernel, 4, 1, 1, 32, 1, 1, 0, 0, arguments, 0))
    check(driver.cuMemcpyDtoH(ctypes.addressof(values), memory, ctypes.sizeof(values)))
    print(values[:5], sum(values))


def with_core():
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device()
    device.set_current()
    stream = device.create_stream()
    program = Program(SOURCE.decode(), code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin").get_kernel("twice")
    buffer = device.allocate(400, stream=stream)
    # On the stream of the launch: a stream of cuda.core does not wait for the default stream.
    check(driver.cuMemsetD32Async(int(buffer.handle), 21, 100, int(stream.handle)))
    launch(stream, LaunchConfig(grid=4, block=32), kernel, buffer, ctypes.c_int(100))
    stream.sync()
    values = (ctypes.c_int * 100)()
    check(driver.cuMemcpyDtoH(ctypes.addressof(values), int(buffer.handle), 400))
    print(values[0], values[99], device.name != "")


if __name__ == "__main__":
    with_bindings()
    with_core()
