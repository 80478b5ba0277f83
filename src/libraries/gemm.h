// Products of matrices in the host's memory, column-major.
//
// Single and double precision, real and complex, use OpenBLAS (libopenblas.so.0) if the system has
// it, with one thread; otherwise loops of our own. The two add up in different orders: last digits
// differ.
#pragma once

#include "libraries/cublas.h"

namespace heddle::libraries {

template <class T> struct Product {
  Op a_op, b_op;
  std::int64_t m, n, k;
  T alpha, beta;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T* c;
  std::int64_t ldc;
};

void multiply(const Product<float>& p);
void multiply(const Product<double>& p);
void multiply(const Product<std::complex<float>>& p);
void multiply(const Product<std::complex<double>>& p);

} // namespace heddle::libraries
