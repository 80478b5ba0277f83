"""Managed memory, a kernel, and Python that reads: with "wait" after it has waited."""
import ctypes
import sys

PTX = b"""
.version 8.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 to, .param .u32 n) {
  .reg .u64 %a, %o; .reg .u32 %i, %n; .reg .pred %p;
  ld.param.u64 %a, [to]; ld.param.u32 %n, [n];
  mov.u32 %i, %tid.x;
L:
  setp.ge.u32 %p, %i, %n;
  @%p bra E;
  mul.wide.u32 %o, %i, 4;
  add.u64 %o, %a, %o;
  st.global.u32 [%o], %i;
  add.u32 %i, %i, 32;
  bra L;
E:
  ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")


def must(code):
    if code != 0:
        raise RuntimeError(code)


n = 4096
must(cuda.cuInit(0))
context, module, kernel, stream, at = (ctypes.c_void_p() for _ in range(5))
must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
must(cuda.cuCtxSetCurrent(context))
must(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
must(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"fill"))
must(cuda.cuStreamCreate(ctypes.byref(stream), 1))
must(cuda.cuMemAllocManaged(ctypes.byref(at), ctypes.c_size_t(4 * n), 1))
data = (ctypes.c_int * n).from_address(at.value)
total = 0
for turn in range(40):
    first, count = ctypes.c_uint64(at.value), ctypes.c_uint32(n)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(first), ctypes.addressof(count))
    must(cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, arguments, None))
    if "wait" in sys.argv:
        must(cuda.cuStreamSynchronize(stream))
    total += data[100] + data[n - 1]
    must(cuda.cuStreamSynchronize(stream))
    data[7] = turn  # the host's turn
    open("/dev/null", "wb").write(bytes(data))
print("done", total)
