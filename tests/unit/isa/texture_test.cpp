// Texture sampling of one thread against definitions written another way, on textures in host
// memory.
#include "isa/ops_texture.h"
#include "isa/texture_lanes.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace heddle::isa {
namespace {

/// The texel that a coordinate means, as the CUDA guide defines the address modes: on real numbers.
double folded(AddressMode mode, double x) {
  switch (mode) {
  case AddressMode::Wrap:
    return x - std::floor(x);
  case AddressMode::Mirror: {
    const double whole = std::floor(x);
    return std::fmod(std::abs(whole), 2) == 0 ? x - whole : 1 - (x - whole);
  }
  default:
    return x;
  }
}

TEST(Texture, IndexesFollowTheAddressModes) {
  constexpr std::int64_t n = 5;
  for (std::int64_t i = -23; i <= 23; ++i) {
    const double middle = (static_cast<double>(i) + 0.5) / n;
    for (const AddressMode mode : {AddressMode::Wrap, AddressMode::Mirror}) {
      EXPECT_EQ(
          ops::texel_index(mode, i, n),
          static_cast<std::int64_t>(std::floor(folded(mode, middle) * n))
      ) << i;
    }
    EXPECT_EQ(ops::texel_index(AddressMode::Clamp, i, n), i < 0 ? 0 : i < n ? i : n - 1);
    EXPECT_EQ(ops::texel_index(AddressMode::Border, i, n), i < 0 || i >= n ? -1 : i);
  }
}

TEST(Texture, WeightsHaveEightFractionalBits) {
  EXPECT_EQ(ops::footprint(0.5).first, 0);
  EXPECT_EQ(ops::footprint(0.5).weight, 0);
  EXPECT_EQ(ops::footprint(1.25).first, 0);
  EXPECT_EQ(ops::footprint(1.25).weight, 0.75F);
  EXPECT_EQ(ops::footprint(0.0).first, -1);
  EXPECT_EQ(ops::footprint(0.0).weight, 0.5F);
  EXPECT_EQ(ops::footprint(1.4999).first, 1); // nearer to the next texel than half a step
  for (int i = 0; i < 2560; ++i) {
    const ops::Footprint foot = ops::footprint(i / 1000.0);
    EXPECT_NEAR(
        static_cast<double>(foot.first) + static_cast<double>(foot.weight),
        i / 1000.0 - 0.5,
        1.0 / 512
    );
    EXPECT_EQ(foot.weight * 256, std::floor(foot.weight * 256));
  }
}

template <class T> struct Image {
  std::vector<T> texels;
  TextureDescriptor t;
  Image(std::vector<T> values, std::uint32_t width, std::uint32_t height, ChannelKind kind)
      : texels(std::move(values)) {
    t.data = reinterpret_cast<memory::Address>(texels.data());
    t.width = width;
    t.height = height;
    t.pitch = width * sizeof(T);
    t.channel_bytes = sizeof(T);
    t.kind = kind;
  }
  ops::Words sample(float x, float y) {
    ops::TexturePoint point;
    point.at = {x, y, 0};
    ops::Words words{};
    const auto read = [this](memory::Address at, std::uint32_t bytes) -> const std::byte* {
      const memory::Address first = t.data;
      EXPECT_LE(at - first + bytes, texels.size() * sizeof(T));
      return reinterpret_cast<const std::byte*>(at);
    };
    EXPECT_TRUE(ops::sample(t, point, 2, read, words));
    return words;
  }
};

TEST(Texture, IntegersAreReadWholeOrAsFractions) {
  Image<std::int8_t> image({-128, -127, 0, 127}, 2, 2, ChannelKind::Signed);
  EXPECT_EQ(static_cast<std::int32_t>(image.sample(0.5F, 0.5F)[0]), -128);
  EXPECT_EQ(image.sample(0.5F, 0.5F)[3], 1U); // missing channels: 0, 0, 1
  image.t.normalised_reads = true;
  EXPECT_EQ(ops::from_bits<float>(image.sample(0.5F, 0.5F)[0]), -1.0F);
  EXPECT_EQ(ops::from_bits<float>(image.sample(1.5F, 0.5F)[0]), -1.0F);
  EXPECT_EQ(ops::from_bits<float>(image.sample(1.5F, 1.5F)[0]), 1.0F);
  Image<std::uint8_t> colours({0, 10, 128, 255}, 2, 2, ChannelKind::Unsigned);
  colours.t.normalised_reads = true;
  EXPECT_EQ(ops::from_bits<float>(colours.sample(0.5F, 1.5F)[0]), 128.0F / 255);
  colours.t.srgb = true;
  EXPECT_NEAR(ops::from_bits<float>(colours.sample(0.5F, 1.5F)[0]), 0.2158605, 1e-6);
  EXPECT_NEAR(ops::from_bits<float>(colours.sample(1.5F, 0.5F)[0]), 10.0 / 255 / 12.92, 1e-7);
}

TEST(Texture, FiltersWeighFourTexels) {
  Image<float> image({0, 1, 2, 3}, 2, 2, ChannelKind::Float);
  image.t.linear_filter = true;
  EXPECT_EQ(ops::from_bits<float>(image.sample(1.0F, 1.0F)[0]), 1.5F);
  EXPECT_EQ(ops::from_bits<float>(image.sample(0.75F, 0.5F)[0]), 0.25F);
  image.t.address_mode = {AddressMode::Border, AddressMode::Border, AddressMode::Border};
  image.t.border = {8, 0, 0, 0};
  EXPECT_EQ(ops::from_bits<float>(image.sample(2.0F, 1.5F)[0]), 5.5F); // half 3, half border
  image.t.normalised_coordinates = true;
  image.t.address_mode = {AddressMode::Wrap, AddressMode::Wrap, AddressMode::Wrap};
  EXPECT_EQ(ops::from_bits<float>(image.sample(-3.0F, 0.25F)[0]), 0.5F); // between texels 1 and 0
  EXPECT_EQ(
      ops::from_bits<float>(image.sample(std::numeric_limits<float>::quiet_NaN(), 0.25F)[0]),
      ops::from_bits<float>(image.sample(0, 0.25F)[0])
  );
}

TEST(Texture, DirectionsMeetTheFacesOfACube) {
  const auto face = [](float x, float y, float z) {
    ops::TexturePoint point;
    point.at = {x, y, z};
    ops::project_on_cube(point);
    EXPECT_GE(point.at[0], 0);
    EXPECT_LE(point.at[0], 1);
    return point;
  };
  EXPECT_EQ(face(2, 1, -1).layer, 0U);
  EXPECT_EQ(face(-2, 1, -1).layer, 1U);
  EXPECT_EQ(face(0, 3, 1).layer, 2U);
  EXPECT_EQ(face(0, -3, 1).layer, 3U);
  EXPECT_EQ(face(0, 1, 4).layer, 4U);
  EXPECT_EQ(face(0, 1, -4).layer, 5U);
  EXPECT_EQ(face(2, 1, -1).at[0], 0.75F); // s = -z
  EXPECT_EQ(face(2, 1, -1).at[1], 0.25F); // t = -y
}

/// The same words as with a descriptor that says all of it at run time.
template <class Known> void expect_same_words(ChannelKind kind) {
  TextureDescriptor t;
  t.kind = kind;
  t.channels = Known::channels;
  t.channel_bytes = Known::channel_bytes;
  t.normalised_reads = Known::normalised_reads;
  t.width = 7;
  t.height = 5;
  t.pitch = 8 * t.texel_bytes();
  ASSERT_TRUE(Known::is(t));
  std::vector<std::uint8_t> bytes(t.pitch * t.height);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    bytes[n] = static_cast<std::uint8_t>(n * 37 + n / 11);
  }
  t.data = reinterpret_cast<memory::Address>(bytes.data());
  const TexelMemory memory{reinterpret_cast<std::byte*>(bytes.data()), t.data};
  for (const bool linear : {false, true}) {
    t.linear_filter = linear && t.reads_floats();
    for (int i = -6; i < 40; ++i) {
      ops::TexturePoint point;
      point.at = {static_cast<float>(i) * 0.27F, static_cast<float>(i) * 0.19F, 0};
      ops::Words words{};
      ops::Words known{};
      ASSERT_TRUE(ops::sample_level_here(t, point, 0, 2, memory, words));
      ASSERT_TRUE(ops::sample_level_here(Known{t}, point, 0, 2, memory, known));
      ASSERT_EQ(words, known) << i;
    }
  }
}

TEST(Texture, KnownFormatsReadTheSame) {
  using enum ChannelKind;
  expect_same_words<ops::KnownTexture<Float, 1, 4, false>>(Float);
  expect_same_words<ops::KnownTexture<Float, 4, 4, false>>(Float);
  expect_same_words<ops::KnownTexture<Float, 2, 4, false>>(Float);
  expect_same_words<ops::KnownTexture<Unsigned, 4, 1, true>>(Unsigned);
  expect_same_words<ops::KnownTexture<Unsigned, 1, 1, true>>(Unsigned);
  expect_same_words<ops::KnownTexture<Unsigned, 4, 1, false>>(Unsigned);
  expect_same_words<ops::KnownTexture<Unsigned, 1, 1, false>>(Unsigned);
}

// Lanes of all kinds of coordinates at once, against one after the other.
template <std::size_t axes, class Known>
void expect_lanes_sample_the_same(std::mt19937& random, std::uint64_t& lanes_sampled) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::vector<std::byte> bytes(std::size_t{64} * 1024);
  for (std::size_t n = 0; n < bytes.size(); n += 4) {
    const float some[] = {1.5F, -3, std::numeric_limits<float>::infinity(), 0.1F, 7e20F, -0.0F, 2};
    const std::uint32_t word = Known::kind == ChannelKind::Float
                                   ? ops::bits(some[below(7)])
                                   : static_cast<std::uint32_t>(random());
    std::memcpy(&bytes[n], &word, sizeof word);
  }
  for (int round = 0; round < 400; ++round) {
    TextureDescriptor t;
    t.kind = Known::kind;
    t.channels = Known::channels;
    t.channel_bytes = Known::channel_bytes;
    t.normalised_reads = Known::normalised_reads;
    t.width = 1 + below(30);
    t.height = axes == 1 ? 1 : 1 + below(9);
    t.layers = 1 + below(3);
    t.dimensions = axes;
    t.pitch = (t.width + below(2)) * t.texel_bytes();
    for (AddressMode& mode : t.address_mode) {
      mode = below(2) == 0 ? AddressMode::Clamp : static_cast<AddressMode>(below(4));
    }
    t.linear_filter = Known::reads_floats() && below(2) == 0;
    t.normalised_coordinates = below(2) == 0;
    alignas(64) std::array<std::array<float, warp_size>, 3> at{};
    alignas(64) std::array<std::uint32_t, warp_size> layer{};
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      for (auto& axis : at) {
        const float special[] =
            {NAN, INFINITY, -INFINITY, 3e30F, -1e-30F, -0.0F, 2.5e9F, 1, 0.5F, -1.5F};
        axis[lane] = below(40) == 0             ? special[below(10)]
                     : t.normalised_coordinates ? static_cast<float>(below(3000)) / 1000 - 1
                                                : static_cast<float>(below(320)) / 8 - 4;
      }
      layer[lane] = below(t.layers + 1);
    }
    const LaneMask lanes = below(2) == 0 ? all_lanes : static_cast<LaneMask>(random());
    const auto words = [](const auto& values) {
      return reinterpret_cast<const std::uint32_t*>(values.data());
    };
    std::array<const std::uint32_t*, 3> places{};
    for (std::size_t axis = 0; axis < axes; ++axis) {
      places[axis] = words(at[axis]);
    }
    const Known known{t};
    alignas(64) Footprints near;
    alignas(64) Rows rows;
    alignas(64) ChannelLanes result;
    if (t.linear_filter) {
      if (!find_footprints<2, true>(t, places, lanes, near)) {
        continue;
      }
      find_rows<2>(t, near, layer.data(), 2, rows);
      filter_lanes(known, near, rows, bytes.data(), result);
    } else {
      if (!find_footprints<axes, false>(t, places, lanes, near)) {
        continue;
      }
      find_rows<axes>(t, near, layer.data(), 1, rows);
      point_lanes(known, rows[0], near[0].number[0], bytes.data(), result);
    }
    for (LaneMask m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(m));
      ops::TexturePoint point;
      point.layer = layer[lane];
      for (std::size_t axis = 0; axis < axes; ++axis) {
        point.at[axis] = at[axis][lane];
      }
      ops::Words one{};
      const TexelMemory memory{bytes.data(), 0};
      ASSERT_TRUE(ops::sample_level_here(known, point, 0, axes, memory, one));
      for (std::size_t channel = 0; channel < 4; ++channel) {
        ASSERT_EQ(result[channel][lane], one[channel]) << round << ", lane " << lane;
      }
      ++lanes_sampled;
    }
  }
}

TEST(Texture, LanesSampleAtOnceWhatEachWouldAlone) {
  using enum ChannelKind;
  std::mt19937 random(7);
  std::uint64_t sampled = 0;
  const auto try_format = [&]<class Known>() {
    expect_lanes_sample_the_same<1, Known>(random, sampled);
    expect_lanes_sample_the_same<2, Known>(random, sampled);
  };
  try_format.operator()<ops::KnownTexture<Float, 1, 4, false>>();
  try_format.operator()<ops::KnownTexture<Float, 4, 4, false>>();
  try_format.operator()<ops::KnownTexture<Float, 2, 4, false>>();
  try_format.operator()<ops::KnownTexture<Unsigned, 4, 1, true>>();
  try_format.operator()<ops::KnownTexture<Unsigned, 1, 1, true>>();
  try_format.operator()<ops::KnownTexture<Unsigned, 4, 1, false>>();
  try_format.operator()<ops::KnownTexture<Unsigned, 1, 1, false>>();
  EXPECT_GT(sampled, 30'000U); // and the rest is not done at once
}

TEST(Texture, FractionsAreQuotients) {
  for (const int bits : {8, 16}) {
    const auto most = static_cast<float>((1 << bits) - 1);
    const auto most_signed = static_cast<float>((1 << (bits - 1)) - 1);
    for (int value = 0; value < 1 << bits; ++value) {
      const auto number = static_cast<float>(value);
      ASSERT_EQ(ops::fraction_of(number, most), number / most);
      const float shifted = number - static_cast<float>(1 << (bits - 1));
      ASSERT_EQ(
          ops::bits(ops::fraction_of(shifted, most_signed)),
          ops::bits(shifted / most_signed)
      );
    }
  }
}

TEST(Texture, TexelsAreAtHandIfAllOfThemLieInOneAllocation) {
  memory::AddressSpace space;
  Exec exec(space);
  constexpr std::uint64_t size = 15 * 256 + 128;
  TextureDescriptor t;
  t.data = *space.allocate(size, 256, memory::AllocationKind::Device, 0);
  t.kind = ChannelKind::Float;
  t.channel_bytes = 4;
  t.width = 32;
  t.height = 16; // the last row needs no padding
  t.pitch = 256;
  const auto at_hand = [&](const auto& change) {
    TextureDescriptor texture = t;
    change(texture);
    return texels_at_hand(exec, 0, texture, /*store=*/false).begin != nullptr;
  };
  const auto at_hand_in_layers = [&](std::uint32_t layers) {
    return at_hand([&](auto& texture) {
      texture.height = 8;
      texture.layers = layers;
    });
  };
  EXPECT_TRUE(at_hand([](auto&) {}));
  EXPECT_FALSE(at_hand([](auto& texture) { texture.width = 33; }));
  EXPECT_FALSE(at_hand([](auto& texture) { texture.height = 17; }));
  EXPECT_TRUE(at_hand_in_layers(2));
  EXPECT_FALSE(at_hand_in_layers(3));
  EXPECT_FALSE(at_hand([](auto& texture) { texture.levels = 2; }));
  EXPECT_FALSE(at_hand([](auto& texture) { texture.pitch = 130; })); // texels are not aligned
}

} // namespace
} // namespace heddle::isa
