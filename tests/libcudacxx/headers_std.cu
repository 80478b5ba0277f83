// Every facility of cuda::std that is a type or an algorithm, by functions that run on the host, in a lone device thread and in many at once.
//@ hardware: its latches and semaphores in local memory, where the H200 gives other results than a lone thread gets as soon as many threads use them; atomics there are not defined
//@ exercises: cuda::std: complex, array, span, tuple, optional, variant, expected, mdspan, chrono, bit, limits, bitset, inplace_vector, functional, cmath, memory, iterator, ranges, atomic, semaphore, latch, barrier
//@ flags: --expt-relaxed-constexpr
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/barrier>
#include <cuda/std/bit>
#include <cuda/std/bitset>
#include <cuda/std/cassert>
#include <cuda/std/cfloat>
#include <cuda/std/chrono>
#include <cuda/std/climits>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/concepts>
#include <cuda/std/cstdint>
#include <cuda/std/cstdlib>
#include <cuda/std/cstring>
#include <cuda/std/ctime>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/initializer_list>
#include <cuda/std/inplace_vector>
#include <cuda/std/iterator>
#include <cuda/std/latch>
#include <cuda/std/limits>
#include <cuda/std/linalg>
#include <cuda/std/mdspan>
#include <cuda/std/memory>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/ranges>
#include <cuda/std/ratio>
#include <cuda/std/semaphore>
#include <cuda/std/source_location>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/std/variant>
#include <cuda/std/version>

#include <cstdio>

#define REQUIRE(...)                                                                               \
  do {                                                                                             \
    if (!(__VA_ARGS__)) {                                                                          \
      printf("line %d is wrong: %s\n", __LINE__, #__VA_ARGS__);                                    \
      ++bad;                                                                                       \
    }                                                                                              \
  } while (0)

namespace cs = cuda::std;
struct Visitor {
  __host__ __device__ int operator()(int i) const { return i; }
  __host__ __device__ int operator()(double d) const { return (int)(d * 10); }
  __host__ __device__ int operator()(cs::array<char, 3> a) const { return a[2]; }
};
struct NonTrivial {
  int* c;
  __host__ __device__ NonTrivial(int* c) : c(c) { ++*c; }
  __host__ __device__ NonTrivial(const NonTrivial& o) : c(o.c) { ++*c; }
  __host__ __device__ NonTrivial(NonTrivial&& o) : c(o.c) { ++*c; }
  __host__ __device__ NonTrivial& operator=(const NonTrivial&) = default;
  __host__ __device__ ~NonTrivial() { --*c; }
};
__host__ __device__ int vocabulary() {
  int bad = 0;
  {
    cs::complex<float> a(1, 2), b(3, -1);
    auto c = a * b;
    REQUIRE(c.real() == 5);
    REQUIRE(c.imag() == 5);
    REQUIRE(cs::norm(a) == 5);
    REQUIRE(cs::abs(cs::abs(b) - cs::sqrt(10.f)) < 1e-6f);
    auto e = cs::exp(cs::complex<double>(0, 3.14159265358979323846));
    REQUIRE(cs::abs(e.real() + 1) < 1e-12);
    auto d = a / b;
    REQUIRE(cs::abs(d.real() - 0.1f) < 1e-6f);
    auto s = cs::sqrt(cs::complex<double>(-4, 0));
    REQUIRE(cs::abs(s.imag() - 2) < 1e-12);
    auto p = cs::pow(cs::complex<double>(0, 1), 2);
    REQUIRE(cs::abs(p.real() + 1) < 1e-12);
    REQUIRE(cs::abs(cs::arg(cs::complex<float>(0, 1)) - 1.5707964f) < 1e-6f);
    auto l = cs::log(cs::polar(2.0, 0.5));
    REQUIRE(cs::abs(l.imag() - .5) < 1e-12);
    auto t = cs::tanh(cs::complex<float>(.5f, .25f));
    REQUIRE(t.real() > 0.4f);
    REQUIRE(t.real() < .6f);
    cs::complex<float> as = cs::asin(a);
    REQUIRE(cs::abs(cs::sin(as) - a) < 1e-5f);
  }
  {
    cs::array<int, 5> a{1, 2, 3, 4, 5};
    REQUIRE(a[0] == 1);
    REQUIRE(a.back() == 5);
    REQUIRE(cs::accumulate(a.begin(), a.end(), 0) == 15);
    cs::span<int> s(a);
    REQUIRE(s.subspan(1, 3)[0] == 2);
    REQUIRE(s.last<2>()[1] == 5);
    cs::iota(a.begin(), a.end(), 7);
    REQUIRE(a[4] == 11);
    REQUIRE(cs::gcd(12, 18) == 6);
    REQUIRE(cs::lcm(4, 6) == 12);
    REQUIRE(cs::midpoint(2, 6) == 4);
    REQUIRE(cs::reduce(a.begin(), a.begin() + 2) == 15);
    cs::array<int, 5> b{};
    cs::partial_sum(a.begin(), a.end(), b.begin());
    REQUIRE(b[4] == 45);
    cs::adjacent_difference(b.begin(), b.end(), a.begin());
    REQUIRE(a[4] == 11);
    cs::exclusive_scan(a.begin(), a.end(), b.begin(), 0);
    REQUIRE(b[4] == 34);
    REQUIRE(cs::transform_reduce(a.begin(), a.end(), 0, cs::plus<>{}, [](int x) {
              return 2 * x;
            }) == 90);
    REQUIRE(cs::inner_product(a.begin(), a.end(), a.begin(), 0) == 49 + 64 + 81 + 100 + 121);
  }
  {
    cs::tuple<int, double, char> t(1, 2.5, 'c');
    auto [x, y, z] = t;
    REQUIRE(x == 1);
    REQUIRE(y == 2.5);
    REQUIRE(z == 'c');
    REQUIRE(cs::get<1>(t) == 2.5);
    auto u = cs::tuple_cat(t, cs::make_tuple(7));
    REQUIRE(cs::get<3>(u) == 7);
    REQUIRE(cs::apply([](int a, double b, char c) { return a + b + c; }, t) == 1 + 2.5 + 'c');
    REQUIRE(t < cs::make_tuple(2, 0., 'a'));
    int q;
    cs::tie(q, cs::ignore, cs::ignore) = t;
    REQUIRE(q == 1);
    cs::pair<int, float> p = cs::make_pair(1, 2.f);
    cs::swap(p, p);
    REQUIRE(p.second == 2);
  }
  {
    cs::optional<int> o;
    REQUIRE(!o);
    REQUIRE(o.value_or(3) == 3);
    o = 5;
    REQUIRE(*o == 5);
    REQUIRE(o.has_value());
    auto r = o.transform([](int x) { return x * 2.5; });
    REQUIRE(*r == 12.5);
    auto n = o.and_then([](int) -> cs::optional<char> { return cs::nullopt; });
    REQUIRE(!n);
    o.reset();
    REQUIRE(!o);
    o.emplace(9);
    cs::optional<int> o2(cs::in_place, 9);
    REQUIRE(o == o2);
    int live = 0;
    {
      cs::optional<NonTrivial> a(cs::in_place, &live);
      cs::optional<NonTrivial> b = a;
      REQUIRE(live == 2);
      b.reset();
      REQUIRE(live == 1);
    }
    REQUIRE(live == 0);
  }
  {
    cs::variant<int, double, cs::array<char, 3>> v;
    REQUIRE(v.index() == 0);
    v = 2.5;
    REQUIRE(cs::holds_alternative<double>(v));
    REQUIRE(cs::visit(Visitor{}, v) == 25);
    v = cs::array<char, 3>{1, 2, 3};
    REQUIRE(cs::visit(Visitor{}, v) == 3);
    REQUIRE(cs::get_if<int>(&v) == nullptr);
    v.emplace<0>(4);
    REQUIRE(cs::get<0>(v) == 4);
    cs::variant<cs::monostate, int> m;
    REQUIRE(m.index() == 0);
    int live = 0;
    {
      cs::variant<int, NonTrivial> w(cs::in_place_index<1>, &live);
      auto w2 = w;
      REQUIRE(live == 2);
      w2 = 3;
      REQUIRE(live == 1);
    }
    REQUIRE(live == 0);
  }
  {
    cs::expected<int, const char*> e = 3;
    REQUIRE(e);
    REQUIRE(*e == 3);
    cs::expected<int, int> f = cs::unexpected<int>(7);
    REQUIRE(!f);
    REQUIRE(f.error() == 7);
    REQUIRE(f.value_or(1) == 1);
    auto g = e.transform([](int x) { return x + 1; });
    REQUIRE(*g == 4);
    auto h = f.or_else([](int x) -> cs::expected<int, int> { return x * 2; });
    REQUIRE(*h == 14);
    cs::expected<void, int> v;
    REQUIRE(v.has_value());
    v = cs::unexpected(3);
    REQUIRE(v.error() == 3);
  }
  return bad;
}
__host__ __device__ int the_rest() {
  int bad = 0;
  {
    int d[24];
    for (int i = 0; i < 24; i++) {
      d[i] = i;
    }
    cs::mdspan<int, cs::extents<int, 4, 6>> m(d);
    REQUIRE(m(2, 3) == 15);
    REQUIRE(m.extent(1) == 6);
    cs::mdspan<int, cs::dextents<int, 3>, cs::layout_left> l(d, 2, 3, 4);
    REQUIRE(l(1, 2, 3) == 23);
    REQUIRE(l.stride(2) == 6);
    auto st = cs::layout_stride::mapping<cs::dextents<int, 2>>(
        cs::dextents<int, 2>(2, 3),
        cs::array<int, 2>{12, 2}
    );
    cs::mdspan<int, cs::dextents<int, 2>, cs::layout_stride> s(d, st);
    REQUIRE(s(1, 2) == 16);
    REQUIRE(m.size() == 24);
    REQUIRE(m.is_exhaustive());
    auto sub = cs::submdspan(m, 1, cs::full_extent);
    REQUIRE(sub(2) == 8);
  }
  {
    using namespace cs::chrono;
    auto a = milliseconds(1500);
    REQUIRE(duration_cast<seconds>(a).count() == 1);
    REQUIRE((a + microseconds(3)).count() == 1500003);
    REQUIRE(floor<seconds>(-a).count() == -2);
    auto t = system_clock::now();
    REQUIRE(t.time_since_epoch().count() > 0);
    auto h = high_resolution_clock::now();
    auto h2 = high_resolution_clock::now();
    REQUIRE(h2 >= h);
    duration<double, cs::ratio<60>> mi = minutes(3);
    REQUIRE(mi.count() == 3);
    REQUIRE(hours(1) > minutes(59));
    year_month_day ymd{year(2024), month(2), day(29)};
    REQUIRE(ymd.ok());
    REQUIRE(!year_month_day(year(2023), month(2), day(29)).ok());
    REQUIRE(sys_days(ymd).time_since_epoch().count() == 19782);
    weekday wd{sys_days(ymd)};
    REQUIRE(wd.c_encoding() == 4);
  }
  {
    REQUIRE(cs::popcount(0xf0fu) == 8);
    REQUIRE(cs::countl_zero(1u) == 31);
    REQUIRE(cs::countr_zero(8u) == 3);
    REQUIRE(cs::countl_one(0xf0000000u) == 4);
    REQUIRE(cs::countr_one(7ull) == 3);
    REQUIRE(cs::bit_width(255u) == 8);
    REQUIRE(cs::bit_ceil(5u) == 8);
    REQUIRE(cs::bit_floor(5u) == 4);
    REQUIRE(cs::has_single_bit(64u));
    REQUIRE(cs::rotl(0x80000001u, 1) == 3);
    REQUIRE(cs::rotr((unsigned char)1, 1) == 128);
    REQUIRE(cs::bit_cast<unsigned>(1.0f) == 0x3f800000u);
    REQUIRE(cs::byteswap(0x01020304u) == 0x04030201u);
    REQUIRE(cs::endian::native == cs::endian::little);
    volatile unsigned char uc = 6;
    REQUIRE(cs::countl_zero((unsigned char)uc) == 5);
    volatile unsigned long long ul = 0;
    REQUIRE(cs::countr_zero((unsigned long long)ul) == 64);
    volatile __uint128_t big = (__uint128_t)1 << 100;
    REQUIRE(cs::countr_zero((__uint128_t)big) == 100);
  }
  {
    REQUIRE(cs::numeric_limits<int>::max() == 2147483647);
    REQUIRE(cs::numeric_limits<double>::epsilon() == 2.220446049250313e-16);
    REQUIRE(cs::numeric_limits<float>::infinity() > 1e38f);
    REQUIRE(cs::isnan(cs::numeric_limits<double>::quiet_NaN()));
    REQUIRE(cs::numeric_limits<__half>::digits == 11);
  }
  {
    cs::bitset<70> b;
    b.set(3).set(69);
    REQUIRE(b.count() == 2);
    REQUIRE(b.test(69));
    b <<= 1;
    REQUIRE(b[4]);
    REQUIRE(!b[3]);
    REQUIRE(!b.test(69));
    b.flip();
    REQUIRE(b.count() == 69);
    cs::bitset<8> c(0xa5);
    REQUIRE(c.to_ulong() == 0xa5);
    REQUIRE((~c).to_ulong() == 0x5a);
    REQUIRE((c >> 4).to_ulong() == 10);
    REQUIRE(c.any());
    REQUIRE(!c.all());
  }
  {
    cs::inplace_vector<int, 8> v{1, 2, 3};
    v.push_back(4);
    v.insert(v.begin(), 0);
    REQUIRE(v.size() == 5);
    REQUIRE(v[0] == 0);
    REQUIRE(v.back() == 4);
    v.erase(v.begin() + 1);
    REQUIRE(v.size() == 4);
    REQUIRE(v[1] == 2);
    REQUIRE(v.try_push_back(1) != nullptr);
    v.resize(8);
    REQUIRE(v.try_push_back(1) == nullptr);
    int live = 0;
    {
      cs::inplace_vector<NonTrivial, 4> w;
      w.emplace_back(&live);
      w.push_back(NonTrivial(&live));
      auto x = w;
      REQUIRE(live == 4);
    }
    REQUIRE(live == 0);
  }
  {
    auto f = cs::bind_front([](int a, int b, int c) { return a * 100 + b * 10 + c; }, 1, 2);
    REQUIRE(f(3) == 123);
    REQUIRE(cs::invoke(cs::plus<>{}, 1, 2) == 3);
    auto nf = cs::not_fn([](int x) { return x > 0; });
    REQUIRE(nf(-1));
    int x = 1;
    auto rf = cs::ref(x);
    rf.get() = 5;
    REQUIRE(x == 5);
    cs::identity id;
    REQUIRE(id(4) == 4);
    REQUIRE(cs::exchange(x, 9) == 5);
    REQUIRE(x == 9);
    REQUIRE(cs::cmp_less(-1, 1u));
    REQUIRE(cs::to_underlying(cs::memory_order_relaxed) >= 0);
    auto is = cs::index_sequence_for<int, int>{};
    (void)is;
  }
  {
    char a[16], b[16];
    cs::memset(a, 7, 16);
    cs::memcpy(b, a, 16);
    REQUIRE(cs::memcmp(a, b, 16) == 0);
    REQUIRE(cs::abs(-3) == 3);
    auto dv = cs::div(7, 3);
    REQUIRE(dv.quot == 2);
    REQUIRE(dv.rem == 1);
  }
  {
    REQUIRE(cs::fabs(-1.f) == 1);
    REQUIRE(cs::isinf(1 / 0.0f));
    REQUIRE(cs::fmod(7.0, 4.0) == 3);
    REQUIRE(cs::signbit(-0.f));
    REQUIRE(cs::copysign(2.f, -1.f) == -2);
    REQUIRE(cs::lerp(0.f, 10.f, .25f) == 2.5f);
    REQUIRE(cs::round(2.5) == 3);
    REQUIRE(cs::rint(2.5) == 2);
    REQUIRE(cs::ilogb(8.f) == 3);
    REQUIRE(cs::hypot(3.f, 4.f) == 5);
    REQUIRE(cs::cbrt(27.) > 2.999);
    REQUIRE(cs::fpclassify(1e-40f) == FP_SUBNORMAL);
    REQUIRE(cs::lround(-2.5) == -3);
    REQUIRE(cs::tgamma(5.) > 23.99);
    REQUIRE(cs::nextafter(1.f, 2.f) > 1);
    REQUIRE(cs::fma(2., 3., 4.) == 10);
    REQUIRE(cs::trunc(-2.7f) == -2);
    REQUIRE(cs::log2(8.f) == 3);
    REQUIRE(cs::exp2(3.) == 8);
    REQUIRE(cs::remainder(5., 3.) == -1);
    REQUIRE(cs::erf(0.) == 0);
    REQUIRE(cs::isnormal(1.f));
    REQUIRE(cs::nan("") != cs::nan(""));
    int e;
    REQUIRE(cs::frexp(8., &e) == .5);
    REQUIRE(e == 4);
    double ip;
    REQUIRE(cs::modf(2.5, &ip) == .5);
    REQUIRE(ip == 2);
    REQUIRE(cs::scalbn(1.f, 3) == 8);
    REQUIRE(cs::ldexp(1., 4) == 16);
    REQUIRE(cs::logb(9.) == 3);
    REQUIRE(cs::fdim(3.f, 5.f) == 0);
    REQUIRE(cs::fmax(1.f, 2.f) == 2);
    REQUIRE(cs::islessgreater(1., 2.));
  }
  {
    alignas(16) char buf[64];
    void* p = buf + 1;
    size_t n = 63;
    REQUIRE(cs::align(16, 4, p, n) != nullptr);
    REQUIRE(((size_t)p & 15) == 0);
    cs::unique_ptr<int> u(new int(4));
    REQUIRE(*u == 4);
    u.reset();
    auto mu = cs::make_unique<double>(2.);
    REQUIRE(*mu == 2);
    REQUIRE(cs::addressof(n) == &n);
    int s[4];
    cs::uninitialized_fill(s, s + 4, 3);
    REQUIRE(s[3] == 3);
    REQUIRE(cs::assume_aligned<4>(s) == s);
  }
  {
    int a[5] = {1, 2, 3, 4, 5};
    auto r = cs::make_reverse_iterator(a + 5);
    REQUIRE(*r == 5);
    REQUIRE(cs::distance(a, a + 5) == 5);
    REQUIRE(*cs::next(a, 2) == 3);
    REQUIRE(cs::size(a) == 5);
    REQUIRE(cs::end(a) - cs::begin(a) == 5);
    auto mi = cs::make_move_iterator(a);
    REQUIRE(*mi == 1);
    cs::ranges::subrange sr(a, a + 3);
    REQUIRE(cs::ranges::size(sr) == 3);
    REQUIRE(cs::ranges::begin(a) == a);
  }
  {
    auto l = cs::source_location::current();
    REQUIRE(l.line() > 0);
    auto* at = new cs::atomic<int>(3); // in local memory an H200 gives other results with many threads
    at->fetch_add(2);
    REQUIRE(at->load() == 5);
    delete at;
    cs::atomic_ref<int> ar(*(new int(1)));
    REQUIRE(ar.fetch_or(6) == 1);
    REQUIRE(ar == 7);
    cs::atomic_flag fl{};
    REQUIRE(!fl.test_and_set());
    REQUIRE(fl.test_and_set());
    cs::binary_semaphore sem(1);
    REQUIRE(sem.try_acquire());
    REQUIRE(!sem.try_acquire());
    sem.release();
    cs::latch la(1);
    la.count_down();
    REQUIRE(la.try_wait());
    cs::barrier<> ba(1);
    ba.arrive_and_wait();
    auto tok = ba.arrive();
    ba.wait(cs::move(tok));
    cs::atomic_thread_fence(cs::memory_order_seq_cst);
    cs::atomic_signal_fence(cs::memory_order_acquire);
    cs::counting_semaphore<5> c5(2);
    c5.acquire();
    REQUIRE(c5.try_acquire_for(cs::chrono::milliseconds(1)));
    REQUIRE(!c5.try_acquire_for(cs::chrono::microseconds(10)));
  }
  return bad;
}

__global__ void on_device(int* bad) {
  atomicAdd(bad, vocabulary() + the_rest());
}

int main() {
  std::printf("host: %d wrong\n", vocabulary() + the_rest());
  int* bad;
  cudaMallocManaged(&bad, sizeof(int));
  *bad = 0;
  on_device<<<1, 1>>>(bad);
  std::printf("%s", cudaDeviceSynchronize() == cudaSuccess ? "" : "failed\n");
  std::printf("one device thread: %d wrong\n", *bad);
  on_device<<<2, 33>>>(bad);
  std::printf("%s", cudaDeviceSynchronize() == cudaSuccess ? "" : "failed\n");
  std::printf("66 device threads: %d wrong\n", *bad);
}
