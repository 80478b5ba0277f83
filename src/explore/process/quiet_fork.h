// Forking the explored program.
//
//   const pid_t child = quiet_fork();
#pragma once

#include <sys/types.h>

namespace heddle::explore {

/// As fork(), but for two things. fork() takes the arenas of the allocator from all threads but
/// one: what is allocated afterwards would lie elsewhere. It also runs what the program wants to be
/// run when *it* forks. And where the calling thread is loading a library (a constructor below
/// dlopen that registers kernels, as in CuPy), the dynamic linker's lock belongs to the child's
/// thread, too; with fork() the child could never load or look up anything again.
pid_t quiet_fork();

} // namespace heddle::explore
