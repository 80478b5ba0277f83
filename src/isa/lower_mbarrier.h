// register_mbarrier: the rows of mbarrier in the lowering table (lower_mbarrier.cpp).
#pragma once

#include "isa/lowering.h"

namespace heddle::isa {

void register_mbarrier(LowerTable&);

} // namespace heddle::isa
