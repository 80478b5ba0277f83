// Where a search begins: at the first call of the runtime, or at the launch of a kernel with a
// name.
//
//   heddle check --kernel=scan app.cu      what comes before the launch of `scan` is executed once
//
// The tool names the kernel in HEDDLE_KERNEL.
//
// Until then the engine executes the program, in one fixed order. At the launch everything that was
// submitted before is waited for, the explorer takes the engine's place, and each search is a
// process that is forked there (explore/process/fork_server.h). So the verdict is about what
// follows, for the state that the order before has led to.
#pragma once

#include "runtime/config.h"

#include <memory>
#include <string>
#include <string_view>

namespace heddle::machine {
class Driver;
class World;
} // namespace heddle::machine

namespace heddle::runtime {

class Runtime;

/// The explorer, from what the tool has said in HEDDLE_EXPLORE. Ends the process, with a word, if
/// it was not the tool that started it.
std::unique_ptr<machine::Driver> make_searching_driver(machine::World& world, const Config& config);

/// Is it a kernel at whose launch the search of this process begins?
bool begins_at_a_kernel();

/// --kernel=heddle.search: a Python program says where, by heddle_search_begins().
inline constexpr std::string_view search_on_request = "heddle.search";

/// A kernel is about to be launched: the search begins here if it is the one, and none has begun.
/// Ends the process, with a word, if there are other threads, which a fork would lose.
void begin_search_at(Runtime& rt, const std::string& mangled_name);

/// Is `wanted` a kernel's name: mangled, or as it is written, with or without its namespace and the
/// arguments of its template?
bool names_kernel(std::string_view wanted, std::string_view mangled, std::string_view demangled);

} // namespace heddle::runtime
