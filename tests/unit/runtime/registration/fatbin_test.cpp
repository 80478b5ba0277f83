// Decoding of fat binaries: real ones made by nvcc 13.0 (data/, from
// tests/unit/runtime/registration/data/README.md) in every layout, and thousands of damaged ones,
// none of which may do anything but give an error.
#include "runtime/registration/fatbin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace heddle::runtime {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

Bytes load(const std::string& name) {
  std::ifstream in(std::string(HEDDLE_TEST_DATA) + "/" + name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_FALSE(text.empty()) << name;
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

class Layout : public testing::TestWithParam<const char*> {};

TEST_P(Layout, GivesThePtxWhateverTheCompression) {
  const Bytes bytes = load(GetParam());
  const auto entries = parse_fatbin(bytes);
  ASSERT_TRUE(entries) << entries.error().message;
  const auto ptx = select_ptx(*entries, 90);
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_THAT(*ptx, HasSubstr(".target sm_90"));
  EXPECT_THAT(*ptx, HasSubstr(".visible .entry _Z3addiPKfS0_Pf("));
  EXPECT_EQ(ptx->find('\0'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Fatbin,
    Layout,
    testing::Values("zstd.fatbin", "lz4.fatbin", "raw.fatbin"),
    [](const auto& info) {
      const std::string name = info.param;
      return name.substr(0, name.find('.'));
    }
);

TEST(Fatbin, TakesTheHighestArchitectureNotAboveTheDevice) {
  const Bytes bytes = load("three_archs.fatbin");
  const auto entries = parse_fatbin(bytes);
  ASSERT_TRUE(entries);
  EXPECT_THAT(select_ptx(*entries, 75).value(), HasSubstr(".target sm_75"));
  EXPECT_THAT(select_ptx(*entries, 90).value(), HasSubstr(".target sm_80"));
  EXPECT_THAT(select_ptx(*entries, 100).value(), HasSubstr(".target sm_100"));
}

// nvcc -arch=sm_90a puts in both: PTX for sm_90 and later, and for sm_90a.
TEST(Fatbin, TakesWhatWasMadeForTheDeviceAlone) {
  const std::string_view texts[] = {".target sm_90 ", ".target sm_90a", ".target sm_80 "};
  std::vector<FatbinEntry> entries(3);
  for (std::size_t n = 0; n < 3; ++n) {
    entries[n].kind = static_cast<std::uint16_t>(FatbinKind::Ptx);
    entries[n].arch = n == 2 ? 80 : 90;
    entries[n].flags = n == 1 ? FatbinEntry::flag_specific : 0;
    entries[n].payload = std::as_bytes(std::span(texts[n]));
  }
  EXPECT_EQ(select_ptx(entries, 90).value(), ".target sm_90a");
  EXPECT_EQ(select_ptx(entries, 100).value(), ".target sm_90 ");
  EXPECT_EQ(select_ptx(entries, 80).value(), ".target sm_80 ");
  std::ranges::reverse(entries);
  EXPECT_EQ(select_ptx(entries, 90).value(), ".target sm_90a");
  EXPECT_EQ(select_ptx(entries, 100).value(), ".target sm_90 ");
}

// Wheels have machine code for each device of today, and PTX for the newest one only.
TEST(Fatbin, TakesNewerPtxInThePlaceOfMachineCodeForTheDevice) {
  const std::string_view texts[] = {"sass", ".target sm_120", ".target sm_100"};
  std::vector<FatbinEntry> entries(3);
  for (std::size_t n = 0; n < 3; ++n) {
    entries[n].kind = static_cast<std::uint16_t>(n == 0 ? FatbinKind::Cubin : FatbinKind::Ptx);
    entries[n].payload = std::as_bytes(std::span(texts[n]));
  }
  entries[1].arch = 120;
  entries[2].arch = 100;
  const auto select = [&](std::uint32_t sass, int device) {
    entries[0].arch = sass;
    return select_ptx(entries, device);
  };
  EXPECT_EQ(select(90, 90).value(), ".target sm_100");
  EXPECT_EQ(select(86, 89).value(), ".target sm_100");
  EXPECT_FALSE(select(89, 86));
  EXPECT_FALSE(select(80, 90));
  EXPECT_EQ(select(90, 120).value(), ".target sm_120");
  entries[0].flags = FatbinEntry::flag_specific;
  EXPECT_EQ(select(90, 90).value(), ".target sm_100");
  EXPECT_FALSE(select(86, 89));
}

TEST(Fatbin, SaysWhatToDoWithoutUsablePtx) {
  const Bytes sass = load("sass_only.fatbin");
  const auto only_sass = select_ptx(parse_fatbin(sass).value(), 90);
  ASSERT_FALSE(only_sass);
  EXPECT_THAT(only_sass.error().message, HasSubstr("only SASS"));
  EXPECT_THAT(only_sass.error().message, HasSubstr("-arch=sm_90"));

  const Bytes newer = load("three_archs.fatbin");
  const auto too_new = select_ptx(parse_fatbin(newer).value(), 70);
  ASSERT_FALSE(too_new);
  EXPECT_THAT(too_new.error().message, HasSubstr("--device sm_75"));

  EXPECT_FALSE(select_ptx({}, 90));
}

TEST(Fatbin, ListOfUnitsOfSeparateCompilation) {
  const Bytes one = load("zstd.fatbin");
  const Bytes two = load("raw.fatbin");
  const void* units[] = {one.data(), two.data(), nullptr};
  struct {
    std::uint32_t magic = 0x466243b1;
    std::uint32_t version = 2;
    const void* data = nullptr;
    const void* more = nullptr;
  } wrapper;
  const Bytes linked = load("sass_only.fatbin");
  wrapper.data = linked.data();
  wrapper.more = units;
  const auto fatbins = fatbins_of_wrapper(&wrapper);
  ASSERT_TRUE(fatbins) << fatbins.error().message;
  ASSERT_EQ(fatbins->size(), 2U);
  EXPECT_EQ((*fatbins)[0].data(), one.data());
  EXPECT_EQ((*fatbins)[1].size(), two.size());

  wrapper.version = 7;
  EXPECT_FALSE(fatbins_of_wrapper(&wrapper));
  wrapper.magic = 0;
  EXPECT_FALSE(fatbins_of_wrapper(&wrapper));
  EXPECT_FALSE(fatbins_of_wrapper(nullptr));
}

/// Everything that the runtime does with a fat binary. The result does not matter, only that there
/// is one; run under the sanitizers this also finds reads out of bounds.
void read_all(const Bytes& bytes) {
  const Bytes exact(bytes.begin(), bytes.end()); // no slack behind the last byte
  const auto entries = parse_fatbin(exact);
  if (!entries) {
    EXPECT_FALSE(entries.error().message.empty());
    return;
  }
  for (const FatbinEntry& entry : *entries) {
    static_cast<void>(decode(entry));
  }
  static_cast<void>(select_ptx(*entries, 90));
}

TEST(FatbinFuzz, TruncatedAnywhere) {
  for (const char* name : {"zstd.fatbin", "lz4.fatbin", "three_archs.fatbin"}) {
    const Bytes whole = load(name);
    for (std::size_t n = 0; n < whole.size(); n += n < 256 ? 1 : 61) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      read_all(cut);
      if (n >= 16) { // the header's size adjusted, so that the entries are what is cut
        Bytes fixed = cut;
        const std::uint64_t size = n - 16;
        std::memcpy(fixed.data() + 8, &size, sizeof size);
        read_all(fixed);
      }
    }
  }
}

TEST(FatbinFuzz, EveryHeaderByteReplaced) {
  for (const char* name : {"zstd.fatbin", "lz4.fatbin", "raw.fatbin", "three_archs.fatbin"}) {
    const Bytes whole = load(name);
    for (std::size_t at = 0; at < 96; ++at) {
      for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
        Bytes changed = whole;
        changed[at] = static_cast<std::byte>(value);
        read_all(changed);
      }
    }
  }
}

TEST(FatbinFuzz, RandomDamage) {
  std::mt19937 random(20261121);
  for (const char* name : {"zstd.fatbin", "lz4.fatbin", "raw.fatbin", "three_archs.fatbin"}) {
    const Bytes whole = load(name);
    for (int round = 0; round < 500; ++round) {
      Bytes changed = whole;
      for (int n = 0; n <= round % 9; ++n) {
        changed[random() % changed.size()] = static_cast<std::byte>(random());
      }
      read_all(changed);
    }
  }
}

TEST(FatbinFuzz, NoiseIsRefused) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Bytes noise(random() % 300);
    for (std::byte& b : noise) {
      b = static_cast<std::byte>(random());
    }
    EXPECT_FALSE(parse_fatbin(noise));
  }
}

} // namespace
} // namespace heddle::runtime
