// clang_version.h: what differs between the Clang libraries that Heddle can be built with (22 and
// 19, HEDDLE_LLVM_VERSION in src/lint/CMakeLists.txt). Nothing else asks for Clang's version, but
// for one include of clang_tidy_module.cpp.
#pragma once

#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
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

} // namespace heddle::lint
