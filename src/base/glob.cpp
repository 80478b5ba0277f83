// Implements glob.h by a regular expression.
#include "base/glob.h"

#include "base/regular_expression.h"

#include <string_view>

namespace heddle {

bool matches(const std::string& pattern, const std::string& path) {
  std::string expression;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '*') {
      const bool deep = i + 1 < pattern.size() && pattern[i + 1] == '*';
      expression += deep || pattern.find('/') == std::string::npos ? ".*" : "[^/]*";
      i += deep ? 1 : 0;
    } else if (c == '?') {
      expression += "[^/]";
    } else {
      if (std::string_view("\\^$.|+()[]{}").find(c) != std::string_view::npos) {
        expression += '\\';
      }
      expression += c;
    }
  }
  return RegularExpression("(^|/)" + expression + "($|/)").finds(path);
}

} // namespace heddle
