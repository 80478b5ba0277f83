// A call of the host that waits for devices though it need not ([API-WAIT]), where a search does
// not try that it returns before.
#pragma once

namespace heddle::explore {

/// The calling thread is about to wait so. Nothing, if there is no search.
void note_unneeded_wait();

} // namespace heddle::explore
