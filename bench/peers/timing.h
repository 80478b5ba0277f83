// What the programs of bench/peers have in common: the inputs, the check of the results, and how the
// time is taken: processor time of the process, the best of several rounds. Each prints one line per
// kernel, "vecadd 14.25" (ms), and fails if a result is wrong.
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { vector_size = 1 << 24, reduced = 16384, matrix = 512, bodies = 4096 };

static double processor_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void fill(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = (float)(i % 1013) * 0.125F;
}

static void expect(const char* kernel, size_t at, double value, double wanted) {
  if (!(fabs(value - wanted) <= 1e-3 * fabs(wanted) + 1e-3)) {
    fprintf(stderr, "%s: [%zu] is %g instead of %g\n", kernel, at, value, wanted);
    exit(1);
  }
}

/// A few results of `kernel`, from its inputs.
static void check(const char* kernel, const float* in, const float* out) {
  for (size_t k = 0; k < 16; ++k) {
    double wanted = 0;
    size_t at = 0;
    if (kernel[0] == 'v') {
      at = k * 1048573 % vector_size;
      wanted = 2.0 * in[at];
    } else if (kernel[0] == 'r') {
      at = k * 1021 % reduced;
      for (size_t i = 0; i < 1024; ++i) wanted += in[at * 1024 + i];
    } else if (kernel[0] == 'm') {
      at = k * 16381 % (matrix * matrix);
      for (size_t i = 0; i < matrix; ++i) {
        wanted += (double)in[at / matrix * matrix + i] * in[i * matrix + at % matrix];
      }
    } else {
      const size_t body = k * 251 % bodies;
      at = body * 4;
      for (size_t j = 0; j < bodies; ++j) {
        const double dx = in[j * 4] - in[at], dy = in[j * 4 + 1] - in[at + 1], dz = in[j * 4 + 2] - in[at + 2];
        const double inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + 0.01F);
        wanted += dx * in[j * 4 + 3] * inverse * inverse * inverse;
      }
    }
    expect(kernel, at, out[at], wanted);
  }
}
