// C++ on the device: templates, concepts, folds, structured bindings, three-way comparison, constexpr, unions, bit-fields, operators.
//@ exercises: C++20 in device code, class templates with specialisations, CRTP, variadic recursion, if constexpr, designated initialisers, bit-fields, anonymous unions, static members, default arguments, references to members
//@ flags: -std=c++20 --expt-relaxed-constexpr
//@ also-flags: -std=c++20 --expt-relaxed-constexpr -G
#include "support.h"

#include <cuda/std/bit>
#include <cuda/std/concepts>
#include <cuda/std/type_traits>

template <class T>
concept Number = cuda::std::integral<T> || cuda::std::floating_point<T>;

template <Number... Ts> __device__ auto sum(Ts... values) { return (values + ... + 0); }
template <Number... Ts> __device__ bool ascending(Ts... values) {
  long long previous = -1000000;
  bool result = true;
  ((result = result && previous < static_cast<long long>(values), previous = static_cast<long long>(values)), ...);
  return result;
}

template <class T> struct Name { static constexpr int value = 0; };
template <> struct Name<int> { static constexpr int value = 1; };
template <class T> struct Name<T*> { static constexpr int value = 10 + Name<T>::value; };
template <class T, int n> struct Name<T[n]> { static constexpr int value = 100 * n + Name<T>::value; };

template <class Derived> struct Counter {
  int count = 0;
  __device__ int next() { return static_cast<Derived*>(this)->step(++count); }
};
struct Doubler : Counter<Doubler> {
  __device__ int step(int n) { return n * 2; }
};
struct Tripler : Counter<Tripler> {
  __device__ int step(int n) { return n * 3 + count; }
};

struct Version {
  int major, minor;
  __device__ auto operator<=>(const Version& other) const {
    return major != other.major ? major <=> other.major : minor <=> other.minor;
  }
  __device__ bool operator==(const Version&) const = default;
};

template <int n> struct Factorial { static constexpr long long value = n * Factorial<n - 1>::value; };
template <> struct Factorial<0> { static constexpr long long value = 1; };
template <unsigned n> struct Squares {
  unsigned values[n];
};
template <unsigned n> constexpr Squares<n> make_squares() {
  Squares<n> result{};
  for (unsigned i = 0; i < n; ++i) {
    result.values[i] = i * i;
  }
  return result;
}
__constant__ Squares<20> squares = make_squares<20>();

struct Packed {
  unsigned a : 3;
  int b : 7;
  unsigned long long c : 40;
  bool d : 1;
  union {
    float f;
    unsigned bits;
    struct {
      unsigned short low, high;
    };
  };
};

struct Matrix {
  float m[2][2];
  __device__ Matrix operator*(const Matrix& o) const {
    Matrix r{};
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        for (int k = 0; k < 2; ++k) {
          r.m[i][j] += m[i][k] * o.m[k][j];
        }
      }
    }
    return r;
  }
  __device__ float& operator()(int i, int j) { return m[i][j]; }
};

struct Config {
  int width = 1, height = 2;
  float scale = 0.5f;
};
__device__ float describe(Config config = {.height = 7}) { return config.width * 100 + config.height * 10 + config.scale; }

template <class T> __device__ int dispatch(T value) {
  if constexpr (cuda::std::is_pointer_v<T>) {
    return dispatch(*value) + 1000;
  } else if constexpr (sizeof(T) > 4) {
    return static_cast<int>(value) + 100;
  } else {
    return static_cast<int>(value) + 10;
  }
}

enum class Colour : unsigned char { Red = 3, Green, Blue = 200 };

__global__ void run(long long* out, int argument) {
  int k = 0;
  out[k++] = sum(1, 2.5, 3u, static_cast<short>(argument));
  out[k++] = ascending(1, 2, 3.5, 10ll) * 10 + ascending(1, 5, argument);
  out[k++] = Name<int**>::value * 1000 + Name<int[7]>::value;
  Doubler doubler;
  Tripler tripler;
  out[k++] = doubler.next() + doubler.next() * 10 + tripler.next() * 100 + tripler.next() * 1000;
  Version a{1, argument}, b{1, 7}, c{2, 0};
  out[k++] = (a < b) + 2 * (b < c) + 4 * (a == a) + 8 * (c <= a) + 16 * ((a <=> c) < 0);
  out[k++] = Factorial<12>::value;
  out[k++] = squares.values[argument] + squares.values[19];
  Packed packed{};
  packed.a = 5 + argument;
  packed.b = -60 - argument;
  packed.c = 0xabcdef1234ull * argument;
  packed.d = argument > 3;
  packed.f = 1.5f * argument;
  out[k++] = packed.a * 1000000 + packed.b * 1000 + packed.d;
  out[k++] = static_cast<long long>(packed.c) ^ packed.high;
  Matrix m{{{1, 2}, {3, static_cast<float>(argument)}}};
  Matrix power = m * m * m;
  power(0, 1) += 0.5f;
  out[k++] = static_cast<long long>(power.m[0][1] * 10 + power.m[1][1]);
  out[k++] = static_cast<long long>(describe() * 10 + describe({.width = argument, .scale = 2}));
  double wide = 3.7;
  out[k++] = dispatch(argument) + dispatch(wide) * 10 + dispatch(&wide) * 100;
  struct { int x; float y; char z; } triple{argument, 2.5f, 'c'};
  auto& [x, y, z] = triple;
  x += 10;
  y *= 2;
  out[k++] = triple.x * 1000 + static_cast<int>(triple.y) + z;
  int grid[3][4]{};
  for (int row = 0; auto& line : grid) {
    for (int& cell : line) {
      cell = row++ * argument;
    }
  }
  out[k++] = grid[2][3] + grid[argument % 3][argument % 4];
  out[k++] = cuda::std::popcount(0xf0f0u + argument) * 100 + cuda::std::countl_zero(static_cast<unsigned>(argument)) +
             cuda::std::bit_cast<int>(1.0f) / 1000;
  Colour colour = argument > 3 ? Colour::Blue : Colour::Green;
  out[k++] = static_cast<int>(colour) + static_cast<int>(Colour::Red) * 1000;
  auto fibonacci = [](auto self, int n) -> int { return n < 2 ? n : self(self, n - 1) + self(self, n - 2); };
  out[k++] = fibonacci(fibonacci, argument + 3);
  int (*pointer)[4] = &grid[1];
  int Config::*member = argument % 2 ? &Config::width : &Config::height;
  out[k++] = (*pointer)[2] * 100 + Config{}.*member;
  out[k++] = [&]<class T>(T first, auto... rest) { return first + (rest * ... * 1); }(argument, 2, 3, 4);
}

int main() {
  constexpr int count = 19;
  Buffer<long long> out(count);
  for (int argument : {0, 1, 4, 9}) {
    run<<<1, 1>>>(out, argument);
    SYNC_OK();
    for (long long value : out.get()) {
      std::printf("%lld ", value);
    }
    std::printf("\n");
  }
}
