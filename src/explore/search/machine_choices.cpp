// Implements machine_choices.h.
#include "explore/search/machine_choices.h"

#include "analysis/address_use.h"
#include "analysis/election.h"
#include "analysis/flow.h"
#include "analysis/value_flow.h"
#include "machine/source_place.h"
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
constexpr auto machine_choices = std::to_array<MachineChoice>({
    {"%smid", "other multiprocessors for the blocks of a kernel to run on"},
    {"%warpid", "other slots of a multiprocessor for warps to lie in"},
    {"%gridid", "other numbers for a launch to have"},
    {"%nsmid", "other numbers of multiprocessors"},
    {"%nwarpid", "other numbers of slots for warps"},
    {"%total_smem_size", "other sizes for a block's shared memory to be rounded to"},
    {"%aggr_smem_size", "other sizes for a block's shared memory to be rounded to"},
});

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
bool answer_matters(analysis::ValueFlow& flow, std::uint32_t instruction) {
  const analysis::ValueFlow::Reach& reach = flow.from(instruction);
  return reach.decides || reach.retries || reach.stored.count() != 0 || reach.placed.count() != 0 ||
         reach.maybe.count() != 0;
}

/// "WHAT (SUBJECT at file:line)".
std::string choice_in_words(
    std::string_view what,
    std::string_view subject,
    const ptx::Function& function,
    const ptx::Module* module,
    std::uint32_t instruction
) {
  const auto places = module != nullptr ? machine::places_of(*module, function.body[instruction])
                                        : std::vector<machine::SourcePlace>();
  const auto* const place = places.empty() ? nullptr : &machine::users_place(places);
  return fmt::format(
      "{} ({}{}{})",
      what,
      subject,
      subject.empty() ? "" : " ",
      place != nullptr && place->line != 0
          ? fmt::format("at {}:{}", report::shown_path(place->file), place->line)
          : fmt::format("in '{}'", function.name)
  );
}

std::string asked_in(const ptx::Function& function, const ptx::Module* module) {
  std::optional<analysis::ValueFlow> flow;
  std::optional<analysis::Cfg> cfg;
  const auto words = [&](std::string_view what, std::string_view subject, std::uint32_t n) {
    return choice_in_words(what, subject, function, module, n);
  };
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    const ptx::Instruction& i = function.body[n];
    if (i.opcode == ptx::Opcode::Elect) {
      if (!cfg) {
        cfg.emplace(function);
      }
      if (analysis::election_matters(function, *cfg, n)) {
        return words("other lanes for a warp to elect", "elect.sync", n);
      }
    }
    if (i.opcode == ptx::Opcode::Discard) {
      return words("other values of memory that is discarded", "discard.L2", n);
    }
    const MachineChoice* const choice = choice_asked_by(i);
    if (choice == nullptr) {
      continue;
    }
    if (!flow) {
      flow.emplace(function);
    }
    if (answer_matters(*flow, n)) {
      return words(choice->what, choice->name, n);
    }
  }
  if (const auto n = analysis::address_decides(function, module)) {
    return words("other addresses for memory to lie at", "", *n);
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
      if (!analysis::enters_program(i)) {
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
