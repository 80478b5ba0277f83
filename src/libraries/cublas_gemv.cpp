// cuBLAS: a matrix times a vector, one or many at once. gemv, gemvStridedBatched and gemvBatched;
// with f16 and bf16 the batched ones, as cuBLAS has them.
//
// Sums are added up in the order of the elements. May be wrong: last digits differ from hardware's.
// Misses: the matrices and vectors of gemvBatched, whose places lie in device memory, are unknown
// to the monitor of data races.
#include "libraries/cublas.h"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

using namespace heddle::libraries;
using heddle::runtime::LibraryAccess;

namespace {

using F = float;
using D = double;
using C = std::complex<float>;
using Z = std::complex<double>;
using H = Half;
using T = Bfloat16;

struct Shape {
  Op op;
  std::int64_t m, n, lda, incx, incy;
  std::int64_t x_count() const { return op == Op::None ? n : m; }
  std::int64_t y_count() const { return op == Op::None ? m : n; }
  bool valid() const {
    return m >= 0 && n >= 0 && lda >= std::max<std::int64_t>(1, m) && incx != 0 && incy != 0;
  }
};

/// What is wrong with the arguments, or whether there is nothing to do; nothing if there is.
std::optional<int> early_answer(
    const Handle* h,
    const Shape& g,
    const void* alpha,
    const void* beta,
    std::int64_t count
) {
  if (h == nullptr) {
    return NotInitialized;
  }
  if (!g.valid() || count < 0 || alpha == nullptr || beta == nullptr) {
    return InvalidValue;
  }
  if (g.m == 0 || g.n == 0 || count == 0) {
    return Success;
  }
  return std::nullopt;
}

/// Matrix and x have elements A, y has elements R.
template <class A, class R>
void multiply_vector(
    const Shape& g,
    Computed<R> alpha,
    Computed<R> beta,
    const std::byte* a,
    std::byte* x,
    std::byte* y
) {
  using W = Computed<A>;
  const Elements<A> xs(x, g.x_count(), g.incx);
  const Elements<R> ys(y, g.y_count(), g.incy);
  std::vector<W> sums(static_cast<std::size_t>(g.y_count()));
  for (std::int64_t j = 0; j < g.n; ++j) {
    for (std::int64_t i = 0; i < g.m; ++i) {
      const W value = load<A>(a + static_cast<std::size_t>(i + j * g.lda) * sizeof(A));
      if (g.op == Op::None) {
        sums[static_cast<std::size_t>(i)] += value * xs.get(j);
      } else {
        sums[static_cast<std::size_t>(j)] +=
            (g.op == Op::Adjoint ? conjugate(value) : value) * xs.get(i);
      }
    }
  }
  using V = Computed<R>;
  for (std::int64_t i = 0; i < g.y_count(); ++i) {
    ys.set(i, alpha * sums[static_cast<std::size_t>(i)] + (beta == V{} ? V{} : beta * ys.get(i)));
  }
}

/// S is the type of alpha and beta.
template <class A, class R, class S>
int gemv(
    const Handle* h,
    const char* call,
    const Shape& g,
    const S* alpha,
    const A* a,
    std::int64_t sa,
    const A* x,
    std::int64_t sx,
    const S* beta,
    R* y,
    std::int64_t sy,
    std::int64_t count
) {
  if (const auto answer = early_answer(h, g, alpha, beta, count)) {
    return *answer;
  }
  Work work(h, call);
  const auto factor = work.scalar<S>("alpha", alpha);
  const auto old = work.scalar<S>("beta", beta);
  int first = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    const int at = work.matrix("A", a + i * sa, g.m, g.n, g.lda, sizeof(A), LibraryAccess::Read);
    first = i == 0 ? at : first;
    work.vector("x", x + i * sx, g.x_count(), g.incx, sizeof(A), LibraryAccess::Read);
    work.vector("y", y + i * sy, g.y_count(), g.incy, sizeof(R), LibraryAccess::ReadWrite);
  }
  return work.submit([=](std::byte* const* at) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::byte* const* const three = at + first + 3 * i;
      multiply_vector<A, R>(g, factor(at), old(at), three[0], three[1], three[2]);
    }
  });
}

/// As gemv; where matrices and vectors lie stands in device memory.
template <class A, class R, class S>
int gemv_batched(
    const Handle* h,
    const char* call,
    const Shape& g,
    const S* alpha,
    const A* const* a,
    const A* const* x,
    const S* beta,
    R* const* y,
    std::int64_t count
) {
  if (const auto answer = early_answer(h, g, alpha, beta, count)) {
    return *answer;
  }
  Work work(h, call);
  const auto factor = work.scalar<S>("alpha", alpha);
  const auto old = work.scalar<S>("beta", beta);
  const auto array = [&](const char* name, const void* at) {
    return work.vector(name, at, count, 1, sizeof(void*), LibraryAccess::Read);
  };
  const int a_at = array("Aarray", static_cast<const void*>(a));
  const int x_at = array("xarray", static_cast<const void*>(x));
  const int y_at = array("yarray", static_cast<const void*>(y));
  return work.submit([=](std::byte* const* at) {
    const auto reach = [&](int which, std::int64_t i, std::int64_t elements, std::size_t bytes) {
      const void* place = nullptr;
      std::memcpy(&place, at[which] + i * static_cast<std::int64_t>(sizeof place), sizeof place);
      return static_cast<std::byte*>(
          cudart().reach(call, place, static_cast<std::uint64_t>(elements) * bytes)
      );
    };
    const auto extent = [](std::int64_t elements, std::int64_t step) {
      return (elements - 1) * std::abs(step) + 1;
    };
    for (std::int64_t i = 0; i < count; ++i) {
      const std::byte* const ai = reach(a_at, i, (g.n - 1) * g.lda + g.m, sizeof(A));
      std::byte* const xi = reach(x_at, i, extent(g.x_count(), g.incx), sizeof(A));
      std::byte* const yi = reach(y_at, i, extent(g.y_count(), g.incy), sizeof(R));
      if (ai == nullptr || xi == nullptr || yi == nullptr) {
        return;
      }
      multiply_vector<A, R>(g, factor(at), old(at), ai, xi, yi);
    }
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
#define HEDDLE_BOTH(macro, ...) macro(__VA_ARGS__, int, ) macro(__VA_ARGS__, std::int64_t, _64)

#define HEDDLE_GEMV(p, E, I, s)                                                                     \
  int cublas##p##gemv_v2##s(Handle* h, Op t, I m, I n, const E* al, const E* a, I lda, const E* x, I ix, \
      const E* be, E* y, I iy) {                                                                    \
    return gemv<E, E, E>(h, "cublas" #p "gemv", {t, m, n, lda, ix, iy}, al, a, 0, x, 0, be, y, 0, 1); }
HEDDLE_BOTH(HEDDLE_GEMV, S, F) HEDDLE_BOTH(HEDDLE_GEMV, D, D)
HEDDLE_BOTH(HEDDLE_GEMV, C, C) HEDDLE_BOTH(HEDDLE_GEMV, Z, Z)

#define HEDDLE_GEMVS(p, A, R, S, I, s)                                                              \
  int cublas##p##gemvStridedBatched##s(Handle* h, Op t, I m, I n, const S* al, const A* a, I lda,      \
      long long sa, const A* x, I ix, long long sx, const S* be, R* y, I iy, long long sy, I count) {  \
    return gemv<A, R, S>(h, "cublas" #p "gemvStridedBatched", {t, m, n, lda, ix, iy}, al, a, sa, x, sx, be, y, sy, count); } \
  int cublas##p##gemvBatched##s(Handle* h, Op t, I m, I n, const S* al, const A* const* a, I lda,      \
      const A* const* x, I ix, const S* be, R* const* y, I iy, I count) {                              \
    return gemv_batched<A, R, S>(h, "cublas" #p "gemvBatched", {t, m, n, lda, ix, iy}, al, a, x, be, y, count); }
HEDDLE_BOTH(HEDDLE_GEMVS, S, F, F, F) HEDDLE_BOTH(HEDDLE_GEMVS, D, D, D, D)
HEDDLE_BOTH(HEDDLE_GEMVS, C, C, C, C) HEDDLE_BOTH(HEDDLE_GEMVS, Z, Z, Z, Z)
HEDDLE_BOTH(HEDDLE_GEMVS, HSH, H, H, F) HEDDLE_BOTH(HEDDLE_GEMVS, HSS, H, F, F)
HEDDLE_BOTH(HEDDLE_GEMVS, TST, T, T, F) HEDDLE_BOTH(HEDDLE_GEMVS, TSS, T, F, F)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
