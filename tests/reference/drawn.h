// What is drawn for a program, and its text: registers with the values that they may have.
#pragma once

#include "base/random.h"
#include "reference/generator.h"
#include "reference/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::differ {

using enumeration::Shape;

/// Values that an instruction may use: registers by kind, as many as have been written on every way
/// that leads here.
struct Known {
  std::vector<unsigned> words, longs, predicates;
  std::vector<unsigned> hot; // words that depend on what other threads do
  std::vector<unsigned> times, allocations; // registers of 64 bits
};

class Drawn {
protected:
  explicit Drawn(const Wish& wish) : random_(wish.seed), wish_(wish) {}

  // --- Choices
  unsigned pick(std::size_t of) { return static_cast<unsigned>(random_.below(of)); }
  bool chance(unsigned percent) { return random_.below(100) < percent; }
  template <class T> const T& one_of(const std::vector<T>& list) { return list[pick(list.size())]; }
  std::string_view one_of(std::initializer_list<std::string_view> list) {
    return list.begin()[pick(list.size())];
  }

  // --- Text
  template <class... T> void say(fmt::format_string<T...> format, T&&... values) {
    program_.body.push_back(guard_ + fmt::format(format, std::forward<T>(values)...));
  }
  void place(const std::string& name) { program_.body.push_back(name + ":"); }
  std::string label() { return fmt::format("L{}", labels_++); }

  // --- Registers: each is written once, or again by who decides so, as compilers do
  unsigned fresh() { return next_++; }
  /// For a value on its way: under a guard it has one before, since compilers and PTX want that.
  unsigned scratch(std::string_view kind) {
    const unsigned made = fresh();
    if (!guard_.empty()) {
      const std::string guard = std::exchange(guard_, {});
      say("{} %{}{}, {};", kind == "p" ? "setp.ne.u32" : kind == "d" ? "mov.b64" : "mov.b32", kind, made, kind == "p" ? "%r3, %r3" : "0");
      guard_ = guard;
    }
    return made;
  }
  unsigned word() { return !known_.hot.empty() && chance(75) ? hot() : one_of(known_.words); }
  /// One of the last of them.
  unsigned hot() {
    const std::size_t last = known_.hot.size() - 1;
    return known_.hot[last - pick(std::min<std::size_t>(known_.hot.size(), chance(70) ? 2 : 9))];
  }
  /// The word has been written, on every path, with something that others may change.
  void depends_on_others(unsigned word) {
    known_.words.push_back(word);
    known_.hot.push_back(word);
  }
  unsigned new_hot() {
    const unsigned made = new_word();
    known_.hot.push_back(made);
    return made;
  }
  unsigned long_word() { return one_of(known_.longs); }
  unsigned predicate() { return one_of(known_.predicates); }
  /// What is written under a guard, or on one side of a branch, has a value before.
  unsigned target(std::vector<unsigned>& list, std::string_view kind, std::string_view type) {
    if (chance(15)) {
      return one_of(list);
    }
    const unsigned made = fresh();
    if (!guard_.empty()) {
      const std::string guard = std::exchange(guard_, {});
      say("mov.{} %{}{}, {};", type, kind, made, type == "pred" ? "0" : "0");
      guard_ = guard;
    }
    list.push_back(made);
    return made;
  }
  unsigned new_word() { return target(known_.words, "r", "b32"); }
  unsigned new_long() { return target(known_.longs, "d", "b64"); }
  unsigned new_predicate() {
    const unsigned made = chance(15) ? predicate() : fresh();
    if (std::ranges::count(known_.predicates, made) == 0) {
      if (!guard_.empty()) {
        const std::string guard = std::exchange(guard_, {});
        say("setp.ne.u32 %p{}, %r3, %r3;", made);
        guard_ = guard;
      }
      known_.predicates.push_back(made);
    }
    return made;
  }
  std::string value() { return chance(40) ? fmt::format("%r{}", word()) : constant(); }
  /// Small ones, so that programs have few states and values meet; sometimes one at the end of a range.
  std::string constant() {
    return chance(93) ? fmt::format("{}", pick(3))
                      : std::string(one_of({"255", "256", "65535", "65536", "0x7fffffff", "0x80000000", "0xffffffff"}));
  }

  bool in_block() const {
    return program_.shape == Shape::Block || program_.shape == Shape::Pairs ||
           program_.shape == Shape::Warps;
  }
  /// Threads of a block.
  unsigned here() const {
    return program_.shape == Shape::Pairs ? 2 : in_block() ? program_.threads : 1;
  }

  /// Has each thread words of its own in global memory?
  bool own_words() const;

  Random random_;
  Wish wish_;
  Generated program_;
  Known known_;
  std::string guard_; // of the statement that is drawn
  unsigned next_ = 0, labels_ = 0, depth_ = 0;
  bool alike_ = false; // threads learn who they are when they have done something, or never
};

inline bool Drawn::own_words() const {
  return !alike_ && !launches_twice(program_);
}

} // namespace heddle::differ
