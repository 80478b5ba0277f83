// The analyses on sources in a temporary folder, with Heddle's own declarations of CUDA.
#include "lint/check.h"
#include "lint/frontend.h"
#include "lint/lanes.h"
#include "lint/waits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace heddle::lint {
namespace {

class Source : public testing::Test {
protected:
  void read(const std::string& text) {
    const auto path =
        std::filesystem::path(testing::TempDir()) /
        (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".cu");
    std::ofstream(path) << text;
    FrontEnd front;
    front.file = path.string();
    auto unit = read_unit(front);
    ASSERT_TRUE(unit) << unit.error().message;
    unit_ = std::move(*unit);
    ASSERT_EQ(unit_.errors, 0U) << unit_.first_error;
    std::filesystem::remove(path);
  }

  std::uint32_t kernel() const {
    for (std::uint32_t i = 0; i < unit_.functions.size(); ++i) {
      if (unit_.functions[i].is_kernel) {
        return i;
      }
    }
    return 0;
  }

  std::vector<std::string> keys(unsigned architecture = 90) const {
    CheckOptions options;
    options.architecture = architecture;
    std::vector<std::string> result;
    for (const Found& found : check_unit(unit_, options).findings) {
      result.push_back(found.key);
    }
    return result;
  }

  Unit unit_;
};

TEST_F(Source, LanesFollowTheIndexOfTheThread) {
  read("__global__ void k(int* p) { int m = threadIdx.x % 32 < 8 ? 255 : 0; if (m) p[0] = m; }");
  const Graph graph = inline_calls(unit_, kernel());
  const Dataflow flow(graph);
  const Uniformity uniformity(flow, launch_facts(unit_, kernel()));
  const Entry entry{unit_, kernel(), graph, flow, uniformity};
  Lanes lanes(entry);
  ASSERT_EQ(flow.writes.size(), 1U);
  const ValueId value = flow.resolve(graph.code[flow.writes[0]].operands[1]);
  const std::uint32_t block = graph.block_of[flow.writes[0]];
  EXPECT_EQ(lanes.value(value, 39), 255);
  EXPECT_EQ(lanes.takes_part(block, 39), Lanes::Part::In);
  EXPECT_EQ(lanes.takes_part(block, 40), Lanes::Part::Out);
}

TEST_F(Source, WhatAParameterSaysIsNotKnown) {
  read("__global__ void k(int* p, int n) { if (threadIdx.x < n) p[0] = 1; }");
  const Graph graph = inline_calls(unit_, kernel());
  const Dataflow flow(graph);
  const Uniformity uniformity(flow, launch_facts(unit_, kernel()));
  const Entry entry{unit_, kernel(), graph, flow, uniformity};
  Lanes lanes(entry);
  EXPECT_EQ(lanes.takes_part(graph.block_of[flow.writes[0]], 3), Lanes::Part::Maybe);
  EXPECT_EQ(
      object_of(entry, address_of(entry, flow.writes[0])),
      (SharedObject{/*is_parameter=*/true, 0})
  );
}

TEST_F(Source, LocksBelowVolta) {
  read(
      "__global__ void k(int* l, int* p) { while (atomicCAS(l, 0, 1)); __threadfence(); *p += 1; "
      "__threadfence(); atomicExch(l, 0); }"
  );
  EXPECT_EQ(keys(60).front(), "cuda_progress_warp_lock");
  EXPECT_EQ(keys(70), std::vector<std::string>{"cuda_legacy_atomic"});
}

TEST_F(Source, ConstantsAboveTheLargestSignedNumber) {
  read(
      "__global__ void k(unsigned long long* p) { if (*p == 0xffffffffffffffffull) "
      "__syncthreads(); "
      "p[1] = ~0ull; }"
  );
  EXPECT_TRUE(keys().empty());
}

TEST_F(Source, LaunchesKnowTheirSizes) {
  read(
      "__global__ void k() {}\nvoid f(int n) { k<<<dim3(2, 3), 64>>>(); k<<<n, dim3(8, n)>>>(); }"
  );
  ASSERT_EQ(unit_.launches.size(), 2U);
  EXPECT_EQ(unit_.launches[0].grid_size[1], 3);
  EXPECT_EQ(unit_.launches[0].block_size[0], 64);
  EXPECT_FALSE(unit_.launches[1].grid_size[0]);
  EXPECT_FALSE(unit_.launches[1].block_size[1]);
}

} // namespace
} // namespace heddle::lint
