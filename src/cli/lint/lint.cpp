// heddle lint: starts heddle-lint, which stands beside this program and links LLVM.
#include "cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace heddle::cli {

int lint_command(const std::vector<std::string>& arguments) {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const std::string program = (self.parent_path() / "heddle-lint").string();
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (std::string& word : words) {
    raw.push_back(word.data());
  }
  raw.push_back(nullptr);
  execv(program.c_str(), raw.data());
  return report_error(
      Error{
          ErrorKind::Unsupported,
          fmt::format(
              "this installation has no static checker ({} cannot be started); it is built where "
              "llvm-22-dev and libclang-22-dev (or 19) are installed",
              program
          )
      }
  );
}

} // namespace heddle::cli
