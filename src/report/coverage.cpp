// Implements coverage.h.
#include "report/coverage.h"

#include <algorithm>
#include <array>

namespace heddle::report {

namespace {

constexpr auto names =
    std::to_array<std::string_view>({"exhaustive", "one-order", "bounded", "cut"});
static_assert(names.size() == coverage_count);

} // namespace

std::string_view name(Coverage coverage) {
  return names[static_cast<std::size_t>(coverage)];
}

std::optional<Coverage> find_coverage(std::string_view name) {
  const auto* const known = std::ranges::find(names, name);
  return known == names.end() ? std::nullopt
                              : std::optional(static_cast<Coverage>(known - names.begin()));
}

void Claims::leave_out(LeftOut one) {
  // Two searches may come to one limit, of which each had its own share: "…; 40 s of them are …".
  const auto same = [&](const LeftOut& other) {
    const bool cut = one.coverage == Coverage::Cut && other.coverage == Coverage::Cut;
    return one.what == other.what || (cut && one.what.substr(0, one.what.find(';')) ==
                                                 other.what.substr(0, other.what.find(';')));
  };
  if (std::ranges::none_of(left_out_, same)) {
    left_out_.push_back(std::move(one));
  }
}

void Claims::add(const Claims& other, std::string_view prefix) {
  searched_ = searched_ && other.searched_;
  for (LeftOut one : other.left_out_) {
    one.what.insert(0, prefix);
    leave_out(std::move(one));
  }
}

void Claims::accept(const Acceptance& decision) {
  for (LeftOut& one : left_out_) {
    if (one.coverage == decision.coverage && one.accepted.empty()) {
      one.accepted = decision.reason;
      one.accepted_by = decision.written;
    }
  }
}

Coverage Claims::least(bool accepted) const {
  // A search that ended early always names why; one that has not begun leaves out everything.
  const bool says_why = std::ranges::any_of(left_out_, [](const LeftOut& one) {
    return one.coverage == Coverage::Cut;
  });
  Coverage result = searched_ || says_why ? Coverage::Exhaustive : Coverage::Cut;
  for (const LeftOut& one : left_out_) {
    if (accepted || one.accepted.empty()) {
      result = std::max(result, one.coverage);
    }
  }
  return result;
}

} // namespace heddle::report
