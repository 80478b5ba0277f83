// Memory of a forked process that no longer knows its ancestors.
//
// For each private mapping Linux keeps a list of all the processes, from the first one on, whose
// pages it may still share, and each fork() copies it. So the n-th fork of a chain takes n steps
// for each mapping: at a depth of 150 that is some 40 ms, a hundred times what everything else
// takes. A mapping that is made anew, with the same bytes at the same address, has no ancestors.
#pragma once

namespace heddle::explore {

/// A chain of forks this long is cheaper than new mappings.
constexpr int forks_between_fresh_memory = 16;

/// Makes the private mappings of this process anew. Only while the process has one thread and no
/// signal handler runs. Mappings that it cannot renew (the stacks of the process and of the caller,
/// large ones, all of them on a kernel before 6.7) stay as they are: that costs time and nothing
/// else.
void make_memory_fresh();

} // namespace heddle::explore
