// Functions that micro-programs call: one for all operations of a kind, so that one instruction is
// what several operations stand at.
#pragma once

#include "reduce/micro_program.h"

#include <string>

namespace heddle::enumeration {

/// nullptr: there is none.
const char* function_name(Kind kind);

std::string functions_as_ptx();

/// With the pieces of text `#` of micro_program.cpp. An operation on Q calls by an address.
std::string call_as_ptx(
    const Operation& operation,
    const std::string& to, // a register
    const std::string& at, // "[%memory+16]"
    const std::string& value
);

} // namespace heddle::enumeration
