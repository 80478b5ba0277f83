// CUDA-2.1 [collective.warp.participants.active], CUDA-2.3 [collective.warp.include_self] and
// cuda-syncwarp-missing: collectives of a warp, and code that takes its warp to run in lockstep.
//
// Certain findings are about single lanes whose way is known (lanes.h): one is named in a mask and
// goes elsewhere, or calls and is not named. "potentially_": the mask is a constant and the branch
// around the call differs between the threads of a warp in a way that is not known; advice only,
// because a guard like i < n is often the same for whole warps in fact. Masks that are computed
// (__ballot_sync, __activemask, groups) are believed.
#include "lint/lanes.h"
#include "lint/waits.h"
#include "lint/warp_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace heddle::lint {
namespace {

constexpr std::size_t most_accesses = 400; // of shared memory, looked at one against the other

bool is_warp_effect(const Instruction& code) {
  if (code.op != Op::Known) {
    return false;
  }
  switch (code.effect) {
  case Effect::WarpBarrier:
  case Effect::WarpVote:
  case Effect::WarpShuffle:
  case Effect::WarpReduce:
  case Effect::WarpScan:
    return true;
  default:
    return false;
  }
}

bool takes_mask(const Instruction& code) {
  return is_warp_effect(code) && !code.operands.empty() &&
         (code.name == "__syncwarp" ||
          (code.name.starts_with("__") && code.name.ends_with("_sync")));
}

class WarpRules {
public:
  WarpRules(const Entry& entry, std::vector<Found>& out)
      : entry_(entry),
        graph_(entry.graph),
        lanes_(entry),
        out_(out) {}

  void run() {
    for (const std::uint32_t block : graph_.sequence) {
      for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
        if (takes_mask(graph_.code[i]) && !graph_.code[i].spot.in_system) {
          collective(i);
        }
      }
    }
    missing_syncs();
  }

private:
  std::optional<std::uint32_t> mask_of(ValueId id, unsigned thread) {
    const auto value = lanes_.value(entry_.flow.resolve(graph_.code[id].operands[0]), thread);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
  }

  Found start(std::string key, ValueId id) const {
    Found found;
    found.key = std::move(key);
    found.place = graph_.code[id].spot;
    found.function = entry_.unit.functions[entry_.function].name;
    return found;
  }

  bool contains(std::uint32_t branch, ValueId id) const {
    const std::uint32_t frame = graph_.blocks[branch].frame;
    const std::uint32_t of_call = graph_.blocks[graph_.block_of[id]].frame;
    return graph_.is_within(of_call, frame) &&
           graph_.blocks[branch].end.statement.contains(
               graph_.seen_from(frame, of_call, graph_.code[id].spot)
           );
  }

  bool names_all(ValueId id) const {
    const ValueId mask = entry_.flow.canonical(entry_.flow.resolve(graph_.code[id].operands[0]));
    const Instruction* code = entry_.flow.instruction(mask);
    return code != nullptr && code->op == Op::Constant &&
           static_cast<std::uint32_t>(code->number) == UINT32_MAX;
  }

  /// All lanes of a warp get to the call, or none does.
  bool comes_whole(ValueId id) const {
    const auto branches = deciding_branches(graph_, graph_.block_of[id]);
    return std::ranges::none_of(branches, [&](std::uint32_t branch) {
      return entry_.uniformity.branch(branch).possible > Level::Warp;
    });
  }

  void collective(ValueId id) {
    if (names_all(id) && comes_whole(id)) {
      return; // most calls: no need to look at single lanes
    }
    // A mask that is not known says nothing.
    if (lanes_.threads() != 0 && mask_of(id, 0) && !self(id)) {
      others(id);
    }
  }

  // --- CUDA-2.3

  /// How many threads every block certainly has. A launch that is not to be seen promises one.
  unsigned certain_threads() const {
    std::optional<std::int64_t> least;
    for (const Launch& launch : entry_.unit.launches) {
      if (launch.kernel != entry_.function) {
        continue;
      }
      std::int64_t size = 1;
      for (const auto& extent : launch.block_size) {
        size = extent ? size * *extent : 0;
        if (!extent) {
          break;
        }
      }
      least = std::min(least.value_or(size), size);
    }
    return least && *least > 0 ? static_cast<unsigned>(*least) : 1;
  }

  /// None of the threads that may make the call is named in its own mask.
  bool names_no_caller(ValueId id) {
    for (unsigned thread = 0; thread < lanes_.threads(); ++thread) {
      const auto mask = mask_of(id, thread);
      if (lanes_.takes_part(graph_.block_of[id], thread) != Lanes::Part::Out &&
          (!mask || (*mask >> thread % Lanes::warp_size & 1U) != 0)) {
        return false;
      }
    }
    return true;
  }

  /// if (threadIdx.y == 0) __shfl_sync(0xff, …): the mask of a row, of which the length is not
  /// known.
  bool may_name_row(ValueId id, std::uint32_t mask) const {
    const auto row = graph_.symbols.find(Symbol::ThreadIndexY);
    if (row == graph_.symbols.end() || entry_.uniformity.facts.size_x || (mask & (mask + 1)) != 0) {
      return false;
    }
    const auto branches = deciding_branches(graph_, graph_.block_of[id]);
    return std::ranges::any_of(branches, [&](std::uint32_t branch) {
      const Instruction* code = entry_.flow.instruction(entry_.uniformity.condition(branch));
      return code != nullptr && code->arithmetic == Operator::Equal &&
             is_computed_from(entry_, entry_.uniformity.condition(branch), row->second);
    });
  }

  bool self(ValueId id) {
    const Instruction& code = graph_.code[id];
    const std::uint32_t block = graph_.block_of[id];
    for (unsigned thread = 0; thread < lanes_.threads(); ++thread) {
      const auto mask = mask_of(id, thread);
      const Lanes::Part part = lanes_.takes_part(block, thread);
      if (!mask || part == Lanes::Part::Out) {
        continue;
      }
      const unsigned lane = thread % Lanes::warp_size;
      if ((*mask >> lane & 1U) == 0 && !may_name_row(id, *mask)) {
        // Of a block of unknown size it is not known that this thread exists.
        const bool sure =
            part == Lanes::Part::In && (thread < certain_threads() || names_no_caller(id));
        Found found = start(
            sure ? "calling_thread_not_in_mask" : "potentially_calling_thread_not_in_mask",
            id
        );
        found.message = fmt::format(
            "'{}' is called by lane {}, which its mask 0x{:08x} does not name{}",
            code.name,
            lane,
            *mask,
            sure                      ? ""
            : part == Lanes::Part::In ? ", if blocks are that large"
                                      : ", if it gets here"
        );
        found.help.emplace_back("name every thread that makes the call, and no other");
        out_.push_back(std::move(found));
        return true;
      }
      if (part == Lanes::Part::In && code.name == "__shfl_sync" && source(id, thread, *mask)) {
        return true;
      }
    }
    return false;
  }

  /// The lane that a shuffle reads from.
  bool source(ValueId id, unsigned thread, std::uint32_t mask) {
    const Instruction& code = graph_.code[id];
    if (code.operands.size() < 3) {
      return false;
    }
    const auto from = lanes_.value(entry_.flow.resolve(code.operands[2]), thread);
    const auto width = code.operands.size() > 3
                           ? lanes_.value(entry_.flow.resolve(code.operands[3]), thread)
                           : Lanes::warp_size;
    if (!from || *from < 0 || width != std::int64_t{Lanes::warp_size}) {
      return false;
    }
    const auto lane = static_cast<unsigned>(*from % Lanes::warp_size);
    const unsigned other = thread / Lanes::warp_size * Lanes::warp_size + lane;
    const bool named = (mask >> lane & 1U) != 0;
    const bool there = other >= lanes_.threads() ||
                       lanes_.takes_part(graph_.block_of[id], other) != Lanes::Part::Out;
    if (named && there) {
      return false;
    }
    Found found = start("source_lane_not_in_collective", id);
    found.message = named ? fmt::format(
                                "lane {} reads from lane {} here, which never makes this call",
                                thread % Lanes::warp_size,
                                lane
                            )
                          : fmt::format(
                                "lane {} reads from lane {} here, which the mask 0x{:08x} does not "
                                "name",
                                thread % Lanes::warp_size,
                                lane,
                                mask
                            );
    out_.push_back(std::move(found));
    return true;
  }

  // --- CUDA-2.1

  /// The branch around the call at which threads of a group of `lanes` neighbours part; UINT32_MAX:
  /// none.
  std::uint32_t parting_branch(ValueId id, unsigned lanes) const {
    for (const std::uint32_t branch : deciding_branches(graph_, graph_.block_of[id])) {
      // Whoever fails an assertion ends the kernel.
      const bool asserts =
          std::ranges::any_of(graph_.blocks[branch].end.successors, [&](std::uint32_t to) {
            return graph_.blocks[to].end.kind == Terminator::Kind::Trapped;
          });
      if (!asserts && entry_.uniformity.branch(branch).definite > Level::Warp &&
          contains(branch, id) &&
          (lanes == Lanes::warp_size ||
           alike_lanes(entry_.uniformity, entry_.uniformity.condition(branch)) < lanes)) {
        return branch;
      }
    }
    return UINT32_MAX;
  }

  bool other_side_calls(std::uint32_t branch, unsigned thread, ValueId id) {
    const std::uint32_t join = graph_.blocks[branch].post_dominator;
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> work = graph_.blocks[branch].end.successors;
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      if (at == join || !seen.insert(at).second) {
        continue;
      }
      if (lanes_.takes_part(at, thread) != Lanes::Part::Out) {
        for (ValueId i = graph_.blocks[at].first; i < graph_.blocks[at].last; ++i) {
          if (i != id && is_warp_effect(graph_.code[i])) {
            return true;
          }
        }
      }
      const auto& more = graph_.blocks[at].end.successors;
      work.insert(work.end(), more.begin(), more.end());
    }
    return false;
  }

  /// After the branch nothing is left to do but end.
  bool ends_quietly(std::uint32_t branch) const {
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> work = {graph_.blocks[branch].post_dominator};
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      if (at == UINT32_MAX || !seen.insert(at).second) {
        continue;
      }
      for (ValueId i = graph_.blocks[at].first; i < graph_.blocks[at].last; ++i) {
        const Instruction& code = graph_.code[i];
        if ((code.op == Op::Known && code.effect != Effect::Pure) ||
            std::ranges::find(entry_.flow.writes, i) != entry_.flow.writes.end()) {
          return false;
        }
      }
      const auto& more = graph_.blocks[at].end.successors;
      work.insert(work.end(), more.begin(), more.end());
    }
    return true;
  }

  void others(ValueId id) {
    const std::uint32_t branch = parting_branch(id, Lanes::warp_size);
    if (branch == UINT32_MAX) {
      return;
    }
    const std::uint32_t block = graph_.block_of[id];
    const Instruction& code = graph_.code[id];
    for (unsigned thread = 0; thread < lanes_.threads(); ++thread) {
      const auto mask = mask_of(id, thread);
      if (!mask || lanes_.takes_part(block, thread) != Lanes::Part::In) {
        continue;
      }
      const unsigned first = thread / Lanes::warp_size * Lanes::warp_size;
      for (unsigned lane = 0; lane < Lanes::warp_size; ++lane) {
        const unsigned other = first + lane;
        if (other >= lanes_.threads() || (*mask >> lane & 1U) == 0 ||
            lanes_.takes_part(block, other) != Lanes::Part::Out) {
          continue;
        }
        if (other_side_calls(branch, other, id) || ends_quietly(branch)) {
          return; // who pairs with whom is for the run to show; who has ended is not waited for
        }
        Found found = start("inactive_thread_in_mask", id);
        found.message = fmt::format(
            "the mask 0x{:08x} of '{}' names lane {}, which does not make this call (lane {} does)",
            *mask,
            code.name,
            lane,
            thread % Lanes::warp_size
        );
        found.steps = explain_branch(entry_, branch);
        found.steps.push_back({code.spot, "the call that some lanes of the mask do not make"});
        found.help.emplace_back(
            "name the threads that take the branch: compute the mask with __ballot_sync before it"
        );
        out_.push_back(std::move(found));
        return;
      }
    }
    maybe_inactive(id);
  }

  /// The size of the smallest aligned group of lanes that has all lanes of a mask.
  static unsigned span_of(std::uint32_t mask) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const auto last = static_cast<unsigned>(std::bit_width(mask)) - 1;
    return std::bit_ceil((first ^ last) + 1);
  }

  void maybe_inactive(ValueId id) {
    const std::uint32_t block = graph_.block_of[id];
    const auto mask = mask_of(id, 0);
    if (!mask || (*mask & (*mask - 1)) == 0) {
      return;
    }
    const std::uint32_t branch = parting_branch(id, span_of(*mask));
    if (branch == UINT32_MAX) {
      return; // if (threadIdx.x / 8 < n) __shfl_sync(0xff << threadIdx.x / 8 * 8 % 32, …)
    }
    for (unsigned lane = 0; lane < std::min(lanes_.threads(), Lanes::warp_size); ++lane) {
      if ((*mask >> lane & 1U) != 0 && lanes_.takes_part(block, lane) == Lanes::Part::Maybe) {
        if (!told_branches_.insert(branch).second) {
          return; // once for all calls of the branch
        }
        Found found = start("potentially_inactive_thread_in_mask", id);
        found.message = fmt::format(
            "the mask 0x{:08x} of '{}' may name threads that do not make this call",
            *mask,
            graph_.code[id].name
        );
        found.steps = explain_branch(entry_, branch);
        found.help.emplace_back(
            "let whole warps take the branch, or compute the mask with __ballot_sync before it"
        );
        out_.push_back(std::move(found));
        return;
      }
    }
  }

  // --- Warp-synchronous code

  static bool orders_warp(const Instruction& code) {
    return is_warp_effect(code) || is_memory_barrier(code) ||
           (code.op == Op::Known &&
            (code.effect == Effect::Unknown || code.effect == Effect::BlockArrive));
  }

  std::vector<ValueId> shared_accesses(Op op) const {
    std::vector<ValueId> result;
    for (const std::uint32_t block : graph_.sequence) {
      for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
        const Instruction& code = graph_.code[i];
        if (code.op != op || code.spot.in_system) {
          continue;
        }
        const auto& targets = entry_.flow.targets(address_of(entry_, i));
        const bool shared = !targets.empty() && std::ranges::all_of(targets, [&](const Target& at) {
          return entry_.flow.locations[at.location].space == Space::Shared;
        });
        if (shared) {
          result.push_back(i);
        }
      }
    }
    return result;
  }

  void missing_syncs() {
    const auto stores = shared_accesses(Op::Store);
    const auto loads = shared_accesses(Op::Load);
    if (stores.size() > most_accesses || loads.size() > most_accesses) {
      return;
    }
    std::set<std::uint32_t> told; // functions
    for (const ValueId store : stores) {
      for (const ValueId load : loads) {
        const std::uint32_t frame = graph_.blocks[graph_.block_of[store]].frame;
        if (!told.contains(graph_.frames[frame].function) && within_one_warp(store, load) &&
            reaches(graph_, store, load, orders_warp)) {
          told.insert(graph_.frames[frame].function);
          Found found = start("cuda_syncwarp_missing", load);
          found.message = "this reads what another lane of the warp has written, and nothing "
                          "between them makes "
                          "the lanes wait for each other: warps do not run in lockstep since sm_70";
          found.steps.push_back({graph_.code[store].spot, "written here, by another lane"});
          found.steps.push_back({graph_.code[load].spot, "read here"});
          found.help.emplace_back("call __syncwarp() between the write and the read");
          out_.push_back(std::move(found));
        }
      }
    }
  }

  /// Which threads certainly access which place.
  struct Places {
    bool known = true; // of all threads of the first warp
    std::map<Lanes::Address, std::vector<unsigned>> threads;
  };
  const Places& places_of(ValueId access) {
    const auto [entry, is_new] = places_.try_emplace(access);
    Places& found = entry->second;
    for (unsigned thread = 0; is_new && found.known && thread < lanes_.threads(); ++thread) {
      const auto address = lanes_.address(address_of(entry_, access), thread);
      if ((!address && thread >= Lanes::warp_size) || // s[31 - threadIdx.x] is for one warp
          lanes_.takes_part(graph_.block_of[access], thread) != Lanes::Part::In) {
        continue;
      }
      found.known = address.has_value();
      if (address) {
        found.threads[*address].push_back(thread);
      }
    }
    return found;
  }

  /// Some lane reads what another lane of its warp has written, and no thread reads what another
  /// warp has (that would be a matter for a barrier of the block).
  bool within_one_warp(ValueId store, ValueId load) {
    const Places& written = places_of(store);
    if (!written.known || written.threads.empty()) {
      return false;
    }
    const Places& read = places_of(load);
    bool any = false;
    for (const auto& [address, readers] : read.threads) {
      const auto found = written.threads.find(address);
      if (!read.known || found == written.threads.end()) {
        continue;
      }
      for (const unsigned reader : readers) {
        const bool writes = std::ranges::binary_search(found->second, reader);
        for (const unsigned writer : found->second) {
          if (writer / Lanes::warp_size != reader / Lanes::warp_size) {
            return false;
          }
          any = any || (writer != reader && !writes);
        }
      }
    }
    return any;
  }

  const Entry& entry_;
  const Graph& graph_;
  Lanes lanes_;
  std::map<ValueId, Places> places_;
  std::set<std::uint32_t> told_branches_;
  std::vector<Found>& out_;
};

} // namespace

void check_warp_rules(const Entry& entry, std::vector<Found>& out) {
  WarpRules(entry, out).run();
}

} // namespace heddle::lint
