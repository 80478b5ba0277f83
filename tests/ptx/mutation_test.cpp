// Damaged PTX: cut off, bytes flipped, parts repeated or swapped. Every answer is a module or an
// error with a position; nothing crashes (the sanitizer presets run this too). Deterministic.
#include "analysis/cfg.h"
#include "ptx/equal.h"
#include "ptx/parse.h"

#include "fixture_files.h"
#include <gtest/gtest.h>

namespace heddle::ptx {
namespace {

// Used where nvcc is missing, and because short texts are hit more densely.
const char* const small = R"(.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) callee (.param .b64 a);
.global .align 8 .u64 table[4] = {0, callee, generic(table)+8, 0xFF(table)};
.visible .entry k(.param .u64 out, .param .align 8 .b8 s[16])
.maxntid 128, 1, 1
{
	.local .align 16 .b8 depot[32];
	.reg .pred %p<3>;
	.reg .b32 %r<5>;
	.reg .b64 %rd<5>;
	.loc 1 3 4, function_name $L__info, inlined_at 1 2 3
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
T: .branchtargets A, B;
	@!%p1 bra B;
	brx.idx %r1, T;
A:
	{ .reg .b32 t<2>; .param .b64 param0; .param .b32 ret0;
	st.param.b64 [param0+0], %rd1;
	p : .callprototype (.param .b32 _) _ (.param .b64 _);
	call (ret0), %rd1, (param0), p;
	ld.param.b32 t1, [ret0+0];
	setp.eq.and.s32 %p1|%p2, t1, -5, !%p0;
	}
	st.global.v2.f32 [%rd1+-8], {%r1, 0f3F800000};
	mov.b64 {%r2, _}, %rd1;
	atom.global.cas.b32 %r3, [%rd1], %r1, 1.5;
	mov.u32 %r1, 4 * (2 + ~1) << 3;
B:
	ret;
}
.section .debug_str
{
$L__info:
.b8 102,111,0
}
)";

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()(std::uint64_t n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return n == 0 ? 0 : (state_ >> 33) % n;
  }

private:
  std::uint64_t state_;
};

void check(const std::string& text) {
  auto module = parse(text, "damaged.ptx");
  if (!module) {
    ASSERT_TRUE(module.error().message.starts_with("damaged.ptx:")) << module.error().message;
    return;
  }
  // What parses can be used, and still prints to an equal module.
  for (const auto& function : (*module)->functions) {
    analysis::Cfg cfg(*function);
    ASSERT_FALSE(cfg.blocks().empty());
  }
  std::string printed = print(**module);
  auto again = parse(printed, "printed.ptx");
  ASSERT_TRUE(again) << again.error().message << "\nfrom:\n" << text;
  auto found = difference(**module, **again);
  ASSERT_FALSE(found) << *found << "\nfrom:\n" << text;
}

std::string mutate(std::string text, Random& random) {
  static constexpr std::string_view pieces[] = {
      "{",     "}",     "(",        ")",  "[",
      "]",     ";",     ",",        ":",  ".",
      "%r1",   "0x",    "-",        "+",  "@",
      "!",     "|",     "<",        ">",  "\"",
      "/*",    "//",    "\n",       "_",  "9999999999999999999",
      ".reg ", ".b32 ", "generic(", "0f", ".loc ",
      "ret",   ".v4",   ".u64",     "%p0"
  };
  int changes = 1 + static_cast<int>(random(3));
  for (int c = 0; c < changes && !text.empty(); ++c) {
    std::size_t at = random(text.size());
    switch (random(6)) {
    case 0:
      text[at] = static_cast<char>(random(256));
      break;
    case 1:
      text.erase(at, 1 + random(8));
      break;
    case 2:
      text.insert(at, pieces[random(std::size(pieces))]);
      break;
    case 3: {
      std::string part = text.substr(at, random(40));
      text.insert(random(text.size()), part);
      break;
    }
    case 4:
      std::swap(text[at], text[random(text.size())]);
      break;
    default:
      text[at] = static_cast<char>(text[at] ^ (1 << random(7)));
    }
  }
  return text;
}

TEST(Mutations, EveryPrefixOfASmallModule) {
  std::string text = small;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    check(text.substr(0, length));
  }
}

TEST(Mutations, SmallModule) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    check(mutate(small, random));
  }
}

TEST(Mutations, Fixtures) {
  Random random(2);
  auto files = fixture_files();
  if (files.empty()) {
    GTEST_SKIP() << "no PTX fixtures: nvcc is not installed";
  }
  for (const FixtureFile& file : files) {
    if (file.text.size() > 300'000) {
      continue; // tables of curand and CUB: slow, and not different
    }
    for (int i = 0; i < 12; ++i) {
      check(mutate(file.text, random));
      check(file.text.substr(0, random(file.text.size())));
    }
  }
}

} // namespace
} // namespace heddle::ptx
