// Statements that exchange values with other threads, pass them on, compute with them or compare them.
#pragma once

#include "reference/drawn.h"

namespace heddle::differ {

class Values : protected Drawn {
protected:
  using Drawn::Drawn;

  // --- Memory that all threads access: strong accesses, one word each
  struct Where {
    std::string space, address;
  };
  /// A word that others access, too, of at most eight bytes.
  Where shared_place();
  void exchange_values();
  /// By other widths than four bytes.
  void exchange_wide(const Where& at);
  // --- Memory of one thread: plain accesses of every width, in every state space
  Where own_place(unsigned bytes);
  void own_memory();
  // --- A value that depends on others takes its way: it is the same behind each of these, or another
  // one for each that it has been (values are small)
  void pass();
  /// Stored and loaded again: in any state space, by any width, with other widths of the same bytes.
  void through_memory(const std::string& a);
  // --- Computations: each way that a value can take through registers
  void compute();
  void compare();
  /// A function that passes a value on: by its own memory, by a reference, or as it is.
  void call();
};

} // namespace heddle::differ
