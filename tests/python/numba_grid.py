"""numba-cuda: a barrier of the whole grid (cuda.cg)."""
import numpy
from numba import cuda


@cuda.jit
def rounds(words, wrong):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for step in range(3):
        words[step, i] = i + step
        grid.sync()
        other = (i + 37) % words.shape[1]
        if words[step, other] != other + step:
            cuda.atomic.add(wrong, 0, 1)


def main():
    wrong = numpy.zeros(1, numpy.int32)
    rounds[3, 32](numpy.zeros((3, 96), numpy.int32), wrong)
    print(wrong.tolist())


if __name__ == "__main__":
    main()
