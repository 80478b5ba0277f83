// Does the program use the code that a call of the API returns?
//
//   if (result_is_dropped(callers_of_the_call)) …     // return addresses, innermost first
//
// The call has not returned yet, so this reads the machine code behind it: where the result goes
// until it is overwritten. A result that is only moved between registers and places on the stack,
// and never read otherwise, is dropped. A function that returns it hands the question on to its own
// caller (the templates of cuda_runtime.h do so).
//
// May be wrong in one direction: code that is not understood, or longer than the limit, is taken to
// use the result. So a result that is dropped may be missed; none that is used is called dropped,
// unless it is read through a pointer to the stack that was made before the call.
#pragma once

#include <span>

namespace heddle::runtime {

bool result_is_dropped(std::span<const void* const> callers);

} // namespace heddle::runtime
