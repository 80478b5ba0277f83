// clang_version.h: what differs between the Clang libraries that Heddle can be built with (22 and
// 19, HEDDLE_LLVM_VERSION in src/lint/CMakeLists.txt). Nothing else asks for Clang's version, but
// for one include of clang_tidy_module.cpp.
#pragma once

#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/Version.h>

#include <string>

namespace heddle::lint {

/// The text of an asm statement as written.
inline std::string assembly_text(const clang::GCCAsmStmt& statement) {
#if CLANG_VERSION_MAJOR >= 21
  return statement.getAsmString();
#else
  return statement.getAsmString()->getString().str();
#endif
}

/// Device code launches a kernel, and the flag that allows it is missing. (Before 22 Clang knows
/// no such launches, and says so.)
inline bool is_launch_without_flag(const clang::Diagnostic& info) {
#if CLANG_VERSION_MAJOR >= 22
  return info.getID() == clang::diag::err_cuda_device_kernel_launch_require_rdc;
#else
  return false;
#endif
}

} // namespace heddle::lint
