// What functions and assembly mean by their text alone.
#include "lint/known.h"

#include <gtest/gtest.h>

namespace heddle::lint {
namespace {

TEST(Known, BarriersAndGroups) {
  EXPECT_EQ(known_function("__syncthreads").effect, Effect::BlockBarrier);
  EXPECT_EQ(known_function("cooperative_groups::grid_group::sync").effect, Effect::GridBarrier);
  EXPECT_EQ(known_function("__syncwarp").effect, Effect::WarpBarrier);
  EXPECT_FALSE(known_function("my::sync").known);
}

TEST(Known, FamiliesOfAtomics) {
  for (const char* name :
       {"atomicAdd",
        "atomicCAS_block",
        "atomicExch_system",
        "cuda::atomic::fetch_add",
        "cuda::std::atomic_ref::exchange"}) {
    EXPECT_EQ(known_function(name).effect, Effect::AtomicUpdate) << name;
  }
  EXPECT_EQ(known_function("cuda::atomic_ref::load").effect, Effect::AtomicLoad);
  EXPECT_FALSE(known_function("atomicAddSomething").known);
}

TEST(Known, Assembly) {
  EXPECT_EQ(known_assembly("bar.sync 0;").effect, Effect::BlockBarrier);
  EXPECT_EQ(known_assembly("bar.sync 1, 64;").effect, Effect::NamedBarrier);
  EXPECT_EQ(known_assembly("barrier.cta.red.popc.u32 %0, 0, q;").effect, Effect::BlockBarrier);
  EXPECT_EQ(known_assembly("exit;").effect, Effect::ThreadExit);
  EXPECT_EQ(known_assembly("mov.u32 %0, %laneid;").symbol, Symbol::LaneIndex);
  EXPECT_EQ(known_assembly("add.u32 %0, %1, %2;").effect, Effect::Pure);
}

TEST(Known, LevelsAreOrdered) {
  EXPECT_LT(Level::Grid, Level::Block);
  EXPECT_EQ(level(Symbol::BlockIndexX), Level::Block);
  EXPECT_EQ(level(Symbol::ThreadIndexX), Level::Thread);
}

} // namespace
} // namespace heddle::lint
