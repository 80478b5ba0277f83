// Random operations on doubles, interpreted and compiled: the same bits come out, wherever NaN
// appears and whoever looks at it. HEDDLE_RANDOM_KERNELS=N: how many (default 6), from
// HEDDLE_RANDOM_SEED=N on.
#include "support/compiled.h"
#include "unit/isa/one_kernel.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace heddle::test {
namespace {

/// Operations of which most use results of others, so that chains and what ends them come in all
/// orders; in a loop of a few rounds, for some lanes or all.
class RandomDoubles {
public:
  explicit RandomDoubles(unsigned seed) : random_(seed) {}

  std::string body() {
    text_ = ".reg .f64 %c<64>; .reg .f32 %n<4>; .reg .b64 %b<4>; .reg .pred %z<8>;\n"
            "mov.u32 %r1, 0; mov.u64 %b0, 0; and.b32 %r2, %r0, 15;\n";
    // Few lanes have NaN, and some of these several: of different signs and payloads, some of them
    // signalling. Which one an operation hands on shows where two meet.
    static constexpr const char* special[] = {
        "0x7ff8000000054321",
        "0xfff8000000012345",
        "0x7ff0000000000001",
        "0xfff4000000000777",
        "0x7ff0000000000000",
        "0xfff0000000000000",
        "0x8000000000000000",
        "0x0000000000000001"
    };
    for (int n = 0; n < inputs; ++n) {
      line(
          fmt::format("cvt.rn.f64.s32 %c{}, %r0; mul.f64 %c{}, %c{}, 0d3FD3333333333333;", n, n, n)
      );
      line(fmt::format("add.f64 %c{}, %c{}, 0d3FF8000000000000;", n, n));
      if (below(3) != 0) {
        line(fmt::format("setp.eq.u32 %z0, %r2, {};", below(4)));
        line(fmt::format("@%z0 mov.b64 %c{}, {};", n, special[below(std::size(special))]));
      }
    }
    for (int n = 1; n < 8; ++n) {
      line(
          fmt::format("setp.{} %z{}, %r2, {};", below(2) != 0 ? "lt.u32" : "ne.u32", n, below(17))
      );
    }
    const bool parted = below(3) == 0;
    line(parted ? "@%z1 bra OVER;" : "");
    text_ += "LOOP:\n";
    written_ = inputs;
    for (unsigned n = 0, count = 8 + below(30); n < count; ++n) {
      operation();
    }
    line("add.u32 %r1, %r1, 1; setp.lt.u32 %z0, %r1, 3;");
    line("@%z0 bra LOOP;");
    text_ += "OVER:\n";
    for (int n = 0; n < written_; ++n) {
      if (below(3) == 0) {
        look_at(n);
      }
    }
    return text_ + "st.global.u64 [%rd5], %b0;\n";
  }

private:
  static constexpr int inputs = 6;

  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  void line(const std::string& text) { text_ += text + '\n'; }
  /// A register with a value, more likely one of the last.
  std::string value() {
    const int back = static_cast<int>(below(2) != 0 ? below(4) : below(64));
    return fmt::format("%c{}", std::max(0, written_ - 1 - back));
  }
  /// A fresh register, or one that has a value.
  std::string result() {
    return written_ < 60 && below(5) != 0 ? fmt::format("%c{}", written_++) : value();
  }
  void look_at(int n) {
    line(fmt::format("mov.b64 %b1, %c{}; mad.lo.u64 %b0, %b0, 0x9e3779b97f4a7c15, %b1;", n));
  }

  void operation() {
    static constexpr const char* binary[] = {"add.f64", "sub.f64", "mul.f64", "div.rn.f64"};
    static constexpr const char* unary[] = {"neg.f64", "abs.f64", "sqrt.rn.f64", "rcp.rn.f64"};
    const std::string guard = below(8) == 0 ? fmt::format("@%z{} ", 1 + below(7)) : "";
    switch (below(16)) {
    default:
      binary_line(guard, binary[below(4)]);
      break;
    case 0:
    case 1:
    case 2:
    case 3: {
      const std::string a = value();
      const std::string b = value();
      const std::string c = value();
      line(fmt::format("{}fma.rn.f64 {}, {}, {}, {};", guard, result(), a, b, c));
      break;
    }
    case 4:
    case 5: {
      const std::string a = value();
      line(fmt::format("{}{} {}, {};", guard, unary[below(4)], result(), a));
      break;
    }
    case 6:
      binary_line(guard, below(2) != 0 ? "min.f64" : "max.f64");
      break;
    case 7: {
      const std::string a = value();
      line(fmt::format("cvt.rn.f32.f64 %n0, {}; cvt.f64.f32 {}, %n0;", a, result()));
      break;
    }
    case 8: {
      const std::string a = value();
      const std::string b = value();
      line(fmt::format("setp.gt.f64 %z0, {}, {}; selp.f64 {}, {}, {}, %z0;", a, b, result(), b, a));
      break;
    }
    case 9:
      look_at(static_cast<int>(below(static_cast<std::size_t>(written_))));
      break;
    case 10: {
      const std::string a = value();
      line(fmt::format("{}mov.f64 {}, {};", guard, result(), a));
      break;
    }
    case 11:
      line(fmt::format("st.global.f64 [%rd5], {};", value()));
      line(fmt::format("ld.global.f64 {}, [%rd5];", result()));
      break;
    }
  }
  void binary_line(const std::string& guard, const char* name) {
    const std::string a = value();
    const std::string b = value();
    line(fmt::format("{}{} {}, {}, {};", guard, name, result(), a, b));
  }

  std::mt19937 random_;
  std::string text_;
  int written_ = 0; // registers
};

struct Outcome {
  std::string error;
  std::vector<std::uint32_t> out;
};
Outcome execute(
    const std::string& body,
    const machine::LaunchConfig& config,
    machine::EngineOptions options
) {
  OneKernel kernel(body, "", std::move(options));
  Outcome run;
  run.error = kernel.run(config);
  run.out = kernel.out;
  return run;
}

void compare(unsigned seed) {
  const machine::LaunchConfig shapes[] = {{.block = {64}}, {.block = {16}}, {.block = {40}}};
  const machine::LaunchConfig& shape = shapes[seed % std::size(shapes)];
  const std::string body = RandomDoubles(seed).body();
  const Outcome interpreted = execute(body, shape, {});
  for (const bool guesses : {true, false}) {
    const auto kernels = std::make_shared<CompiledKernels>();
    kernels->guesses = guesses;
    const Outcome machine_code = execute(body, shape, compiled(kernels));
    ASSERT_EQ(kernels->compiled, 1) << "seed " << seed << ": " << interpreted.error;
    ASSERT_EQ(machine_code.error, interpreted.error) << "seed " << seed;
    ASSERT_EQ(machine_code.out, interpreted.out)
        << "seed " << seed << ", guesses " << guesses << '\n'
        << body;
  }
}

TEST(NanChains, HaveTheBitsOfTheInterpreter) {
  const char* wanted = std::getenv("HEDDLE_RANDOM_KERNELS");
  const char* from = std::getenv("HEDDLE_RANDOM_SEED");
  const unsigned count = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 6;
  const unsigned first = from != nullptr ? static_cast<unsigned>(std::atoi(from)) : 1;
  for (unsigned seed = first; seed < first + count; ++seed) {
    ASSERT_NO_FATAL_FAILURE(compare(seed));
  }
}

} // namespace
} // namespace heddle::test
