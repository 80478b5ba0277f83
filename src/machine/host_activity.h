// What the other host threads of this process are doing: can any of them still act?
//
//   if (others_sleep_for_good(ours)) …     // ours: ids of the threads that do not count
//
// A thread sleeps for good if it waits without a time limit for a futex, a signal or nothing at all
// (pause): idle workers of a pool (OpenBLAS, numba, OpenMP), a detached thread that only keeps the
// process alive. If all of them do, none can wake another one. May be wrong in this direction: a
// signal or another process may still wake one of them (invents a hang of a program that relies on
// it). A system that does not tell
// (/proc/self/task/*/syscall is not there) answers false (misses).
#pragma once

#include <sys/types.h>

#include <set>

namespace heddle::machine {

bool others_sleep_for_good(const std::set<pid_t>& ours);

/// The calling thread is one of the machine's own from now on: it is none of the program. Its id.
pid_t become_machine_thread();
bool is_machine_thread();

} // namespace heddle::machine
