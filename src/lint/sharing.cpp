#include "lint/sharing.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::lint {
namespace {

bool is_atomic(const Instruction& code) {
  return code.op == Op::Known &&
         (code.effect == Effect::AtomicUpdate || code.effect == Effect::AtomicStore ||
          code.effect == Effect::AtomicLoad || code.effect == Effect::AtomicWait);
}

bool releases(const Instruction& code) {
  return code.order == MemoryOrder::Release || code.order == MemoryOrder::Both ||
         code.name == "asm";
}
bool acquires(const Instruction& code) {
  return code.order == MemoryOrder::Acquire || code.order == MemoryOrder::Both ||
         code.name == "asm";
}

bool is_wide_fence(const Instruction& code) {
  return code.op == Op::Known &&
         ((code.effect == Effect::Fence && code.scope != Scope::Block &&
           code.scope != Scope::Thread) ||
          code.effect == Effect::GridBarrier || code.effect == Effect::GroupBarrier ||
          code.effect == Effect::ObjectBarrier || code.effect == Effect::Unknown ||
          (is_atomic(code) && (releases(code) && acquires(code))));
}
bool is_any_fence(const Instruction& code) {
  return is_wide_fence(code) || (code.op == Op::Known && code.effect == Effect::Fence);
}
/// After these the reader has at least met the rest of its block: nothing is said about it.
bool is_meeting(const Instruction& code) {
  return is_any_fence(code) || is_memory_barrier(code);
}

bool is_default_stream(const std::string& stream) {
  return stream.empty() || stream == "0" || stream == "NULL" || stream == "nullptr";
}

} // namespace

std::string Sharing::argument(const Launch& launch, const SharedObject& object) {
  const auto index = static_cast<std::size_t>(object.number);
  if (index >= launch.arguments.size()) {
    return "";
  }
  std::string text;
  for (const char c : launch.arguments[index]) {
    if (c != ' ' && c != '&') {
      text += c;
    }
  }
  return text;
}

bool Sharing::is_same(
    std::uint32_t kernel,
    const SharedObject& object,
    std::uint32_t other_kernel,
    const SharedObject& other
) const {
  if (object.is_parameter != other.is_parameter) {
    return false;
  }
  if (!object.is_parameter || kernel == other_kernel) {
    return object == other;
  }
  for (const Launch& a : unit_.launches) {
    for (const Launch& b : unit_.launches) {
      if (a.kernel == kernel && b.kernel == other_kernel && a.caller == b.caller) {
        const std::string text = argument(a, object);
        if (!text.empty() && text == argument(b, other)) {
          return true;
        }
      }
    }
  }
  return false;
}

bool Sharing::is_same(
    std::uint32_t kernel,
    const SharedMember& member,
    std::uint32_t other_kernel,
    const SharedMember& other
) const {
  return member.path == other.path && is_same(kernel, member.object, other_kernel, other.object);
}

void Sharing::add(const Entry& entry) {
  Kernel kernel;
  kernel.function = entry.function;
  const Waits waits(entry);
  for (std::uint32_t loop = 0; loop < entry.graph.loops.size(); ++loop) {
    for (const ValueId poll : waits.polls(loop)) {
      if (const auto object = object_of(entry, address_of(entry, poll))) {
        kernel.waits.push_back({*object, entry.graph.code[poll].spot});
      }
    }
  }
  for (std::uint32_t block : entry.graph.sequence) {
    for (ValueId i = entry.graph.blocks[block].first; i < entry.graph.blocks[block].last; ++i) {
      const Instruction& code = entry.graph.code[i];
      if (code.op == Op::Known && code.effect == Effect::AtomicWait) {
        if (const auto object = object_of(entry, address_of(entry, i))) {
          kernel.waits.push_back({*object, code.spot});
        }
      }
    }
  }
  for (const ValueId write : entry.flow.writes) {
    if (const auto object = object_of(entry, address_of(entry, write));
        object && !waits.is_disguised_read(write)) {
      kernel.writes.insert(*object);
    }
  }
  add_publications(entry, kernel);
  add_receptions(entry, kernel);
  kernels_.push_back(std::move(kernel));
}

namespace {

bool is_in_global_memory(const Entry& entry, ValueId address) {
  const auto& targets = entry.flow.targets(address);
  return !targets.empty() && std::ranges::all_of(targets, [&](const Target& one) {
    return entry.flow.locations[one.location].space == Space::Global;
  });
}

constexpr std::size_t most_pairs = 20'000; // looked at in one kernel

/// The barriers of the block that a thread comes to behind the loop, wherever it goes: its block
/// has waited, too, when they are passed.
std::vector<ValueId> barriers_behind(const Graph& graph, std::uint32_t loop) {
  std::vector<ValueId> found;
  std::uint32_t at = graph.loops[loop].header;
  while (at != UINT32_MAX && at != graph.blocks[at].post_dominator) {
    for (ValueId i = graph.blocks[at].first; i < graph.blocks[at].last; ++i) {
      if (!graph.in_loop(at, loop) && graph.code[i].op == Op::Known &&
          graph.code[i].effect == Effect::BlockBarrier) {
        found.push_back(i);
      }
    }
    at = graph.blocks[at].post_dominator;
  }
  return found;
}

bool comes_behind(const Graph& graph, ValueId barrier, ValueId other) {
  const std::uint32_t from = graph.block_of[barrier];
  const std::uint32_t to = graph.block_of[other];
  return from == to ? barrier < other : dominates(graph, from, to);
}

} // namespace

void Sharing::add_publications(const Entry& entry, Kernel& kernel) const {
  const Graph& graph = entry.graph;
  const Waits waits(entry);
  std::size_t pairs = 0;
  std::vector<ValueId> locks; // taking one publishes nothing
  for (std::uint32_t loop = 0; loop < graph.loops.size(); ++loop) {
    if (const ValueId lock = waits.takes_lock(loop); lock != no_value) {
      locks.push_back(lock);
    }
  }
  for (const ValueId flag : entry.flow.writes) {
    const Instruction& code = graph.code[flag];
    const bool is_flag = is_atomic(code) || (code.op == Op::Store && waits.is_volatile(flag));
    const auto flag_object = member_of(entry, address_of(entry, flag));
    if (!is_flag || !flag_object || waits.is_disguised_read(flag) ||
        std::ranges::find(locks, flag) != locks.end()) {
      continue;
    }
    // A release of the same flag before has published the data already.
    const auto orders = [&](const auto& is_fence) {
      return [&, is_fence](const Instruction& one) {
        return is_fence(one) ||
               (is_atomic(one) && one.effect != Effect::AtomicLoad && releases(one) &&
                one.scope != Scope::Block && !one.operands.empty() &&
                member_of(entry, entry.flow.resolve(one.operands[0])) == flag_object);
      };
    };
    for (const ValueId data : entry.flow.writes) {
      if (graph.code[data].op != Op::Store || waits.is_volatile(data) || ++pairs > most_pairs) {
        continue;
      }
      const auto data_object = member_of(entry, address_of(entry, data));
      if (!data_object || data_object->may_overlap(*flag_object) ||
          !is_in_global_memory(entry, address_of(entry, data)) ||
          !reaches(graph, data, flag, [](const Instruction&) { return false; })) {
        continue;
      }
      Publication made{
          *data_object,
          *flag_object,
          graph.code[data].spot,
          code.spot,
          code.op == Op::Store ? "a volatile store" : fmt::format("'{}'", code.name),
          false
      };
      if ((is_atomic(code) && releases(code) && code.scope != Scope::Block) ||
          !reaches(graph, data, flag, orders(is_wide_fence))) {
        kernel.released.push_back(std::move(made));
      } else {
        made.narrow = (is_atomic(code) && releases(code)) ||
                      !reaches(graph, data, flag, orders(is_any_fence));
        kernel.publications.push_back(std::move(made));
      }
    }
  }
}

/// Is the flag that is polled written where all blocks of the grid have been counted?
bool Sharing::counts_blocks(const Entry& entry, ValueId poll) {
  const auto flag = object_of(entry, address_of(entry, poll));
  return std::ranges::any_of(entry.flow.writes, [&](ValueId write) {
    const auto branches = deciding_branches(entry.graph, entry.graph.block_of[write]);
    return flag && object_of(entry, address_of(entry, write)) == flag &&
           std::ranges::any_of(branches, [&](std::uint32_t branch) {
             const ValueId condition = entry.uniformity.condition(branch);
             return condition != no_value && origin_of(entry, condition).grid_size &&
                    !origin_of(entry, condition).updates.empty();
           });
  });
}

void Sharing::add_receptions(const Entry& entry, Kernel& kernel) const {
  const Graph& graph = entry.graph;
  const Waits waits(entry);
  std::size_t pairs = 0;
  const auto add = [&](ValueId flag, ValueId data, bool may_miss, bool between_blocks) {
    const auto flag_object = member_of(entry, address_of(entry, flag));
    const auto data_object = member_of(entry, address_of(entry, data));
    const Instruction& code = graph.code[flag];
    if (!flag_object || !data_object || flag_object->may_overlap(*data_object) ||
        !is_in_global_memory(entry, address_of(entry, data))) {
      return;
    }
    kernel.receptions.push_back(
        {*data_object,
         *flag_object,
         code.spot,
         graph.code[data].spot,
         code.op == Op::Load ? "a volatile load" : fmt::format("'{}'", code.name),
         (is_atomic(code) && acquires(code)) || !reaches(graph, flag, data, is_meeting),
         may_miss,
         between_blocks}
    );
  };
  std::vector<ValueId> loads;
  for (const std::uint32_t block : graph.sequence) {
    for (ValueId i = graph.blocks[block].first; i < graph.blocks[block].last; ++i) {
      if (graph.code[i].op == Op::Load && entry.flow.is_shared_load(i) && !waits.is_volatile(i)) {
        loads.push_back(i);
      }
    }
  }
  // After a loop that waits, or that takes a lock.
  for (std::uint32_t loop = 0; loop < graph.loops.size(); ++loop) {
    std::vector<ValueId> flags;
    for (const ValueId poll : waits.polls(loop)) {
      if (is_atomic(graph.code[poll]) || waits.is_volatile(poll)) {
        flags.push_back(poll);
      }
    }
    if (const ValueId lock = waits.takes_lock(loop); lock != no_value) {
      flags.push_back(lock);
    }
    const std::vector<ValueId> barriers = barriers_behind(graph, loop);
    for (const ValueId flag : flags) {
      const std::string& name = graph.code[flag].name;
      const bool modern = name.starts_with("cuda::");
      const bool between_blocks = counts_blocks(entry, flag);
      for (const ValueId data : loads) {
        const auto meets = [&](ValueId barrier) { return comes_behind(graph, barrier, data); };
        if (++pairs < most_pairs && !graph.in_loop(graph.block_of[data], loop) &&
            (dominates(graph, graph.loops[loop].header, graph.block_of[data]) ||
             std::ranges::any_of(barriers, meets))) {
          add(flag, data, modern, between_blocks);
        }
      }
    }
  }
  // The block that arrives last reads what the others have left.
  std::map<std::uint32_t, Origin> origins; // of the conditions of branches
  for (const ValueId data : loads) {
    for (const std::uint32_t branch : deciding_branches(graph, graph.block_of[data])) {
      const ValueId condition = entry.uniformity.condition(branch);
      if (condition == no_value || ++pairs > most_pairs) {
        continue;
      }
      const auto [known, is_new] = origins.try_emplace(branch);
      const Origin& origin = known->second;
      if (is_new) {
        known->second = origin_of(entry, condition);
      }
      if (!origin.grid_size) {
        continue;
      }
      for (const ValueId update : origin.updates) {
        const Agreement at =
            entry.uniformity.value(entry.flow.canonical(address_of(entry, update)));
        if (at.possible == Level::Grid) {
          add(update, data, /*may_miss=*/false, /*between_blocks=*/true);
        }
      }
    }
  }
}

Found Sharing::start(const char* key, std::uint32_t function, const Spot& place) const {
  Found found;
  found.key = key;
  found.place = place;
  found.function = unit_.functions[function].name;
  return found;
}

void Sharing::orders(std::vector<Found>& out) const {
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  const auto is_new = [&](const Spot& spot) {
    return spot.line != 0 && !spot.in_system && told.insert({spot.file, spot.begin}).second;
  };
  for (const Kernel& receiver : kernels_) {
    for (const Reception& to : receiver.receptions) {
      for (const Kernel& sender : kernels_) {
        const auto matches = [&](const Publication& from) {
          return is_same(sender.function, from.flag, receiver.function, to.flag) &&
                 is_same(sender.function, from.data, receiver.function, to.data);
        };
        for (const Publication& from : sender.publications) {
          if (!matches(from) || (from.narrow && !to.between_blocks) || !is_new(from.flag_spot)) {
            continue;
          }
          Found found = start(
              from.narrow ? "cuda_scope_too_narrow" : "cuda_missing_release",
              sender.function,
              from.flag_spot
          );
          found.message =
              from.narrow
                  ? fmt::format(
                        "{} tells other blocks that data is ready, and the release before it is "
                        "for "
                        "the own block only",
                        from.name
                    )
                  : fmt::format(
                        "{} tells others that data is ready, and nothing orders the writes of the "
                        "data before it",
                        from.name
                    );
          found.steps = {
              {from.data_spot, "the data is written here"},
              {from.flag_spot, "the flag is written here"},
              {to.flag_spot, "who waits for it reads it here"},
              {to.data_spot, "and reads the data here: it may still be the old one"}
          };
          found.help.emplace_back(
              "write the flag with memory_order_release in a scope that holds both threads, or put "
              "__threadfence() before it"
          );
          out.push_back(std::move(found));
        }
        if (to.acquires || !to.may_miss_acquire) {
          continue;
        }
        const auto sends = [&](const std::vector<Publication>& list) {
          return std::ranges::find_if(list, matches);
        };
        auto from = sends(sender.released);
        const bool known = from != sender.released.end() ||
                           (from = sends(sender.publications)) != sender.publications.end();
        if (!known || !is_new(to.flag_spot)) {
          continue;
        }
        Found found = start("cuda_missing_acquire", receiver.function, to.flag_spot);
        found.message = fmt::format(
            "{} waits until data is ready, and nothing orders the reads of the data after it",
            to.name
        );
        found.steps = {
            {from->data_spot, "the data is written here"},
            {from->flag_spot, "the flag is written here"},
            {to.flag_spot, "the flag is read here"},
            {to.data_spot, "the data is read here: it may still be the old one"}
        };
        found.help.emplace_back("read the flag with memory_order_acquire");
        out.push_back(std::move(found));
      }
    }
  }
}

/// Does something between the two launches make the second wait for the first?
bool Sharing::is_ordered_between(const Launch& first, const Launch& second) const {
  const Function& caller = unit_.functions[first.caller];
  for (std::uint32_t i = first.position; i < second.position && i < caller.code.size(); ++i) {
    const std::string& name = caller.code[i].name;
    if (name.find("Synchronize") != std::string::npos || name == "cudaStreamWaitEvent" ||
        name.starts_with("cudaMemcpy")) {
      return true;
    }
  }
  return false;
}

void Sharing::stream_wait(
    const Kernel& waiter,
    const Wait& wait,
    const Launch& a,
    const Launch& b,
    std::vector<Found>& out
) const {
  const bool waiter_first = a.position < b.position;
  const Launch& first = waiter_first ? a : b;
  const Launch& second = waiter_first ? b : a;
  const bool has_default = is_default_stream(first.stream) || is_default_stream(second.stream);
  const bool same_stream = first.stream == second.stream ||
                           (is_default_stream(first.stream) && is_default_stream(second.stream));
  // The default stream may order them.
  if (is_ordered_between(first, second) || (!waiter_first && (same_stream || has_default))) {
    return;
  }
  const std::string& waits = unit_.functions[waiter.function].name;
  const std::string& writes = unit_.functions[b.kernel].name;
  Found found = start("cuda_progress_stream_wait", a.caller, a.spot);
  found.message =
      same_stream ? fmt::format(
                        "'{}' waits for '{}', which is launched after it in the same stream and "
                        "cannot start before it ends",
                        waits,
                        writes
                    )
                  : fmt::format(
                        "'{}' waits for '{}' in another stream, and nothing obliges that one to "
                        "start while this one runs",
                        waits,
                        writes
                    );
  found.steps = {
      {b.spot, "the kernel that ends the wait is launched here"},
      {a.spot, "the kernel that waits is launched here"},
      {wait.spot, "it waits here"}
  };
  found.help.emplace_back(
      "launch the one that writes first in the same stream, or make the stream of the waiting one "
      "wait for an event (cudaStreamWaitEvent)"
  );
  out.push_back(std::move(found));
}

/// Two launches in one host function between which nothing waits: the second may be the one that
/// runs, or never be started.
void Sharing::stream_waits(std::vector<Found>& out) const {
  for (const Kernel& waiter : kernels_) {
    for (const Wait& wait : waiter.waits) {
      for (const Kernel& writer : kernels_) {
        const bool written = std::ranges::any_of(writer.writes, [&](const SharedObject& object) {
          return is_same(writer.function, object, waiter.function, wait.object);
        });
        if (!written || waiter.writes.contains(wait.object) || waiter.function == writer.function) {
          continue;
        }
        for (const Launch& a : unit_.launches) {
          for (const Launch& b : unit_.launches) {
            const bool launches_both =
                a.kernel == waiter.function && b.kernel == writer.function && a.caller == b.caller;
            const bool same_object =
                !wait.object.is_parameter ||
                std::ranges::any_of(writer.writes, [&](const auto& object) {
                  return object.is_parameter && argument(a, wait.object) == argument(b, object);
                });
            if (launches_both && same_object) {
              stream_wait(waiter, wait, a, b, out);
            }
          }
        }
      }
    }
  }
}

void Sharing::check(std::vector<Found>& out) const {
  orders(out);
  stream_waits(out);
}

} // namespace heddle::lint
