// The end of a program that has not waited for all of its device work [EXIT-PENDING]. A real device
// drops that work or carries it out, as it comes. Here it is carried out, as far as it has an end,
// so that what is wrong with it is found, and one warning names it.
#pragma once

namespace heddle::runtime {

class Runtime;

/// Exit handlers run in the reverse order of their registration: this one has to come before those
/// that report what was found, so it is registered after them.
void announce_unawaited_at_exit(Runtime& runtime);

} // namespace heddle::runtime
