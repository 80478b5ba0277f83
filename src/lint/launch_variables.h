// launch_variables.h: threadIdx, blockIdx, blockDim and gridDim in Clang's tree.
//
//   if (const auto which = launch_symbol(expression)) …      // threadIdx.x: Symbol::ThreadIndexX
//
// Clang's header makes their members properties; the copy that lint reads (prelude.h) makes them
// members. The module for clang-tidy sees the former.
#pragma once

#include "lint/flow.h"

#include <clang/AST/Expr.h>

#include <optional>

namespace heddle::lint {

/// The member x, y or z of one of them where it is read. Not of a copy that can be written: its
/// members are variables.
std::optional<Symbol> launch_symbol(const clang::Expr& expression);

} // namespace heddle::lint
