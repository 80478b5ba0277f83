// Regular expressions (ECMAScript's), compiled in one place.
//
//   static const RegularExpression barrier(R"((cg::)?sync\(\w+\))");
//   barrier.finds("cg::sync(block);")                     // true
//   barrier.search("cg::sync(block);").at(1).text          // "cg::"
//
// Each file that includes <regex> takes three seconds to compile, so that no other one does.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

class RegularExpression {
public:
  /// A part of the text that was searched. Part 0 is what the whole expression matches, part N what
  /// its Nth pair of parentheses does; `text` is empty if nothing does.
  struct Part {
    std::size_t position = 0;
    std::string text;
  };

  /// Nothing if `pattern` is not a regular expression.
  static std::optional<RegularExpression> read(const std::string& pattern);

  /// For patterns of Heddle's own, which are regular expressions.
  explicit RegularExpression(const std::string& pattern);

  /// Whether some part of `text` matches.
  bool finds(const std::string& text) const;

  /// Whether the whole of `text` matches.
  bool matches(const std::string& text) const;

  /// The parts of the first match in `text`; none if nothing matches.
  std::vector<Part> search(const std::string& text) const;

private:
  struct Compiled;
  explicit RegularExpression(std::shared_ptr<const Compiled> compiled);

  std::shared_ptr<const Compiled> compiled_;
};

} // namespace heddle
