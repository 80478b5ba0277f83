// Implements test_lint.h: heddle-lint is another program, since it links LLVM. What it finds comes
// as JSON, which is YAML as well.
#include "cli/test/test_lint.h"

#include "base/process.h"
#include "cli/file.h"

#include <fmt/format.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

namespace heddle::cli {
namespace {

report::Region region_from(const YAML::Node& node) {
  report::Region result;
  result.file = node["file"].as<std::string>("");
  result.line = result.end_line = node["line"].as<std::uint32_t>(0);
  result.column = node["column"].as<std::uint32_t>(0);
  result.end_column = result.column + node["length"].as<std::uint32_t>(1);
  return result;
}

std::vector<report::Step> steps_from(const YAML::Node& node) {
  std::vector<report::Step> result;
  for (const YAML::Node& step : node) {
    result.push_back({region_from(step), step["text"].as<std::string>("")});
  }
  return result;
}

report::Severity severity_from(const std::string& name) {
  return name == "error"     ? report::Severity::Error
         : name == "warning" ? report::Severity::Warning
                             : report::Severity::Note;
}

report::StaticReport report_from(const std::string& json) {
  report::StaticReport result;
  const YAML::Node root = YAML::Load(json);
  for (const YAML::Node& node : root["findings"]) {
    report::StaticFinding one;
    one.key = node["key"].as<std::string>("");
    one.rule = node["rule"].as<std::string>("");
    one.severity = severity_from(node["severity"].as<std::string>(""));
    one.place = region_from(node["location"]);
    one.message = node["message"].as<std::string>("");
    one.function = node["function"].as<std::string>("");
    one.steps = steps_from(node["chain"]);
    one.related = steps_from(node["related"]);
    for (const YAML::Node& help : node["help"]) {
      one.help.push_back(help.as<std::string>(""));
    }
    if (!node["suppressed"].IsNull()) {
      one.suppressed = node["suppressed"].as<std::string>("");
    }
    result.findings.push_back(std::move(one));
  }
  for (const YAML::Node& node : root["files"]) {
    report::FileTime file;
    file.file = node["file"].as<std::string>("");
    file.errors = node["parse_errors"].as<std::uint32_t>(0);
    file.first_error = node["first_error"].as<std::string>("");
    result.files.push_back(std::move(file));
  }
  return result;
}

TestLint::Result lint_source(std::vector<std::string> command) {
  if (access(command.front().c_str(), X_OK) != 0) {
    return {.report = {}, .problem = "heddle-lint is not installed (heddle doctor)"};
  }
  const auto output = run_and_read(command, Messages::Dropped);
  if (!output || output->text.empty()) {
    return {.report = {}, .problem = "heddle-lint cannot be started (heddle doctor)"};
  }
  TestLint::Result result;
  try {
    result.report = report_from(output->text);
  } catch (const YAML::Exception& problem) {
    result.problem = fmt::format("heddle-lint: {}", problem.what());
  }
  if (!result.report.parsed()) {
    result.problem = "the source could not be parsed; heddle lint says why";
  }
  return result;
}

} // namespace

TestLint::TestLint(
    const std::string& source,
    const std::vector<std::string>& nvcc_flags,
    const ConfigOptions& config
) {
  std::vector<std::string> command =
      {(own_path().parent_path() / "heddle-lint").string(), "--format=json", source};
  if (!config.file.empty()) {
    command.push_back("--config=" + config.file);
  }
  if (!config.baseline.empty()) {
    command.push_back("--baseline=" + config.baseline);
  }
  if (!nvcc_flags.empty()) { // it knows which of them say what the source means
    command.emplace_back("--");
    command.insert(command.end(), nvcc_flags.begin(), nvcc_flags.end());
  }
  result_ = std::async(std::launch::async, lint_source, std::move(command));
}

} // namespace heddle::cli
