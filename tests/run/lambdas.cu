// Extended lambdas as kernel arguments: captures by value, generic lambdas, lambdas inside lambdas, host and device use of one lambda.
//@ exercises: --extended-lambda, closure types as template and kernel arguments, captured arrays and pointers, __host__ __device__ lambdas, constexpr functions
//@ flags: --extended-lambda --expt-relaxed-constexpr -std=c++20
#include "support.h"

#include <algorithm>
#include <array>

template <class F> __global__ void for_each_index(int n, F function) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    function(i);
  }
}

template <class F, class... Args> __global__ void call(F function, Args... arguments) { function(arguments...); }

template <class In, class Out, class F> void transform(Buffer<In>& in, Buffer<Out>& out, F function) {
  const In* source = in;
  Out* target = out;
  for_each_index<<<4, 64>>>(static_cast<int>(in.size()), [=] __device__(int i) { target[i] = function(source[i]); });
  SYNC_OK();
}

constexpr int square(int x) { return x * x; }

struct Scaler {
  int factor;
  void run(Buffer<int>& data) const {
    int* pointer = data;
    // [*this] copies the object into the closure.
    for_each_index<<<2, 32>>>(static_cast<int>(data.size()), [pointer, *this] __device__(int i) { pointer[i] *= factor; });
    SYNC_OK();
  }
};

int main() {
  constexpr int n = 500;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) {
    values[i] = i * 13 % 101;
  }
  Buffer<int> in(values), out(n);
  int offset = 1000;
  auto both = [offset] __host__ __device__(int x) { return square(x) + offset; };
  transform(in, out, both);
  auto result = out.get();
  bool same = true;
  for (int i = 0; i < n; ++i) {
    same = same && result[i] == both(values[i]);
  }
  std::printf("host and device agree %d, %d\n", same, result[17]);

  std::array<int, 5> table = {5, 4, 3, 2, 1};
  Buffer<double> doubles(n);
  transform(in, doubles, [table] __device__(int x) { return table[x % 5] * 0.5 + std::max(x, 50); });
  std::printf("array %g %016llx\n", doubles.get()[9], static_cast<unsigned long long>(digest(doubles.get())));

  int* pointer = out;
  call<<<1, 1>>>(
      [pointer] __device__(auto a, auto b, auto c) {
        auto inner = [&](auto x) { return static_cast<int>(x * 2); };
        pointer[0] = inner(a) + inner(b) + inner(c);
        pointer[1] = sizeof(a) * 100 + sizeof(b) * 10 + sizeof(c);
      },
      1, 2.5f, static_cast<short>(7));
  SYNC_OK();
  std::printf("generic %d %d\n", out.get()[0], out.get()[1]);

  Scaler{-3}.run(in);
  std::printf("member %d\n", in.get()[1]);

  Buffer<int> counters(2);
  int* count = counters;
  for_each_index<<<3, 100>>>(1000, [count, limit = 250] __device__(int i) mutable {
    limit += i % 2;
    atomicAdd(&count[i < limit ? 0 : 1], 1);
  });
  SYNC_OK();
  std::printf("mutable sum %d\n", counters.get()[0] + counters.get()[1]);
}
