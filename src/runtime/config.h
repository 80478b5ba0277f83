// Config: how this process is to be run. `heddle run` passes its options to the library through
// these environment variables; a program started without the CLI gets the defaults.
//
//   HEDDLE_DEVICE=sm_90     which virtual device (device_model.h)
//   HEDDLE_DEVICES=N        how many of them, 1-16
//   HEDDLE_SEED=N           one reproducible, single-threaded schedule (default: all cores)
//   HEDDLE_THREADS=N        worker threads; default: one for each core
//   HEDDLE_RACES=1          run: look for data races (one worker; seed 0 if there is none)
//   HEDDLE_UNINITIALISED=1  run: look for uses of uninitialised memory (one worker, too)
//   HEDDLE_FOUND_TO=FILE    with one of them: write what is found there instead, in lines
//                           (report/diagnostic_lines.h)
//   HEDDLE_SUPPRESSIONS=FILE  what of it is not reported, in lines (report/suppression.h)
//   HEDDLE_REPORT_TO=FILE   everything that is found is written there, too, in such lines
//   HEDDLE_REPORT_ONLY=1    … and nowhere else
//   HEDDLE_OWN_STATUS=1     … and they do not change the exit status of the program
//   HEDDLE_COLOR=WORD       always, never or auto: of what is printed (report/render.h)
//   HEDDLE_VERBOSE=1        whole names of templates in what is printed
//   HEDDLE_MAX_INSTRUCTIONS=N  run: the program ends in silence when device threads have executed
//                           so many; for heddle check, whose report must not depend on a clock
//   HEDDLE_MAX_TIME=S       run: the program ends after so many seconds, and reports which
//                           threads still spin
//   HEDDLE_LEAKS=1          run: memory that is not freed in the end is reported
//   HEDDLE_ERROR_EXITCODE=N run: the exit code if a defect was found (default: 1)
//   HEDDLE_WARNINGS_AS_ERRORS=1
//   HEDDLE_MODE=run|check   run: go on as fast as possible; check: every schedule
//   HEDDLE_BARRIERS=WORD    ptx: ended threads hold up no barrier (default); guide: they do
//   HEDDLE_REMARKS_TO=FILE  check: what is only a warning is written there, in lines
//   HEDDLE_ORDERS_TO=FILE   check: the memory orders of the program's atomics are written there, in
//                           lines (registration/orders.h)
//   HEDDLE_ORDER=LINE       check: the order of one of them is another one, in such a line
//   HEDDLE_LIBRARY_RACES=1  with HEDDLE_RACES: those inside of NVIDIA's own libraries, too
//   HEDDLE_SAME_VALUE=error with HEDDLE_RACES: writes of the same value are findings like others
//   HEDDLE_WARPS=NAME       independent: each thread on its own (default); lockstep: as once
//   HEDDLE_WARP_TRACE=N     lockstep: prints the first N steps of a warp
//   HEDDLE_RECONVERGENCE=common-exit   lockstep: lanes meet as if all ends were one place
//   HEDDLE_STALE_READS=1    lockstep: plain reads of global memory may be old (one worker)
//   HEDDLE_JIT=WORD         run: which kernels become machine code: never (default), hot, always;
//                           needs HEDDLE_JIT_COMPILER, the path of heddle-jit, and
//                           HEDDLE_JIT_CACHE, a folder
//   HEDDLE_REFERENCE=N      run, with a seed: before kernels run the reference searches them, up to
//   N
//                           states; HEDDLE_REFERENCE_TO=FILE: where it says what it found, in lines
//   HEDDLE_EXPLORE=TEXT     options of the explorer, as the CLI writes them
//   CUDA_LAUNCH_BLOCKING=1  as in CUDA: a launch returns when the kernel has ended
//   CUDA_VISIBLE_DEVICES=…  as in CUDA: empty hides all devices, a list limits their number
#pragma once

#include "base/result.h"
#include "jit/tiers.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace heddle::runtime {

enum class Mode : std::uint8_t {
  Run,
  Check
};

enum class Warps : std::uint8_t {
  Independent,
  Lockstep
};

struct Config {
  std::string device = "sm_90";
  int devices = 1;
  std::optional<std::uint64_t> seed;
  std::optional<unsigned> threads;
  Mode mode = Mode::Run;
  bool races = false;
  bool library_races = false;
  bool same_value_races = false;
  bool unwritten = false;
  bool guide_barriers = false;
  Warps warps = Warps::Independent;
  std::uint64_t warp_trace = 0;
  bool stale_reads = false;
  bool common_exit = false;
  jit::Tiers::Options compile;
  std::optional<double> max_seconds;
  std::optional<std::uint64_t> max_instructions;
  bool leaks = false;
  std::optional<int> defect_exit_code;
  std::string reference; // "N FILE"; empty: nothing is searched
  std::string explore;
  bool launch_blocking = false;
};

/// Reads the variables through `get` (nullptr: not set). Input error: names the variable.
Result<Config> read_config(const std::function<const char*(const char*)>& get);

} // namespace heddle::runtime
