// Finding: the closed list of everything that can go wrong with a program (finding.def), and the
// rules on which findings rest (rule.def; spec/ states each in full).
//
//   const FindingRow& row = describe(Finding::Starvation);   // row.code == "starvation"
//   rule_text("CLUSTER");                                    // what stands after "= rule:
//   [CLUSTER]"
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace heddle::report {

enum class Finding : std::uint8_t {
#define HEDDLE_FINDING(enumerator, code, group, rule, description) enumerator,
#include "report/finding.def"
#undef HEDDLE_FINDING
};

enum class FindingGroup : std::uint8_t {
  Hang,
  Fault,
  Barrier,
  Host,
  Gap
};

struct FindingRow {
  Finding finding;
  FindingGroup group;
  std::string_view code;        // "out-of-bounds"
  std::string_view rule;        // "MEM-BOUNDS"
  std::string_view description; // one line
};

const FindingRow& describe(Finding finding);
std::span<const FindingRow> all_findings();
std::optional<Finding> find_finding(std::string_view code);

/// The sentence of rule `id`; empty if there is no such rule.
std::string_view rule_text(std::string_view id);

} // namespace heddle::report
