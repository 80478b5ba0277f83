// FlatMap: a map that is a sorted vector, for few elements that are copied more often than added.
//
//   FlatMap<Thread, State> map;
//   map[3] = …; map.at(3); for (auto& [key, value] : map) …
//
// References and iterators are invalid after an insertion or a removal, unlike those of std::map.
#pragma once

#include "base/check.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::weak {

template <class Key, class Value> class FlatMap {
public:
  using Element = std::pair<Key, Value>;
  using Elements = std::vector<Element>;

  auto begin() { return elements_.begin(); }
  auto end() { return elements_.end(); }
  auto begin() const { return elements_.begin(); }
  auto end() const { return elements_.end(); }
  std::size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  void clear() { elements_.clear(); }

  auto find(const Key& key) { return found(lower(elements_, key), key); }
  auto find(const Key& key) const { return found(lower(elements_, key), key); }
  bool contains(const Key& key) const { return find(key) != end(); }
  Value& at(const Key& key) { return there(find(key)); }
  const Value& at(const Key& key) const { return there(find(key)); }
  Value& operator[](const Key& key) {
    auto at = lower(elements_, key);
    if (at == end() || at->first != key) {
      at = elements_.insert(at, Element(key, Value()));
    }
    return at->second;
  }
  auto erase(typename Elements::iterator at) { return elements_.erase(at); }
  void erase(const Key& key) {
    if (const auto at = find(key); at != end()) {
      elements_.erase(at);
    }
  }
  template <class F> void erase_if(F&& drop) { std::erase_if(elements_, drop); }

private:
  static auto lower(auto& elements, const Key& key) {
    return std::ranges::lower_bound(elements, key, {}, &Element::first);
  }
  auto found(typename Elements::iterator at, const Key& key) {
    return at != end() && at->first == key ? at : end();
  }
  auto found(typename Elements::const_iterator at, const Key& key) const {
    return at != end() && at->first == key ? at : end();
  }
  auto& there(auto at) const {
    HEDDLE_CHECK(at != end(), "no such element");
    return at->second;
  }

  Elements elements_; // by key
};

} // namespace heddle::weak
