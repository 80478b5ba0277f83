// Local variables of device code that are read before anything is written to them, by Clang's own
// analysis (-Wuninitialized and -Wsometimes-uninitialized).
//
//   find_unwritten_locals(unit, declaration, function);   // fills function.unwritten
//
// Misses what is read only on paths that the analysis cannot tell apart from impossible ones (a
// loop that may have no round), members of classes and elements of arrays, references to constants,
// and, where it depends on a branch, arguments of calls: a shuffle takes the value of one lane, and
// the others need not have one. No false report is known.
#pragma once

#include "lint/lower.h"

namespace heddle::lint {

void find_unwritten_locals(
    UnitLowering& unit,
    const clang::FunctionDecl& declaration,
    Function& function
);

} // namespace heddle::lint
