// Implements machine_choices.h.
#include "explore/search/machine_choices.h"

#include "machine/source_place.h"
#include "ptx/flow.h"
#include "ptx/value_flow.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle::explore {

namespace {

struct MachineChoice {
  std::string_view name, what;
};
constexpr std::array<MachineChoice, 2> machine_choices{{
    {"%smid", "other multiprocessors for the blocks of a kernel to run on"},
    {"%warpid", "other slots of a multiprocessor for warps to lie in"},
}};

const MachineChoice* choice_asked_by(const ptx::Instruction& i) {
  for (const ptx::Operand& operand : i.operands) {
    const auto* const known =
        std::ranges::find(machine_choices, operand.name, &MachineChoice::name);
    if (operand.kind == ptx::OperandKind::Special && known != machine_choices.end()) {
      return known;
    }
  }
  return nullptr;
}

/// Does anything come of it?
bool answer_matters(ptx::ValueFlow& flow, std::uint32_t instruction) {
  const ptx::ValueFlow::Reach& reach = flow.from(instruction);
  return reach.decides || reach.retries || reach.stored.count() != 0 || reach.placed.count() != 0 ||
         reach.maybe.count() != 0;
}

std::string asked_in(const ptx::Function& function, const ptx::Module* module) {
  std::optional<ptx::ValueFlow> flow;
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    const ptx::Instruction& i = function.body[n];
    const MachineChoice* const choice = choice_asked_by(i);
    if (choice == nullptr) {
      continue;
    }
    if (!flow) {
      flow.emplace(function);
    }
    if (!answer_matters(*flow, n)) {
      continue;
    }
    const auto places =
        module != nullptr ? machine::places_of(*module, i) : std::vector<machine::SourcePlace>();
    const auto* const place = places.empty() ? nullptr : &machine::users_place(places);
    return fmt::format(
        "{} ({} {})",
        choice->what,
        choice->name,
        place != nullptr && place->line != 0
            ? fmt::format("at {}:{}", report::shown_path(place->file), place->line)
            : fmt::format("in '{}'", function.name)
    );
  }
  return "";
}

/// The function and those of its module that it calls, and these call. Of a call by an address it
/// may be any.
std::vector<const ptx::Function*>
reached_from(const ptx::Function& function, const ptx::Module* module) {
  std::vector<const ptx::Function*> reached{&function};
  for (std::size_t n = 0; module != nullptr && n < reached.size(); ++n) {
    for (const ptx::Instruction& i : reached[n]->body) {
      if (!ptx::enters_program(i)) {
        continue;
      }
      const auto callee =
          std::ranges::find(i.operands, ptx::OperandKind::Symbol, &ptx::Operand::kind);
      for (const auto& other : module->functions) {
        const bool called = callee == i.operands.end() || callee->name == other->name;
        if (called && !other->entry && std::ranges::find(reached, other.get()) == reached.end()) {
          reached.push_back(other.get());
        }
      }
    }
  }
  return reached;
}

} // namespace

std::string left_out_places(const isa::Kernel& kernel) {
  const ptx::Module* const module = kernel.code != nullptr ? kernel.code->module : nullptr;
  for (const ptx::Function* const function : reached_from(*kernel.function, module)) {
    if (std::string what = asked_in(*function, module); !what.empty()) {
      return what;
    }
  }
  return "";
}

} // namespace heddle::explore
