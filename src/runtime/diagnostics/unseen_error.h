// Calls that were refused, and whose error code the program has not asked for when it ends: a
// launch that did not take place, a copy that was not made.
//
//   note_refusal(diagnostic);      // when it happens; a warning has been printed
//   note_failure(code);            // a call is about to return it; tells of it if nothing else has
//   error_was_asked_for();         // cudaGetLastError and its kind
//
// A program that asks for the last error, or for the name or text of a code, has seen all errors so
// far. So has one that uses the code which the call itself returns (result_use.h). May be wrong in
// this direction: of several calls from one place only the first one counts, and where the code
// that follows a call is not understood, its result is taken to be used (both miss).
#pragma once

#include "report/diagnostic.h"
#include "runtime/cudart.h"

#include <string>

namespace heddle::runtime {

void note_refusal(const report::Diagnostic& diagnostic);
/// What is wrong with the call that is under way has been said, and needs no second finding.
void note_told();
void note_failure(cudaError_t code);
/// The call that is under way returns `code` because of this argument, for the finding.
cudaError_t because(cudaError_t code, std::string why);
void error_was_asked_for();

/// At the end of the program, unless it reports an error by its exit status: each one is an error
/// [API-ARGS]. Under `heddle check` whatever the exit status is.
void announce_unseen_errors_at_exit();

} // namespace heddle::runtime
