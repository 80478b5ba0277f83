#include "report/editor_server.h"

#include "report/editor_places.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <istream>
#include <map>
#include <ostream>
#include <set>

namespace heddle::report {
namespace {

using Json = nlohmann::json;

/// Error, warning or information.
int severity_of(const StaticFinding& finding) {
  return finding.severity == Severity::Error ? 1 : finding.severity == Severity::Warning ? 2 : 3;
}

Json diagnostic_of(const StaticFinding& finding, Places& places) {
  Json related = Json::array();
  for (const auto* steps : {&finding.steps, &finding.related}) {
    for (const Step& step : *steps) {
      const Json where = {{"uri", uri_of(step.where.file)}, {"range", places.range(step.where)}};
      related.push_back({{"location", where}, {"message", step.text}});
    }
  }
  std::string message = finding.message;
  for (const std::string& help : finding.help) {
    message += "\nhelp: " + help;
  }
  return {
      {"range", places.range(finding.place)},
      {"severity", severity_of(finding)},
      {"code", finding.key},
      {"source", "heddle lint"},
      {"message", message},
      {"relatedInformation", related}
  };
}

bool overlaps(const Json& one, const Json& other) {
  const auto begins_before = [](const Json& a, const Json& b) {
    const auto at = [](const Json& range, const char* end) {
      return std::pair(
          range.at(end).at("line").get<std::int64_t>(),
          range.at(end).at("character").get<std::int64_t>()
      );
    };
    return at(a, "start") <= at(b, "end");
  };
  return begins_before(one, other) && begins_before(other, one);
}

class EditorServer {
public:
  EditorServer(
      const JudgeFile& judge,
      const std::string& version,
      std::istream& in,
      std::ostream& out
  )
      : judge_(judge),
        version_(version),
        in_(in),
        out_(out) {}

  int run() {
    for (auto text = read(); text; text = read()) {
      const Json message = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
      const std::string method = message.is_object() ? message.value("method", "") : "";
      if (method == "exit") {
        break;
      }
      try {
        const Json parameters = message.value("params", Json::object());
        if (!message.contains("id")) {
          notice(method, parameters);
        } else if (!method.empty()) {
          answer(message.at("id"), method, parameters);
        }
      } catch (const Json::exception& problem) {
        send(
            {{"method", "window/logMessage"},
             {"params", {{"type", 2}, {"message", problem.what()}}}}
        );
      }
    }
    return is_shut_down_ ? 0 : 1;
  }

private:
  std::optional<std::string> read() {
    constexpr std::string_view name = "Content-Length:";
    std::size_t length = 0;
    std::string line;
    while (std::getline(in_, line) && line != "\r" && !line.empty()) {
      if (line.starts_with(name)) {
        length = std::strtoul(line.c_str() + name.size(), nullptr, 10);
      }
    }
    constexpr std::size_t most = std::size_t{1} << 28U;
    if (!in_ || length > most) {
      return std::nullopt;
    }
    std::string text(length, '\0');
    in_.read(text.data(), static_cast<std::streamsize>(length));
    return in_ ? std::optional(text) : std::nullopt;
  }

  void send(Json message) {
    message["jsonrpc"] = "2.0";
    const std::string text =
        message.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
    out_ << fmt::format("Content-Length: {}\r\n\r\n", text.size()) << text << std::flush;
  }

  void answer(const Json& id, const std::string& method, const Json& parameters) {
    Json reply = {{"id", id}, {"result", nullptr}};
    if (method == "initialize") {
      reply["result"] = initialize(parameters);
    } else if (method == "textDocument/codeAction") {
      reply["result"] = actions(parameters);
    } else if (method == "shutdown") {
      is_shut_down_ = true;
    } else {
      constexpr int method_not_found = -32601;
      reply = {
          {"id", id},
          {"error", {{"code", method_not_found}, {"message", "unknown: " + method}}}
      };
    }
    send(std::move(reply));
  }

  Json initialize(const Json& parameters) {
    const Json::json_pointer encodings("/capabilities/general/positionEncodings");
    if (parameters.contains(encodings)) {
      const Json& known = parameters.at(encodings);
      in_bytes_ = std::ranges::find(known, Json("utf-8")) != known.end();
    }
    const Json documents = {{"openClose", true}, {"change", 2}, {"save", true}};
    return {
        {"capabilities",
         {{"positionEncoding", in_bytes_ ? "utf-8" : "utf-16"},
          {"textDocumentSync", documents},
          {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}}}},
        {"serverInfo", {{"name", "heddle lint"}, {"version", version_}}}
    };
  }

  void notice(const std::string& method, const Json& parameters) {
    constexpr std::string_view ours = "textDocument/did";
    if (!method.starts_with(ours)) {
      return;
    }
    const std::string uri = parameters.at("textDocument").at("uri");
    const std::string what = method.substr(ours.size());
    if (what == "Open" || what == "Save") {
      check(uri);
    } else if (what == "Change") {
      changed_.insert(uri);
    } else if (what == "Close") {
      replace(uri, {});
    }
  }

  void check(const std::string& uri) {
    const std::string file = path_of(uri);
    changed_.erase(uri);
    if (file.empty()) {
      return;
    }
    const auto report = judge_(file);
    Shown shown;
    shown[uri]; // no finding is a result, too
    Places places(in_bytes_);
    const auto say = [&](const std::string& text) {
      const Json top = {{"line", 0}, {"character", 0}};
      shown[uri].diagnostics.push_back(
          {{"range", {{"start", top}, {"end", top}}},
           {"severity", 3},
           {"source", "heddle lint"},
           {"message", text}}
      );
    };
    if (!report) {
      say(report.error().message);
    } else {
      for (const FileTime& one : report->files) {
        if (one.errors != 0) {
          say(fmt::format("not all of the file was read: {}", one.first_error));
        }
      }
      for (const StaticFinding& finding : report->findings) {
        if (finding.suppressed.empty()) {
          // As the client has named the file; a header by its path.
          const bool here = finding.place.file == file;
          add(shown[here ? uri : uri_of(finding.place.file)], finding, places);
        }
      }
    }
    replace(uri, std::move(shown));
  }

  struct OfFile {
    Json diagnostics = Json::array(), actions = Json::array();
  };
  using Shown = std::map<std::string, OfFile>; // by uri

  static void add(OfFile& to, const StaticFinding& finding, Places& places) {
    const Json diagnostic = diagnostic_of(finding, places);
    to.diagnostics.push_back(diagnostic);
    for (const Fix& fix : finding.fixes) {
      Json changes = Json::object();
      for (const Edit& edit : fix.edits) {
        changes[uri_of(edit.where.file)].push_back(
            {{"range", places.range_of_bytes(edit.where)}, {"newText", edit.text}}
        );
      }
      to.actions.push_back(
          {{"title", fix.description},
           {"kind", "quickfix"},
           {"diagnostics", Json::array({diagnostic})},
           {"edit", {{"changes", changes}}}}
      );
    }
  }

  /// What one document has led to takes the place of what it led to before.
  void replace(const std::string& uri, Shown now) {
    for (const auto& [before, unused] : shown_[uri]) {
      now[before];
    }
    for (const auto& [at, one] : now) {
      const Json parameters = {{"uri", at}, {"diagnostics", one.diagnostics}};
      send({{"method", "textDocument/publishDiagnostics"}, {"params", parameters}});
    }
    std::erase_if(now, [](const auto& entry) { return entry.second.diagnostics.empty(); });
    shown_[uri] = std::move(now);
  }

  Json actions(const Json& parameters) {
    const std::string uri = parameters.at("textDocument").at("uri");
    Json found = Json::array();
    for (const auto& [document, shown] : shown_) {
      const auto here = shown.find(uri);
      if (here == shown.end() || changed_.contains(uri)) {
        continue;
      }
      for (const Json& action : here->second.actions) {
        if (overlaps(action.at("diagnostics")[0].at("range"), parameters.at("range"))) {
          found.push_back(action);
        }
      }
    }
    return found;
  }

  const JudgeFile& judge_;
  const std::string& version_;
  std::istream& in_;
  std::ostream& out_;
  bool in_bytes_ = false, is_shut_down_ = false;
  std::set<std::string> changed_;      // since they were judged
  std::map<std::string, Shown> shown_; // by the document that was judged
};

} // namespace

int serve_editor(
    const JudgeFile& judge,
    const std::string& version,
    std::istream& in,
    std::ostream& out
) {
  return EditorServer(judge, version, in, out).run();
}

} // namespace heddle::report
