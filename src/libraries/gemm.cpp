// Implements gemm.h.
#include "libraries/gemm.h"

#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace heddle::libraries {
namespace {

/// As CBLAS declares them; complex scalars are passed by address.
template <class Alpha>
using Gemm = void (*)(
    int,
    int,
    int,
    int,
    int,
    int,
    Alpha,
    const void*,
    int,
    const void*,
    int,
    Alpha,
    void*,
    int
);

struct OpenBlas {
  Gemm<float> s = nullptr;
  Gemm<double> d = nullptr;
  Gemm<const void*> c = nullptr;
  Gemm<const void*> z = nullptr;
};

/// Its threads would be the program's, which a search counts. It reads this when it is loaded.
class OneThread {
public:
  OneThread() {
    if (const char* before = std::getenv(name)) {
      before_ = before;
    }
    ::setenv(name, "1", 1);
  }
  ~OneThread() {
    if (before_) {
      ::setenv(name, before_->c_str(), 1);
    } else {
      ::unsetenv(name);
    }
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

private:
  static constexpr const char* name = "OPENBLAS_NUM_THREADS";
  std::optional<std::string> before_;
};

OpenBlas find_open_blas() {
  const OneThread one;
  OpenBlas found;
  if (void* const library = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) {
    found.s = reinterpret_cast<Gemm<float>>(::dlsym(library, "cblas_sgemm"));
    found.d = reinterpret_cast<Gemm<double>>(::dlsym(library, "cblas_dgemm"));
    found.c = reinterpret_cast<Gemm<const void*>>(::dlsym(library, "cblas_cgemm"));
    found.z = reinterpret_cast<Gemm<const void*>>(::dlsym(library, "cblas_zgemm"));
  }
  return found;
}

const OpenBlas& open_blas() {
  static const OpenBlas found = find_open_blas();
  return found;
}

int blas_op(Op op) {
  constexpr int no_transpose = 111; // CblasNoTrans; CblasTrans and CblasConjTrans follow
  return no_transpose + static_cast<int>(op);
}

template <class T>
T element(const T* matrix, Op op, std::int64_t leading, std::int64_t i, std::int64_t j) {
  switch (op) {
  case Op::None:
    return matrix[i + j * leading];
  case Op::Transpose:
    return matrix[j + i * leading];
  case Op::Adjoint:
    return conjugate(matrix[j + i * leading]);
  }
  return {};
}

template <class T> void multiply_plainly(const Product<T>& p) {
  std::vector<T> column(static_cast<std::size_t>(p.m));
  for (std::int64_t j = 0; j < p.n; ++j) {
    std::fill(column.begin(), column.end(), T{});
    for (std::int64_t l = 0; l < p.k; ++l) {
      const T factor = element(p.b, p.b_op, p.ldb, l, j);
      for (std::int64_t i = 0; i < p.m; ++i) {
        column[static_cast<std::size_t>(i)] += element(p.a, p.a_op, p.lda, i, l) * factor;
      }
    }
    for (std::int64_t i = 0; i < p.m; ++i) {
      T& c = p.c[i + j * p.ldc];
      // What C holds is not read if beta is 0: it may be no number.
      c = p.alpha * column[static_cast<std::size_t>(i)] + (p.beta == T{} ? T{} : p.beta * c);
    }
  }
}

template <class T, class Alpha>
void multiply_with(Gemm<Alpha> function, Alpha alpha, Alpha beta, const Product<T>& p) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (function == nullptr || std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc}) > most) {
    multiply_plainly(p);
    return;
  }
  constexpr int column_major = 102; // CblasColMajor
  const auto small = [](std::int64_t x) { return static_cast<int>(x); };
  function(
      column_major,
      blas_op(p.a_op),
      blas_op(p.b_op),
      small(p.m),
      small(p.n),
      small(p.k),
      alpha,
      p.a,
      small(p.lda),
      p.b,
      small(p.ldb),
      beta,
      p.c,
      small(p.ldc)
  );
}

} // namespace

void multiply(const Product<float>& p) {
  multiply_with(open_blas().s, p.alpha, p.beta, p);
}
void multiply(const Product<double>& p) {
  multiply_with(open_blas().d, p.alpha, p.beta, p);
}
void multiply(const Product<std::complex<float>>& p) {
  multiply_with<std::complex<float>, const void*>(open_blas().c, &p.alpha, &p.beta, p);
}
void multiply(const Product<std::complex<double>>& p) {
  multiply_with<std::complex<double>, const void*>(open_blas().z, &p.alpha, &p.beta, p);
}

} // namespace heddle::libraries
