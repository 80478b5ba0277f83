// How a user's program is started so that it finds Heddle's libcudart: the environment protocol
// between the command and the runtime library.
//
//   HEDDLE_MODE=run|check   HEDDLE_DEVICE=sm_90   HEDDLE_DEVICES=N   HEDDLE_SEED=N
//   HEDDLE_PROGRAM=…        as it would be typed, for messages
//   HEDDLE_CALLED_AS=…      argv[0], and behind a line break the path that it stands for
//   HEDDLE_RACES=1          HEDDLE_LIBRARY_RACES=1   HEDDLE_SAME_VALUE=note|error
//   HEDDLE_UNINITIALISED=1
//   HEDDLE_BARRIERS=ptx|guide
//   HEDDLE_JIT=hot|always   with HEDDLE_JIT_COMPILER and HEDDLE_JIT_CACHE, or HEDDLE_JIT_MISSING=1
//   HEDDLE_WARPS=independent|lockstep   HEDDLE_WARP_TRACE=N   HEDDLE_STALE_READS=1
//   HEDDLE_RECONVERGENCE=early-ends|common-exit
//   LD_LIBRARY_PATH         our library folder first
//   LD_PRELOAD              our libcudart, where the program's own DT_RPATH would be searched
//   earlier; libheddle_bind.so for those whose runtime library is linked statically
//   TRITON_PTXAS_PATH, TRITON_LIBCUDA_PATH, TRITON_CACHE_DIR: for programs that load libraries
//   FLASHINFER_EXTRA_CUDAFLAGS, FLASHINFER_WORKSPACE_BASE: for the same
//   LD_AUDIT                libheddle_audit.so, for those and for programs that load libraries
#pragma once

#include "base/result.h"
#include "cli/run/inspect.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// What --device takes, oldest first: the models of machine/device.h.
inline constexpr std::string_view device_names[] =
    {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120"};

/// The most that --devices takes.
inline constexpr int most_devices = 16;

struct DeviceOptions {
  std::string device = "sm_90";
  int devices = 1;
  std::optional<std::uint64_t> seed;
  bool races = false;                // look for data races
  bool library_races = false;        // those inside of NVIDIA's own libraries, too
  std::string same_value = "note";   // writes of the same value that race: or error
  bool uninitialised = false;        // look for uses of memory that nobody has written
  std::string barriers = "ptx";      // or guide: threads that have ended hold them up
  std::string warps = "independent"; // or lockstep
  std::string jit = "hot";           // or never, always
  std::uint64_t warp_trace = 0;
  bool stale_reads = false;
  std::string reconvergence = "early-ends"; // or common-exit; both (check)
  std::optional<double> max_seconds;        // heddle run
  bool leaks = false;
  std::optional<unsigned> error_exit_code; // instead of 1
  bool warnings_as_errors = false;
  std::string kernel; // heddle check: the search begins where it is launched; empty: at first
};

/// A program and its arguments as given, ready to be started.
struct Target {
  std::string path;
  std::vector<std::string> arguments;
  Inspection inspection;
  std::string device; // to stand in for: the one asked for, or one that can run what was compiled
  std::string called_as; // argv[0], if that is not the path (runtime/called_as.h)
  std::string shown;     // the program with its flags and arguments, to be typed behind a command
};

/// "heddle run --races app.cu -- 4": `words` are the command and its flags.
std::string shown_command(const Target& target, std::string_view words);

/// `device`, or, if `nvcc_flags` ask for code that it is too old for, the oldest that can run it.
std::string device_for(const std::string& device, const std::vector<std::string>& nvcc_flags);

/// True for a .cu file and a Python script: what is run for it is another file, so a replay names
/// it.
bool is_source(std::string_view program);

/// Compiles `program` if it is a .cu file, takes python3 for a .py file, finds what has no slash in
/// PATH, and inspects it.
/// Warnings go to stderr.
Result<Target> prepare(
    const std::string& program,
    const std::vector<std::string>& arguments,
    const DeviceOptions& options,
    const std::vector<std::string>& nvcc_flags,
    const std::vector<std::string>& heddle_flags
);

/// The same with everything that observing the host code takes.
Result<Target> prepare_check(
    const std::string& program,
    const std::vector<std::string>& arguments,
    const DeviceOptions& options,
    const std::vector<std::string>& nvcc_flags
);

/// The folder of libcudart.so.13, next to the running program: ../lib/heddle (installed) or ../lib.
Result<std::string> library_folder();

/// The variables to set; `mode` is HEDDLE_MODE.
Result<std::map<std::string, std::string>>
launch_environment(const Target& target, const DeviceOptions& options, const std::string& mode);

} // namespace heddle::cli
