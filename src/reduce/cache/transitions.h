// Transitions: what moves have done, so that a move in a state that looks the same to it need not
// be executed again.
//
//   const auto key = transitions.key(image, move);
//   if (const auto* known = transitions.find(key)) …            // do as it did
//   else { …; transitions.add(key, journal.read(), {writes, result}); }
//
// A move is made by one thread of a cluster, and everything that its cluster's future depends on is
// in the cluster's image; so what the move does depends on the image and on what it reads from
// memory that others can write. Of a thousand states most differ in what *other* clusters do.
//
// By key the places that a move reads (not always the same ones: what it reads first decides where
// it reads then), by their values what it does. May be wrong: with a probability of 2^-128 per pair
// of values, if there are more than two places.
#pragma once

#include "base/hash.h"
#include "model/memory_journal.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace heddle::reduce {

using namespace model;

/// Where a key was found, for who asks again. Zero at first.
struct TransitionHint {
  std::uint64_t epoch = 0;
  std::uint32_t question = 0;
};

/// `Result` is what there is to be known of a move besides its writes.
template <class Result> class Transitions {
public:
  struct Transition {
    std::vector<WordPart> writes;
    Result result;
  };

  /// Who moves from where: an image and the number of one of its moves, or parts of an image.
  struct Key {
    std::uint64_t first = 0, second = 0;
    bool operator==(const Key&) const = default;
  };
  static Key key(const void* image, std::size_t move) {
    return {reinterpret_cast<std::uintptr_t>(image), move};
  }
  static Key key(const void* rest, const void* thread) {
    return {reinterpret_cast<std::uintptr_t>(rest), reinterpret_cast<std::uintptr_t>(thread)};
  }

  struct Known {
    const Transition* transition = nullptr; // stays where it is
    const std::vector<WordPart>* places = nullptr;
    explicit operator bool() const { return transition != nullptr; }
    const Transition* operator->() const { return transition; }
  };
  using Hint = TransitionHint;
  /// What that move did when it read what it would read now.
  /// `shared`: its cluster's shared memory, if parts of it are among what is read.
  Known find(const Key& key, const std::byte* shared) const {
    return keys_.empty() ? Known() : find_from(keys_[slot_of(key)].question, shared);
  }
  /// `hint` is always about the same key.
  Known find(const Key& key, Hint& hint) const {
    if (hint.epoch != epoch_) {
      const std::uint32_t question = keys_.empty() ? 0 : keys_[slot_of(key)].question;
      if (question == 0) {
        return {};
      }
      hint = {epoch_, question};
    }
    return find_from(hint.question, nullptr);
  }
  void add(const Key& key, const std::vector<WordPart>& read, Transition transition) {
    if (transitions_.size() >= most) {
      clear();
    }
    transitions_.push_back(std::move(transition));
    if (keys_.size() < 2 * (taken_ + 1)) {
      grow();
    }
    KeySlot& slot = keys_[slot_of(key)];
    if (slot.question == 0) {
      slot.key = key;
      ++taken_;
    }
    std::uint32_t* next = &slot.question;
    while (*next != 0 && !same_places(questions_[*next - 1].places, read)) {
      next = &questions_[*next - 1].next;
    }
    if (*next == 0) {
      // The vector may move, and `next` with it.
      const auto number = static_cast<std::uint32_t>(questions_.size() + 1);
      *next = number;
      questions_.push_back({read, std::vector<Answer>(2), 0, 0});
      next = nullptr;
      answer(questions_[number - 1], read, &transitions_.back());
    } else {
      answer(questions_[*next - 1], read, &transitions_.back());
    }
  }

  /// Transitions stay where they are as long as this is the same.
  std::uint64_t epoch() const { return epoch_; }

  /// For tests of tests (mutant.h).
  void forget_values() { forgets_values_ = true; }

  void clear() {
    ++epoch_;
    transitions_.clear();
    questions_.clear();
    keys_.clear();
    taken_ = 0;
  }

private:
  /// From that question on.
  Known find_from(std::uint32_t q, const std::byte* shared) const {
    for (; q != 0; q = questions_[q - 1].next) {
      const Question& question = questions_[q - 1];
      for (const Answer& answer : question.answers) {
        if (forgets_values_ && answer.transition != nullptr) {
          return {answer.transition, &question.places};
        }
      }
      const Answer& answer =
          question.answers[slot_of(question, values_now(question.places, shared))];
      if (answer.transition != nullptr) {
        return {answer.transition, &question.places};
      }
    }
    return {};
  }

  static constexpr std::size_t most = 1 << 20; // kept
  struct Answer {
    Hash128 values; // themselves, if there are no more than two
    const Transition* transition = nullptr;
  };
  struct Question {
    std::vector<WordPart> places; // their values are of no interest
    std::vector<Answer> answers;  // a power of two of them, by their values; some are free
    std::uint32_t taken = 0;
    std::uint32_t next = 0; // from 1: another one of the same key
  };
  struct KeySlot {
    Key key;
    std::uint32_t question = 0; // from 1; 0: it is free
  };

  static constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15ULL;
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t x = (a ^ (b * 0xff51'afd7'ed55'8ccdULL)) * odd;
    return x ^ x >> 32;
  }

  /// Where the key is, or would be.
  std::size_t slot_of(const Key& key) const {
    const std::size_t mask = keys_.size() - 1;
    std::size_t s = mix(key.first, key.second) & mask;
    while (keys_[s].question != 0 && keys_[s].key != key) {
      s = (s + 1) & mask;
    }
    return s;
  }
  static std::size_t slot_of(const Question& question, const Hash128& values) {
    const std::size_t mask = question.answers.size() - 1;
    std::size_t s = mix(values.low, values.high) & mask;
    while (question.answers[s].transition != nullptr && question.answers[s].values != values) {
      s = (s + 1) & mask;
    }
    return s;
  }

  static bool same_places(const std::vector<WordPart>& a, const std::vector<WordPart>& b) {
    return std::ranges::equal(a, b, [](const WordPart& one, const WordPart& other) {
      return one.at == other.at && one.mask == other.mask;
    });
  }

  void answer(Question& question, const std::vector<WordPart>& read, const Transition* what) {
    if (question.answers.size() < 2 * (std::size_t{question.taken} + 1)) {
      std::vector<Answer> old(2 * question.answers.size());
      question.answers.swap(old);
      for (const Answer& known : old) {
        if (known.transition != nullptr) {
          question.answers[slot_of(question, known.values)] = known;
        }
      }
    }
    const Hash128 values = name(read.size(), [&](std::size_t i) { return read[i].value; });
    Answer& slot = question.answers[slot_of(question, values)];
    question.taken += slot.transition == nullptr ? 1 : 0;
    slot = {values, what};
  }

  void grow() {
    std::vector<KeySlot> old(keys_.empty() ? 64 : 2 * keys_.size());
    keys_.swap(old);
    for (const KeySlot& slot : old) {
      if (slot.question != 0) {
        keys_[slot_of(slot.key)] = slot;
      }
    }
  }

  Hash128 values_now(const std::vector<WordPart>& places, const std::byte* shared) const {
    return name(places.size(), [&](std::size_t i) {
      return contents(places[i].at, shared) & places[i].mask;
    });
  }
  template <class F> Hash128 name(std::size_t count, F&& value) const {
    switch (count) {
    case 0:
      return {};
    case 1:
      return {value(0), 0};
    case 2:
      return {value(0), value(1)};
    default:
      break;
    }
    values_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      values_.push_back(value(i));
    }
    const XXH128_hash_t h = XXH3_128bits(values_.data(), count * sizeof(std::uint64_t));
    return {h.low64, h.high64};
  }

  bool forgets_values_ = false;
  std::vector<KeySlot> keys_; // a power of two of them, by key; at most half are taken
  std::size_t taken_ = 0;
  std::uint64_t epoch_ = 1;
  std::vector<Question> questions_;
  std::deque<Transition> transitions_;
  mutable std::vector<std::uint64_t> values_; // scratch
};

} // namespace heddle::reduce
