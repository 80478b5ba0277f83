// Implements oracle.h.
#include "reference/oracle.h"

#include "reduce/reference_search.h"
#include "reference/reference_device.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

namespace heddle::differ {

using enumeration::MicroDevice;
using enumeration::MicroProgram;

namespace {

/// As what `heddle check` says (enumeration::contradiction).
enumeration::Outcome as_outcome(const reference::Outcome& is) {
  enumeration::Outcome outcome;
  outcome.states = is.states;
  if (!is.endless.empty()) {
    outcome.findings["endless"] = {.kind = "livelock", .guilty = is.endless};
  }
  if (!is.deadlocked.empty()) {
    outcome.findings["blocked"] = {.kind = "deadlock", .guilty = is.deadlocked};
  }
  if (!is.faults.empty()) {
    outcome.findings["fault"] = {.kind = "fault", .guilty = {}};
  }
  return outcome;
}

/// Does a search claim that something is impossible that is not?
std::string miss(const enumeration::Outcome& should, const enumeration::Outcome& found) {
  const bool claims = found.complete && !found.bounded && !found.hangs();
  return claims && should.hangs() ? "terminates: it may hang" : "";
}

/// Are its parts what the reference knows? (What instructions do, it says itself.)
bool is_known(const MicroProgram& program) {
  return program.host.empty() && !program.weak && !program.lockstep &&
         program.progress == model::ProgressModel::Cuda &&
         program.text.find("__cudaCDP2") == std::string::npos; // children
}

} // namespace

Oracle ask(const Generated& generated, const MicroProgram& program, std::size_t most_states) {
  const std::string too_many = "too many states";
  try {
    ReferenceDevice reference(program);
    if (is_known(program)) {
      const std::optional<reference::Outcome> is =
          reference::search(reference.system(), most_states);
      if (!is) {
        return {too_many};
      }
      if (is->refused.empty()) {
        return {is->races ? "races" : "", as_outcome(*is), true};
      }
    }
  } catch (const std::invalid_argument& error) {
    return {fmt::format("no program: {}", error.what())};
  }
  MicroDevice device;
  device.load(program);
  // That states of one name go on alike is looked at in every fourth program: it costs as much as
  // the search.
  std::optional<enumeration::Outcome> found = enumeration::reference_search(
      device,
      {.most = most_states / 2, .checks_names = generated.seed % 4 == 0}
  );
  if (!found) {
    return {too_many};
  }
  if (generated.hangs && *generated.hangs != found->hangs()) {
    if (!*generated.hangs) {
      return {"said to terminate: it may hang"};
    }
    found->findings["said"] = {.kind = "fault", .guilty = {}};
  }
  return {"", std::move(*found), false, generated.asks_clocks() && generated.hangs != false};
}

std::string disagreement(const Oracle& oracle, const enumeration::Outcome& found) {
  return oracle.others ? miss(oracle.outcome, found)
                       : enumeration::contradiction(oracle.outcome, found);
}

} // namespace heddle::differ
