#include "lint/suppress.h"

#include "base/glob.h"
#include "base/regular_expression.h"
#include "lint/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace heddle::lint {
namespace {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

struct Comment {
  std::uint32_t line = 0, column = 0, length = 0;
  std::uint32_t first = 0, last = 0; // lines that it covers
  std::vector<std::string> names;
  std::string reason;
  bool used = false;
};

constexpr std::string_view prefix = "heddle-";
constexpr std::string_view everything = "*"; // alone: for the checks of all tools

/// Does a name in a comment mean this rule or this key? With or without the prefix that
/// clang-tidy's checks have, and with stars.
bool means(const std::string& name, const std::string& rule, const std::string& key) {
  if (name == everything) {
    return true;
  }
  const std::string own = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  if (own.find('*') == std::string::npos) {
    return equal_names(own, rule) || own == key;
  }
  // A star alone or with another tool's prefix is not about a rule of Heddle.
  return matches(own, lower_case(rule)) || matches(lower_case(own), lower_case(rule)) ||
         matches(own, key);
}

bool names_a_rule(const std::string& name) {
  return std::ranges::any_of(all_rules(), [&](const report::StaticRule& rule) {
    return means(name, rule.rule, rule.key);
  });
}

/// Whose name is it? What begins like a rule of Heddle and is none is a slip.
bool is_ours(const std::string& name) {
  return names_a_rule(name) || name.starts_with(prefix) || lower_case(name).starts_with("cuda-") ||
         name.starts_with("cuda_");
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream in(text);
  for (std::string name; std::getline(in, name, ',');) {
    const std::size_t first = name.find_first_not_of(" \t");
    if (first != std::string::npos) {
      names.push_back(name.substr(first, name.find_last_not_of(" \t") - first + 1));
    }
  }
  return names;
}

std::vector<Comment> read_comments(const std::string& file) {
  static const RegularExpression pattern(
      R"((?://|/\*).*?\b(NOLINT|NOLINTNEXTLINE|NOLINTBEGIN|NOLINTEND)\(([^)]*)\)(?:\s*:\s*(.*?))?\s*(?:\*/.*)?$)"
  );
  std::vector<Comment> comments;
  std::vector<std::size_t> open;
  std::ifstream in(file);
  std::uint32_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find("NOLINT") == std::string::npos) {
      continue;
    }
    const std::vector<RegularExpression::Part> match = pattern.search(line);
    if (match.empty()) {
      continue;
    }
    Comment one;
    one.line = number;
    one.column = static_cast<std::uint32_t>(match[0].position) + 1;
    one.length = static_cast<std::uint32_t>(match[0].text.size());
    one.names = split_names(match[2].text);
    one.reason = match[3].text;
    if (!std::ranges::any_of(one.names, is_ours)) {
      continue;
    }
    const std::string kind = match[1].text;
    if (kind == "NOLINTEND") {
      if (!open.empty()) {
        comments[open.back()].last = number;
        open.pop_back();
      }
      continue;
    }
    one.first = kind == "NOLINTNEXTLINE" ? number + 1 : number;
    one.last = kind == "NOLINTBEGIN" ? UINT32_MAX : one.first;
    if (kind == "NOLINTBEGIN") {
      open.push_back(comments.size());
    }
    comments.push_back(std::move(one));
  }
  return comments;
}

bool covers(const Comment& comment, const report::StaticFinding& finding) {
  return finding.place.line >= comment.first && finding.place.line <= comment.last &&
         std::ranges::any_of(comment.names, [&](const std::string& name) {
           return means(name, finding.rule, finding.key);
         });
}

report::StaticFinding about(
    const Comment& comment,
    const std::string& file,
    const std::string& key,
    std::string message
) {
  report::StaticFinding finding;
  finding.key = key;
  finding.rule = "suppression";
  finding.place =
      {file, comment.line, comment.column, comment.line, comment.column + comment.length, 0, 0};
  finding.message = std::move(message);
  return finding;
}

} // namespace

void apply_suppressions(
    const std::string& file,
    const Settings& settings,
    std::vector<report::StaticFinding>& findings
) {
  std::vector<Comment> comments = read_comments(file);
  std::vector<report::StaticFinding> more;
  for (Comment& comment : comments) {
    for (const std::string& name : comment.names) {
      if (is_ours(name) && !names_a_rule(name)) {
        more.push_back(about(
            comment,
            file,
            "unused_suppression",
            fmt::format("no rule has the name '{}' (heddle lint --list-rules)", name)
        ));
        comment.used = true; // said already
      }
    }
    const auto reason_is_good = [&](const std::string& rule, const std::string& key) {
      const std::string checker = settings.of(rule, key).justification_checker;
      return !comment.reason.empty() &&
             (checker.empty() || RegularExpression(checker).finds(comment.reason));
    };
    bool refused = false;
    for (report::StaticFinding& finding : findings) {
      if (finding.place.file != file || !covers(comment, finding)) {
        continue;
      }
      comment.used = true;
      if (reason_is_good(finding.rule, finding.key)) {
        finding.suppressed = comment.reason;
      } else {
        refused = true;
      }
    }
    if (!comment.used && std::ranges::count(comment.names, everything) > 0) {
      continue; // written for another tool
    }
    if (refused || comment.reason.empty()) {
      more.push_back(about(
          comment,
          file,
          "suppression_without_reason",
          comment.reason.empty() ? "a suppression needs a reason: NOLINT(rule): reason"
                                 : fmt::format(
                                       "the reason '{}' is not what justification_checker asks for",
                                       comment.reason
                                   )
      ));
    } else if (!comment.used) {
      more.push_back(
          about(comment, file, "unused_suppression", "nothing here needs this suppression")
      );
    }
  }
  findings.insert(findings.end(), more.begin(), more.end());
}

} // namespace heddle::lint
