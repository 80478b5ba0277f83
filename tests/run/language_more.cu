// C++ on the device: lambdas with captures, variadic templates, tuples, placement new, unions and bit-fields, jump tables, 128-bit integers, statics, deep recursion, structured data.
//@ exercises: extended lambdas, brx.idx, 128-bit multiplication and division, device statics, virtual inheritance, function pointers in constant tables, device new/delete, cuda::std
//@ flags: --extended-lambda
#include "support.h"

#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/variant>
#include <new>
#include <tuple>
#include <utility>

template <class F, class... Rest> __global__ void apply(F f, Rest... rest) { f(threadIdx.x, rest...); }

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : virtual Shape {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Named : virtual Shape {
  int id = 7;
};
struct NamedSquare : Square, Named {
  __device__ NamedSquare(float s) : Square(s) {}
  __device__ float area() const override { return Square::area() + id; }
};

union Bits {
  float f;
  unsigned u;
  struct {
    unsigned mantissa : 23, exponent : 8, sign : 1;
  } parts;
};

struct Packed {
  int a : 5;
  unsigned b : 11;
  long long c : 40;
  bool d : 1;
};

__device__ int choose(int op, int a, int b) {
  switch (op) {
  case 0: return a + b;
  case 1: return a - b;
  case 2: return a * b;
  case 3: return b ? a / b : 0;
  case 4: return a & b;
  case 5: return a | b;
  case 6: return a ^ b;
  case 7: return a << (b & 7);
  case 8: return max(a, b);
  case 9: return __popc(a) + __clz(b);
  default: return -1;
  }
}

using Function = float (*)(float);
__device__ float f0(float x) { return x + 1; }
__device__ float f1(float x) { return x * x; }
__device__ float f2(float x) { return 1 / x; }
__constant__ Function table[3] = {f0, f1, f2};

__device__ unsigned long long ackermann(unsigned m, unsigned n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, static_cast<unsigned>(ackermann(m, n - 1))); }

__device__ int tickets() {
  static int next = 100;
  return atomicAdd(&next, 1);
}

template <int N> struct Matrix {
  double v[N][N];
  __host__ __device__ Matrix operator*(const Matrix& o) const {
    Matrix r{};
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        for (int k = 0; k < N; ++k) r.v[i][j] += v[i][k] * o.v[k][j];
    return r;
  }
};
template <class T> __host__ __device__ T power(T base, unsigned n) {
  T result = base;
  while (--n) result = result * base;
  return result;
}

__global__ void everything(int* ints, double* doubles, unsigned long long* longs) {
  int t = threadIdx.x, n = 0;
  auto put = [&](int v) { ints[t * 16 + n++] = v; };
  put(choose(t % 11, 13 * t + 5, 7 - t));
  Bits bits;
  bits.f = -1.5f * (t + 1);
  put(static_cast<int>(bits.parts.exponent * 2 + bits.parts.sign));
  Packed p{};
  p.a = t - 16, p.b = t * 100, p.c = -1ll - t, p.d = t & 1;
  put(p.a), put(static_cast<int>(p.b)), put(static_cast<int>(p.c)), put(p.d);
  alignas(8) unsigned char storage[sizeof(NamedSquare)];
  auto* square = new (storage) NamedSquare(t * 0.5f);
  Shape* shape = square;
  doubles[t * 4] = shape->area() + table[t % 3](t + 1.0f);
  square->~NamedSquare();
  Shape* heap = new Square(static_cast<float>(t));
  doubles[t * 4 + 1] = heap->area();
  delete heap;
  cuda::std::tuple<int, double, char> tuple(t, t * 0.25, 'a');
  doubles[t * 4 + 2] = cuda::std::get<1>(tuple) + cuda::std::get<2>(tuple);
  cuda::std::variant<int, double> variant;
  if (t % 2) variant = t * 1.5;
  else variant = t;
  put(cuda::std::visit([](auto v) { return static_cast<int>(v * 2); }, variant));
  cuda::std::optional<int> optional;
  if (t % 3 == 0) optional = t;
  put(optional.value_or(-5));
  cuda::std::complex<double> z(0.5, 0.25 * (t % 4));
  z = z * z + cuda::std::conj(z);
  doubles[t * 4 + 3] = z.real() * 16 + z.imag();
  unsigned __int128 wide = (static_cast<unsigned __int128>(0x123456789abcdefULL * (t + 1)) << 64) + t;
  longs[t * 3] = static_cast<unsigned long long>(wide / 1000003);
  longs[t * 3 + 1] = static_cast<unsigned long long>(wide % 1000003) + static_cast<unsigned long long>(wide * wide >> 64);
  longs[t * 3 + 2] = ackermann(2, t % 5);
  int order = 0;
  for (int i = 0;; ++i) {
    if (i % 2 == t % 2) continue;
    if (i > t % 9) break;
    order = order * 3 + i;
    if (order > 500) goto out;
  }
  order = -order;
out:
  put(order);
  cuda::std::array<int, 5> array{5, 3, 1, 4, 2};
  for (int i = 0; i < 5; ++i)
    for (int j = i + 1; j < 5; ++j)
      if (array[j] < array[i]) cuda::std::swap(array[i], array[j]);
  put(array[t % 5]);
  put(tickets() >= 100);
  Matrix<3> m{{{1, 1, 0}, {1, 0, 1}, {0, 1, 1}}};
  put(static_cast<int>(power(m, 1 + t % 6).v[0][1]));
}

int main() {
  Buffer<int> ints(32 * 16), squares(32);
  Buffer<double> doubles(32 * 4);
  Buffer<unsigned long long> longs(32 * 3);
  everything<<<1, 32>>>(ints, doubles, longs);
  SYNC_OK();
  auto i = ints.get();
  auto d = doubles.get();
  auto l = longs.get();
  for (int t : {0, 5, 18}) {
    for (int n = 0; n < 12; ++n) std::printf("%d ", i[t * 16 + n]);
    std::printf("| %g %g %g %g | %llu %llu %llu\n", d[t * 4], d[t * 4 + 1], d[t * 4 + 2], d[t * 4 + 3], l[t * 3], l[t * 3 + 1], l[t * 3 + 2]);
  }
  std::printf("digests %016llx %016llx\n", (unsigned long long)digest(l), (unsigned long long)digest(d));
  int* p = squares;
  int offset = 1000;
  auto pair = std::make_pair(3, 0.5f);
  apply<<<1, 32>>>([=] __device__(int t, int scale, short extra) { p[t] = t * t * scale + offset + extra + pair.first; }, 2, short(-3));
  SYNC_OK();
  std::printf("lambda %d %d\n", squares.get()[0], squares.get()[31]);
}
