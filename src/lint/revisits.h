// revisits.h: which blocks dataflow.h has to look at again, since something changed that they read
// when they were looked at: what is known where they begin, what an instruction amounts to, where a
// pointer points to, whether an object has parts.
//
//   revisits.begin(block);            // from here on it is this block that reads
//   revisits.reads_targets(pointer);
//   revisits.targets_changed(pointer) // all that read them want to be looked at again
#pragma once

#include "lint/graph.h"

#include <vector>

namespace heddle::lint {

class Revisits {
public:
  explicit Revisits(const Graph& graph);

  bool wants(std::uint32_t block) const { return wanted_[block] != 0; }
  bool was_seen(std::uint32_t block) const { return seen_[block] != 0; }
  bool is_any() const { return count_ != 0; }
  void begin(std::uint32_t block);
  /// It has been looked at, and hands on something else than before.
  void end(std::uint32_t block, bool changed);

  void reads_targets(std::uint32_t value) { read(targets_read_, value); }
  void reads_parts(std::uint32_t location) { read(parts_read_, location); }
  void targets_changed(std::uint32_t value) { wake(targets_read_, value); }
  void parts_changed(std::uint32_t location) { wake(parts_read_, location); }
  void result_changed(ValueId instruction);

private:
  using Readers = std::vector<std::vector<std::uint32_t>>;

  void read(Readers& readers, std::uint32_t what);
  void wake(Readers& readers, std::uint32_t what);
  void want(std::uint32_t block);
  bool mark(std::uint32_t block);

  const Graph& graph_;
  std::vector<char> wanted_;
  std::vector<char> seen_;
  std::size_t count_ = 0; // of those that are wanted
  std::uint32_t now_ = 0;
  Readers targets_read_; // blocks, by value
  Readers parts_read_;   // by location
  // Blocks that use an instruction of another block: of instruction i from first_user_[i] on.
  std::vector<std::uint32_t> first_user_;
  std::vector<std::uint32_t> users_;
};

} // namespace heddle::lint
