// Whoever wants to know each access to memory of a grid's threads, without a monitor of all grids.
//
//   tell_accesses(grid, listener);      // before it begins; it is interpreted then
//   stop_telling(grid);                 // before it goes
//
// Only grids under suspicion have a listener, which is why the grid does not hold it.
// Thread safe.
#pragma once

#include "isa/exec.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace heddle::machine {

class Grid;

class AccessListener {
public:
  virtual ~AccessListener() = default;
  /// A thread is about to access `bytes` at host address `at`; exec.current() is the op. Called by
  /// whichever worker executes it.
  virtual void
  accessed(const isa::Exec& exec, const std::byte* at, std::uint32_t bytes, bool store) = 0;
};

void tell_accesses(const Grid& grid, std::shared_ptr<AccessListener> listener);
void stop_telling(const Grid& grid);
/// nullptr: nobody wants to know.
std::shared_ptr<AccessListener> listener_of(const Grid& grid);

} // namespace heddle::machine
