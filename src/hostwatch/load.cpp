// How busy the machine is: free memory and space, what the process has used, on which processor a
// thread runs. Such answers change from one moment to the next, so the explorer gives one in each
// execution and another one where HEDDLE_ANSWERS asks for it (spec/answers.md): half of all that
// there is, or hardly anything.
//
// May miss: system calls by inline assembly, libraries that ask on their own, mallinfo().
#include "hostwatch/answers.h"
#include "hostwatch/hooks_internal.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cstdlib>

namespace heddle::hostwatch {
namespace {

// glibc's declaration has an enumeration of its own in C++.
using GetUsageOf = __rusage_who_t;

bool asks_for_load(const void* pc) {
  return asks(HeddleAnswerLoad, pc);
}

/// What is free of so much. The other answer differs in its lowest bits, too.
template <class Amount> Amount free_of(Amount all) {
  return is_other(HeddleAnswerLoad) ? all / 64 | 15 : all / 2 & ~Amount{15};
}

/// What has been used: `few`, or all bits of that changed, up to the highest one.
long used(long few) {
  return is_other(HeddleAnswerLoad) ? few * 4 - 1 - few : few;
}

template <class Space> int with_space(int result, Space* space, const void* pc) {
  if (result == 0 && asks_for_load(pc)) {
    space->f_bfree = space->f_bavail = free_of(space->f_blocks);
    space->f_ffree = free_of(space->f_files);
  }
  return result;
}

template <class Space> int with_files(int result, Space* space, const void* pc) {
  with_space(result, space, pc);
  if (result == 0 && asks_for_load(pc)) {
    space->f_favail = space->f_ffree;
  }
  return result;
}

unsigned processor() {
  static decltype(&::get_nprocs_conf) real = nullptr; // ours tells who asks
  const int count = real_function(real, "get_nprocs_conf")();
  return is_other(HeddleAnswerLoad) && count > 1 ? static_cast<unsigned>(count) - 1 : 0;
}

} // namespace
} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

HEDDLE_EXPORT int sysinfo(struct sysinfo* info) noexcept {
  using Ask = int(struct sysinfo*);
  static Ask* real = nullptr;
  const int result = real_function(real, "sysinfo")(info);
  if (result != 0 || !asks_for_load(__builtin_return_address(0))) {
    return result;
  }
  std::uint64_t shows = 0;
  if (look(CLOCK_BOOTTIME, &shows)) {
    info->uptime = static_cast<long>(shows / second);
  }
  for (unsigned long& load : info->loads) {
    load = static_cast<unsigned long>(used(1L << SI_LOAD_SHIFT)); // 1, and 3
  }
  info->freeram = free_of(info->totalram);
  info->freeswap = free_of(info->totalswap);
  info->freehigh = free_of(info->totalhigh);
  info->sharedram = info->bufferram = 0;
  info->procs = static_cast<unsigned short>(used(256));
  return 0;
}

HEDDLE_EXPORT int getloadavg(double* loads, int count) noexcept {
  static decltype(&getloadavg) real = nullptr;
  const int result = real_function(real, "getloadavg")(loads, count);
  if (result > 0 && asks_for_load(__builtin_return_address(0))) {
    for (int n = 0; n < result; ++n) {
      loads[n] = is_other(HeddleAnswerLoad) ? 99.75 : 0.25;
    }
  }
  return result;
}

/// The times are those of the process's clock.
HEDDLE_EXPORT int getrusage(GetUsageOf who, rusage* usage) noexcept {
  static decltype(&getrusage) real = nullptr;
  const int result = real_function(real, "getrusage")(who, usage);
  if (result != 0) {
    return result;
  }
  std::uint64_t shows = 0;
  if (look(CLOCK_PROCESS_CPUTIME_ID, &shows)) {
    usage->ru_utime.tv_sec = static_cast<time_t>(shows / second);
    usage->ru_utime.tv_usec = static_cast<suseconds_t>(shows % second / 1000);
    usage->ru_stime = {};
  }
  if (asks_for_load(__builtin_return_address(0))) {
    usage->ru_maxrss = used(1L << 16); // KiB
    usage->ru_minflt = used(1L << 12);
    usage->ru_majflt = used(16);
    usage->ru_inblock = usage->ru_oublock = used(16);
    usage->ru_nvcsw = usage->ru_nivcsw = used(16);
  }
  return 0;
}

HEDDLE_EXPORT int sched_getcpu() noexcept {
  if (asks_for_load(__builtin_return_address(0))) {
    return static_cast<int>(processor());
  }
  static decltype(&sched_getcpu) real = nullptr;
  return real_function(real, "sched_getcpu")();
}

HEDDLE_EXPORT int getcpu(unsigned* cpu, unsigned* node) noexcept {
  static decltype(&getcpu) real = nullptr;
  const int result = real_function(real, "getcpu")(cpu, node);
  if (result == 0 && cpu != nullptr && asks_for_load(__builtin_return_address(0))) {
    *cpu = processor();
  }
  return result;
}

HEDDLE_EXPORT long get_avphys_pages() noexcept {
  static decltype(&get_avphys_pages) real = nullptr;
  return asks_for_load(__builtin_return_address(0)) ? free_of(::get_phys_pages())
                                                    : real_function(real, "get_avphys_pages")();
}

#define HEDDLE_SPACE(name, with, Space, By)                                                        \
  HEDDLE_EXPORT int name(By of, struct Space* space) noexcept {                                    \
    using Ask = int(By, struct Space*);                                                            \
    static Ask* real = nullptr;                                                                    \
    return with(real_function(real, #name)(of, space), space, __builtin_return_address(0));        \
  }
HEDDLE_SPACE(statvfs, with_files, statvfs, const char*)
HEDDLE_SPACE(statvfs64, with_files, statvfs64, const char*)
HEDDLE_SPACE(fstatvfs, with_files, statvfs, int)
HEDDLE_SPACE(fstatvfs64, with_files, statvfs64, int)
HEDDLE_SPACE(statfs, with_space, statfs, const char*)
HEDDLE_SPACE(statfs64, with_space, statfs64, const char*)
HEDDLE_SPACE(fstatfs, with_space, statfs, int)
HEDDLE_SPACE(fstatfs64, with_space, statfs64, int)
