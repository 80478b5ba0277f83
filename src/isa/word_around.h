// Atomic operations of libcu++ on objects of one and two bytes: they read the aligned word that
// holds the object, and exchange it whole; the load of one byte reads the aligned two that hold it.
// So such an instruction may touch up to three bytes that belong to no object, of which it changes
// none. There is memory, because allocations are aligned to more than a word. Its stores are
// accesses like any other.
//
// May be wrong in this direction: without -lineinfo nobody can tell library code from a user's, so
// an atomic access at an address of which the lowest bits have been cleared counts as libcu++'s
// there (misses).
#pragma once

#include "isa/op.h"

namespace heddle::isa {

/// Is `op`, executed in `frame`, one of those?
bool reads_word_around(const Frame& frame, const Op& op);
/// Is the address of the access another one of which the lowest bits have been cleared?
bool has_word_address(const Code& code, const Op& op);

} // namespace heddle::isa
