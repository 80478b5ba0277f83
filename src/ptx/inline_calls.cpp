// Implements inline_calls.h.
#include "ptx/inline_calls.h"

#include "base/check.h"
#include "ptx/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace heddle::ptx {
namespace {

constexpr std::size_t largest_callee = 500; // instructions
/// One with a loop does much for each call, and makes more of its caller slower in which lanes
/// part.
constexpr std::size_t largest_with_loop = 100;
constexpr std::size_t most_growth = 2'000; // of one function

/// Instructions to copy: what their forms are is the parser's business.
struct Templates {
  Instruction branch;
  std::map<int, Instruction> move; // by bits

  Templates() {
    const auto module = parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".func f() { .reg .b16 %h; .reg .b32 %r; .reg .b64 %d;\n"
        "L: mov.b16 %h, %h; mov.b32 %r, %r; mov.b64 %d, %d; bra L; ret; }\n",
        "inline_calls"
    );
    HEDDLE_CHECK(module.has_value(), "the templates of inlined code are no PTX");
    const std::vector<Instruction>& body = (*module)->functions.front()->body;
    move = {{16, body[0]}, {32, body[1]}, {64, body[2]}};
    branch = body[3];
  }
};

template <class F> void each_operand(std::vector<Operand>& operands, F&& f) {
  for (Operand& operand : operands) {
    f(operand);
    each_operand(operand.elements, f);
  }
}

struct Call {
  const Operand* function = nullptr;
  std::vector<Operand> returns;
  std::vector<Operand> arguments;
};

/// nullopt: no direct call of a function without a prototype.
std::optional<Call> call_of(const Instruction& i) {
  if (i.opcode != Opcode::Call) {
    return std::nullopt;
  }
  Call call;
  std::size_t at = 0;
  if (i.operands.at(at).kind == OperandKind::List) {
    call.returns = i.operands[at++].elements;
  }
  call.function = &i.operands.at(at++);
  if (at < i.operands.size() && i.operands[at].kind == OperandKind::List) {
    call.arguments = i.operands[at++].elements;
  }
  return call.function->kind == OperandKind::Symbol && at == i.operands.size() ? std::optional(call)
                                                                               : std::nullopt;
}

/// [name + offset] of ld.param or st.param; nullptr: another instruction.
const Operand* parameter_address(const Instruction& i) {
  const bool load = i.opcode == Opcode::Ld;
  if ((!load && i.opcode != Opcode::St) || !i.has(Mod::Param) || i.operands.size() != 2) {
    return nullptr;
  }
  const Operand& address = i.operands[load ? 1 : 0];
  return address.kind == OperandKind::Address && address.elements.size() == 1 &&
                 address.elements[0].kind == OperandKind::Symbol
             ? &address
             : nullptr;
}

bool has_loop(const Function& f) {
  for (std::uint32_t n = 0; n < f.body.size(); ++n) {
    const Instruction& i = f.body[n];
    if (i.opcode == Opcode::Bra && f.labels[i.operands[0].index].instruction <= n) {
      return true;
    }
  }
  return false;
}

/// Names that instructions use in another way than parameter_address().
std::set<std::string> other_names(const Function& f) {
  std::set<std::string> names;
  for (const Instruction& i : f.body) {
    if (parameter_address(i) == nullptr) {
      std::vector<Operand> operands = i.operands;
      each_operand(operands, [&](const Operand& o) {
        if (o.kind == OperandKind::Symbol) {
          names.insert(o.name);
        }
      });
    }
  }
  return names;
}

class Inliner {
public:
  Inliner(Module& module, bool alone) : module_(module), alone_(alone) {}

  void run() {
    for (const auto& f : module_.functions) {
      if (f->defined) {
        expand(*f);
      }
    }
  }

private:
  enum class State : std::uint8_t {
    New,
    Open,
    Done
  };

  bool can_inline(const Function& callee) const {
    const auto in_frame = [](const Variable& v) {
      return v.space == Mod::Local || v.space == Mod::Param;
    };
    const auto stack = [](const Instruction& i) {
      return i.opcode == Opcode::Alloca || i.opcode == Opcode::Stacksave ||
             i.opcode == Opcode::Stackrestore;
    };
    const auto handed_over = [](const Variable& v) {
      return v.space == Mod::Param && v.byte_size() != 0;
    };
    if (!callee.defined || callee.entry || callee.body.size() > largest_callee ||
        (!alone_ && callee.linkage != Linkage::Internal) || !callee.targets.empty() ||
        !callee.prototypes.empty() || !std::ranges::all_of(callee.variables, in_frame) ||
        (callee.body.size() > largest_with_loop && has_loop(callee)) ||
        std::ranges::any_of(callee.body, stack) ||
        !std::ranges::all_of(callee.parameters, handed_over) ||
        !std::ranges::all_of(callee.returns, handed_over)) {
      return false;
    }
    const std::set<std::string> names = other_names(callee);
    const auto used = [&](const Variable& v) { return names.contains(v.name); };
    return std::ranges::none_of(callee.parameters, used) &&
           std::ranges::none_of(callee.returns, used);
  }

  /// Which of the caller's variables stand for those of the callee; nullopt: they do not fit.
  static std::optional<std::map<std::string, std::string>>
  match(const Function& caller, const Function& callee, const Call& call) {
    std::map<std::string, std::string> names;
    std::set<std::string> given;
    const auto add = [&](const std::vector<Operand>& operands, const std::vector<Variable>& to) {
      if (operands.size() != to.size()) {
        return false;
      }
      for (std::size_t n = 0; n < to.size(); ++n) {
        const auto v = std::ranges::find(caller.variables, operands[n].name, &Variable::name);
        if (operands[n].kind != OperandKind::Symbol || v == caller.variables.end() ||
            v->space != Mod::Param || v->byte_size() != to[n].byte_size() ||
            v->alignment() % to[n].alignment() != 0 || !given.insert(v->name).second) {
          return false;
        }
        names[to[n].name] = v->name;
      }
      return true;
    };
    return add(call.returns, callee.returns) && add(call.arguments, callee.parameters)
               ? std::optional(names)
               : std::nullopt;
  }

  void expand(Function& f) {
    State& state = states_[&f];
    if (state != State::New) {
      return;
    }
    if (std::ranges::find(f.body, Opcode::Call, &Instruction::opcode) == f.body.end()) {
      state = State::Done;
      return;
    }
    state = State::Open;
    std::vector<Instruction> body;
    std::vector<std::uint32_t> places; // of the function's own instructions
    std::vector<Label> labels;         // of inlined ones
    std::size_t growth = 0;
    for (Instruction& i : f.body) {
      places.push_back(static_cast<std::uint32_t>(body.size()));
      const std::optional<Call> call = call_of(i);
      auto* callee =
          call ? const_cast<Function*>(module_.find_function(call->function->name)) : nullptr;
      if (callee != nullptr && callee->defined) {
        expand(*callee);
      }
      if (callee == nullptr || states_[callee] != State::Done || !can_inline(*callee) ||
          growth + callee->body.size() > most_growth) {
        body.push_back(std::move(i));
        continue;
      }
      const auto names = match(f, *callee, *call);
      if (!names) {
        body.push_back(std::move(i));
        continue;
      }
      growth += callee->body.size();
      append(f, *callee, i, *names, body, labels);
    }
    places.push_back(static_cast<std::uint32_t>(body.size()));
    for (Label& label : f.labels) {
      label.instruction = places[label.instruction];
    }
    f.body = std::move(body);
    if (growth != 0) {
      f.labels.insert(f.labels.end(), labels.begin(), labels.end());
      sort_labels(f);
      keep_in_registers(f);
    }
    states_[&f] = State::Done;
  }

  void append(
      Function& f,
      const Function& callee,
      const Instruction& call,
      std::map<std::string, std::string> names,
      std::vector<Instruction>& body,
      std::vector<Label>& labels
  ) {
    const std::string prefix = fmt::format("inlined{}", ++sites_);
    const auto first_register = static_cast<std::uint32_t>(f.registers.size());
    const auto first_label = static_cast<std::uint32_t>(f.labels.size() + labels.size());
    for (const Register& r : callee.registers) {
      const bool sign = r.name.starts_with('%');
      f.registers.push_back({fmt::format("%{}_{}", prefix, r.name.substr(sign ? 1 : 0)), r.type});
    }
    for (Variable v : callee.variables) {
      names[v.name] = fmt::format("${}${}", prefix, v.name);
      v.name = names[v.name];
      f.variables.push_back(std::move(v));
    }
    const auto end = first_label + static_cast<std::uint32_t>(callee.labels.size());
    const auto branch_to_end = [&](const Instruction& from) {
      Instruction branch = templates().branch;
      branch.operands[0].index = end;
      branch.operands[0].name.clear();
      branch.at = from.at;
      return branch;
    };
    if (call.guard) {
      Instruction past = branch_to_end(call);
      past.guard = Guard{call.guard->register_index, !call.guard->negated};
      past.location = call.location;
      body.push_back(std::move(past));
    }
    const auto first = static_cast<std::uint32_t>(body.size());
    for (const Instruction& original : callee.body) {
      Instruction i = original.opcode == Opcode::Ret ? branch_to_end(original) : original;
      if (original.guard) {
        i.guard = Guard{first_register + original.guard->register_index, original.guard->negated};
      }
      if (original.opcode != Opcode::Ret) {
        each_operand(i.operands, [&](Operand& o) {
          if (o.kind == OperandKind::Register) {
            o.index += first_register;
          } else if (o.kind == OperandKind::Label) {
            o.index += first_label;
          } else if (o.kind == OperandKind::Symbol) {
            const auto it = names.find(o.name);
            o.name = it != names.end() ? it->second : o.name;
          }
        });
      }
      i.location = location(original.location, callee, call.location);
      body.push_back(std::move(i));
    }
    for (const Label& label : callee.labels) {
      labels.push_back({fmt::format("${}${}", prefix, label.name), first + label.instruction});
    }
    labels.push_back({fmt::format("${}$end", prefix), static_cast<std::uint32_t>(body.size())});
  }

  /// By instruction, as the parser has them.
  static void sort_labels(Function& f) {
    std::vector<std::uint32_t> order(f.labels.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t n) {
      return std::pair(f.labels[n].instruction, n);
    });
    std::vector<std::uint32_t> places(order.size());
    std::vector<Label> labels;
    for (const std::uint32_t n : order) {
      places[n] = static_cast<std::uint32_t>(labels.size());
      labels.push_back(std::move(f.labels[n]));
    }
    f.labels = std::move(labels);
    for (Instruction& i : f.body) {
      each_operand(i.operands, [&](Operand& o) {
        o.index = o.kind == OperandKind::Label ? places[o.index] : o.index;
      });
    }
    for (TargetList& list : f.targets) {
      for (std::uint32_t& label : list.labels) {
        label = places[label];
      }
    }
  }

  /// Of an instruction of the callee, which was called there.
  std::uint32_t location(std::uint32_t of, const Function& callee, std::uint32_t call) {
    if (of == Instruction::no_location || call == Instruction::no_location) {
      return of == Instruction::no_location ? call : of;
    }
    const auto key = std::tuple(&callee, of, call);
    const auto known = locations_.find(key);
    if (known != locations_.end()) {
      return known->second;
    }
    SourceLocation inlined = module_.source_locations[of];
    if (inlined.inlined_at) {
      inlined.inlined_at = location(*inlined.inlined_at, callee, call);
    } else {
      inlined.function = callee.name;
      inlined.inlined_at = call;
    }
    const auto index = static_cast<std::uint32_t>(module_.source_locations.size());
    module_.source_locations.push_back(std::move(inlined));
    locations_[key] = index;
    return index;
  }

  /// Parts of .param variables that are only loaded and stored, each always as one value.
  static void keep_in_registers(Function& f) {
    const std::set<std::string> others = other_names(f);
    struct Part {
      int bits;
      std::uint32_t register_index;
    };
    std::map<std::string, std::map<std::int64_t, Part>> parts;
    for (const Variable& v : f.variables) {
      if (v.space == Mod::Param && !others.contains(v.name)) {
        parts[v.name];
      }
    }
    for (const Instruction& i : f.body) {
      const Operand* address = parameter_address(i);
      if (address == nullptr) {
        continue;
      }
      const auto it = parts.find(address->elements[0].name);
      if (it == parts.end()) {
        continue;
      }
      const Operand& value = i.operands[i.opcode == Opcode::Ld ? 0 : 1];
      const int bits = i.type() ? type_bits(*i.type()) : 0;
      const bool whole = i.modifiers.size() == 2 && templates().move.contains(bits) &&
                         (value.kind == OperandKind::Register
                              ? type_bits(f.registers[value.index].type) == bits
                              : value.kind == OperandKind::Integer && i.opcode == Opcode::St);
      const std::int64_t offset = address->offset + address->elements[0].offset;
      const auto [part, added] = it->second.try_emplace(offset, Part{bits, 0});
      if (!whole || part->second.bits != bits) {
        parts.erase(it);
      }
    }
    std::erase_if(parts, [](const auto& variable) {
      std::int64_t end = 0;
      for (const auto& [offset, part] : variable.second) {
        if (offset < end) {
          return true;
        }
        end = offset + part.bits / 8;
      }
      return false;
    });
    std::size_t count = 0;
    for (auto& [name, all] : parts) {
      for (auto& [offset, part] : all) {
        part.register_index = static_cast<std::uint32_t>(f.registers.size());
        f.registers.push_back(
            {fmt::format("%handed_{}_{}", ++count, f.registers.size()),
             part.bits == 16   ? Mod::B16
             : part.bits == 32 ? Mod::B32
                               : Mod::B64}
        );
      }
    }
    for (Instruction& i : f.body) {
      const Operand* address = parameter_address(i);
      const auto it = address != nullptr ? parts.find(address->elements[0].name) : parts.end();
      if (it == parts.end()) {
        continue;
      }
      const Part& part = it->second.at(address->offset + address->elements[0].offset);
      Instruction move = templates().move.at(part.bits);
      const bool load = i.opcode == Opcode::Ld;
      move.operands[load ? 0 : 1] = i.operands[load ? 0 : 1];
      move.operands[load ? 1 : 0].index = part.register_index;
      move.guard = i.guard;
      move.at = i.at;
      move.location = i.location;
      i = std::move(move);
    }
    std::erase_if(f.variables, [&](const Variable& v) { return parts.contains(v.name); });
  }

  static const Templates& templates() {
    static const Templates all;
    return all;
  }

  Module& module_;
  bool alone_;
  std::size_t sites_ = 0;
  std::map<const Function*, State> states_;
  std::map<std::tuple<const Function*, std::uint32_t, std::uint32_t>, std::uint32_t> locations_;
};

} // namespace

void inline_calls(Module& module, bool alone) {
  Inliner(module, alone).run();
}

} // namespace heddle::ptx
