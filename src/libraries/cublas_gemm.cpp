// cuBLAS: products of matrices. gemm for f16, f32, f64 and complex numbers, batched and strided,
// and cublasGemmEx with the combinations of types below.
//
// May be wrong: the algorithm and the math mode are not looked at, so TF32 and other fast modes
// have the full precision of f32 (hardware's results differ more from these than from each other).
#include "libraries/cublas.h"
#include "libraries/gemm.h"

#include <algorithm>
#include <string>

using namespace heddle::libraries;
using heddle::runtime::LibraryAccess;

namespace {

struct Shape {
  Op a_op, b_op;
  std::int64_t m, n, k, lda, ldb, ldc;

  std::int64_t a_rows() const { return a_op == Op::None ? m : k; }
  std::int64_t a_columns() const { return a_op == Op::None ? k : m; }
  std::int64_t b_rows() const { return b_op == Op::None ? k : n; }
  std::int64_t b_columns() const { return b_op == Op::None ? n : k; }
  bool valid() const {
    const auto known = [](Op op) { return op >= Op::None && op <= Op::Adjoint; };
    return known(a_op) && known(b_op) && m >= 0 && n >= 0 && k >= 0 &&
           lda >= std::max<std::int64_t>(1, a_rows()) &&
           ldb >= std::max<std::int64_t>(1, b_rows()) && ldc >= std::max<std::int64_t>(1, m);
  }
};

/// Matrices one behind another.
struct Batch {
  std::int64_t count = 1, a = 0, b = 0, c = 0; // in elements
};

template <class T>
std::vector<Computed<T>>
unpack(const std::byte* from, std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  std::vector<Computed<T>> result(static_cast<std::size_t>(rows * columns));
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      result[static_cast<std::size_t>(i + j * rows)] =
          load<T>(from + static_cast<std::size_t>(i + j * leading) * sizeof(T));
    }
  }
  return result;
}

/// One product; `W` is the type in which it is computed.
template <class A, class C, class W>
void multiply_elements(
    const Shape& g,
    W alpha,
    W beta,
    const std::byte* a,
    const std::byte* b,
    std::byte* c
) {
  if constexpr (std::is_same_v<A, W> && std::is_same_v<C, W>) {
    const auto* const at = reinterpret_cast<const W*>(a);
    const auto* const bt = reinterpret_cast<const W*>(b);
    multiply(
        Product<W>{
            g.a_op,
            g.b_op,
            g.m,
            g.n,
            g.k,
            alpha,
            beta,
            at,
            g.lda,
            bt,
            g.ldb,
            reinterpret_cast<W*>(c),
            g.ldc
        }
    );
  } else {
    const auto av = unpack<A>(a, g.a_rows(), g.a_columns(), g.lda);
    const auto bv = unpack<A>(b, g.b_rows(), g.b_columns(), g.ldb);
    std::vector<W> cv(static_cast<std::size_t>(g.m * g.n));
    if (beta != W{}) {
      cv = unpack<C>(c, g.m, g.n, g.ldc);
    }
    multiply(
        Product<W>{
            g.a_op,
            g.b_op,
            g.m,
            g.n,
            g.k,
            alpha,
            beta,
            av.data(),
            std::max<std::int64_t>(1, g.a_rows()),
            bv.data(),
            std::max<std::int64_t>(1, g.b_rows()),
            cv.data(),
            g.m
        }
    );
    for (std::int64_t j = 0; j < g.n; ++j) {
      for (std::int64_t i = 0; i < g.m; ++i) {
        store<C>(
            c + static_cast<std::size_t>(i + j * g.ldc) * sizeof(C),
            cv[static_cast<std::size_t>(i + j * g.m)]
        );
      }
    }
  }
}

/// A and B of A, C of C, alpha and beta of S.
template <class A, class C, class S>
int gemm(
    const Handle* handle,
    const char* call,
    const Shape& g,
    const void* alpha,
    const void* a,
    const void* b,
    const void* beta,
    void* c,
    const Batch& batch
) {
  using W = Computed<A>;
  if (handle == nullptr) {
    return NotInitialized;
  }
  if (!g.valid() || batch.count < 0 || alpha == nullptr || beta == nullptr) {
    return InvalidValue;
  }
  if (g.m == 0 || g.n == 0 || batch.count == 0) {
    return Success;
  }
  Work work(handle, call);
  const auto factor = work.scalar<S>("alpha", alpha);
  const auto old = work.scalar<S>("beta", beta);
  int first = -1;
  for (std::int64_t i = 0; i < batch.count; ++i) {
    const int at = work.matrix(
        "A",
        static_cast<const A*>(a) + i * batch.a,
        g.a_rows(),
        g.a_columns(),
        g.lda,
        sizeof(A),
        LibraryAccess::Read
    );
    first = i == 0 ? at : first;
    work.matrix(
        "B",
        static_cast<const A*>(b) + i * batch.b,
        g.b_rows(),
        g.b_columns(),
        g.ldb,
        sizeof(A),
        LibraryAccess::Read
    );
    work.matrix(
        "C",
        static_cast<C*>(c) + i * batch.c,
        g.m,
        g.n,
        g.ldc,
        sizeof(C),
        LibraryAccess::ReadWrite
    );
  }
  return work.submit([=](std::byte* const* at) {
    for (std::int64_t i = 0; i < batch.count; ++i) {
      std::byte* const* const three = at + first + 3 * i;
      multiply_elements<A, C, W>(
          g,
          static_cast<W>(factor(at)),
          static_cast<W>(old(at)),
          three[0],
          three[1],
          three[2]
      );
    }
  });
}

/// Matrices at addresses that lie in device memory and are read when the work begins.
template <class A, class C, class S>
int gemm_batched(
    const Handle* handle,
    const char* call,
    const Shape& g,
    const void* alpha,
    const void* a,
    const void* b,
    const void* beta,
    void* c,
    std::int64_t count
) {
  using W = Computed<A>;
  if (handle == nullptr) {
    return NotInitialized;
  }
  if (!g.valid() || count < 0 || alpha == nullptr || beta == nullptr) {
    return InvalidValue;
  }
  if (g.m == 0 || g.n == 0 || count == 0) {
    return Success;
  }
  Work work(handle, call);
  const auto factor = work.scalar<S>("alpha", alpha);
  const auto old = work.scalar<S>("beta", beta);
  const auto array = [&](const char* name, const void* at) {
    return work.vector(name, at, count, 1, sizeof(void*), LibraryAccess::Read);
  };
  const int a_at = array("Aarray", a);
  const int b_at = array("Barray", b);
  const int c_at = array("Carray", c);
  return work.submit([=](std::byte* const* at) {
    const auto reach = [&](int which,
                           std::int64_t i,
                           std::int64_t rows,
                           std::int64_t columns,
                           std::int64_t leading,
                           std::size_t bytes) {
      const std::int64_t elements = rows == 0 || columns == 0 ? 0 : (columns - 1) * leading + rows;
      const void* matrix = nullptr;
      std::memcpy(&matrix, at[which] + i * static_cast<std::int64_t>(sizeof matrix), sizeof matrix);
      return static_cast<std::byte*>(
          cudart().reach(call, matrix, static_cast<std::uint64_t>(elements) * bytes)
      );
    };
    for (std::int64_t i = 0; i < count; ++i) {
      const std::byte* const ai = reach(a_at, i, g.a_rows(), g.a_columns(), g.lda, sizeof(A));
      const std::byte* const bi = reach(b_at, i, g.b_rows(), g.b_columns(), g.ldb, sizeof(A));
      std::byte* const ci = reach(c_at, i, g.m, g.n, g.ldc, sizeof(C));
      if (ai == nullptr || bi == nullptr || ci == nullptr) {
        return;
      }
      multiply_elements<A, C, W>(
          g,
          static_cast<W>(factor(at)),
          static_cast<W>(old(at)),
          ai,
          bi,
          ci
      );
    }
  });
}

// cudaDataType and cublasComputeType_t.
enum Type : int {
  F32 = 0,
  F64 = 1,
  F16 = 2,
  C32 = 4,
  C64 = 5,
  BF16 = 14
};
enum Compute : int {
  In16 = 64,
  In16Exactly = 65,
  In32 = 68,
  In32Exactly = 69,
  In64 = 70,
  In64Exactly = 71,
  In32By16 = 74,
  In32ByBf16 = 75,
  In32ByTf32 = 77
};

bool in_32(int compute) {
  return compute == In32 || compute == In32Exactly || compute == In32By16 ||
         compute == In32ByBf16 || compute == In32ByTf32;
}

using F = float;
using D = double;
using C = std::complex<float>;
using Z = std::complex<double>;

/// Calls `with(a, c, s)` with one value each of the types of A and B, of C and of the scalars.
template <class With>
int with_types(const char* call, int a, int b, int c, int compute, With with) {
  const bool in_16 = compute == In16 || compute == In16Exactly;
  const bool in_64 = compute == In64 || compute == In64Exactly;
  if (a == b && a == c) {
    if (a == F16 && in_16) {
      return with(Half{}, Half{}, Half{});
    }
    if (a == F16 && in_32(compute)) {
      return with(Half{}, Half{}, F{});
    }
    if (a == BF16 && in_32(compute)) {
      return with(Bfloat16{}, Bfloat16{}, F{});
    }
    if (a == F32 && in_32(compute)) {
      return with(F{}, F{}, F{});
    }
    if (a == F64 && in_64) {
      return with(D{}, D{}, D{});
    }
    if (a == C32 && in_32(compute)) {
      return with(C{}, C{}, C{});
    }
    if (a == C64 && in_64) {
      return with(Z{}, Z{}, Z{});
    }
  }
  if (a == b && c == F32 && in_32(compute) && (a == F16 || a == BF16)) {
    return a == F16 ? with(Half{}, F{}, F{}) : with(Bfloat16{}, F{}, F{});
  }
  cudart().unsupported((std::string(call) + " with these types").c_str());
  return NotSupported;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
#define HEDDLE_GEMM_(name, T, I, suffix)                                                            \
  int cublas##name##suffix(Handle* h, Op ta, Op tb, I m, I n, I k, const T* alpha, const T* a, I lda, \
      const T* b, I ldb, const T* beta, T* c, I ldc) {                                              \
    return gemm<T, T, T>(h, "cublas" #name, {ta, tb, m, n, k, lda, ldb, ldc}, alpha, a, b, beta, c, {}); \
  }
#define HEDDLE_GEMMS_(name, T, I, suffix)                                                           \
  int cublas##name##StridedBatched##suffix(Handle* h, Op ta, Op tb, I m, I n, I k, const T* alpha,    \
      const T* a, I lda, long long sa, const T* b, I ldb, long long sb, const T* beta, T* c, I ldc,   \
      long long sc, I count) {                                                                      \
    return gemm<T, T, T>(h, "cublas" #name "StridedBatched", {ta, tb, m, n, k, lda, ldb, ldc}, alpha, a, b, \
                         beta, c, {count, sa, sb, sc});                                             \
  }                                                                                                 \
  int cublas##name##Batched##suffix(Handle* h, Op ta, Op tb, I m, I n, I k, const T* alpha,           \
      const T* const* a, I lda, const T* const* b, I ldb, const T* beta, T* const* c, I ldc, I count) { \
    return gemm_batched<T, T, T>(h, "cublas" #name "Batched", {ta, tb, m, n, k, lda, ldb, ldc}, alpha, \
                                 static_cast<const void*>(a), static_cast<const void*>(b), beta,    \
                                 const_cast<void*>(static_cast<const void*>(c)), count);            \
  }
HEDDLE_GEMM_(Sgemm, F, int, _v2) HEDDLE_GEMM_(Sgemm, F, std::int64_t, _v2_64)
HEDDLE_GEMM_(Dgemm, D, int, _v2) HEDDLE_GEMM_(Dgemm, D, std::int64_t, _v2_64)
HEDDLE_GEMM_(Cgemm, C, int, _v2) HEDDLE_GEMM_(Cgemm, C, std::int64_t, _v2_64)
HEDDLE_GEMM_(Zgemm, Z, int, _v2) HEDDLE_GEMM_(Zgemm, Z, std::int64_t, _v2_64)
HEDDLE_GEMM_(Hgemm, Half, int, ) HEDDLE_GEMM_(Hgemm, Half, std::int64_t, _64)
HEDDLE_GEMMS_(Sgemm, F, int, ) HEDDLE_GEMMS_(Sgemm, F, std::int64_t, _64)
HEDDLE_GEMMS_(Dgemm, D, int, ) HEDDLE_GEMMS_(Dgemm, D, std::int64_t, _64)
HEDDLE_GEMMS_(Cgemm, C, int, ) HEDDLE_GEMMS_(Cgemm, C, std::int64_t, _64)
HEDDLE_GEMMS_(Zgemm, Z, int, ) HEDDLE_GEMMS_(Zgemm, Z, std::int64_t, _64)
HEDDLE_GEMMS_(Hgemm, Half, int, ) HEDDLE_GEMMS_(Hgemm, Half, std::int64_t, _64)

#define HEDDLE_GEMM_EX(I, suffix)                                                                   \
  int cublasGemmEx##suffix(Handle* h, Op ta, Op tb, I m, I n, I k, const void* alpha, const void* a,  \
      int at, I lda, const void* b, int bt, I ldb, const void* beta, void* c, int ct, I ldc, int compute, int) { \
    return with_types("cublasGemmEx", at, bt, ct, compute, [&](auto x, auto y, auto s) {              \
      return gemm<decltype(x), decltype(y), decltype(s)>(h, "cublasGemmEx", {ta, tb, m, n, k, lda, ldb, ldc}, \
                                                         alpha, a, b, beta, c, {});                 \
    });                                                                                             \
  }                                                                                                 \
  int cublasGemmStridedBatchedEx##suffix(Handle* h, Op ta, Op tb, I m, I n, I k, const void* alpha,   \
      const void* a, int at, I lda, long long sa, const void* b, int bt, I ldb, long long sb,         \
      const void* beta, void* c, int ct, I ldc, long long sc, I count, int compute, int) {            \
    return with_types("cublasGemmStridedBatchedEx", at, bt, ct, compute, [&](auto x, auto y, auto s) { \
      return gemm<decltype(x), decltype(y), decltype(s)>(h, "cublasGemmStridedBatchedEx",             \
          {ta, tb, m, n, k, lda, ldb, ldc}, alpha, a, b, beta, c, {count, sa, sb, sc});             \
    });                                                                                             \
  }                                                                                                 \
  int cublasGemmBatchedEx##suffix(Handle* h, Op ta, Op tb, I m, I n, I k, const void* alpha,          \
      const void* const* a, int at, I lda, const void* const* b, int bt, I ldb, const void* beta,     \
      void* const* c, int ct, I ldc, I count, int compute, int) {                                   \
    return with_types("cublasGemmBatchedEx", at, bt, ct, compute, [&](auto x, auto y, auto s) {       \
      return gemm_batched<decltype(x), decltype(y), decltype(s)>(h, "cublasGemmBatchedEx",            \
          {ta, tb, m, n, k, lda, ldb, ldc}, alpha, static_cast<const void*>(a), static_cast<const void*>(b), \
          beta, const_cast<void*>(static_cast<const void*>(c)), count);                             \
    });                                                                                             \
  }                                                                                                 \
  int cublasSgemmEx##suffix(Handle* h, Op ta, Op tb, I m, I n, I k, const float* alpha, const void* a, \
      int at, I lda, const void* b, int bt, I ldb, const float* beta, void* c, int ct, I ldc) {       \
    return with_types("cublasSgemmEx", at, bt, ct, In32, [&](auto x, auto y, auto s) {                \
      return gemm<decltype(x), decltype(y), decltype(s)>(h, "cublasSgemmEx", {ta, tb, m, n, k, lda, ldb, ldc}, \
                                                         alpha, a, b, beta, c, {});                 \
    });                                                                                             \
  }
HEDDLE_GEMM_EX(int, )
HEDDLE_GEMM_EX(std::int64_t, _64)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
