// Clock: what a thread knows of others: for each thread of each block up to which of its own ticks.
//
//   Clock c;
//   c.learn({block, thread}, 7);      // what that thread did up to its tick 7 has happened before
//   c.learn_block(block, 5);          // the same of every thread of a block
//   if (c.knows({block, thread}, 6)) …
//
// A vector clock in the shape of the hierarchy of threads: blocks, warps, lanes, with a number for
// all below at each level, so that a barrier is one number. Nodes are shared between clocks and
// copied when one of them changes (like a persistent tree), so that copying a clock costs nothing
// and joining two that have learnt the same costs little. Exact: it neither loses nor invents
// knowledge. Not thread safe.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::race {

/// A thread, or something that accesses memory on its own like one (an asynchronous copy, a
/// cudaMemcpy). Blocks and such things are numbered in the order in which they begin, from 1.
struct ThreadName {
  std::uint32_t block = 0;
  std::uint16_t thread = 0; // 0 to 1023 in the block
  bool operator==(const ThreadName&) const = default;
};

/// A counted pointer; nodes are used by one thread at a time.
template <class T> class Shared {
public:
  Shared() = default;
  explicit Shared(T* node) : node_(node) { node_->references = 1; }
  Shared(const Shared& other) : node_(other.node_) {
    if (node_ != nullptr) {
      ++node_->references;
    }
  }
  Shared(Shared&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Shared() {
    if (node_ != nullptr && --node_->references == 0) {
      delete node_;
    }
  }
  const T* get() const { return node_; }
  const T* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const Shared&) const = default;
  /// For changing it: a node that nobody else has.
  T& own() {
    if (node_ == nullptr) {
      *this = Shared(new T);
    } else if (node_->references != 1) {
      *this = Shared(new T(*node_));
    }
    return *node_;
  }

private:
  T* node_ = nullptr;
};

class Clock {
public:
  bool knows(ThreadName thread, std::uint32_t tick) const;
  void learn(ThreadName thread, std::uint32_t tick);
  void learn_warp(std::uint32_t block, std::uint32_t warp, std::uint32_t tick);
  void learn_block(std::uint32_t block, std::uint32_t tick);
  void learn(const Clock& other);
  bool empty() const { return !root_; }
  void clear() { root_ = {}; }
  /// Equal by identity: one has been copied from the other and neither has changed.
  bool same(const Clock& other) const { return root_ == other.root_; }

private:
  static constexpr std::uint32_t fan = 32;
  struct Warp {
    std::uint32_t references = 0;
    std::uint32_t all = 0;
    std::uint32_t lane[fan] = {};
  };
  struct Block {
    std::uint32_t references = 0;
    std::uint32_t all = 0;
    Shared<Warp> warp[fan];
  };
  struct Chunk { // 32 blocks
    std::uint32_t references = 0;
    Shared<Block> block[fan];
  };
  struct Root {
    std::uint32_t references = 0;
    std::vector<std::pair<std::uint32_t, Shared<Chunk>>> chunks; // by number
  };
  Block& own_block(std::uint32_t block);
  const Block* find_block(std::uint32_t block) const;
  static bool covers(const Warp& a, const Warp& b);
  static bool covers(const Block& a, const Block& b);
  static bool covers(const Chunk& a, const Chunk& b);
  static bool covers(const Root& a, const Root& b);
  static void join(Warp& into, const Warp& from);
  static void join(Block& into, const Block& from);
  static void join(Chunk& into, const Chunk& from);
  static void join(Root& into, const Root& from);
  template <class Node> static void join(Shared<Node>& into, const Shared<Node>& from);

  Shared<Root> root_;
};

} // namespace heddle::race
