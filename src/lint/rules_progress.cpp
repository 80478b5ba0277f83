// cuda-progress-grid-wait and cuda-progress-warp-lock: waits that nothing obliges to end, within
// one launch.
//
// A block that has started may count on the other threads of its block (and cluster), and in a
// cooperative grid on all others; otherwise blocks may run one after the other. Reported is a wait
// of which it is certain that another block must end it: for a count that comes from the size of
// the grid, until a count has come to the own block index, for the entry that belongs to another
// block index, or for what only a block with a certain index writes. Not reported: locks and
// tickets (whoever holds one has started), waits in kernels that use grid or cluster barriers, and
// kernels of which no ordinary launch is seen.
#include "lint/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace heddle::lint {
namespace {

constexpr unsigned volta = 70; // from here on threads of a warp make progress independently

class ProgressRules {
public:
  ProgressRules(const Entry& entry, const CheckOptions& options, std::vector<Found>& out)
      : entry_(entry),
        graph_(entry.graph),
        options_(options),
        waits_(entry),
        out_(out) {}

  void run() {
    const Launch* launch = ordinary_launch();
    const bool alone = launch == nullptr || uses_wider_barriers();
    for (std::uint32_t loop = 0; loop < graph_.loops.size(); ++loop) {
      if (!alone) {
        grid_wait(loop, *launch);
      }
      if (options_.architecture < volta) {
        warp_lock(loop);
      }
    }
  }

private:
  /// A launch with <<<>>> of more than one block, as far as is known.
  const Launch* ordinary_launch() const {
    const Launch* found = nullptr;
    for (const Launch& launch : entry_.unit.launches) {
      if (launch.kernel != entry_.function) {
        continue;
      }
      if (launch.cooperative) {
        return nullptr;
      }
      const bool one_block = launch.grid_size[0] == 1 && launch.grid_size[1].value_or(1) == 1 &&
                             launch.grid_size[2].value_or(1) == 1;
      if (!one_block && found == nullptr) {
        found = &launch;
      }
    }
    return found;
  }

  bool uses_wider_barriers() const {
    return std::ranges::any_of(graph_.code, [](const Instruction& code) {
      const auto scope = barrier_scope(code);
      return (scope && *scope < Level::Block) ||
             (code.op == Op::Symbol && code.symbol == Symbol::ClusterRank);
    });
  }

  void grid_wait(std::uint32_t loop, const Launch& launch) {
    for (const ValueId poll : waits_.polls(loop)) {
      const ValueId address = address_of(entry_, poll);
      const auto object = object_of(entry_, address);
      if (!object || !is_global(address)) {
        continue;
      }
      std::vector<ValueId> writes;
      bool is_lock = false;
      for (const ValueId write : entry_.flow.writes) {
        if (write != poll && object_of(entry_, address_of(entry_, write)) == object &&
            !waits_.is_disguised_read(write)) {
          writes.push_back(write);
          const std::string& name = graph_.code[write].name;
          is_lock = is_lock || name.find("CAS") != std::string::npos ||
                    name.find("compare_exchange") != std::string::npos;
        }
      }
      const std::string reason = writes.empty() || is_lock ? "" : why(loop, poll, address, writes);
      if (reason.empty()) {
        continue;
      }
      Found found;
      found.key = "cuda_progress_grid_wait";
      found.place = graph_.code[poll].spot;
      if (found.place.in_system || found.place.line == 0) {
        found.place = waits_.loop_spot(loop);
      }
      if (found.place.in_system || found.place.line == 0) {
        continue;
      }
      found.function = entry_.unit.functions[entry_.function].name;
      found.message = fmt::format(
          "a block waits here {}, and nothing obliges other blocks of an ordinary launch to start "
          "before it ends",
          reason
      );
      found.steps.push_back({graph_.code[writes.front()].spot, "another block ends the wait here"});
      found.steps.push_back({found.place, "this block waits here"});
      found.related.push_back({launch.spot, "launched here, without cooperation"});
      found.help.emplace_back(
          "launch with cudaLaunchCooperativeKernel (this_grid().sync() is a barrier of the grid), "
          "or let blocks take tickets with an atomic, so that each waits only for blocks that have "
          "started"
      );
      out_.push_back(std::move(found));
      return;
    }
  }

  bool is_global(ValueId address) const {
    const auto& targets = entry_.flow.targets(address);
    return std::ranges::all_of(targets, [&](const Target& one) {
      return entry_.flow.locations[one.location].space == Space::Global;
    });
  }

  /// What the wait is for, if only another block can bring it about; empty: not known.
  std::string
  why(std::uint32_t loop, ValueId poll, ValueId address, const std::vector<ValueId>& writes) const {
    Origin wanted; // what the polled value is compared with
    for (const std::uint32_t exit : graph_.loops[loop].exits) {
      const ValueId condition = entry_.uniformity.condition(exit);
      if (condition == no_value) {
        continue;
      }
      for (const ValueId operand : entry_.flow.values[condition].operands) {
        if (!is_computed_from(entry_, operand, poll)) {
          const Origin one = origin_of(entry_, operand);
          wanted.grid_size |= one.grid_size;
          wanted.parameter |= one.parameter;
          wanted.atomic_update |= one.atomic_update;
          wanted.block_index |= one.block_index && is_computed_from(entry_, condition, poll);
        }
      }
    }
    const Origin place = origin_of(entry_, address);
    if (place.atomic_update || wanted.atomic_update) {
      return ""; // a ticket
    }
    if (wanted.grid_size && !place.block_index) {
      return "for all blocks of the grid";
    }
    if (wanted.block_index && !place.block_index) {
      return "for its turn in the order of block indices";
    }
    const std::uint32_t waiting = graph_.loops[loop].header;
    for (const ValueId write : writes) {
      const Instruction& code = graph_.code[write];
      const ValueId to = address_of(entry_, write);
      const Origin destination = origin_of(entry_, to);
      if (place.block_index && destination.block_index && !destination.atomic_update &&
          differ_in_block_index(entry_, to, address) && !place.loaded && !destination.loaded) {
        return "for what a block with another index writes";
      }
      if (place.block_index) {
        continue;
      }
      for (const std::uint32_t branch : deciding_branches(graph_, graph_.block_of[write])) {
        const ValueId condition = entry_.uniformity.condition(branch);
        if (condition == no_value) {
          continue;
        }
        const Origin of = origin_of(entry_, condition);
        if (of.atomic_update && of.grid_size && !decides_alike(branch, write, waiting)) {
          return "for the last block of the grid to arrive";
        }
        if (of.block_index && !of.atomic_update && !of.loaded && !of.parameter &&
            (code.effect != Effect::AtomicUpdate || is_exchange(code)) &&
            !decides_alike(branch, write, waiting)) {
          return "for what a block with a certain index writes";
        }
      }
      // arrive = one thread of each block counts up; wait: until the count is what the host says.
      if (wanted.parameter && code.op == Op::Known && code.effect == Effect::AtomicUpdate &&
          graph_.block_of[write] != waiting && by_one_thread(write) && precedes(write, waiting)) {
        return "for a number of blocks";
      }
    }
    return "";
  }

  /// A store in disguise.
  static bool is_exchange(const Instruction& code) {
    return code.name == "atomicExch" || code.name == "atomicExch_system" || code.name == "exchange";
  }

  bool precedes(ValueId write, std::uint32_t waiting) const {
    const ValueId first = graph_.blocks[waiting].first;
    return first < graph_.blocks[waiting].last &&
           reaches(graph_, write, first, [](const Instruction&) { return false; });
  }

  bool by_one_thread(ValueId write) const {
    const auto branches = deciding_branches(graph_, graph_.block_of[write]);
    return std::ranges::any_of(branches, [&](std::uint32_t branch) {
      const ValueId condition = entry_.uniformity.condition(branch);
      const Instruction* code =
          condition == no_value ? nullptr : entry_.flow.instruction(condition);
      return code != nullptr && code->op == Op::Arithmetic && code->arithmetic == Operator::Equal &&
             origin_of(entry_, condition).thread_index;
    });
  }

  /// Do the same ways out of the branch lead to the write and to the wait?
  bool decides_alike(std::uint32_t branch, ValueId write, std::uint32_t waiting) const {
    const auto ways = [&](std::uint32_t to) {
      std::set<std::uint32_t> result;
      const std::uint32_t join = graph_.blocks[branch].post_dominator;
      for (const std::uint32_t successor : graph_.blocks[branch].end.successors) {
        std::set<std::uint32_t> seen;
        std::vector<std::uint32_t> work = {successor};
        while (!work.empty()) {
          const std::uint32_t at = work.back();
          work.pop_back();
          if (at == join || at == branch || !seen.insert(at).second) {
            continue;
          }
          const auto& more = graph_.blocks[at].end.successors;
          work.insert(work.end(), more.begin(), more.end());
        }
        if (seen.contains(to)) {
          result.insert(successor);
        }
      }
      return result;
    };
    return ways(graph_.block_of[write]) == ways(waiting);
  }

  /// while (atomicCAS(lock, 0, 1)); … atomicExch(lock, 0): below sm_70 the threads that spin may
  /// keep the one that holds the lock, in the same warp, from going on.
  void warp_lock(std::uint32_t loop) {
    const ValueId take = waits_.takes_lock(loop);
    if (take == no_value || graph_.code[take].spot.in_system) {
      return;
    }
    const auto& targets = entry_.flow.targets(address_of(entry_, take));
    const bool releases_inside = std::ranges::any_of(entry_.flow.writes, [&](ValueId write) {
      const auto& to = entry_.flow.targets(address_of(entry_, write));
      return write != take && graph_.in_loop(graph_.block_of[write], loop) && !to.empty() &&
             !targets.empty() &&
             entry_.flow.root(to.front().location) == entry_.flow.root(targets.front().location);
    });
    // One thread of the warp: nobody to wait for.
    const auto branches = deciding_branches(graph_, graph_.loops[loop].header);
    const bool one_thread = std::ranges::any_of(branches, [&](std::uint32_t branch) {
      const ValueId condition = entry_.uniformity.condition(branch);
      const Instruction* code =
          condition == no_value ? nullptr : entry_.flow.instruction(condition);
      return code != nullptr && !graph_.in_loop(branch, loop) && code->op == Op::Arithmetic &&
             code->arithmetic == Operator::Equal && origin_of(entry_, condition).thread_index;
    });
    if (releases_inside || one_thread) {
      return;
    }
    Found found;
    found.key = "cuda_progress_warp_lock";
    found.place = graph_.code[take].spot;
    found.function = entry_.unit.functions[entry_.function].name;
    found.message = fmt::format(
        "each thread takes a lock with '{}' in a loop, and leaves the loop to release it: on sm_{} "
        "the threads of a warp that spin keep the one that holds the lock from going on",
        graph_.code[take].name,
        options_.architecture
    );
    found.help.emplace_back(
        "do the work and release the lock inside the loop, in the branch of the thread that got "
        "it; "
        "or compile for sm_70 or later"
    );
    out_.push_back(std::move(found));
  }

  const Entry& entry_;
  const Graph& graph_;
  const CheckOptions& options_;
  const Waits waits_;
  std::vector<Found>& out_;
};

} // namespace

void check_progress_rules(
    const Entry& entry,
    const CheckOptions& options,
    std::vector<Found>& out
) {
  ProgressRules(entry, options, out).run();
}

} // namespace heddle::lint
