// Calls that were refused, and whose error code the program has not asked for when it ends: a
// launch that did not take place, a copy that was not made.
//
//   note_refusal(diagnostic);      // when it happens; a warning has been printed
//   error_was_asked_for();         // cudaGetLastError and its kind
//
// A program that asks for the last error, or for the name or text of a code, has seen all errors so
// far. May be wrong: a program that compares the code which the call itself returns and goes on,
// without asking for anything and without clearing the last error, is reported (invents); of
// several refused launches of one kernel only the first one counts (misses).
#pragma once

#include "report/diagnostic.h"

namespace heddle::runtime {

void note_refusal(const report::Diagnostic& diagnostic);
void error_was_asked_for();

/// At the end of the program, unless it reports an error by its exit status: each one is an error
/// [API-ARGS]. Under `heddle check` whatever the exit status is.
void announce_unseen_errors_at_exit();

} // namespace heddle::runtime
