// Asynchronous copies: the parts of ld/st lowering that live in lower_async.cpp.
#pragma once

#include "isa/lowering.h"

namespace heddle::isa {

void register_async(LowerTable&); // cp.async and its groups, cp.async.bulk, cp.reduce.async.bulk
Result<void> lower_async_store(Lowering& l, const ptx::Instruction& i); // st.async
Result<void> lower_async_red(Lowering& l, const ptx::Instruction& i);   // red.async

} // namespace heddle::isa
