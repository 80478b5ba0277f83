// The standard library on the device: vocabulary types, views, algorithms, numbers.
//@ exercises: cuda::std::tuple/optional/variant/expected/array/span/mdspan/inplace_vector/complex/chrono/pair/function objects/numeric_limits/numeric algorithms/reverse iterators
//@ flags: -std=c++20
#include "support.h"

#include <cuda/std/array>
#include <cuda/std/bitset>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/inplace_vector>
#include <cuda/std/iterator>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>

namespace std_ = cuda::std;

__device__ std_::optional<int> parse(std_::span<const char> text) {
  int value = 0;
  if (text.empty()) {
    return std_::nullopt;
  }
  for (char c : text) {
    if (c < '0' || c > '9') {
      return std_::nullopt;
    }
    value = value * 10 + (c - '0');
  }
  return value;
}

__device__ std_::expected<int, const char*> divide(int a, int b) {
  if (b == 0) {
    return std_::unexpected("zero");
  }
  return a / b;
}

struct Circle { double radius; };
struct Square { double side; };
struct Line {};
using Shape = std_::variant<Circle, Square, Line>;

struct Area {
  __device__ double operator()(const Circle& c) const { return 3 * c.radius * c.radius; }
  __device__ double operator()(const Square& s) const { return s.side * s.side; }
  __device__ double operator()(const Line&) const { return -1; }
};

__global__ void vocabulary(double* out) {
  int t = threadIdx.x, k = 0;
  double* row = out + t * 24;
  std_::tuple<int, double, char> triple(t, t * 0.5, 'a');
  auto [number, half, letter] = triple;
  std_::get<1>(triple) += 1;
  row[k++] = number + half + letter + std_::get<double>(triple);
  row[k++] = std_::apply([](auto... values) { return (values + ...); }, triple);
  row[k++] = std_::make_tuple(1, t) < std_::make_tuple(1, 2);

  const char digits[] = "421234x";
  row[k++] = parse(std_::span<const char>(digits).subspan(t % 4, t % 5)).value_or(-1);
  std_::inplace_vector<short, 10> few(static_cast<std_::size_t>(t % 6), static_cast<short>(3));
  few.push_back(7);
  few.insert(few.begin(), static_cast<short>(-t));
  row[k++] = static_cast<double>(few.size() * 100 + few.back() + few.front());

  auto quotient = divide(100, t % 3);
  row[k++] = quotient ? *quotient : -quotient.error()[0];

  Shape shapes[3] = {Circle{t + 1.0}, Square{t * 2.0}, Line{}};
  double area = 0;
  for (const Shape& shape : shapes) {
    area += std_::visit(Area(), shape);
  }
  row[k++] = area;
  row[k++] = shapes[t % 3].index() + 10 * std_::holds_alternative<Square>(shapes[t % 3]);

  std_::array<int, 8> values{};
  for (int i = 0; i < 8; ++i) {
    values[i] = (i * 5 + t * 3) % 11;
  }
  std_::span<int> all(values);
  row[k++] = std_::accumulate(all.begin(), all.end(), 0);
  int reversed = 0;
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    reversed = reversed * 3 + *at;
  }
  row[k++] = reversed;
  row[k++] = all.front() * 100 + all.subspan(3).size() + all.last(2)[0];
  row[k++] = std_::inner_product(all.begin(), all.end(), all.rbegin(), 5);
  row[k++] = std_::lcm(t + 1, 6) + std_::gcd(t * 6, 84) * 10 + std_::midpoint(t, 10);
  std_::swap(values[0], values[7]);
  std_::partial_sum(values.begin(), values.end(), values.begin());
  row[k++] = values[0] * 10000 + values[1] * 100 + *std_::prev(values.end());

  int storage[12];
  for (int i = 0; i < 12; ++i) {
    storage[i] = i * i;
  }
  std_::mdspan<int, std_::extents<int, 3, 4>> table(storage);
  row[k++] = table(t % 3, t % 4) + table.extent(0) * 1000;

  std_::complex<double> z(1.0, t), w = z * std_::conj(z) + std_::complex<double>(0, 1);
  row[k++] = w.real() + 100 * w.imag();
  row[k++] = std_::norm(z / std_::complex<double>(3, 4)) * 25;

  using namespace std_::chrono;
  auto duration = hours(1) + minutes(t) + seconds(30);
  row[k++] = static_cast<double>(duration_cast<milliseconds>(duration).count());
  row[k++] = system_clock::now().time_since_epoch().count() > 0;

  std_::bitset<40> bits(0xabcull << t);
  row[k++] = bits.count() + bits.test(7) * 100;
  std_::pair<int, float> pair(t, 2.5f);
  row[k++] = pair.first + pair.second + (std_::numeric_limits<float>::digits + std_::numeric_limits<short>::max());
  row[k++] = std_::plus<>()(t, 0.25) + std_::greater<>()(t, 3) * 50;
  std_::optional<std_::array<int, 3>> maybe;
  if (t % 2) {
    maybe.emplace(std_::array<int, 3>{t, t + 1, t + 2});
  }
  row[k++] = maybe ? (*maybe)[2] : -5;
  row[k++] = std_::invoke(&std_::array<int, 8>::size, values) + std_::exchange(values[3], 4) * 0;
}

int main() {
  constexpr int threads = 12;
  Buffer<double> out(threads * 24);
  vocabulary<<<1, threads>>>(out);
  SYNC_OK();
  auto result = out.get();
  for (int k = 0; k < 24; ++k) {
    std::printf("%2d:", k);
    for (int t = 0; t < threads; ++t) {
      std::printf(" %g", result[t * 24 + k]);
    }
    std::printf("\n");
  }
}
