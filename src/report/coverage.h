// Coverage: how much of what a verdict speaks of has been looked at, and what has been left out.
//
//   Claims claims;
//   claims.exhaustive();                                   // every schedule within the bounds
//   claims.leave_out({Coverage::OneOrder, "other orders of atomics …", "--no-data-order"});
//   claims.coverage()                                      // OneOrder: no verdict "terminates"
//
// Whoever searches adds claims; Report::verdict() alone decides what they allow it to say. A report
// without any claim is Cut: nothing has been looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

/// From the most that a search can say to the least.
enum class Coverage : std::uint8_t {
  Exhaustive, // everything that the model allows, within the bounds that the verdict names
  OneOrder,   // one order of accesses that were taken to decide nothing stands for the others
  Bounded,    // a limit of the model was reached: older values, values of a clock, orders of lanes
  Cut         // a limit of the search was reached: states, time, memory
};
inline constexpr std::size_t coverage_count = 4;
/// "exhaustive", "one-order", "bounded", "cut".
std::string_view name(Coverage coverage);
std::optional<Coverage> find_coverage(std::string_view name);

/// One thing that a search did not look at.
struct LeftOut {
  Coverage coverage = Coverage::Cut;
  std::string what;      // "other orders of atomics that affect only data"
  std::string with = {}; // what would look at it: "--no-data-order"; empty: nothing does
  std::string accepted = {}, accepted_by = {}; // a project's reason, and where it stands

  bool operator==(const LeftOut&) const = default;
};

/// A project's decision to pass a check of that coverage: `accept` in .heddle.yaml.
struct Acceptance {
  Coverage coverage = Coverage::OneOrder;
  std::string reason{};
  std::string program{}; // shell pattern for the path of the program; empty: any
  std::string written{}; // ".heddle.yaml:4"
};

class Claims {
public:
  /// A search has ended that leaves nothing out but what leave_out() names.
  void exhaustive() { searched_ = true; }
  /// Once for the same thing.
  void leave_out(LeftOut one);
  /// A limit of the search was reached: "the limit of 60 s was reached".
  void cut(std::string limit) { leave_out({.coverage = Coverage::Cut, .what = std::move(limit)}); }
  /// Both searches count; `prefix` stands before what `other` left out.
  void add(const Claims& other, std::string_view prefix = {});
  /// What is left out of that coverage is accepted.
  void accept(const Acceptance& decision);

  /// The least of all.
  Coverage coverage() const { return least(/*accepted=*/true); }
  /// Of what no project has accepted: the exit code.
  Coverage unaccepted() const { return least(/*accepted=*/false); }
  const std::vector<LeftOut>& left_out() const { return left_out_; }

private:
  Coverage least(bool accepted) const;

  bool searched_ = false;
  std::vector<LeftOut> left_out_;
};

} // namespace heddle::report
