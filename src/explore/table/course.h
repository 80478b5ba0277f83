// Course: where a search by one process stands, in memory that it shares with the tool: the states
// between the beginning and where it is, and which choices of each are left. So a search that is
// stopped goes on exactly there (state_table_checkpoint.cpp).
//
//   Course course = table.course();
//   course.keep();                            // the tool, before the search begins
//   course.push({.state = s, …}, numbers);    // the search has come to a state …
//   course.done();                            // … and to the end of the choice that led there
//   if (course.is_still()) …                  // the tool, while the search stands still
//   while (course.repeats()) course.again();  // a search that goes on: the next state of the way
//
// Choices of a state are made in their order, so a number says which are done. While a part of the
// table changes that belongs together (Course::Change), it is not saved. There is no
// course once several processes search, or once the limit of states was reached.
#pragma once

#include "explore/judge/edges.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::explore {

class Course {
public:
  /// A state of the way. Its choices lie in numbers(), from `first` on; `next` of them are done
  /// with, or lead to the next state of the way.
  struct Step {
    StateId state = 0;
    std::uint32_t first = 0, count = 0, next = 0;
    std::uint32_t width = 0, unused = 0; // Node's …
    std::uint64_t alike = 0;             // … and this one
  };

  static std::size_t bytes(std::uint32_t max_states);
  /// `memory` is zero at first.
  Course(std::byte* memory, std::uint32_t max_states);

  // --- The tool ----------------------------------------------------------------------------------
  void keep();
  /// The search is to stop when the table has so many states.
  void stop_at(std::uint32_t states);
  bool may_stop() const;
  /// It has, and waits to be ended.
  bool has_stopped() const;
  /// Nothing is half done.
  bool is_still() const;
  /// Empty: it is not kept, or not all of it is there, or something is half done.
  std::span<const Step> steps() const;
  std::span<const std::uint32_t> numbers() const;
  /// To be gone again.
  void restore(std::span<const Step> steps, std::span<const std::uint32_t> numbers);
  /// Could steps() and numbers() be these, where there are so many states, and room for so many?
  static bool is_sound(
      std::span<const Step> steps,
      std::span<const std::uint32_t> numbers,
      std::uint32_t states,
      std::uint32_t max_states
  );
  bool was_restored() const;

  // --- A process of the search -------------------------------------------------------------------
  class Change { // what is done in its life belongs together
  public:
    explicit Change(Course& course) : course_(course) { course_.set_changing(true); }
    ~Change() { course_.set_changing(false); }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

  private:
    Course& course_;
  };
  bool is_kept() const;
  void push(const Step& step);
  void add_choice(std::uint32_t number); // of the state that has been pushed last
  void take_choices_back();              // of it, those that have not been begun
  void pop();
  /// A choice of the last state is done with, or leads to the next one.
  void done();
  /// So many states lie between the beginning and the first state of Way.
  std::uint64_t base() const { return base_; }
  void add_to_base(std::size_t states) { base_ += states; }
  void set_base(std::uint64_t states) { base_ = states; }
  /// From now on nothing is kept: several processes search, or a move cannot be repeated.
  void give_up();
  /// This process forks another one that makes a choice of the last of its `states` own states …
  struct Fork {
    std::uint64_t depth = 0;
    std::uint32_t next = 0;
  };
  Fork before_fork(std::size_t states) const;
  /// … which has ended.
  void after_fork(const Fork& fork);
  /// Stops there if that is due: only the tool ends it.
  void stop_if_due(std::uint32_t states) const;

  // --- … that goes on
  /// There are states of the way that it has not come to again.
  bool repeats() const;
  /// The next one.
  const Step& again();
  /// The numbers of choices of such a state that are left; the first one leads to the next state.
  std::span<const std::uint32_t> left(const Step& step) const;

private:
  struct Header;
  Header& header() const;
  bool is_whole() const;
  std::uint32_t numbers_used() const;
  Step* all_steps() const;
  std::uint32_t* all_numbers() const;
  void set_changing(bool changing);

  std::byte* memory_;
  std::uint32_t most_steps_, most_numbers_;
  std::uint64_t base_ = 0;
  std::uint32_t repeated_ = 0;
};

} // namespace heddle::explore
