// Reports of suites as JSON and SARIF: those of the programs, put together.
#include "report/suite.h"

#include <nlohmann/json.hpp>

namespace heddle::report {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json expected_json(const SuiteResult& result) {
  return result.expected;
}

} // namespace

std::string render_json(const SuiteReport& suite) {
  Json programs = Json::array();
  for (const SuiteResult& result : suite.results) {
    Json program = {
        {"name", result.name},
        {"expected", expected_json(result)},
        {"verdict", result.verdict.empty() ? Json(nullptr) : Json(result.verdict)},
        {"as_expected", result.as_expected},
        {"exit_code", result.exit_code},
        {"seconds", result.seconds},
    };
    if (!result.error.empty()) {
      program["error"] = result.error;
    }
    if (!result.json.empty()) {
      program["report"] = Json::parse(result.json);
    }
    programs.push_back(std::move(program));
  }
  const std::size_t good = suite.as_expected();
  return dumped(
             {{"suite", suite.file},
              {"as_expected", good},
              {"not_as_expected", suite.results.size() - good},
              {"seconds", suite.seconds},
              {"programs", std::move(programs)}}
         ) +
         "\n";
}

/// One log with a run for each program: that is what `runs` is for.
std::string render_sarif(const SuiteReport& suite) {
  Json log;
  Json runs = Json::array();
  for (const SuiteResult& result : suite.results) {
    if (result.sarif.empty()) {
      continue; // it could not be checked
    }
    Json one = Json::parse(result.sarif);
    for (Json& run : one["runs"]) {
      run["automationDetails"] = {{"id", suite.file + "/" + result.name}};
      runs.push_back(std::move(run));
    }
    if (log.is_null()) {
      log = std::move(one);
    }
  }
  if (log.is_null()) {
    log = {{"version", "2.1.0"}};
  }
  log["runs"] = std::move(runs);
  return dumped(log) + "\n";
}

std::string encode(const SuiteResult& result) {
  return dumped(
      {{"name", result.name},
       {"expected", expected_json(result)},
       {"verdict", result.verdict},
       {"error", result.error},
       {"as_expected", result.as_expected},
       {"exit_code", result.exit_code},
       {"seconds", result.seconds},
       {"text", result.text},
       {"json", result.json},
       {"sarif", result.sarif},
       {"identity", result.identity}},
      -1
  );
}

std::optional<SuiteResult> decode_suite_result(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("sarif")) {
    return std::nullopt;
  }
  SuiteResult result;
  try {
    result.name = json.value("name", "");
    result.expected = json.at("expected").get<std::vector<std::string>>();
    result.verdict = json.value("verdict", "");
    result.error = json.value("error", "");
    result.as_expected = json.value("as_expected", false);
    result.exit_code = json.value("exit_code", 0);
    result.seconds = json.value("seconds", 0.0);
    result.text = json.value("text", "");
    result.json = json.value("json", "");
    result.sarif = json.value("sarif", "");
    result.identity = json.value("identity", "");
  } catch (const Json::exception&) { // a value of another type
    return std::nullopt;
  }
  return result;
}

} // namespace heddle::report
