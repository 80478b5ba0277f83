// Statements that few programs have: clocks, lanes that ask who is there, copies that complete later, memory of
// other blocks of a cluster, malloc. A program has those of one kind, and many of them.
#pragma once

#include "reference/values.h"

namespace heddle::differ {

class Features : protected Values {
protected:
  using Values::Values;

  enum class Feature : std::uint8_t {
    None,
    Clocks,
    Lanes,
    Copies,
    Neighbours,
    Heap,
    Rare
  };
  /// Which one the program has, once its shape is known.
  void choose_feature();
  bool has_feature() const { return feature_ != Feature::None; }
  void use_feature();

  void rare_phase();
  void neighbours_phase();

  bool mbarrier_ = false; // the block has one, of all of its threads; or that of a block of a cluster

private:
  void clock();
  void until_late();
  void compare_times();
  void lanes();
  void copy();
  void copy_in_bulk();
  void neighbour();
  void heap();
  void rare();
  void by_table();
  void wide_exchange();
  std::string own_copy();
  std::string of_block(std::string_view variable);
  /// A register with a time.
  unsigned time();

  Feature feature_{};
};

} // namespace heddle::differ
