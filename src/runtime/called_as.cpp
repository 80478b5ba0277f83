// Implements called_as.h.
#include "runtime/called_as.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace heddle::runtime {

void set_called_as(char** argv) {
  const char* text = std::getenv("HEDDLE_CALLED_AS");
  if (text == nullptr || argv == nullptr || argv[0] == nullptr) {
    return;
  }
  const std::string_view both(text);
  const std::string_view name = both.substr(0, both.find('\n'));
  // Here, and not where it is in the environment: where that is depends on all other variables, and
  // the program may keep the address, which is a part of its state then.
  static std::array<char, 4096> own;
  if (name.size() == both.size() || name.size() >= own.size() ||
      both.substr(name.size() + 1) != argv[0]) {
    return;
  }
  name.copy(own.data(), name.size());
  argv[0] = own.data();
  program_invocation_name = own.data();
}

} // namespace heddle::runtime
