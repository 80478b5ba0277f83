// compile(request): nvcc on a .cu file, once. The program is kept in the user's cache folder under
// a hash of everything it was made from: source, every file it included, flags, toolchain.
//
//   TRY(const std::string program, compile({.source = "app.cu", .architecture = "sm_90"}));
//
// A second request looks at the files that the first one read (program_cache.h) and starts no
// compiler. Direction of error: a header that appears in a folder searched *earlier* than
// the one it was found in last time is not noticed (delete the cache folder then); neither are
// __DATE__ and __TIME__.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace heddle::cli {

struct CompileRequest {
  std::string source;
  std::string architecture = "sm_90";
  std::vector<std::string> nvcc_flags;   // of the user, last on the command line
  std::vector<std::string> heddle_flags; // what the command needs beyond -cudart shared -lineinfo
  bool quiet = false;                    // no "compiling …" on stderr
};

/// Path of the program. nvcc's own messages go to stderr as they come. Input errors: nvcc is
/// missing, the source cannot be read, nvcc failed, the cache folder cannot be written.
Result<std::string> compile(const CompileRequest& request);

/// $HEDDLE_NVCC, nvcc on PATH, $CUDA_HOME/bin, /usr/local/cuda/bin, or the one Heddle was built
/// with.
Result<std::string> find_nvcc();

/// Is it a source, an object or an archive by its name, and no option?
bool is_for_nvcc(const std::string& word);

/// The files in a make rule as compilers write them ("a.o: x.cu \<newline> y.h"), without the
/// target.
std::vector<std::string> parse_dependencies(std::string_view rule);

} // namespace heddle::cli
