// Transitions: what moves have done, so that a move in a state that looks the same to it need not
// be executed again.
//
//   const auto key = transitions.key(image, move);
//   if (const Transition* known = transitions.find(key)) …            // do as it did
//   else { …; transitions.add(key, journal.read(), std::move(transition)); }
//
// A move is made by one thread of a cluster, and everything that its cluster's future depends on is
// in the cluster's image; so what the move does depends on the image and on what it reads from
// memory that others can write. Of a thousand states most differ in what *other* clusters do.
#pragma once

#include "machine/memory_journal.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heddle::machine {

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
    return {reinterpret_cast<std::uintptr_t>(image) >> 4, move};
  }
  static Key key(const void* rest, const void* thread) {
    return {
        reinterpret_cast<std::uintptr_t>(rest) >> 4,
        reinterpret_cast<std::uintptr_t>(thread) >> 4
    };
  }

  /// What that move did when it read what it would read now; nullptr: not known.
  const Transition* find(const Key& key) {
    if (const auto known = moves_.find(key); known != moves_.end()) {
      for (const Reads& reads : known->second) {
        const auto found = reads.outcomes.find(values_now(reads.places));
        if (found != reads.outcomes.end()) {
          return &found->second;
        }
      }
    }
    return nullptr;
  }

  void add(const Key& key, const std::vector<WordPart>& read, Transition transition) {
    if (++count_ > most) {
      clear();
    }
    auto& all = moves_[key];
    auto same = std::ranges::find_if(all, [&](const Reads& reads) {
      return std::ranges::equal(reads.places, read, [](const WordPart& a, const WordPart& b) {
        return a.at == b.at && a.mask == b.mask;
      });
    });
    if (same == all.end()) {
      all.push_back({read, {}});
      same = all.end() - 1;
    }
    std::vector<std::uint64_t> values;
    for (const WordPart& part : read) {
      values.push_back(part.value);
    }
    same->outcomes.insert_or_assign(hash(values), std::move(transition));
  }

  void clear() {
    moves_.clear();
    count_ = 0;
  }

private:
  static constexpr std::size_t most = 1 << 20; // kept
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return (key.first ^ key.second * 0xff51'afd7'ed55'8ccdULL) * 0x9e37'79b9'7f4a'7c15ULL;
    }
  };
  struct ValuesHash {
    std::size_t operator()(const Hash128& h) const { return h.low; }
  };
  struct Reads {
    std::vector<WordPart> places; // their values are of no interest
    std::unordered_map<Hash128, Transition, ValuesHash> outcomes;
  };

  Hash128 values_now(const std::vector<WordPart>& places) {
    values_.clear();
    for (const WordPart& part : places) {
      values_.push_back(*part.at & part.mask);
    }
    return hash(values_);
  }
  static Hash128 hash(const std::vector<std::uint64_t>& values) {
    const XXH128_hash_t h = XXH3_128bits(values.data(), values.size() * sizeof(std::uint64_t));
    return {h.low64, h.high64};
  }

  std::unordered_map<Key, std::vector<Reads>, KeyHash> moves_;
  std::vector<std::uint64_t> values_; // scratch
  std::size_t count_ = 0;
};

} // namespace heddle::machine
