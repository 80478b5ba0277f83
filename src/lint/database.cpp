#include "lint/database.h"

#include <fmt/format.h>
#include <llvm/Support/JSON.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace heddle::lint {

Result<std::vector<CompileCommand>> read_database(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path path =
      fs::is_directory(folder) ? fs::path(folder) / "compile_commands.json" : fs::path(folder);
  std::ifstream in(path);
  if (!in) {
    return input_error(
        fmt::format(
            "-p {}: there is no compilation database (cannot read {})",
            folder,
            path.string()
        )
    );
  }
  std::stringstream text;
  text << in.rdbuf();
  auto parsed = llvm::json::parse(text.str());
  if (!parsed) {
    return input_error(fmt::format("{}: {}", path.string(), llvm::toString(parsed.takeError())));
  }
  const llvm::json::Array* entries = parsed->getAsArray();
  if (entries == nullptr) {
    return input_error(fmt::format("{}: a compilation database is a list", path.string()));
  }
  std::vector<CompileCommand> commands;
  for (const llvm::json::Value& entry : *entries) {
    const llvm::json::Object* object = entry.getAsObject();
    if (object == nullptr || !object->getString("file")) {
      continue;
    }
    CompileCommand command;
    command.folder = object->getString("directory").value_or("").str();
    const fs::path file = object->getString("file")->str();
    command.file =
        (file.is_absolute() ? file : fs::path(command.folder) / file).lexically_normal().string();
    if (const llvm::json::Array* words = object->getArray("arguments")) {
      for (const llvm::json::Value& word : *words) {
        command.words.push_back(word.getAsString().value_or("").str());
      }
    } else {
      command.words = split_command(object->getString("command").value_or("").str());
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

} // namespace heddle::lint
