// What a wait for an event waits for: the record that it certainly comes behind ([RACE-COMMAND]).
#include "race/commands.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>

namespace heddle::race {
namespace {

/// Ids stand for what the threads of the host have done before, too.
CommandSet set_of(std::initializer_list<std::uint64_t> ids) {
  CommandSet result;
  for (const std::uint64_t id : ids) {
    result.add(id, id);
  }
  return result;
}

/// Two threads of the host and two streams: a kernel and a record of an event in one of these.
class WaitsForRecords : public testing::Test {
protected:
  using Kind = machine::CommandKind;
  static constexpr std::uint64_t recorder = 100, waiter = 200; // what each thread has done

  machine::CommandPtr submit(
      Kind kind,
      std::uint64_t id,
      const CommandSet& host,
      const machine::CommandPtr& after = nullptr,
      std::uint64_t record = 0,
      const char* stream = "stream 1"
  ) {
    auto command = std::make_shared<machine::Command>();
    command->kind = kind;
    command->id = id;
    command->stream = stream;
    command->event.record = record;
    if (after != nullptr) {
      command->after.push_back(after);
    }
    commands_.submitted(*command, host, {});
    return command;
  }
  CommandSet waited_for(const machine::CommandPtr& record, const CommandSet& known) {
    const std::array<machine::CommandPtr, 1> all{record};
    machine::HostWait wait;
    wait.commands = all;
    wait.for_events = true;
    return commands_.waited_for(wait, known);
  }

  Commands commands_{AskCallers()};
};

TEST_F(WaitsForRecords, WhoKnowsThatItHasBeenRecordedWaitsForIt) {
  const auto kernel = submit(Kind::Set, 1, set_of({recorder}));
  const auto record = submit(Kind::EventRecord, 2, set_of({recorder}), kernel);
  EXPECT_TRUE(waited_for(record, set_of({recorder, waiter})).includes(set_of({1, 2})));
}

TEST_F(WaitsForRecords, WhoMayComeBeforeItWaitsForNothing) {
  const auto kernel = submit(Kind::Set, 1, set_of({recorder}));
  const auto record = submit(Kind::EventRecord, 2, set_of({recorder}), kernel);
  const CommandSet waited = waited_for(record, set_of({waiter}));
  EXPECT_FALSE(waited.contains(1));
  EXPECT_FALSE(waited.contains(2));
}

TEST_F(WaitsForRecords, WhoMayComeBeforeTheSecondRecordWaitsForTheFirst) {
  const auto kernel = submit(Kind::Set, 1, set_of({recorder}));
  const auto first = submit(Kind::EventRecord, 2, set_of({recorder}), kernel);
  const auto more = submit(Kind::Set, 3, set_of({recorder}), first);
  const auto second = submit(Kind::EventRecord, 4, set_of({recorder, recorder + 1}), more, 2);
  const CommandSet waited = waited_for(second, set_of({recorder, waiter}));
  EXPECT_TRUE(waited.includes(set_of({1, 2})));
  EXPECT_FALSE(waited.contains(3));
  EXPECT_TRUE(waited_for(second, set_of({recorder, recorder + 1})).includes(set_of({1, 2, 3, 4})));
}

TEST_F(WaitsForRecords, AStreamThatWaitsInAnotherThreadComesBehindNoMore) {
  const auto kernel = submit(Kind::Set, 1, set_of({recorder}));
  const auto record = submit(Kind::EventRecord, 2, set_of({recorder}), kernel);
  submit(Kind::Set, 3, set_of({waiter}), record, 2, "stream 2");
  submit(Kind::Set, 4, set_of({recorder, waiter}), record, 2, "stream 2");
  EXPECT_FALSE(commands_.find(3)->before->contains(1));
  EXPECT_TRUE(commands_.find(4)->before->contains(1));
  EXPECT_EQ(commands_.why(Why::Commands, *commands_.find(1), *commands_.find(3)), Why::Record);
}

TEST_F(WaitsForRecords, OtherCommandsAreWaitedForAsTheyAre) {
  const auto kernel = submit(Kind::Set, 1, set_of({recorder}));
  const auto next = submit(Kind::Set, 2, set_of({recorder}), kernel);
  EXPECT_TRUE(waited_for(next, set_of({waiter})).includes(set_of({1, 2})));
}

} // namespace
} // namespace heddle::race
