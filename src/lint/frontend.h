// frontend.h: a CUDA source file to a Unit.
//
//   FrontEnd request{.file = "k.cu", .flags = {"-I", "include"}, .toolkit = find_toolkit("")};
//   TRY(const Unit unit, read_unit(request));
//
// The device side is parsed (`__CUDA_ARCH__` is defined), which includes the bodies of host
// functions. Without a toolkit Heddle's own declarations of CUDA (stub_headers.cpp) take its place.
// An include file that cannot be found is skipped, a file with errors is read as far as it goes;
// Unit::errors counts.
#pragma once

#include "base/result.h"
#include "lint/flow.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::lint {

struct FrontEnd {
  std::string file;
  std::string folder;             // where the command runs; empty: here
  std::vector<std::string> flags; // for clang: -I, -D, -std=…
  std::string toolkit;            // folder with include/; empty: none
  std::string architecture = "sm_90";
  std::set<std::string> synchronization_functions;
  /// Also the kernels of system headers: those that the file instantiates.
  bool system_kernels = false;
};

/// `marked`: the headers, but for those of the system, that hold a NOLINT comment.
Result<Unit> read_unit(const FrontEnd& request, std::vector<std::string>* marked = nullptr);

/// Is this an architecture of the Clang that Heddle was built with?
bool knows_architecture(const std::string& name);

/// The architecture to read a file for that is compiled for `asked`: that one, or where it is newer
/// than Clang the newest before it. Empty: none of them is known.
std::string nearest_architecture(const std::string& asked);

/// The toolkit in `asked`, else of the nvcc on PATH, else in the usual places; empty: none.
std::string find_toolkit(const std::string& asked);

/// The headers that stand in for a toolkit: path below the include folder, text.
struct StubHeader {
  const char* path;
  const char* text;
};
const std::vector<StubHeader>& stub_headers();

} // namespace heddle::lint
