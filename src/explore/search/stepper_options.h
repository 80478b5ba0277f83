// What a search assumes, as the machine has to know it.
#pragma once

#include "explore/options.h"
#include "reduce/stepper.h"

namespace heddle::explore {

reduce::Stepper::Options
stepper_options(const Options& options, machine::MakeWarpRules warp_rules = {});

} // namespace heddle::explore
