// cuRAND: the host's interface to pseudo-random generators, for memory of the device and of the
// host.
//
// The numbers are not NVIDIA's. All generators are Philox4x32-10 here, with the kind of generator
// in the counter, and element n of a sequence depends on the seed and on n alone. Distributions are
// as documented: uniform in (0, 1], normal by Box and Muller. So a program sees good numbers, the
// same in each run; a program that compares them with recorded ones of NVIDIA's does not pass.
#include "libraries/link.h"
#include "libraries/philox.h"

#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <type_traits>
#include <utility>

using namespace heddle::libraries;

namespace {

enum Status : int { // curandStatus_t
  Success = 0,
  NotInitialized = 101,
  TypeError = 103,
  OutOfRange = 104,
  LengthNotMultiple = 105,
  LaunchFailure = 201
};

struct Generator {
  int kind = 0; // curandRngType
  bool on_host = false;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0; // of the next number
  void* stream = nullptr;
};

/// Numbers by their position in a sequence.
class Sequence {
public:
  explicit Sequence(const Generator& g)
      : kind_(static_cast<std::uint32_t>(g.kind)),
        key_{static_cast<std::uint32_t>(g.seed), static_cast<std::uint32_t>(g.seed >> 32)} {}

  std::uint32_t bits(std::uint64_t n) const { return block(n / 4)[n % 4]; }
  std::uint64_t wide_bits(std::uint64_t n) const {
    const PhiloxBlock four = block(n / 2);
    return std::uint64_t{four[n % 2 * 2 + 1]} << 32 | four[n % 2 * 2];
  }
  /// In (0, 1].
  double uniform(std::uint64_t n) const {
    constexpr double step = 1.0 / 9007199254740992.0; // 2^-53
    return static_cast<double>((wide_bits(n) >> 11) + 1) * step;
  }
  float uniform_float(std::uint64_t n) const {
    constexpr double step = 1.0 / 16777216.0; // 2^-24
    return static_cast<float>(static_cast<double>((bits(n) >> 8) + 1) * step);
  }
  /// Of mean 0 and deviation 1; two numbers that follow each other are made of the same two.
  double normal(std::uint64_t n) const {
    const std::uint64_t first = n / 2 * 2;
    const double radius = std::sqrt(-2 * std::log(uniform(first)));
    const double angle = 2 * std::numbers::pi * uniform(first + 1);
    return radius * (n % 2 == 0 ? std::cos(angle) : std::sin(angle));
  }
  std::uint32_t poisson(std::uint64_t n, double mean) const {
    std::seed_seq seed{
        key_[0],
        key_[1],
        kind_,
        static_cast<std::uint32_t>(n),
        static_cast<std::uint32_t>(n >> 32)
    };
    std::minstd_rand engine(seed);
    return static_cast<std::uint32_t>(std::poisson_distribution<std::int64_t>(mean)(engine));
  }

private:
  PhiloxBlock block(std::uint64_t number) const {
    return philox(
        {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), kind_, 0},
        key_
    );
  }

  std::uint32_t kind_;
  PhiloxKey key_;
};

template <class Value, class Make>
int fill(Generator* g, const char* call, Value* to, std::size_t count, Make make) {
  if (g == nullptr) {
    return NotInitialized;
  }
  const auto write = [sequence = Sequence(*g), first = g->offset, count, make](Value* at) {
    for (std::size_t i = 0; i < count; ++i) {
      at[i] = static_cast<Value>(make(sequence, first + i));
    }
  };
  g->offset += count;
  if (g->on_host) {
    write(to);
    return Success;
  }
  using Write = std::remove_const_t<decltype(write)>;
  const heddle::runtime::LibraryMemory memory{
      "the output",
      to,
      count * sizeof(Value),
      1,
      0,
      heddle::runtime::LibraryAccess::Write,
      false
  };
  const int code = cudart().work(
      g->stream,
      call,
      &memory,
      1,
      [](void* data, std::byte* const* at) {
        (*static_cast<Write*>(data))(reinterpret_cast<Value*>(at[0]));
      },
      new Write(write),
      [](void* data) { delete static_cast<Write*>(data); }
  );
  return code == 0 ? Success : LaunchFailure;
}

int create(Generator** generator, int kind, bool on_host) {
  constexpr int first_quasi = 200; // CURAND_RNG_QUASI_DEFAULT
  if (kind >= first_quasi) {
    cudart().unsupported("curandCreateGenerator of quasi-random numbers");
    return TypeError;
  }
  static_cast<void>(cudart());
  *generator = new Generator{kind, on_host};
  return Success;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

int curandCreateGenerator(Generator** generator, int kind) {
  return create(generator, kind, false);
}
int curandCreateGeneratorHost(Generator** generator, int kind) {
  return create(generator, kind, true);
}
int curandDestroyGenerator(Generator* generator) {
  delete generator;
  return generator == nullptr ? NotInitialized : Success;
}
int curandGetVersion(int* version) {
  *version = 10400;
  return Success;
}
int curandGetProperty(int which, int* value) { // major, minor, patch
  constexpr int parts[] = {10, 4, 0};
  if (which < 0 || which > 2) {
    return OutOfRange;
  }
  *value = parts[which];
  return Success;
}
int curandSetStream(Generator* g, void* stream) {
  return g == nullptr ? NotInitialized : (g->stream = stream, Success);
}
int curandSetPseudoRandomGeneratorSeed(Generator* g, unsigned long long seed) {
  return g == nullptr ? NotInitialized : (g->seed = seed, g->offset = 0, Success);
}
int curandSetGeneratorOffset(Generator* g, unsigned long long offset) {
  return g == nullptr ? NotInitialized : (g->offset = offset, Success);
}
int curandSetGeneratorOrdering(Generator* g, int /*order*/) {
  return g == nullptr ? NotInitialized : Success;
}
int curandGenerateSeeds(Generator* g) {
  return g == nullptr ? NotInitialized : Success;
}
int curandGenerate(Generator* g, unsigned* to, std::size_t n) {
  return fill(g, "curandGenerate", to, n, [](const Sequence& s, std::uint64_t i) {
    return s.bits(i);
  });
}
int curandGenerateUniform(Generator* g, float* to, std::size_t n) {
  return fill(g, "curandGenerateUniform", to, n, [](const Sequence& s, std::uint64_t i) {
    return s.uniform_float(i);
  });
}
int curandGenerateUniformDouble(Generator* g, double* to, std::size_t n) {
  return fill(g, "curandGenerateUniformDouble", to, n, [](const Sequence& s, std::uint64_t i) {
    return s.uniform(i);
  });
}
int curandGeneratePoisson(Generator* g, unsigned* to, std::size_t n, double mean) {
  return mean <= 0
             ? OutOfRange
             : fill(g, "curandGeneratePoisson", to, n, [mean](const Sequence& s, std::uint64_t i) {
                 return s.poisson(i, mean);
               });
}

// Normal numbers come in pairs, as documented for pseudo-random generators.
#define HEDDLE_NORMAL(name, T)                                                                     \
  int curandGenerateNormal##name(Generator* g, T* to, std::size_t n, T mean, T deviation) {        \
    return n % 2 != 0 ? LengthNotMultiple                                                          \
                      : fill(                                                                      \
                            g,                                                                     \
                            "curandGenerateNormal" #name,                                          \
                            to,                                                                    \
                            n,                                                                     \
                            [=](const Sequence& s, std::uint64_t i) {                              \
                              return mean + deviation * s.normal(i);                               \
                            }                                                                      \
                        );                                                                         \
  }                                                                                                \
  int curandGenerateLogNormal##name(Generator* g, T* to, std::size_t n, T mean, T deviation) {     \
    return n % 2 != 0 ? LengthNotMultiple                                                          \
                      : fill(                                                                      \
                            g,                                                                     \
                            "curandGenerateLogNormal" #name,                                       \
                            to,                                                                    \
                            n,                                                                     \
                            [=](const Sequence& s, std::uint64_t i) {                              \
                              return std::exp(mean + deviation * s.normal(i));                     \
                            }                                                                      \
                        );                                                                         \
  }
HEDDLE_NORMAL(, float)
HEDDLE_NORMAL(Double, double)

} // extern "C"
#pragma GCC visibility pop
