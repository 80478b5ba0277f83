// Where a search by one process stands, and a table with that: what another search goes on with.
#include "explore/table/course.h"
#include "explore/table/state_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace heddle::explore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t most_states = 500;

Hash128 hash_of(std::uint64_t n) {
  return {n + 1, n << 32};
}

std::optional<StateTable> again(const StateTable& table, StateTable::Limits limits) {
  const int fd = ::memfd_create("saved", 0);
  EXPECT_TRUE(table.save(fd));
  ::lseek(fd, 0, SEEK_SET);
  auto restored = StateTable::restore(fd, limits);
  ::close(fd);
  return restored ? std::optional(std::move(*restored)) : std::nullopt;
}

/// A graph, of which a search makes its table.
struct CourseGraph {
  std::vector<std::vector<StateId>> out; // by state, in the order of its choices
};

CourseGraph random_graph(unsigned seed, std::uint32_t states) {
  std::mt19937 random(seed);
  CourseGraph graph;
  graph.out.resize(states);
  for (auto& out : graph.out) {
    out.resize(random() % 4);
    for (StateId& to : out) {
      to = random() % states;
    }
  }
  graph.out[0].push_back(1 % states); // not over at once
  return graph;
}

/// One process that goes deep, as Explorer does, without a machine. It is ended where `steps` says
/// that it has made so many steps: the next one begins with what the table has then.
class Searcher {
public:
  Searcher(const CourseGraph& graph, StateTable& table)
      : graph_(graph),
        table_(table),
        course_(table.course()) {
    course_.keep();
  }

  /// False: it was ended.
  bool search(std::uint64_t steps) {
    if (!go_back()) {
      arrive(std::nullopt, 0);
    }
    for (; !path_.empty() && !full_; --steps) {
      if (steps == 0) {
        return false;
      }
      Node& node = path_.back();
      if (node.next == node.choices.size()) {
        path_.pop_back();
        course_.pop();
        continue;
      }
      const std::uint32_t choice = node.choices[node.next++];
      arrive(std::pair(node.state, choice), graph_.out[node.which][choice]);
    }
    return true;
  }

private:
  struct Node {
    StateId state = 0; // of the table
    StateId which = 0; // of the graph
    std::vector<std::uint32_t> choices;
    std::size_t next = 0;
  };

  /// To where an earlier one was. False: there was none.
  bool go_back() {
    StateId which = 0;
    const bool repeats = course_.repeats();
    while (course_.repeats()) {
      const Course::Step& step = course_.again();
      const auto left = course_.left(step);
      path_.push_back({step.state, which, {left.begin(), left.end()}, 0});
      EXPECT_EQ(table_.know(hash_of(which)), step.state);
      if (course_.repeats()) {
        which = graph_.out[which][path_.back().choices[path_.back().next++]];
      }
    }
    return repeats;
  }

  void arrive(std::optional<std::pair<StateId, std::uint32_t>> by, StateId which) {
    const Course::Change change(course_);
    const auto visit = table_.visit(hash_of(which), {.device = true});
    if (!visit) {
      table_.note_limit_of_states();
      full_ = true;
      return;
    }
    const auto mine = table_.claim(visit->id, {.device = true});
    const auto choices = static_cast<std::uint32_t>(mine.device ? graph_.out[which].size() : 0);
    if (visit->first) {
      table_.add_work(1);
      table_.describe(visit->id, {}, choices);
    } else {
      table_.add_moves(visit->id, choices);
    }
    if (by) {
      course_.done();
      table_.add_edge(
          Edge{.from = by->first, .to = visit->id, .actor = 0, .who = 7, .choice = by->second}
      );
    }
    if (!mine.device) {
      return;
    }
    path_.push_back({visit->id, which, {}, 0});
    path_.back().choices.resize(choices);
    std::iota(path_.back().choices.begin(), path_.back().choices.end(), 0U);
    course_.push({.state = visit->id});
    for (const std::uint32_t choice : path_.back().choices) {
      course_.add_choice(choice);
    }
  }

  const CourseGraph& graph_;
  StateTable& table_;
  Course course_;
  std::vector<Node> path_;
  bool full_ = false;
};

/// All that a report is made from.
std::string content(const StateTable& table) {
  const ProgressGraph graph = table.load();
  std::string text = std::to_string(table.work()) + (table.saw(Fact::OutOfStates) ? " full" : "");
  for (const State& state : graph.states) {
    text += state.expanded ? " x" : " o";
  }
  for (EdgeId e = 0; e < graph.edges.size(); ++e) {
    text += " " + std::to_string(graph.edges.from(e)) + ">" + std::to_string(graph.edges.to(e));
  }
  for (const Event& event : table.events()) {
    text += " " + std::to_string(event.from) + std::string(table.text(event.text));
  }
  return text;
}

std::string
searched(const CourseGraph& graph, std::uint32_t limit, std::uint64_t slice, int& slices) {
  const StateTable::Limits limits{.max_states = limit};
  std::optional<StateTable> table(std::move(*StateTable::create(limits)));
  table->add_actor({.name = "thread", .group = {}, .kernel = {}});
  for (slices = 1; !Searcher(graph, *table).search(slice); ++slices) {
    std::optional<StateTable> next = again(*table, limits);
    EXPECT_TRUE(next->goes_on());
    table.reset();
    table.emplace(std::move(*next));
  }
  return content(*table);
}

/// Whether it comes to its end or to the limit of states: after each number of steps a chain of
/// slices ends with the table of one run, edge by edge in its order.
TEST(CourseOfASearch, AnySlicesEndWithTheTableOfOneRun) {
  int full = 0, ended = 0, many = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const CourseGraph graph = random_graph(seed, 40);
    for (const std::uint32_t limit : {most_states, 25U}) {
      int slices = 0;
      const std::string whole = searched(graph, limit, ~std::uint64_t{0}, slices);
      (whole.find("full") != std::string::npos ? full : ended) += 1;
      for (const std::uint64_t slice : {1U, 2U, 7U, 20U}) {
        ASSERT_EQ(searched(graph, limit, slice, slices), whole) << seed << ", slices of " << slice;
        many = std::max(many, slices);
      }
    }
  }
  EXPECT_GT(full, 10);
  EXPECT_GT(ended, 60);
  EXPECT_GT(many, 50);
}

class OfATable : public testing::Test {
protected:
  OfATable() : table(std::move(*StateTable::create(limits))), course(table.course()) {
    course.keep();
    for (std::uint64_t n = 0; n < 3; ++n) {
      table.visit(hash_of(n), {});
      table.claim(static_cast<StateId>(n), {.device = true});
      table.describe(static_cast<StateId>(n), {}, 2);
      course.push({.state = static_cast<StateId>(n), .width = 2, .alike = 5});
      course.add_choice(4);
      course.add_choice(6);
      if (n != 2) {
        course.done();
      }
    }
  }
  static constexpr StateTable::Limits limits{.max_states = 100};
  StateTable table;
  Course course;
};

TEST_F(OfATable, WhatIsLeftBeginsWithTheWay) {
  const auto restored = again(table, limits);
  Course other = restored->course();
  for (StateId n = 0; n < 3; ++n) {
    ASSERT_TRUE(other.repeats());
    const Course::Step& step = other.again();
    EXPECT_EQ(step.state, n);
    EXPECT_EQ(step.alike, 5U);
    EXPECT_THAT(other.left(step), ElementsAre(4, 6));
  }
  EXPECT_FALSE(other.repeats());
}

TEST_F(OfATable, AChoiceThatIsDoneIsNotLeft) {
  course.done();
  const auto restored = again(table, limits);
  Course other = restored->course();
  other.again();
  other.again();
  EXPECT_THAT(other.left(other.again()), ElementsAre(6));
}

TEST_F(OfATable, NobodyIsTakenBack) {
  const auto restored = again(table, limits);
  EXPECT_TRUE(restored->goes_on());
  EXPECT_TRUE(restored->all_met_again());
  EXPECT_TRUE(restored->find_done(hash_of(2)));
}

TEST_F(OfATable, OnTheWayBackItIsStillThere) {
  const auto once = again(table, limits);
  Course other = once->course();
  other.keep();
  other.again();
  const auto twice = again(*once, limits);
  EXPECT_EQ(twice->course().again().state, 0U);
}

TEST_F(OfATable, WhileSomethingIsHalfDoneItIsNotKept) {
  const Course::Change change(course);
  EXPECT_FALSE(course.is_still());
  EXPECT_THAT(course.steps(), IsEmpty());
  EXPECT_FALSE(again(table, limits)->all_met_again());
}

TEST_F(OfATable, NorOfSeveralProcesses) {
  course.give_up();
  EXPECT_TRUE(course.is_still());
  EXPECT_THAT(course.steps(), IsEmpty());
}

TEST_F(OfATable, NorAtTheLimitOfStates) {
  table.note_limit_of_states();
  EXPECT_THAT(course.steps(), IsEmpty());
}

TEST_F(OfATable, ASearchThatRanksShareMakesTheWayToAllOfThemAgain) {
  const auto restored = again(table, {.max_states = 100, .divided = true});
  EXPECT_FALSE(restored->course().repeats());
  EXPECT_FALSE(restored->all_met_again());
}

/// As the parent of a process does that has ended anywhere.
TEST_F(OfATable, AfterAForkTheChoiceIsDone) {
  Course parent = table.course();
  const Course::Fork fork = parent.before_fork(2);
  course.set_base(2);
  course.pop();
  course.push({.state = 0});
  parent.after_fork(fork);
  ASSERT_EQ(course.steps().size(), 2U);
  EXPECT_EQ(course.steps()[1].next, 2U); // the first one led to where the other process went
}

TEST_F(OfATable, OneThatIsDamagedIsRefused) {
  course.push({.state = 77}); // there is no such state
  EXPECT_FALSE(again(table, limits));
}

/// What several processes have found depends on their timing, whoever goes on with it.
TEST(SeveralProcesses, AreRemembered) {
  const StateTable::Limits several{.max_states = 100, .processes = 2};
  StateTable table = std::move(*StateTable::create(several));
  table.visit(hash_of(0), {});
  ASSERT_TRUE(table.take_permit());
  const auto once = again(table, several);
  EXPECT_TRUE(once->had_several());
  EXPECT_TRUE(again(*once, several)->had_several());
}

} // namespace
} // namespace heddle::explore
