// There is one thing for each content, and it stays where it is.
#include "model/interned.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace heddle::model {
namespace {

struct Thing {
  Hash128 content;
  int value = 0;
};

Hash128 content_of(int i) {
  // All in a few slots, and some that differ in the upper half only.
  return {static_cast<std::uint64_t>(i % 7), static_cast<std::uint64_t>(i)};
}

TEST(Interned, FindsWhatWasAddedWhereItWas) {
  Interned<Thing> things;
  EXPECT_EQ(things.find(content_of(0)), nullptr);
  std::vector<const Thing*> added;
  for (int i = 0; i < 300; ++i) {
    auto thing = std::make_unique<Thing>();
    thing->content = content_of(i);
    thing->value = i;
    added.push_back(things.add(std::move(thing)));
  }
  EXPECT_EQ(things.size(), 300U);
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(things.find(content_of(i)), added[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(things.find(content_of(300)), nullptr);
}

TEST(Interned, KeepsTheOthersWhenSomeAreErased) {
  Interned<Thing> things;
  for (int i = 0; i < 100; ++i) {
    auto thing = std::make_unique<Thing>();
    thing->content = content_of(i);
    thing->value = i;
    things.add(std::move(thing));
  }
  things.erase_if([](const Thing& thing) { return thing.value % 3 == 0; });
  EXPECT_EQ(things.size(), 66U);
  for (int i = 0; i < 100; ++i) {
    const Thing* known = things.find(content_of(i));
    ASSERT_EQ(known == nullptr, i % 3 == 0) << i;
    if (known != nullptr) {
      EXPECT_EQ(known->value, i);
    }
  }
}

} // namespace
} // namespace heddle::model
