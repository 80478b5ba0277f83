// cuda-scope-too-narrow: an atomic operation for the threads of one block, on an object that other
// blocks reach (sharing.cpp adds fences and releases of the same kind).
//
// An object in global memory is one that other blocks reach if its address comes from nothing that
// separates blocks: no block index, no ticket, no offset that is the same for the whole block.
// Reported only where a launch of several blocks is seen.
#include "lint/waits.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::lint {

void check_scopes(const Entry& entry, std::vector<Found>& out) {
  const Function& function = entry.unit.functions[entry.function];
  if (!function.is_kernel) {
    return;
  }
  bool several = false;
  for (const Launch& launch : entry.unit.launches) {
    if (launch.kernel == entry.function) {
      several = several || launch.grid_size[0] != 1 || launch.grid_size[1].value_or(1) != 1;
    }
  }
  if (!several) {
    return;
  }
  for (const std::uint32_t block : entry.graph.sequence) {
    for (ValueId i = entry.graph.blocks[block].first; i < entry.graph.blocks[block].last; ++i) {
      const Instruction& code = entry.graph.code[i];
      const bool is_update = code.op == Op::Known && code.effect == Effect::AtomicUpdate;
      if (!is_update || code.scope != Scope::Block || code.spot.in_system) {
        continue;
      }
      const ValueId address = address_of(entry, i);
      const auto& targets = entry.flow.targets(address);
      const bool is_global =
          !targets.empty() && std::ranges::all_of(targets, [&](const Target& at) {
            return entry.flow.locations[at.location].space == Space::Global;
          });
      const Origin origin = origin_of(entry, address);
      if (!is_global || !object_of(entry, address) || origin.block_index || origin.atomic_update ||
          origin.loaded_alike) {
        continue;
      }
      // Under a condition that one block alone fulfils.
      const auto branches = deciding_branches(entry.graph, block);
      const bool chosen = std::ranges::any_of(branches, [&](std::uint32_t branch) {
        const ValueId condition = entry.uniformity.condition(branch);
        const Instruction* test =
            condition == no_value ? nullptr : entry.flow.instruction(condition);
        return test != nullptr && test->op == Op::Arithmetic &&
               (test->arithmetic == Operator::Equal || test->arithmetic == Operator::LogicalAnd) &&
               origin_of(entry, condition).block_index;
      });
      if (chosen) {
        continue;
      }
      Found found;
      found.key = "cuda_scope_too_narrow";
      found.place = code.spot;
      found.function = function.name;
      found.message = fmt::format(
          "'{}' is atomic for the threads of one block only, and other blocks reach the same "
          "object",
          code.name
      );
      found.help.emplace_back("use the scope of the device (thread_scope_device, no _block)");
      out.push_back(std::move(found));
    }
  }
}

} // namespace heddle::lint
