// cuda-unsynchronized-read and cuda-stream-ordered-memory: what a host function does with memory
// that the device still works on.
//
//   kernel<<<1, 1>>>(p);  use(p[0]);                       // p is managed: no wait in between
//   kernel<<<1, 1>>>();  use(variable);                    // a __managed__ variable, likewise
//   cudaMemcpyAsync(v.data(), …, s);  use(v[0]);           // likewise; also `for (int x : v)`
//   cudaMallocAsync(&p, n, s);  kernel<<<1, 1, 0, t>>>(p); // t does not wait for s
//   cudaMallocAsync(&p, n, s);  cudaMemsetAsync(p, 0, n, t); // likewise, and cudaFreeAsync(p, t)
//   kernel<<<1, 1, 0, t>>>(p);  cudaFreeAsync(p, s);       // s does not wait for t
//   cudaFreeAsync(p, s);  kernel<<<1, 1, 0, s>>>(p);       // freed already
//
// Within one function and what it calls; a pointer is known by the variable that holds it, or that
// is passed, a stream by its name. Every call that may wait ends the search: a function without a
// body, and each call of the API that is not known to return at once. Misses: copies of pointers,
// members, streams that are expressions. The default stream is not compared: it orders itself with
// others.
#include "lint/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace heddle::lint {
namespace {

/// Calls after which the host knows no more about the device than before.
bool returns_at_once(std::string_view name) {
  static constexpr std::array names = {
      "<<<>>>",
      "cudaDeviceGetAttribute",
      "cudaEventCreate",
      "cudaEventCreateWithFlags",
      "cudaEventRecord",
      "cudaFuncSetAttribute",
      "cudaGetDevice",
      "cudaGetDeviceProperties",
      "cudaGetErrorName",
      "cudaGetErrorString",
      "cudaGetLastError",
      "cudaHostAlloc",
      "cudaMalloc",
      "cudaMallocHost",
      "cudaMallocManaged",
      "cudaMemAdvise",
      "cudaPeekAtLastError",
      "cudaSetDevice",
      "cudaStreamCreate",
      "cudaStreamCreateWithFlags",
      "cudaStreamCreateWithPriority",
      "cudaStreamWaitEvent"
  };
  return std::ranges::find(names, name) != names.end() || name.ends_with("Async") ||
         name.starts_with("cudaLaunchKernel");
}

bool may_wait(const Instruction& code) {
  const bool unknown = code.effect == Effect::Unknown && !code.name.starts_with("std::vector::");
  return code.op == Op::Known &&
         (unknown || (code.effect == Effect::HostApi && !returns_at_once(code.name)));
}

/// Also what makes one stream wait for another.
bool may_order(const Instruction& code) {
  return may_wait(code) || (code.op == Op::Known && code.name == "cudaStreamWaitEvent");
}

class HostRules {
public:
  HostRules(const Entry& entry, std::vector<Found>& out)
      : entry_(entry),
        graph_(entry.graph),
        flow_(entry.flow),
        out_(out) {}

  void run() {
    for (const Instruction& store : graph_.code) {
      if (store.op == Op::Store && is_member_call(graph_.code[store.operands[1]])) {
        given_.try_emplace(store.operands[0], store.operands[1]);
      }
      note_passed(store);
    }
    for (const std::uint32_t block : graph_.sequence) {
      for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
        note(i);
      }
    }
    constexpr const char* by_kernel = "a kernel that is launched here may still write it";
    for (const Use& use : launches_) {
      if (managed_.contains(use.variable)) {
        read_after(use, reads_, by_kernel);
      }
    }
    for (const Use& use : kernels_) {
      read_after(use, variables_, by_kernel);
    }
    for (const Use& use : copies_) {
      read_after(use, reads_, "this copy may not have come to its end");
    }
    streams();
  }

private:
  /// A launch or a call, with a pointer that it is given.
  struct Use {
    ValueId id = no_value;
    LocationId variable = no_location; // the pointer, by the variable that holds it
    std::string stream;                // a variable's name; empty: something else
    ValueId stream_value = no_value;
  };

  /// What a function that is called here gets for a parameter, if it stores nothing else there.
  void note_passed(const Instruction& store) {
    if (store.op != Op::Store || graph_.code[store.operands[0]].op != Op::LocalAddress) {
      return;
    }
    const auto local = static_cast<std::size_t>(graph_.code[store.operands[0]].number);
    const Object& object = graph_.locals[local];
    if (object.frame != 0 && object.variable->is_parameter) {
      const auto [known, is_new] = passed_.try_emplace(local, store.operands[1]);
      known->second = is_new ? known->second : no_value;
    }
  }

  /// The same value as the caller has it.
  ValueId as_passed(ValueId value) const {
    for (int depth = 0; depth < 16 && graph_.code[value].op == Op::Load; ++depth) {
      const Instruction& address = graph_.code[graph_.code[value].operands[0]];
      const auto known = address.op == Op::LocalAddress
                             ? passed_.find(static_cast<std::size_t>(address.number))
                             : passed_.end();
      if (known == passed_.end() || known->second == no_value) {
        break;
      }
      value = known->second;
    }
    return value;
  }

  void note(ValueId id) {
    const Instruction& code = graph_.code[id];
    if (code.op == Op::Load || code.op == Op::CopyObject) {
      const ValueId address = code.operands[code.op == Op::Load ? 0 : 1];
      if (const auto variable = memory_of(address); variable != no_location) {
        reads_.push_back({id, variable, "", no_value});
      }
      if (const auto variable = managed_variable(graph_.code, address)) {
        variables_.push_back({id, *variable, "", no_value});
      }
      return;
    }
    if (code.op != Op::Known || code.effect != Effect::HostApi || code.operands.empty()) {
      return;
    }
    const auto use = [&](LocationId variable) {
      return Use{id, variable, name_of(code.operands.back()), flow_.resolve(code.operands.back())};
    };
    if (code.name == "<<<>>>") {
      note_kernel(id);
      for (std::size_t i = 0; i + 1 < code.operands.size(); ++i) {
        if (const auto variable = pointer(code.operands[i]); variable != no_location) {
          launches_.push_back(use(variable));
          uses_.push_back(launches_.back());
        }
      }
    } else if (code.name == "cudaMallocManaged") {
      managed_.insert(place(as_passed(code.operands[0])));
    } else if (code.name == "cudaMallocAsync" || code.name == "cudaMallocFromPoolAsync") {
      allocations_.push_back(use(place(as_passed(code.operands[0]))));
    } else if (code.name == "cudaFreeAsync") {
      frees_.push_back(use(pointer(code.operands[0])));
    } else if (code.name.ends_with("Async")) {
      if (code.name == "cudaMemcpyAsync") {
        copies_.push_back(use(pointer(code.operands[0])));
      }
      for (std::size_t i = 0; i + 1 < code.operands.size(); ++i) {
        uses_.push_back(use(pointer(code.operands[i])));
      }
    }
  }

  /// Which managed variables the kernel writes, itself or in what it calls.
  void note_kernel(ValueId id) {
    const auto& launches = entry_.unit.launches;
    const auto launch = std::ranges::find(launches, graph_.code[id].spot, &Launch::spot);
    if (launch == launches.end()) {
      return;
    }
    std::vector<std::uint32_t> functions = {launch->kernel};
    std::set<std::uint32_t> written;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const Function& function = entry_.unit.functions[functions[i]];
      for (const Instruction& code : function.code) {
        const auto called = static_cast<std::uint32_t>(code.number);
        if (code.op == Op::Call && std::ranges::find(functions, called) == functions.end()) {
          functions.push_back(called);
        }
        if ((code.op == Op::Store || code.op == Op::CopyObject || code.op == Op::Known) &&
            !code.operands.empty()) {
          if (const auto variable = managed_variable(function.code, code.operands[0])) {
            written.insert(*variable);
          }
        }
      }
    }
    for (const std::uint32_t variable : written) {
      kernels_.push_back({id, variable, "", no_value});
    }
  }

  /// The variable that an address is a part of.
  std::optional<std::uint32_t>
  managed_variable(const std::vector<Instruction>& code, ValueId address) const {
    while (code[address].op == Op::Element || code[address].op == Op::Field) {
      address = code[address].operands[0];
    }
    const auto number = static_cast<std::uint32_t>(code[address].number);
    return code[address].op == Op::GlobalAddress && entry_.unit.globals[number].is_managed
               ? std::optional(number)
               : std::nullopt;
  }

  /// The variable that lies at an address; no_location: it is not one.
  LocationId place(ValueId address) const {
    const auto& targets = flow_.targets(flow_.resolve(address));
    if (targets.size() != 1 || !targets[0].exact) {
      return no_location;
    }
    const Location::Kind kind = flow_.locations[targets[0].location].kind;
    return kind == Location::Kind::Local || kind == Location::Kind::Global ? targets[0].location
                                                                           : no_location;
  }

  /// The variable that holds a pointer, or owns what it points to (`v.data()`).
  LocationId pointer(ValueId value) const {
    value = as_passed(value);
    const Instruction& code = graph_.code[value];
    if (code.op == Op::LocalAddress) { // `&v[0]`: the temporary that stands for the element
      const auto given = given_.find(value);
      return given != given_.end() ? pointer(given->second) : no_location;
    }
    if (code.op == Op::Load) {
      const ValueId now = flow_.resolve(value);
      const Instruction* what = flow_.instruction(now);
      if (what != nullptr && now != value && is_member_call(*what)) {
        return place(what->operands[0]);
      }
      return place(code.operands[0]);
    }
    return is_member_call(code) ? place(code.operands[0]) : no_location;
  }

  /// `v.data()` and `v[0]` of a container, whose bodies are the library's.
  static bool is_member_call(const Instruction& code) {
    return code.op == Op::Known && !code.operands.empty() &&
           (code.name == "std::vector::data" || code.name == "std::vector::operator[]" ||
            code.name == "std::vector::at" || code.name == "std::vector::front" ||
            code.name == "std::vector::back");
  }

  /// The same for an address that is read: p[3], p->x, v[0].
  LocationId memory_of(ValueId address) const {
    for (int depth = 0; depth < 8; ++depth) { // members of members
      address = as_passed(address);
      const Instruction& code = graph_.code[address];
      if (code.op == Op::Element || code.op == Op::Field) {
        address = code.operands[0];
        continue;
      }
      return code.op == Op::LocalAddress || code.op == Op::Load || is_member_call(code)
                 ? pointer(address)
                 : no_location;
    }
    return no_location;
  }

  std::string name_of(ValueId value) const {
    const Instruction& code = graph_.code[as_passed(value)];
    const LocationId at = code.op == Op::Load ? place(code.operands[0]) : no_location;
    if (at == no_location) {
      return "";
    }
    const auto number = static_cast<std::size_t>(flow_.locations[at].number);
    return flow_.locations[at].kind == Location::Kind::Local ? graph_.locals[number].variable->name
                                                             : entry_.unit.globals[number].name;
  }

  void read_after(const Use& use, const std::vector<Use>& reads, const char* why) {
    if (use.variable == no_location) {
      return;
    }
    for (const Use& read : reads) {
      if (read.variable != use.variable || !reaches(graph_, use.id, read.id, may_wait) ||
          !told_.insert(use.id).second) {
        continue; // once for each launch and copy
      }
      Found found = start("cuda_unsynchronized_read", read.id);
      const bool written = is_written(read.id);
      found.message = fmt::format(
          "the host {} this before it has waited for the device",
          written ? "writes" : "reads"
      );
      found.steps.push_back({graph_.code[use.id].spot, why});
      found.steps.push_back({graph_.code[read.id].spot, written ? "written here" : "read here"});
      found.help.emplace_back("call cudaStreamSynchronize or cudaDeviceSynchronize before it");
      out_.push_back(std::move(found));
    }
  }

  /// `*p = 1` evaluates to what is there then, too.
  bool is_written(ValueId load) const {
    const Instruction& code = graph_.code[load];
    return code.op == Op::Load && std::ranges::any_of(graph_.code, [&](const Instruction& store) {
             return store.op == Op::Store && store.operands[0] == code.operands[0];
           });
  }

  Found start(const char* key, ValueId at) const {
    Found found;
    found.key = key;
    found.place = graph_.code[at].spot;
    found.function = entry_.unit.functions[entry_.function].name;
    return found;
  }

  void streams() {
    std::set<ValueId> clashing; // what was said of a use need not be said of where it is freed
    for (const Use& use : uses_) {
      for (const Use& made : allocations_) {
        if (clash(made, use, "allocated", "used")) {
          clashing.insert(made.id);
        }
      }
      for (const Use& freed : frees_) {
        if (clash(use, freed, "used", "freed")) {
          clashing.insert(freed.id);
        }
        used_after(freed, use);
      }
    }
    for (const Use& made : allocations_) {
      for (const Use& freed : frees_) {
        if (!clashing.contains(made.id) && !clashing.contains(freed.id)) {
          clash(made, freed, "allocated", "freed");
        }
      }
    }
  }

  /// Whatever the streams are: the call that frees comes first.
  void used_after(const Use& freed, const Use& use) {
    const auto sets_again = [&](const Instruction& code) {
      const auto is_given = [&](ValueId one) { return place(one) == freed.variable; };
      return (code.op == Op::Store && is_given(code.operands[0])) ||
             (code.op == Op::Known && std::ranges::any_of(code.operands, is_given));
    };
    if (freed.variable == no_location || freed.variable != use.variable ||
        !reaches(graph_, freed.id, use.id, sets_again)) {
      return;
    }
    Found found = start("cuda_stream_ordered_memory", use.id);
    found.message = "this memory is used after it was freed";
    found.steps.push_back({graph_.code[freed.id].spot, "freed here"});
    found.steps.push_back({graph_.code[use.id].spot, "used here"});
    found.help.emplace_back("call cudaFreeAsync after the last use");
    out_.push_back(std::move(found));
  }

  bool clash(const Use& first, const Use& second, const char* before, const char* after) {
    if (first.variable == no_location || first.variable != second.variable ||
        first.stream.empty() || second.stream.empty() || is_same_stream(first, second) ||
        !reaches(graph_, first.id, second.id, may_order)) {
      return false;
    }
    Found found = start("cuda_stream_ordered_memory", second.id);
    found.message = fmt::format(
        "this memory is {} in stream '{}' and {} in stream '{}', which does not wait for it",
        before,
        first.stream,
        after,
        second.stream
    );
    found.steps.push_back({graph_.code[first.id].spot, "first, in one stream"});
    found.steps.push_back({graph_.code[second.id].spot, "then, in another"});
    found.help.emplace_back(
        "use one stream, or record an event in the first and let the second wait for it "
        "(cudaStreamWaitEvent)"
    );
    out_.push_back(std::move(found));
    return true;
  }

  /// By its name, or two variables of one value; those of a stream that is made later have none
  /// yet.
  bool is_same_stream(const Use& first, const Use& second) const {
    const ValueId value = flow_.canonical(first.stream_value);
    const Instruction* code = flow_.instruction(value);
    return first.stream == second.stream || (value == flow_.canonical(second.stream_value) &&
                                             (code == nullptr || code->op != Op::Constant));
  }

  const Entry& entry_;
  const Graph& graph_;
  const Dataflow& flow_;
  std::vector<Found>& out_;
  std::vector<Use> launches_, allocations_, frees_, copies_, reads_;
  std::vector<Use> uses_; // of memory, in the order of a stream: launches, copies, fills
  std::vector<Use> kernels_, variables_; // of managed variables: numbers in Unit::globals
  std::set<LocationId> managed_;
  std::map<std::size_t, ValueId> passed_; // by parameter: an index into Graph::locals
  std::map<ValueId, ValueId> given_; // what a member function gave, by the temporary that keeps it
  std::set<ValueId> told_;
};

} // namespace

void check_host_rules(const Entry& entry, std::vector<Found>& out) {
  HostRules(entry, out).run();
}

} // namespace heddle::lint
