// inspect(path): can this file be run with Heddle's libcudart in place of NVIDIA's?
//
// The answers a user gets before the program is started: what to change in the build, not a
// symptom. It looks at the file alone; libraries that it loads are not inspected.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace heddle::cli {

struct Inspection {
  bool script = false;               // begins with #!
  bool cuda = false;                 // has kernels, or needs libcudart or libcuda
  bool driver = false;               // needs libcuda
  int static_runtime = 0;            // 12 or 13: NVIDIA's runtime library is inside; 0: it is not
  bool starts_programs = false;      // itself, perhaps: by argv[0]
  bool may_compile = false;          // needs libnvrtc or libnvJitLink, or may load them
  bool instrumented = false;         // host code compiled with -fsanitize=thread
  bool launched = false;             // compiled with heddle-cc: needs our libraries preloaded
  bool launched_12 = false;          // … of CUDA 12
  bool rpath_wins = false;           // DT_RPATH without DT_RUNPATH: searched before LD_LIBRARY_PATH
  std::vector<std::string> warnings; // one line each
};

/// Input and Unsupported errors say what to change.
Result<Inspection> inspect(const std::string& path);

} // namespace heddle::cli
