// Printing what was found, when it is found: the program may never ask for it, or not come to an
// end.
#pragma once

#include "machine/world.h"
#include "report/diagnostic.h"

#include <vector>

namespace heddle::runtime {

/// Prints the diagnostic to stderr and records the outcome (a defect, or unsupported).
void announce(const report::Diagnostic& diagnostic);
/// Prints a warning, which is no outcome unless --warnings-as-errors makes an error of it.
void warn(report::Diagnostic diagnostic);
/// Adds it to the file that HEDDLE_REPORT_TO names, once for each text, if there is one.
void write_down(const report::Diagnostic& diagnostic);
/// What warnings have told of are errors after all: prints a line for each, with its last note, and
/// one help for all. Nothing if warnings are errors anyway.
void announce_after_warning(const std::vector<report::Diagnostic>& diagnostics);
/// What a monitor has found, at the end: into the file that HEDDLE_FOUND_TO names, else as above.
void announce_or_write(const report::Diagnostic& diagnostic);
/// What is no finding, for whoever wants a report: into the same files, and not printed.
void announce_note(const report::Diagnostic& note);
/// The same for a device fault.
void announce_fault(const machine::FaultReport& fault);

/// The faults of this kind that have been announced; they end a kernel, so there are few.
std::vector<report::Diagnostic> announced_faults(report::Finding finding);

/// What is a defect by other rules than those that hold: a warning, or, while every schedule is
/// explored, a line in the file that HEDDLE_REMARKS_TO names.
void announce_remark(const machine::FaultReport& what);

/// A pointer given to `call` that no allocation of the right kind starts at: freed before, or never
/// allocated, or not its start.
void announce_bad_free(const memory::AddressSpace& space, memory::Address p, const char* call);
/// The same of memory that cudaDeviceReset has freed: a warning. Destructors that run after the
/// reset do this, and no memory is freed twice.
void warn_of_free_after_reset(memory::Address p, const char* call);
/// A copy or a set that reaches device memory which is not there: a warning, for the call's error
/// code may be what the program wants to see. Says nothing if all `bytes` are in one allocation.
void warn_of_bad_range(
    const memory::AddressSpace& space,
    memory::Address at,
    std::uint64_t bytes,
    const char* call
);
/// A launch that did not take place, `why`, and the name of its error code: a warning, for programs
/// that go on without having looked at the code.
void warn_of_refused_launch(
    const std::string& kernel,
    const std::string& why,
    const std::string& code
);
/// A handle used after its destruction (the real library would crash).
void announce_stale_handle(const char* what);

/// A gap of Heddle in the call of a library that is under way; `what` names it for `heddle check`.
/// Once for each text.
void complain_library(const std::string& text, std::string_view what);
/// A library or program with a runtime of its own (cuBLAS and its kind; what was stripped) is to
/// use the device.
void complain_closed(std::string_view library);

} // namespace heddle::runtime
