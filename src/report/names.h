// Names of templates, short enough to be read: "cub::…::DeviceScanKernel<…>".
//
//   shortened_names("kernel 'cub::CUB_300001::detail::scan::DeviceScanKernel<policy_hub<int, …>>'
//   may hang")
//
// Two names that differ only in what is left out look alike; whoever needs to tell them apart asks
// for whole names (-v), which JSON and SARIF always have.
#pragma once

#include <string>
#include <string_view>

namespace heddle::report {

/// `text` with each long name in it shortened: of the name spaces the first one, of template
/// arguments and parameters three dots. Text that is no name stays as it is.
std::string shortened_names(std::string_view text);

} // namespace heddle::report
