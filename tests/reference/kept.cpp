// Implements kept.h.
#include "reference/kept.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace heddle::differ {

namespace {

using enumeration::HostOperation;

std::string as_text(const std::vector<HostOperation>& operations) {
  std::string text;
  for (const HostOperation& operation : operations) {
    text += fmt::format(" {}:{}", static_cast<int>(operation.kind), operation.value);
  }
  return text;
}

std::vector<HostOperation> read_operations(std::istream& words) {
  std::vector<HostOperation> operations;
  unsigned kind = 0, value = 0;
  for (char colon = 0; words >> kind >> colon >> value;) {
    operations.push_back(
        {static_cast<enumeration::HostKind>(kind), static_cast<std::uint8_t>(value)}
    );
  }
  return operations;
}

void read_setting(const std::string& what, std::istream& words, Kept& kept) {
  Generated& program = kept.program;
  unsigned number = 0;
  if (what == "kills") {
    for (std::string name; words >> name;) {
      kept.kills.push_back(name);
    }
  } else if (what == "threads") {
    words >> program.threads;
  } else if (what == "shape" && words >> number) {
    program.shape = static_cast<enumeration::Shape>(number);
  } else if (what == "progress" && words >> number) {
    program.progress = static_cast<model::ProgressModel>(number);
  } else if (what == "host") {
    program.host = read_operations(words);
  } else if (what == "beside") {
    program.beside = read_operations(words);
  } else if (what == "function") {
    std::string text;
    std::getline(words, text);
    program.functions.push_back(text + "\n");
  }
  if (what == "terminates" || what == "hangs") {
    program.hangs = what == "hangs";
  }
  program.weak = program.weak || what == "weak";
  program.lockstep = program.lockstep || what == "lockstep";
  program.prompt = program.prompt && what != "stays";
}

} // namespace

Kept read_kept(const std::string& file) {
  constexpr unsigned registers = 64;
  Kept kept;
  kept.program.words = registers;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string slashes, what;
    words >> slashes >> what;
    if (slashes != "//") {
      kept.program.body.push_back(line);
    } else {
      read_setting(what, words, kept);
    }
  }
  return kept;
}

std::string as_kept(const Generated& program) {
  std::string text =
      fmt::format("// shape {}\n// threads {}\n", static_cast<int>(program.shape), program.threads);
  const auto add = [&text](bool is_so, std::string_view what) {
    text += is_so ? fmt::format("// {}\n", what) : std::string();
  };
  add(!program.host.empty(), "host" + as_text(program.host));
  add(!program.beside.empty(), "beside" + as_text(program.beside));
  add(!program.prompt, "stays");
  add(program.weak, "weak");
  add(program.lockstep, "lockstep");
  add(program.progress != model::ProgressModel::Cuda,
      fmt::format("progress {}", static_cast<int>(program.progress)));
  for (std::string function : program.functions) {
    std::ranges::replace(function, '\n', ' ');
    add(true, "function " + function);
  }
  return text + fmt::format("{}\n", fmt::join(program.body, "\n"));
}

} // namespace heddle::differ
