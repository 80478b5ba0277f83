// parse(text, name): PTX text to a checked Module.
//
//   Result<std::unique_ptr<ptx::Module>> m = ptx::parse(text, "app.ptx");
//   if (!m) fmt::print(stderr, "{}\n", m.error().message);   // app.ptx:12:9: error: … and the line
#pragma once

#include "base/result.h"
#include "ptx/module.h"

#include <memory>
#include <string_view>

namespace heddle::ptx {

/// Parses and checks one module. Errors: Input, "name:line:col: error: …\n<source line>\n   ^".
/// Never crashes on any input.
Result<std::unique_ptr<Module>> parse(std::string_view text, std::string_view name);

/// The module as PTX text; parse(print(m)) equals m but for text positions.
std::string print(const Module& module);
/// The same with the body of one function; all others are declared.
std::string print_alone(const Module& module, const Function& function);
std::string print(const Module& module, const Function& function, const Instruction& instruction);

} // namespace heddle::ptx
