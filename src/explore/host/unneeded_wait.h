// A call of the host that waits for devices though it need not ([API-WAIT]), where a search does
// not try that it returns before: cudaHostRegister of pages that are kept (kept_pages.h).
#pragma once

namespace heddle::explore {

/// The calling thread is about to wait in this way. Does nothing outside of a search.
void note_unneeded_wait();

} // namespace heddle::explore
