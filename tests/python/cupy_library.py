"""CuPy: functions whose kernels come with CuPy as machine code for each device, and as PTX for the newest (CUB, Thrust, cuRAND's
distributions)."""
import cupy
import numpy


def main():
    values = numpy.random.RandomState(1).randint(0, 50, 300)
    x = cupy.asarray(values)
    print(bool((cupy.sort(x).get() == numpy.sort(values)).all()), bool((values[cupy.argsort(x).get()] == numpy.sort(values)).all()))
    print(bool((cupy.cumsum(x).get() == numpy.cumsum(values)).all()), int(x.sum()) == values.sum(), int(x.argmax()) == values.argmax())
    found, counts = cupy.unique(x, return_counts=True)
    print(bool((found.get() == numpy.unique(values)).all()), int(counts.sum()))
    print(x[x > 45].get().tolist() == values[values > 45].tolist(), cupy.where(x == 7)[0].get().tolist() == numpy.where(values == 7)[0].tolist())
    print(cupy.lexsort(cupy.array([[3, 1, 2], [1, 1, 0]])).tolist(), float(cupy.median(x)) == numpy.median(values))
    cupy.random.seed(3)
    print(0.45 < float(cupy.random.rand(2000).mean()) < 0.55, sorted(cupy.random.permutation(6).tolist()),
          abs(float(cupy.random.normal(size=2000).mean())) < 0.1)


if __name__ == "__main__":
    main()
