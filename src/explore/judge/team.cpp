// Implements team.h. A round is short (milliseconds), so members look for its end before they
// sleep.
#include "explore/judge/team.h"

#include <algorithm>

namespace heddle::explore {

namespace {

constexpr int looks = 2000; // before a member sleeps

template <class T> void wait_while(const std::atomic<T>& value, T same) {
  for (int i = 0; i < looks; ++i) {
    if (value.load(std::memory_order_acquire) != same) {
      return;
    }
    __builtin_ia32_pause();
  }
  value.wait(same, std::memory_order_acquire);
}

} // namespace

Team::~Team() {
  over_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Team::each(std::size_t count, std::size_t at_once, const Part& part) {
  if (members_ == 1 || count <= 2 * at_once) {
    for (std::size_t begin = 0; begin < count; begin += at_once) {
      part(begin, std::min(begin + at_once, count), 0);
    }
    return;
  }
  share(count, at_once, part);
}

void Team::together(const std::function<void(std::size_t)>& f) {
  if (members_ == 1) {
    f(0);
    return;
  }
  // Each takes what is under its number, or, if that one has begun late, somebody else does: all of
  // them work on the same thing anyway.
  share(members_, 1, [&](std::size_t begin, std::size_t, std::size_t) { f(begin); });
}

void Team::share(std::size_t count, std::size_t at_once, const Part& part) {
  while (threads_.size() + 1 < members_) {
    threads_.emplace_back(&Team::serve, this, threads_.size() + 1);
  }
  part_ = &part;
  count_ = count;
  at_once_ = at_once;
  next_.store(0, std::memory_order_relaxed);
  busy_.store(threads_.size(), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  take_parts(0);
  for (std::size_t left = busy_.load(std::memory_order_acquire); left != 0;
       left = busy_.load(std::memory_order_acquire)) {
    wait_while(busy_, left);
  }
}

void Team::take_parts(std::size_t member) {
  for (;;) {
    const std::size_t begin = next_.fetch_add(at_once_, std::memory_order_relaxed);
    if (begin >= count_) {
      return;
    }
    (*part_)(begin, std::min(begin + at_once_, count_), member);
  }
}

void Team::serve(std::size_t member) {
  // It may have been started within the first round, or before it.
  for (unsigned seen = 0;; ++seen) {
    wait_while(round_, seen);
    if (over_) {
      return;
    }
    take_parts(member);
    busy_.fetch_sub(1, std::memory_order_release);
    busy_.notify_all();
  }
}

} // namespace heddle::explore
