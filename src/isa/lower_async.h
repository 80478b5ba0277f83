// register_async: cp.async, cp.async.bulk and cp.reduce.async.bulk (lower_async.cpp).
#pragma once

#include "isa/lowering.h"

namespace heddle::isa {

void register_async(LowerTable&);

} // namespace heddle::isa
