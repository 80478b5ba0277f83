// Implements regular_expression.h by the standard library's.
#include "base/regular_expression.h"

#include "base/check.h"

#include <regex>
#include <utility>

namespace heddle {

struct RegularExpression::Compiled {
  std::regex regex;
};

RegularExpression::RegularExpression(std::shared_ptr<const Compiled> compiled)
    : compiled_(std::move(compiled)) {}

std::optional<RegularExpression> RegularExpression::read(const std::string& pattern) {
  try {
    return RegularExpression(std::make_shared<const Compiled>(Compiled{std::regex(pattern)}));
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

RegularExpression::RegularExpression(const std::string& pattern) {
  std::optional<RegularExpression> correct = read(pattern);
  HEDDLE_CHECK(correct.has_value(), "the pattern is not a regular expression");
  compiled_ = std::move(correct->compiled_);
}

bool RegularExpression::finds(const std::string& text) const {
  return std::regex_search(text, compiled_->regex);
}

bool RegularExpression::matches(const std::string& text) const {
  return std::regex_match(text, compiled_->regex);
}

std::vector<RegularExpression::Part> RegularExpression::search(const std::string& text) const {
  std::vector<Part> parts;
  std::smatch match;
  if (std::regex_search(text, match, compiled_->regex)) {
    for (std::size_t i = 0; i < match.size(); ++i) {
      parts.push_back(
          {match[i].matched ? static_cast<std::size_t>(match.position(i)) : 0, match[i].str()}
      );
    }
  }
  return parts;
}

} // namespace heddle
