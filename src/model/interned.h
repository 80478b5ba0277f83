// Interned: things of which there is one for each content, and which stay where they are.
//
//   Interned<Image> images;
//   if (const Image* known = images.find(content)) …
//   else { auto image = std::make_unique<Image>(); image->content = content; …;
//          known = images.add(std::move(image)); }
//
// The content is a 128-bit hash. May be wrong: with a probability of 2^-128 per pair of things.
#pragma once

#include "base/hash.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::model {

template <class T> class Interned {
public:
  /// nullptr: there is none.
  T* find(const Hash128& content) const {
    if (slots_.empty()) {
      return nullptr;
    }
    for (std::size_t s = content.low & mask();; s = (s + 1) & mask()) {
      const Slot& slot = slots_[s];
      if (slot.thing == nullptr) {
        return nullptr;
      }
      if (slot.low == content.low && slot.thing->content == content) {
        return slot.thing.get();
      }
    }
  }

  /// There must be none like it.
  T* add(std::unique_ptr<T> thing) {
    if (slots_.size() < 2 * (count_ + 1)) {
      std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
      slots_.swap(old);
      for (Slot& slot : old) {
        if (slot.thing != nullptr) {
          place(std::move(slot.thing));
        }
      }
    }
    ++count_;
    return place(std::move(thing));
  }

  template <class F> void erase_if(F&& unwanted) {
    std::vector<Slot> old(slots_.size());
    slots_.swap(old);
    count_ = 0;
    for (Slot& slot : old) {
      if (slot.thing != nullptr && !unwanted(std::as_const(*slot.thing))) {
        place(std::move(slot.thing));
        ++count_;
      }
    }
  }

  std::size_t size() const { return count_; }

private:
  struct Slot {
    std::uint64_t low = 0; // of its content
    std::unique_ptr<T> thing;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  T* place(std::unique_ptr<T> thing) {
    std::size_t s = thing->content.low & mask();
    while (slots_[s].thing != nullptr) {
      s = (s + 1) & mask();
    }
    slots_[s].low = thing->content.low;
    slots_[s].thing = std::move(thing);
    return slots_[s].thing.get();
  }

  std::vector<Slot> slots_; // a power of two of them, by content; at most half are taken
  std::size_t count_ = 0;
};

} // namespace heddle::model
