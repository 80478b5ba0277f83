// Team: threads of the tool that go through large arrays together.
//
//   Team team(8);
//   team.each(states.size(), [&](std::size_t begin, std::size_t end, std::size_t member) { … });
//
// Parts are taken as members are free, so which member gets which part differs from run to run: a
// result may be collected by member only if its order is put right afterwards. What throws ends the
// program.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace heddle::explore {

class Team {
public:
  /// The calling thread is one of them. Threads are started with the first array that is large.
  explicit Team(std::size_t members) : members_(members < 1 ? 1 : members) {}
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::size_t members() const { return members_; }
  using Part = std::function<void(std::size_t begin, std::size_t end, std::size_t member)>;
  /// Returns when [0, count) has been gone through; small arrays by the calling thread alone.
  /// Parts are long, since what belongs to neighbours often lies in one cache line, and members
  /// that write to one by turns wait for each other.
  void each(std::size_t count, const Part& part) {
    each(count, std::max(small_part, count / (parts_of_a_member * members_)), part);
  }
  /// The same for few elements, each of which is as much work as some thousands of others.
  void
  each_of(std::size_t count, const std::function<void(std::size_t index, std::size_t member)>& f) {
    each(count, 1, [&](std::size_t begin, std::size_t, std::size_t member) { f(begin, member); });
  }
  /// f(member), by all of them at the same time.
  void together(const std::function<void(std::size_t)>& f);

private:
  static constexpr std::size_t small_part = 2048;     // elements
  static constexpr std::size_t parts_of_a_member = 4; // more than one: some are more work
  void each(std::size_t count, std::size_t at_once, const Part& part);
  void share(std::size_t count, std::size_t at_once, const Part& part);
  void serve(std::size_t member);
  void take_parts(std::size_t member);

  std::size_t members_;
  std::vector<std::thread> threads_;
  const Part* part_ = nullptr;
  std::size_t count_ = 0, at_once_ = 1;
  std::atomic<std::size_t> next_{0}, busy_{0};
  std::atomic<unsigned> round_{0}; // counts arrays
  bool over_ = false;
};

} // namespace heddle::explore
