// heddle-cc COMPILER ARGUMENTS…: what that compiler has to be told instead, so that the program can
// be checked, whatever builds it.
//
//   const Rewritten r = rewrite({"nvcc", "-c", "a.cu", "-o", "a.o"}, "/usr/lib/heddle");
//   run(r.command);                      // … -lineinfo -Xcompiler -fsanitize=thread,…
//   if (!r.object.empty()) …             // then the stub (stub.c) is linked into that object
//
// Compiling to an object: host code is instrumented, line tables and PTX are asked for. Compiling
// and linking in one step: the same, and the libraries are named. Everything else (linking objects,
// preprocessing, asking for the version) stays as it is, and so does every argument.
#pragma once

#include <string>
#include <vector>

namespace heddle::cli {

struct Rewritten {
  std::vector<std::string> command;
  std::string object; // to which the stub has to be added; empty: none
};
Rewritten rewrite(const std::vector<std::string>& command, const std::string& library_folder);

} // namespace heddle::cli
