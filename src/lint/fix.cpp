// Applying fixes to files. Only the edits that the report carries are made; whether a text is
// simple enough to be edited was decided where they were made (lint.cpp).
#include "lint/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace heddle::lint {
namespace {

bool overlap(const report::Region& a, const report::Region& b) {
  return a.file == b.file && a.offset < b.offset + std::max(b.length, 1U) &&
         b.offset < a.offset + std::max(a.length, 1U);
}

} // namespace

Result<unsigned> apply_fixes(report::StaticReport& report) {
  std::map<std::string, std::vector<const report::Edit*>> edits; // by file
  std::vector<std::size_t> fixed;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const report::StaticFinding& finding = report.findings[i];
    if (!finding.suppressed.empty() || finding.fixes.empty()) {
      continue;
    }
    const auto& wanted = finding.fixes.front().edits;
    const bool free = std::ranges::all_of(wanted, [&](const report::Edit& one) {
      return std::ranges::none_of(edits[one.where.file], [&](const report::Edit* other) {
        return overlap(one.where, other->where);
      });
    });
    if (free) {
      fixed.push_back(i);
      for (const report::Edit& one : wanted) {
        edits[one.where.file].push_back(&one);
      }
    }
  }
  for (auto& [file, list] : edits) {
    if (list.empty()) {
      continue;
    }
    std::ifstream in(file, std::ios::binary);
    std::stringstream buffer;
    buffer << in.rdbuf();
    std::string text = buffer.str();
    std::ranges::sort(list, std::greater(), [](const report::Edit* one) {
      return one->where.offset;
    });
    for (const report::Edit* one : list) {
      if (one->where.offset + one->where.length > text.size()) {
        return input_error(fmt::format("{} has changed since it was read", file));
      }
      text.replace(one->where.offset, one->where.length, one->text);
    }
    std::ofstream out(file, std::ios::binary);
    out << text;
    if (!out) {
      return input_error(fmt::format("cannot write {}", file));
    }
  }
  for (auto at = fixed.rbegin(); at != fixed.rend(); ++at) {
    report.findings.erase(report.findings.begin() + static_cast<std::ptrdiff_t>(*at));
  }
  return static_cast<unsigned>(fixed.size());
}

} // namespace heddle::lint
