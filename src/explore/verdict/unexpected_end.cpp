// Implements unexpected_end.h.
#include "explore/verdict/unexpected_end.h"

#include <fmt/format.h>

#include <map>

namespace heddle::explore {
namespace {

report::Diagnostic
describe(std::uint8_t status, std::uint32_t expected, bool some_end_well, bool others) {
  report::Diagnostic diagnostic(
      report::Finding::ExitStatus,
      fmt::format(
          "the program ends with exit status {} under {}",
          status,
          some_end_well ? fmt::format("some schedule, and with {} under others", expected)
          : others      ? "some schedule"
                        : "every schedule"
      )
  );
  diagnostic.notes.push_back(
      fmt::format("expected: {}{}", expected, some_end_well ? " under every schedule" : "")
  );
  diagnostic.help.push_back(
      some_end_well ? "heddle replay --trace shows the schedule step by step"
                    : fmt::format(
                          "'heddle run' shows what the program prints, and 'heddle run --races "
                          "--uninitialised' looks for what makes a result wrong; if it is meant to "
                          "end like this: --expect-exit={}",
                          status
                      )
  );
  return diagnostic;
}

} // namespace

std::vector<UnexpectedEnd> unexpected_ends(
    const StateTable& table,
    const ProgressGraph& graph,
    const OutEdges& out,
    const ResolveSite& resolve,
    const JudgeOptions& options,
    bool others
) {
  std::map<std::uint8_t, StateId> ends;
  for (StateId s = 0; s < graph.states.size(); ++s) {
    if (graph.states[s].unexpected) {
      ends[graph.states[s].exit_status] = s;
    }
  }
  const std::uint32_t expected = options.schedule ? options.schedule->options.expect_exit : 0;
  std::vector<UnexpectedEnd> result;
  for (const auto& [status, state] : ends) {
    UnexpectedEnd end{
        describe(status, expected, table.saw(Fact::EndsAsExpected), others || ends.size() > 1),
        state,
        {shortest_way(graph, out, {state}), 0}
    };
    end.way.loop_from = static_cast<std::uint32_t>(end.way.edges.size());
    if (!end.way.edges.empty()) {
      const Site last = resolve(table.site(graph.edges[end.way.edges.back()].site));
      end.finding.place = {last.file, last.line, last.column, 0};
      end.finding.labels.push_back(
          {end.finding.place, fmt::format("the last operation of the host: {}", last.what)}
      );
    }
    result.push_back(std::move(end));
  }
  return result;
}

} // namespace heddle::explore
