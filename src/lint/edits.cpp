#include "lint/edits.h"

#include "base/regular_expression.h"

#include <algorithm>

namespace heddle::lint {
namespace {

report::Region part(const report::Region& of, std::uint32_t offset, std::uint32_t length) {
  report::Region made = of;
  made.offset = offset;
  made.length = length;
  return made;
}

/// The statements from `at` to the brace that closes the function; empty: too complicated.
struct Statements {
  std::vector<std::string> list;
  std::size_t end = 0; // of the last one
};

Statements split_statements(const std::string& text, std::size_t at) {
  Statements result;
  int depth = 0;
  std::size_t start = std::string::npos;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (c == '"' || c == '\'' || c == '#' || text.compare(at, 2, "//") == 0 ||
        text.compare(at, 2, "/*") == 0) {
      return {};
    }
    if (depth == 0 && c == '}') {
      const bool closes_function = at > 0 && text[at - 1] == '\n';
      return closes_function && start == std::string::npos ? result : Statements();
    }
    if (start == std::string::npos && !is_space) {
      start = at;
    }
    depth += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
    if (depth == 0 && start != std::string::npos && (c == ';' || c == '}')) {
      const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
      if (next != std::string::npos && text.compare(next, 4, "else") == 0) {
        continue;
      }
      result.list.push_back(text.substr(start, at + 1 - start));
      result.end = at + 1;
      start = std::string::npos;
    }
  }
  return {};
}

bool is_barrier_statement(const std::string& statement) {
  static const RegularExpression barrier(
      R"((__syncthreads\(\)|\w+\.sync\(\)|(cg::)?sync\(\w+\))\s*;)"
  );
  return barrier.matches(statement);
}

/// Safe to stand in braces of its own, under a condition.
bool is_plain_statement(const std::string& statement) {
  static const RegularExpression forbidden(
      R"(\b(return|goto|break|continue|asm|switch|do|__shared__|using|typedef|extern)\b|sync)"
  );
  static const RegularExpression declaration(
      R"(^(const|constexpr|static|auto|volatile|unsigned|signed|int|long|short|char|bool|float|double)\b)"
      R"(|^[A-Za-z_][\w:]*(<[^;=]*>)?[\s*&]+[A-Za-z_]\w*\s*([=;\[{(,]))"
  );
  static const RegularExpression control(R"(^(if|for|while)\b)");
  return !forbidden.finds(statement) && (control.finds(statement) || !declaration.finds(statement));
}

} // namespace

std::optional<report::Fix>
hoist_barrier(const Found& found, const report::Region& at, const std::string& text) {
  const Spot& barrier = found.edits[0].where;
  const Spot& statement = found.edits[1].where;
  if (statement.end > text.size() || barrier.end > text.size()) {
    return std::nullopt;
  }
  const std::string call = text.substr(barrier.begin, barrier.end - barrier.begin);
  report::Fix fix{found.edit_description, {}};
  if (barrier.end == statement.end) {
    // if (c) barrier();
    const std::string before = text.substr(statement.begin, barrier.begin - statement.begin);
    const std::string condition = before.substr(before.find('(') + 1);
    if (condition.find('(') != std::string::npos || condition.find("++") != std::string::npos ||
        condition.find("--") != std::string::npos || condition.find("else") != std::string::npos ||
        condition.find('{') != std::string::npos) {
      return std::nullopt;
    }
    fix.description = "call the barrier without the condition";
    fix.edits.push_back({part(at, statement.begin, barrier.begin - statement.begin), ""});
    return fix;
  }
  std::size_t after = text.find_first_not_of(" \t\r\n", barrier.end);
  if (after == std::string::npos || text[after] != ';') {
    return std::nullopt;
  }
  const std::size_t semicolon = after;
  after = text.find_first_not_of(" \t\r\n", semicolon + 1);
  const std::string inside = text.substr(statement.begin, barrier.begin - statement.begin);
  if (after == std::string::npos || text[after] != '}' || after + 1 != statement.end ||
      inside.find("else") != std::string::npos) {
    return std::nullopt;
  }
  const std::size_t line_start = text.rfind('\n', statement.begin) + 1;
  const std::size_t indent_end = text.find_first_not_of(" \t", line_start);
  const std::string indent =
      text.substr(line_start, std::min<std::size_t>(indent_end, statement.begin) - line_start);
  fix.edits.push_back(
      {part(at, barrier.begin, static_cast<std::uint32_t>(semicolon + 1 - barrier.begin)), ""}
  );
  fix.edits.push_back({part(at, statement.end, 0), "\n" + indent + call + ";"});
  return fix;
}

std::optional<report::Fix>
guard_instead_of_exit(const Found& found, const report::Region& at, const std::string& text) {
  const Spot& statement = found.edits[1].where;
  if (statement.end > text.size() || text.find("is_active") != std::string::npos) {
    return std::nullopt;
  }
  static const RegularExpression shape(
      R"(if\s*\(([^;{}"']*)\)\s*(\{\s*return\s*;\s*\}|return\s*;?))"
  );
  static const RegularExpression effects(R"(\+\+|--|[^=!<>]=[^=]|\w\s*\()");
  const std::string written = text.substr(statement.begin, statement.end - statement.begin);
  if (!shape.matches(written)) {
    return std::nullopt;
  }
  const std::string condition = shape.search(written)[1].text;
  if (effects.finds(condition)) {
    return std::nullopt;
  }
  std::size_t after = statement.end;
  if (written.back() == 'n') { // return without its semicolon
    after = text.find(';', after);
    if (after == std::string::npos) {
      return std::nullopt;
    }
    ++after;
  }
  const Statements rest = split_statements(text, after);
  if (rest.list.empty() || !std::ranges::all_of(rest.list, [](const std::string& one) {
        return is_barrier_statement(one) || is_plain_statement(one);
      })) {
    return std::nullopt;
  }
  const std::size_t line_start = text.rfind('\n', statement.begin) + 1;
  const std::string indent = text.substr(line_start, statement.begin - line_start);
  if (indent.find_first_not_of(" \t") != std::string::npos) {
    return std::nullopt;
  }
  std::string made = "const bool is_active = !(" + condition + ");";
  bool open = false;
  const auto close = [&] {
    if (open) {
      made += "\n" + indent + "}";
      open = false;
    }
  };
  for (const std::string& one : rest.list) {
    if (is_barrier_statement(one)) {
      close();
      made += "\n" + indent + one;
      continue;
    }
    if (!open) {
      made += "\n" + indent + "if (is_active) {";
      open = true;
    }
    std::string inner;
    for (const char c : one) {
      inner += c;
      inner += c == '\n' ? "  " : "";
    }
    made += "\n" + indent + "  " + inner;
  }
  close();
  report::Fix fix{"let all threads reach the barriers; a flag guards the work", {}};
  fix.edits.push_back(
      {part(at, statement.begin, static_cast<std::uint32_t>(rest.end - statement.begin)), made}
  );
  return fix;
}

} // namespace heddle::lint
