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

/// The kernel in "kernel 'void scan<int>(int*)<<<4,32>>> (launch 2)'" or "scan<<<4,32>>>":
/// "void scan<int>(int*)"; the text itself if there is no launch in it.
std::string kernel_in(std::string_view text);
/// Of a name as a demangler writes it the last part alone: "scan" of "void my::scan<int>(int*)".
std::string bare_name(std::string_view function);
/// Its outermost name space: "cub" of "void cub::detail::scan<int>(int*)"; empty: it has none.
std::string outer_name_space(std::string_view function);

} // namespace heddle::report
