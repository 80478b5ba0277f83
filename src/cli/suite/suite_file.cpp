// Implements suite_file.h.
#include "cli/suite/suite_file.h"

#include "cli/config/yaml_file.h"
#include "cli/file.h"
#include "report/diagnostic.h"
#include "report/finding.h"
#include "report/render.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using report::Verdict;

bool is_expectation(const std::string& word) {
  constexpr std::array of_a_check{
      Verdict::Terminates,
      Verdict::MayHang,
      Verdict::Defect,
      Verdict::Unknown,
      Verdict::Suppressed
  };
  return report::find_finding(word).has_value() ||
         std::ranges::any_of(of_a_check, [&](Verdict v) { return report::name(v) == word; });
}

/// Where reports go and in which form is said once.
bool is_of_suite(const std::string& option) {
  constexpr std::array<std::string_view, 6>
      names{"--format", "--output", "--html", "--progress-file", "--suite", "--write-baseline"};
  return option.starts_with("-o") ||
         std::ranges::find(names, std::string_view(option).substr(0, option.find('='))) !=
             names.end();
}

class SuiteReader {
public:
  SuiteReader(const std::string& file, const std::string& text)
      : reader_(file, text),
        folder_(fs::path(file).parent_path()) {
    suite_.file = report::shown_path(file);
  }

  Result<Suite> read(const YAML::Node& root) {
    if (!root.IsNull() && !root.IsMap()) {
      return reader_.problem(root.Mark(), "'key: value' is expected");
    }
    YAML::Node programs;
    for (const auto& pair : root) {
      const std::string key = pair.first.Scalar();
      if (key == "options") {
        TRY(common_, options(pair.second));
      } else if (key == "programs") {
        programs.reset(pair.second);
      } else {
        return no_setting(pair.first, "options, programs");
      }
    }
    if (!programs.IsDefined() || programs.IsNull()) {
      return reader_.problem(root.Mark(), "no programs: list them under 'programs:'");
    }
    if (!programs.IsSequence()) {
      return reader_.problem(programs.Mark(), "'programs' is a list: '  - program: …'");
    }
    for (const YAML::Node& node : programs) {
      TRY_VOID(add(node));
    }
    return std::move(suite_);
  }

private:
  tl::unexpected<Error> no_setting(const YAML::Node& key, std::string_view known) const {
    return reader_.problem(
        key.Mark(),
        fmt::format("there is no setting '{}' ({})", key.Scalar(), known)
    );
  }

  /// One word or a list of words.
  Result<std::vector<std::string>> words(const std::string& key, const YAML::Node& value) const {
    std::vector<std::string> result;
    if (!value.IsSequence()) {
      TRY(std::string one, reader_.scalar(key, value));
      result.push_back(std::move(one));
      return result;
    }
    for (const YAML::Node& node : value) {
      if (!node.IsScalar()) {
        return reader_.problem(node.Mark(), fmt::format("'{}' is a list of words", key));
      }
      result.push_back(node.Scalar()); // an argument may be empty
    }
    return result;
  }

  /// A list of words, or one text as a shell would take it.
  Result<std::vector<std::string>> split(const std::string& key, const YAML::Node& value) const {
    if (value.IsSequence()) {
      return words(key, value);
    }
    TRY(const std::string text, reader_.scalar(key, value));
    auto result = split_words(text);
    if (!result) {
      return reader_.problem(value.Mark(), result.error().message);
    }
    return result;
  }

  Result<std::vector<std::string>> options(const YAML::Node& value) const {
    TRY(std::vector<std::string> result, split("options", value));
    for (const std::string& option : result) {
      if (is_of_suite(option)) {
        return reader_.problem(
            value.Mark(),
            fmt::format("'{}' is for the suite as a whole: give it to heddle check", option)
        );
      }
    }
    return result;
  }

  Result<void> add(const YAML::Node& node) {
    if (!node.IsMap()) {
      return reader_.problem(node.Mark(), "an entry of 'programs' is a list of 'key: value'");
    }
    SuiteEntry entry;
    entry.written = reader_.written(node.Mark());
    entry.options = common_;
    std::string program;
    for (const auto& pair : node) {
      const std::string key = pair.first.Scalar();
      const YAML::Node& value = pair.second;
      if (key == "program") {
        TRY(program, reader_.scalar(key, value));
      } else if (key == "name") {
        TRY(entry.name, reader_.scalar(key, value));
      } else if (key == "arguments") {
        TRY(entry.arguments, split(key, value));
      } else if (key == "options") {
        TRY(const auto own, options(value));
        entry.options.insert(entry.options.end(), own.begin(), own.end());
      } else if (key == "expect") {
        TRY(entry.expected, words(key, value));
        TRY_VOID(check_expected(value, entry.expected));
      } else {
        return no_setting(pair.first, "program, name, arguments, options, expect");
      }
    }
    if (program.empty()) {
      return reader_.problem(node.Mark(), "which program? 'program: scan.cu'");
    }
    if (entry.expected.empty()) {
      entry.expected.emplace_back(report::name(Verdict::Terminates));
    }
    if (entry.name.empty()) {
      entry.name = program;
      for (const std::string& argument : entry.arguments) {
        entry.name += " " + argument;
      }
    }
    if (!names_.insert(entry.name).second) {
      return reader_.problem(
          node.Mark(),
          fmt::format("there are two programs called '{}': give one of them a 'name'", entry.name)
      );
    }
    entry.program = (folder_ / program).lexically_normal().string();
    if (entry.program.find('/') == std::string::npos && !entry.program.ends_with(".cu")) {
      entry.program = "./" + entry.program; // not one from PATH
    }
    suite_.entries.push_back(std::move(entry));
    return {};
  }

  Result<void>
  check_expected(const YAML::Node& node, const std::vector<std::string>& expected) const {
    for (const std::string& word : expected) {
      if (!is_expectation(word)) {
        return reader_.problem(
            node.Mark(),
            fmt::format(
                "there is no verdict and no finding '{}' (terminates, may-hang, defect, unknown, "
                "suppressed; heddle config --explain lists findings)",
                word
            )
        );
      }
    }
    return {};
  }

  YamlFile reader_;
  fs::path folder_;
  Suite suite_;
  std::vector<std::string> common_;
  std::set<std::string> names_;
};

} // namespace

Result<Suite> read_suite(const std::string& file) {
  TRY(const std::string text, read_file(file));
  try {
    return SuiteReader(file, text).read(YAML::Load(text));
  } catch (const YAML::Exception& failure) {
    return YamlFile(file, text).problem(failure.mark, failure.msg);
  }
}

} // namespace heddle::cli
