#include "lint/check.h"

#include "lint/decided.h"
#include "lint/groups.h"
#include "lint/selection.h"
#include "lint/sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace heddle::lint {
namespace {

/// What one cut decides may decide another branch; rarely more than that.
constexpr int most_cuts = 3;

/// Kernels, device functions that nothing in the unit calls, and host functions that launch a
/// kernel or give the device other work.
std::vector<std::uint32_t> entries(const Unit& unit, bool system_kernels) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < unit.functions.size(); ++i) {
    const Function& function = unit.functions[i];
    if (function.blocks.empty() ||
        (function.in_system && !(system_kernels && function.is_kernel))) {
      continue;
    }
    const bool launches =
        std::ranges::any_of(unit.launches, [i](const Launch& one) { return one.caller == i; });
    const bool copies =
        !function.is_device && std::ranges::any_of(function.code, [](const Instruction& code) {
          return code.effect == Effect::HostApi &&
                 (code.name.ends_with("Async") || code.name == "<<<>>>"); // through a pointer
        });
    if (function.is_kernel || (function.is_device && !function.is_called) || launches || copies) {
      result.push_back(i);
    }
  }
  return result;
}

/// Contexts and instantiations find the same thing again.
void remove_repeated(std::vector<Found>& findings) {
  std::ranges::sort(findings, {}, [](const Found& one) {
    return std::tuple(one.place.file, one.place.begin, one.key, one.function, one.message);
  });
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::string>> seen;
  std::vector<Found> kept;
  for (Found& one : findings) {
    const bool sure = !one.key.starts_with("potentially_");
    const std::string plain = sure ? one.key : one.key.substr(12);
    const bool has_sure = std::ranges::any_of(findings, [&](const Found& other) {
      return &other != &one && other.place.file == one.place.file &&
             other.place.begin == one.place.begin && other.key == plain;
    });
    if ((!sure && has_sure) || !seen.insert({one.place.file, one.place.begin, one.key}).second) {
      continue;
    }
    kept.push_back(one);
  }
  findings = std::move(kept);
}

/// In every function, also in those that no rule about threads looks at.
void check_unwritten_locals(const Unit& unit, std::vector<Found>& out) {
  for (const Function& function : unit.functions) {
    for (const UnwrittenLocal& one : function.unwritten) {
      Found found;
      found.key = "cuda_uninitialized_variable";
      found.place = one.use;
      found.function = function.name;
      found.message = fmt::format("'{}' is read before it is written", one.name);
      found.related.push_back({one.declared, "declared here, without a value"});
      if (one.branch.line != 0) {
        found.message += ", after one side of a branch";
        found.related.push_back({one.branch, "on one side nothing is written"});
      }
      found.help.emplace_back(
          "give it a value where it is declared; the compiler may choose any value for it, and a "
          "run that happens to be right says nothing"
      );
      out.push_back(std::move(found));
    }
  }
}

} // namespace

Checked check_unit(const Unit& unit, const CheckOptions& options) {
  Checked result;
  std::set<std::pair<std::uint32_t, std::uint32_t>> barriers;
  Sharing sharing(unit);
  Selection selection(unit);
  for (const std::uint32_t function : entries(unit, options.system_kernels)) {
    if (!selection.is_worth(function) || !selection.is_new(function)) {
      continue;
    }
    Graph graph = inline_calls(unit, function);
    cut_constant(graph);
    std::optional<Dataflow> values(std::in_place, graph);
    for (int again = 0; again < most_cuts && cut_decided(graph, *values); ++again) {
      values.emplace(graph);
    }
    const Dataflow& flow = *values;
    resolve_groups(graph, flow);
    const Uniformity uniformity(flow, launch_facts(unit, function));
    const Entry entry{unit, function, graph, flow, uniformity};
    if (unit.functions[function].is_device) {
      check_synchronization(entry, options, result.findings);
    }
    check_other_rules(entry, result.findings);
    if (!unit.functions[function].is_device) {
      check_host_rules(entry, result.findings);
    }
    if (unit.functions[function].is_device) {
      check_scopes(entry, result.findings);
      check_warp_rules(entry, result.findings);
    }
    if (unit.functions[function].is_kernel) {
      check_progress_rules(entry, options, result.findings);
      sharing.add(entry);
    }
    result.incomplete = result.incomplete || graph.incomplete;
    for (const std::uint32_t block : graph.sequence) {
      for (ValueId i = graph.blocks[block].first; i < graph.blocks[block].last; ++i) {
        if (barrier_scope(graph.code[i])) {
          barriers.insert({graph.code[i].spot.file, graph.code[i].spot.begin});
        }
      }
    }
  }
  result.barriers = static_cast<std::uint32_t>(barriers.size());
  sharing.check(result.findings);
  check_unwritten_locals(unit, result.findings);
  remove_repeated(result.findings);
  return result;
}

} // namespace heddle::lint
