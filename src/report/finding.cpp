// The tables of findings and rules, looked up.
#include "report/finding.h"

#include <algorithm>
#include <array>

namespace heddle::report {
namespace {

constexpr auto findings = std::to_array<FindingRow>({
#define HEDDLE_FINDING(enumerator, code, group, rule, description)                                 \
  {Finding::enumerator, FindingGroup::group, code, rule, description},
#include "report/finding.def"
#undef HEDDLE_FINDING
});

struct Rule {
  std::string_view id;
  std::string_view text;
};

constexpr auto rules = std::to_array<Rule>({
#define HEDDLE_RULE(id, text) {id, text},
#include "report/rule.def"
#undef HEDDLE_RULE
});

constexpr bool every_finding_has_a_rule() {
  return std::ranges::all_of(findings, [](const FindingRow& row) {
    return std::ranges::find(rules, row.rule, &Rule::id) != rules.end();
  });
}
static_assert(every_finding_has_a_rule(), "finding.def names a rule that rule.def does not have");

} // namespace

const FindingRow& describe(Finding finding) {
  return findings[static_cast<std::size_t>(finding)];
}

std::span<const FindingRow> all_findings() {
  return findings;
}

std::optional<Finding> find_finding(std::string_view code) {
  const auto* row = std::ranges::find(findings, code, &FindingRow::code);
  return row == findings.end() ? std::nullopt : std::optional(row->finding);
}

std::string_view rule_text(std::string_view id) {
  const auto* rule = std::ranges::find(rules, id, &Rule::id);
  return rule == rules.end() ? std::string_view() : rule->text;
}

} // namespace heddle::report
