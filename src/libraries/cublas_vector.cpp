// cuBLAS: vectors. axpy, scal, dot, nrm2, asum, copy, swap, amax and amin; of f16 and bf16 through
// the calls that end in Ex.
//
// Sums are added up in the order of the elements, norms and sums of f32 in f64, so they are at
// least as exact as hardware's, and last digits differ.
#include "libraries/cublas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

using namespace heddle::libraries;
using heddle::runtime::LibraryAccess;

namespace {

using F = float;
using D = double;
using C = std::complex<float>;
using Z = std::complex<double>;

template <class T> struct RealOf {
  using Type = T;
};
template <class T> struct RealOf<std::complex<T>> {
  using Type = T;
};
template <class T> using Real = typename RealOf<T>::Type;

/// In what sums are added up.
template <class T> struct WideOf {
  using Type = double;
};
template <class T> struct WideOf<std::complex<T>> {
  using Type = std::complex<double>;
};
template <class T> using Wide = typename WideOf<T>::Type;

template <class T, class S>
int axpy(
    const Handle* h,
    const char* call,
    std::int64_t n,
    const void* alpha,
    const void* x,
    std::int64_t incx,
    void* y,
    std::int64_t incy
) {
  if (h == nullptr) {
    return NotInitialized;
  }
  if (alpha == nullptr) {
    return InvalidValue;
  }
  if (n <= 0) {
    return Success;
  }
  Work work(h, call);
  const auto factor = work.scalar<S>("alpha", alpha);
  const int xa = work.vector("x", x, n, incx, sizeof(T), LibraryAccess::Read);
  const int ya = work.vector("y", y, n, incy, sizeof(T), LibraryAccess::ReadWrite);
  return work.submit([=](std::byte* const* at) {
    const Elements<T> xs(at[xa], n, incx);
    const Elements<T> ys(at[ya], n, incy);
    const auto a = static_cast<Computed<T>>(factor(at));
    for (std::int64_t i = 0; i < n; ++i) {
      ys.set(i, a * xs.get(i) + ys.get(i));
    }
  });
}

template <class T, class S>
int scal(
    const Handle* h,
    const char* call,
    std::int64_t n,
    const void* alpha,
    void* x,
    std::int64_t incx
) {
  if (h == nullptr) {
    return NotInitialized;
  }
  if (alpha == nullptr) {
    return InvalidValue;
  }
  if (n <= 0 || incx <= 0) {
    return Success;
  }
  Work work(h, call);
  const auto factor = work.scalar<S>("alpha", alpha);
  const int xa = work.vector("x", x, n, incx, sizeof(T), LibraryAccess::ReadWrite);
  return work.submit([=](std::byte* const* at) {
    const Elements<T> xs(at[xa], n, incx);
    const auto a = factor(at);
    for (std::int64_t i = 0; i < n; ++i) {
      xs.set(i, a * xs.get(i));
    }
  });
}

/// A sum over one or two vectors that becomes one value of R: `step(sum, i)`, `end(sum)`.
template <class T, class R, class Sum, class Step, class End>
int reduce(
    const Handle* h,
    const char* call,
    std::int64_t n,
    const void* x,
    std::int64_t incx,
    const void* y,
    std::int64_t incy,
    void* result,
    Sum,
    Step step,
    End end
) {
  if (h == nullptr) {
    return NotInitialized;
  }
  if (result == nullptr) {
    return InvalidValue;
  }
  Work work(h, call);
  const std::int64_t count = std::max<std::int64_t>(n, 0);
  const int xa = work.vector("x", x, count, incx, sizeof(T), LibraryAccess::Read);
  const int ya =
      y != nullptr ? work.vector("y", y, count, incy, sizeof(T), LibraryAccess::Read) : xa;
  const int ra = work.result("result", result, sizeof(R));
  return work.submit([=](std::byte* const* at) {
    Sum sum{};
    const Elements<T> xs(at[xa], count, incx);
    const Elements<T> ys(at[ya], count, y != nullptr ? incy : incx);
    for (std::int64_t i = 0; i < count; ++i) {
      step(sum, xs.get(i), ys.get(i), i);
    }
    store<R>(at[ra], end(sum));
  });
}

template <class T, class R, bool conjugated>
int dot(
    const Handle* h,
    const char* call,
    std::int64_t n,
    const void* x,
    std::int64_t incx,
    const void* y,
    std::int64_t incy,
    void* result
) {
  using W = Wide<Computed<T>>;
  return reduce<T, R>(
      h,
      call,
      n,
      x,
      incx,
      y == nullptr ? x : y,
      incy,
      result,
      W{},
      [](W& sum, auto a, auto b, std::int64_t) {
        sum += static_cast<W>(conjugated ? conjugate(a) : a) * static_cast<W>(b);
      },
      [](const W& sum) { return static_cast<Computed<R>>(sum); }
  );
}

/// By the largest absolute value, so that squares neither overflow nor vanish.
template <class T, class R>
int nrm2(
    const Handle* h,
    const char* call,
    std::int64_t n,
    const void* x,
    std::int64_t incx,
    void* result
) {
  struct Norm {
    double scale = 0, sum = 1;
    void add(double value) {
      value = std::fabs(value);
      if (value > scale) {
        sum = 1 + sum * (scale / value) * (scale / value);
        scale = value;
      } else if (value != 0) {
        sum += (value / scale) * (value / scale);
      }
    }
  };
  return reduce<T, R>(
      h,
      call,
      incx > 0 ? n : 0,
      x,
      incx,
      nullptr,
      0,
      result,
      Norm{},
      [](Norm& norm, auto a, auto, std::int64_t) {
        const Z value(a);
        if (std::isnan(value.real()) || std::isnan(value.imag())) {
          norm.scale = std::numeric_limits<double>::quiet_NaN();
          return;
        }
        norm.add(value.real());
        norm.add(value.imag());
      },
      [](const Norm& norm) { return static_cast<Computed<R>>(norm.scale * std::sqrt(norm.sum)); }
  );
}

template <class T> double size_of(T value) {
  const Z z(value);
  return std::fabs(z.real()) + std::fabs(z.imag());
}

template <class T>
int asum(
    const Handle* h,
    const char* call,
    std::int64_t n,
    const void* x,
    std::int64_t incx,
    void* result
) {
  using R = Real<T>;
  return reduce<T, R>(
      h,
      call,
      incx > 0 ? n : 0,
      x,
      incx,
      nullptr,
      0,
      result,
      0.0,
      [](double& sum, auto a, auto, std::int64_t) { sum += size_of(a); },
      [](double sum) { return static_cast<R>(sum); }
  );
}

/// The position, from 1, of the first largest or smallest.
template <class T, class Index, bool largest>
int extreme(
    const Handle* h,
    const char* call,
    std::int64_t n,
    const void* x,
    std::int64_t incx,
    void* result
) {
  struct Best {
    double size = 0;
    std::int64_t at = 0;
  };
  return reduce<T, Index>(
      h,
      call,
      incx > 0 ? n : 0,
      x,
      incx,
      nullptr,
      0,
      result,
      Best{},
      [](Best& best, auto a, auto, std::int64_t i) {
        const double size = size_of(a);
        if (best.at == 0 || (largest ? size > best.size : size < best.size)) {
          best = {size, i + 1};
        }
      },
      [](const Best& best) { return static_cast<Index>(best.at); }
  );
}

template <class T>
int move(
    const Handle* h,
    const char* call,
    std::int64_t n,
    void* x,
    std::int64_t incx,
    void* y,
    std::int64_t incy,
    bool both
) {
  if (h == nullptr) {
    return NotInitialized;
  }
  if (n <= 0) {
    return Success;
  }
  Work work(h, call);
  const int xa = work.vector(
      "x",
      x,
      n,
      incx,
      sizeof(T),
      both ? LibraryAccess::ReadWrite : LibraryAccess::Read
  );
  const int ya = work.vector(
      "y",
      y,
      n,
      incy,
      sizeof(T),
      both ? LibraryAccess::ReadWrite : LibraryAccess::Write
  );
  return work.submit([=](std::byte* const* at) {
    const Elements<T> xs(at[xa], n, incx);
    const Elements<T> ys(at[ya], n, incy);
    for (std::int64_t i = 0; i < n; ++i) {
      const T value = xs.get(i);
      if (both) {
        xs.set(i, ys.get(i));
      }
      ys.set(i, value);
    }
  });
}

enum Type : int {
  F32 = 0,
  F64 = 1,
  F16 = 2,
  C32 = 4,
  C64 = 5,
  BF16 = 14
}; // cudaDataType

/// Calls `with` with a value of the type, if all vectors have it; a scalar of f32 goes with f16,
/// too.
template <class With>
int with_type(const char* call, int vectors, int other, int scalar, With with) {
  if (vectors == other &&
      (scalar == vectors || (scalar == F32 && (vectors == F16 || vectors == BF16)))) {
    switch (vectors) {
    case F16:
      return scalar == F32 ? with(Half{}, F{}) : with(Half{}, Half{});
    case BF16:
      return scalar == F32 ? with(Bfloat16{}, F{}) : with(Bfloat16{}, Bfloat16{});
    case F32:
      return with(F{}, F{});
    case F64:
      return with(D{}, D{});
    case C32:
      return with(C{}, C{});
    case C64:
      return with(Z{}, Z{});
    default:
      break;
    }
  }
  cudart().unsupported((std::string(call) + " with these types").c_str());
  return NotSupported;
}

/// The same for norms: a result of f32 for complex vectors of f32.
template <class With> int with_real_type(const char* call, int vectors, int result, With with) {
  if (vectors == C32 && result == F32) {
    return with(C{}, F{});
  }
  if (vectors == C64 && result == F64) {
    return with(Z{}, D{});
  }
  if (vectors != C32 && vectors != C64) {
    return with_type(call, vectors, vectors, result, [&](auto t, auto r) {
      if constexpr (std::is_same_v<Real<decltype(t)>, decltype(t)>) {
        return with(t, r);
      } else {
        return static_cast<int>(NotSupported);
      }
    });
  }
  cudart().unsupported((std::string(call) + " with these types").c_str());
  return NotSupported;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
#define HEDDLE_BOTH(macro, ...) macro(__VA_ARGS__, int, ) macro(__VA_ARGS__, std::int64_t, _64)

#define HEDDLE_AXPY(p, T, I, s)                                                                     \
  int cublas##p##axpy_v2##s(Handle* h, I n, const T* a, const T* x, I ix, T* y, I iy) {               \
    return axpy<T, T>(h, "cublas" #p "axpy", n, a, x, ix, y, iy); }                                 \
  int cublas##p##copy_v2##s(Handle* h, I n, T* x, I ix, T* y, I iy) {                                 \
    return move<T>(h, "cublas" #p "copy", n, x, ix, y, iy, false); }                                \
  int cublas##p##swap_v2##s(Handle* h, I n, T* x, I ix, T* y, I iy) {                                 \
    return move<T>(h, "cublas" #p "swap", n, x, ix, y, iy, true); }
HEDDLE_BOTH(HEDDLE_AXPY, S, F) HEDDLE_BOTH(HEDDLE_AXPY, D, D)
HEDDLE_BOTH(HEDDLE_AXPY, C, C) HEDDLE_BOTH(HEDDLE_AXPY, Z, Z)

#define HEDDLE_SCAL(p, T, A, I, s)                                                                  \
  int cublas##p##scal_v2##s(Handle* h, I n, const A* a, T* x, I ix) {                                 \
    return scal<T, A>(h, "cublas" #p "scal", n, a, x, ix); }
HEDDLE_BOTH(HEDDLE_SCAL, S, F, F) HEDDLE_BOTH(HEDDLE_SCAL, D, D, D)
HEDDLE_BOTH(HEDDLE_SCAL, C, C, C) HEDDLE_BOTH(HEDDLE_SCAL, Z, Z, Z)
HEDDLE_BOTH(HEDDLE_SCAL, Cs, C, F) HEDDLE_BOTH(HEDDLE_SCAL, Zd, Z, D)

#define HEDDLE_DOT(p, T, conj, I, s)                                                                \
  int cublas##p##_v2##s(Handle* h, I n, const T* x, I ix, const T* y, I iy, T* r) {                   \
    return dot<T, T, conj>(h, "cublas" #p, n, x, ix, y, iy, r); }
HEDDLE_BOTH(HEDDLE_DOT, Sdot, F, false) HEDDLE_BOTH(HEDDLE_DOT, Ddot, D, false)
HEDDLE_BOTH(HEDDLE_DOT, Cdotu, C, false) HEDDLE_BOTH(HEDDLE_DOT, Zdotu, Z, false)
HEDDLE_BOTH(HEDDLE_DOT, Cdotc, C, true) HEDDLE_BOTH(HEDDLE_DOT, Zdotc, Z, true)

#define HEDDLE_NORM(nrm, sum, p, T, R, I, s)                                                        \
  int cublas##nrm##_v2##s(Handle* h, I n, const T* x, I ix, R* r) {                                   \
    return nrm2<T, R>(h, "cublas" #nrm, n, x, ix, r); }                                             \
  int cublas##sum##_v2##s(Handle* h, I n, const T* x, I ix, R* r) {                                   \
    return asum<T>(h, "cublas" #sum, n, x, ix, r); }                                                \
  int cublasI##p##amax_v2##s(Handle* h, I n, const T* x, I ix, I* r) {                                \
    return extreme<T, I, true>(h, "cublasI" #p "amax", n, x, ix, r); }                              \
  int cublasI##p##amin_v2##s(Handle* h, I n, const T* x, I ix, I* r) {                                \
    return extreme<T, I, false>(h, "cublasI" #p "amin", n, x, ix, r); }
HEDDLE_BOTH(HEDDLE_NORM, Snrm2, Sasum, s, F, F) HEDDLE_BOTH(HEDDLE_NORM, Dnrm2, Dasum, d, D, D)
HEDDLE_BOTH(HEDDLE_NORM, Scnrm2, Scasum, c, C, F) HEDDLE_BOTH(HEDDLE_NORM, Dznrm2, Dzasum, z, Z, D)

#define HEDDLE_EX(unused, I, s)                                                                     \
  int cublasAxpyEx##s(Handle* h, I n, const void* a, int at, const void* x, int xt, I ix, void* y, int yt, I iy, int) { \
    return with_type("cublasAxpyEx", xt, yt, at, [&](auto t, auto c) {                                \
      return axpy<decltype(t), decltype(c)>(h, "cublasAxpyEx", n, a, x, ix, y, iy); }); }           \
  int cublasScalEx##s(Handle* h, I n, const void* a, int at, void* x, int xt, I ix, int) {            \
    return with_type("cublasScalEx", xt, xt, at, [&](auto t, auto c) {                                \
      return scal<decltype(t), decltype(c)>(h, "cublasScalEx", n, a, x, ix); }); }                  \
  int cublasDotEx##s(Handle* h, I n, const void* x, int xt, I ix, const void* y, int yt, I iy, void* r, int rt, int) { \
    return with_type("cublasDotEx", xt, yt, rt, [&](auto t, auto c) {                                 \
      return dot<decltype(t), decltype(c), false>(h, "cublasDotEx", n, x, ix, y, iy, r); }); }      \
  int cublasDotcEx##s(Handle* h, I n, const void* x, int xt, I ix, const void* y, int yt, I iy, void* r, int rt, int) { \
    return with_type("cublasDotcEx", xt, yt, rt, [&](auto t, auto c) {                                \
      return dot<decltype(t), decltype(c), true>(h, "cublasDotcEx", n, x, ix, y, iy, r); }); }      \
  int cublasNrm2Ex##s(Handle* h, I n, const void* x, int xt, I ix, void* r, int rt, int) {            \
    return with_real_type("cublasNrm2Ex", xt, rt, [&](auto t, auto c) {                               \
      return nrm2<decltype(t), decltype(c)>(h, "cublasNrm2Ex", n, x, ix, r); }); }
HEDDLE_BOTH(HEDDLE_EX, 0)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
