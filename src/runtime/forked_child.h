// Children of a process that has initialised CUDA: drivers refuse them every call.
#pragma once

namespace heddle::runtime {

/// Once.
void watch_forks();
/// Is this such a child?
bool is_forked_child();

} // namespace heddle::runtime
