"""CuPy: a RawKernel, a RawModule, an ElementwiseKernel, a ReductionKernel, arithmetic of arrays, events."""
import cupy
import numpy

add = cupy.RawKernel(r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}""", "add")

module = cupy.RawModule(code=r"""
template <typename T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }
""", options=("-std=c++17",), name_expressions=["scale<float>"])


def main():
    a = cupy.asarray(numpy.arange(1000, dtype=numpy.float32))
    b = cupy.full(1000, 2, dtype=cupy.float32)
    c = cupy.empty_like(a)
    add((4,), (256,), (a, b, c, numpy.int32(1000)))
    print(c[:4].tolist())
    module.get_function("scale<float>")((1,), (4,), (c, numpy.float32(3)))
    print(c[:5].tolist())
    square = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * x", "square")
    print(square(a)[:5].tolist())
    norm = cupy.ReductionKernel("float32 x", "float64 y", "x * x", "a + b", "y = sqrt(a)", "0", "length")
    print(round(float(norm(a)), 3))
    print(float((a + b).max()), float(cupy.sum(a)), int(cupy.count_nonzero(a > 500)))
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    with cupy.cuda.Stream() as stream:
        start.record()
        d = cupy.where(a < 3, a, -1)
        end.record()
        stream.synchronize()
    print(d[:5].tolist(), cupy.cuda.get_elapsed_time(start, end) >= 0)


if __name__ == "__main__":
    main()
