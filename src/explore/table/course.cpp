// Implements course.h. One process at a time writes; the tool reads while all stand still. So that
// what has been written is seen in its order, `changing` is written with release.
#include "explore/table/course.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace heddle::explore {

namespace {

// Of each state of the table: it may lie on the way more than once (each time with other choices).
constexpr std::uint64_t steps_for_state = 2, numbers_for_state = 64;
constexpr std::uint64_t least_states = 4096;
constexpr std::uint32_t never_again = std::numeric_limits<std::uint32_t>::max();

std::uint32_t most_of(std::uint64_t for_state, std::uint32_t max_states) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(for_state * (max_states + least_states), never_again - 1)
  );
}

} // namespace

struct Course::Header {
  std::uint32_t kept = 0, gave_up = 0, changing = 0;
  std::uint32_t depth = 0;
  std::uint32_t to_repeat = 0;            // so many of the states are to be gone again
  std::uint32_t stop_at = 0, stopped = 0; // 0: nowhere
  std::uint32_t unused = 0;
};

std::size_t Course::bytes(std::uint32_t max_states) {
  return sizeof(Header) + most_of(steps_for_state, max_states) * sizeof(Step) +
         most_of(numbers_for_state, max_states) * sizeof(std::uint32_t);
}

Course::Course(std::byte* memory, std::uint32_t max_states)
    : memory_(memory),
      most_steps_(most_of(steps_for_state, max_states)),
      most_numbers_(most_of(numbers_for_state, max_states)) {}

Course::Header& Course::header() const {
  return *reinterpret_cast<Header*>(memory_);
}

Course::Step* Course::all_steps() const {
  return reinterpret_cast<Step*>(memory_ + sizeof(Header));
}

std::uint32_t* Course::all_numbers() const {
  return reinterpret_cast<std::uint32_t*>(memory_ + sizeof(Header) + most_steps_ * sizeof(Step));
}

void Course::keep() {
  header().kept = 1;
}

void Course::stop_at(std::uint32_t states) {
  header().stop_at = states;
}

bool Course::may_stop() const {
  return header().stop_at != 0;
}

bool Course::has_stopped() const {
  return std::atomic_ref(header().stopped).load(std::memory_order_relaxed) != 0;
}

bool Course::is_still() const {
  return !is_kept() || std::atomic_ref(header().changing).load(std::memory_order_acquire) == 0;
}

bool Course::is_whole() const {
  return is_kept() && is_still() && header().depth != 0;
}

std::uint32_t Course::numbers_used() const {
  const std::uint32_t depth = header().depth;
  return depth == 0 ? 0 : all_steps()[depth - 1].first + all_steps()[depth - 1].count;
}

std::span<const Course::Step> Course::steps() const {
  return {all_steps(), is_whole() ? header().depth : 0};
}

std::span<const std::uint32_t> Course::numbers() const {
  return {all_numbers(), is_whole() ? numbers_used() : 0};
}

void Course::restore(std::span<const Step> steps, std::span<const std::uint32_t> numbers) {
  std::ranges::copy(steps, all_steps());
  std::ranges::copy(numbers, all_numbers());
  header().depth = header().to_repeat = static_cast<std::uint32_t>(steps.size());
}

bool Course::is_sound(
    std::span<const Step> steps,
    std::span<const std::uint32_t> numbers,
    std::uint32_t states,
    std::uint32_t max_states
) {
  const Course usual(nullptr, max_states);
  std::uint64_t before = 0;
  const bool good = std::ranges::all_of(steps, [&](const Step& step) {
    const bool is_last = &step == &steps.back();
    const bool is_one = step.state < states && step.first == before && step.next <= step.count &&
                        (is_last || step.next != 0);
    before += step.count;
    return is_one;
  });
  return good && before == numbers.size() && steps.size() <= usual.most_steps_ &&
         numbers.size() <= usual.most_numbers_;
}

bool Course::was_restored() const {
  return header().to_repeat != 0;
}

// --- A process of the search ---------------------------------------------------------------------

bool Course::is_kept() const {
  return header().kept != 0 &&
         std::atomic_ref(header().gave_up).load(std::memory_order_relaxed) == 0;
}

void Course::set_changing(bool changing) {
  if (is_kept()) { // else many processes would write to one place
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::atomic_ref(header().changing).store(changing ? 1 : 0, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

void Course::push(const Step& step) {
  if (!is_kept()) {
    return;
  }
  Header& h = header();
  if (h.depth == most_steps_) {
    give_up();
    return;
  }
  Step& stored = all_steps()[h.depth];
  stored = step;
  stored.first = numbers_used();
  stored.count = stored.next = 0;
  ++h.depth;
}

void Course::add_choice(std::uint32_t number) {
  if (!is_kept()) {
    return;
  }
  Step& last = all_steps()[header().depth - 1];
  if (last.first + last.count == most_numbers_) {
    give_up();
    return;
  }
  all_numbers()[last.first + last.count++] = number;
}

void Course::take_choices_back() {
  if (is_kept()) {
    Step& last = all_steps()[header().depth - 1];
    last.count = last.next;
  }
}

void Course::pop() {
  if (is_kept()) {
    --header().depth;
  }
}

void Course::done() {
  if (is_kept() && header().depth != 0) {
    ++all_steps()[header().depth - 1].next;
  }
}

void Course::give_up() {
  if (header().kept != 0) {
    std::atomic_ref(header().gave_up).store(1, std::memory_order_relaxed);
  }
}

Course::Fork Course::before_fork(std::size_t states) const {
  const std::uint64_t depth = base_ + states;
  if (!is_kept() || depth == 0) {
    return {};
  }
  return {depth, all_steps()[depth - 1].next + (repeats() ? 0 : 1)}; // or it is counted already
}

void Course::after_fork(const Fork& fork) {
  repeated_ = never_again;
  if (is_kept() && fork.depth != 0) {
    header().depth = static_cast<std::uint32_t>(fork.depth);
    all_steps()[fork.depth - 1].next = fork.next;
    set_changing(false); // it may have ended anywhere
  }
}

void Course::stop_if_due(std::uint32_t states) const {
  Header& h = header();
  if (h.stop_at == 0 || states < h.stop_at) {
    return;
  }
  for (;;) {
    std::atomic_ref(h.stopped).store(1, std::memory_order_relaxed);
    ::syscall(SYS_pause); // pause() is the program's: hostwatch/signals.cpp
  }
}

// --- … that goes on ------------------------------------------------------------------------------

bool Course::repeats() const {
  return repeated_ < header().to_repeat;
}

const Course::Step& Course::again() {
  return all_steps()[repeated_++];
}

std::span<const std::uint32_t> Course::left(const Step& step) const {
  const bool is_last = &step == all_steps() + header().to_repeat - 1;
  const std::uint32_t done = is_last ? step.next : step.next - 1;
  return {all_numbers() + step.first + done, step.count - done};
}

} // namespace heddle::explore
