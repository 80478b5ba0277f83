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
/// A call by address becomes questions which of these functions it means.
constexpr std::size_t most_choices = 8;

/// Instructions to copy: what their forms are is the parser's business.
struct Templates {
  Instruction branch;
  Instruction address;                              // of a function
  Instruction differs;                              // setp.ne
  std::map<int, Instruction> move, hand, take_back; // by bits

  Templates() {
    const auto module = parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".func f() { .reg .b16 %h; .reg .b32 %r; .reg .b64 %d; .reg .pred %p; .param .b64 x;\n"
        "L: mov.b16 %h, %h; mov.b32 %r, %r; mov.b64 %d, %d; bra L;\n"
        "st.param.b16 [x], %h; st.param.b32 [x], %r; st.param.b64 [x], %d;\n"
        "ld.param.b16 %h, [x]; ld.param.b32 %r, [x]; ld.param.b64 %d, [x];\n"
        "mov.u64 %d, f; setp.ne.s64 %p, %d, %d; ret; }\n",
        "inline_calls"
    );
    HEDDLE_CHECK(module.has_value(), "the templates of inlined code are no PTX");
    const std::vector<Instruction>& body = (*module)->functions.front()->body;
    move = {{16, body[0]}, {32, body[1]}, {64, body[2]}};
    branch = body[3];
    hand = {{16, body[4]}, {32, body[5]}, {64, body[6]}};
    take_back = {{16, body[7]}, {32, body[8]}, {64, body[9]}};
    address = body[10];
    differs = body[11];
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
  bool prototype = false; // or a list of targets
};

std::optional<Call> any_call_of(const Instruction& i) {
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
  call.prototype = at != i.operands.size();
  return call;
}

/// nullopt: no direct call of a function without a prototype.
std::optional<Call> call_of(const Instruction& i) {
  const std::optional<Call> call = any_call_of(i);
  return call && call->function->kind == OperandKind::Symbol && !call->prototype ? call
                                                                                 : std::nullopt;
}

/// nullopt: no call by a function's address.
std::optional<Call> indirect_call_of(const Instruction& i) {
  const std::optional<Call> call = any_call_of(i);
  return call && call->function->kind == OperandKind::Register ? call : std::nullopt;
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

/// A call that is left in the place of functions that are inlined, too: what it hands over goes
/// through variables of its own, so that what they are handed can be in registers.
struct CallLeft {
  std::uint32_t at = 0;                    // in the body
  std::map<std::string, std::string> own;  // by the variables that the other ways use
  std::vector<std::string> given, results; // those others
};

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
    find_addressed();
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

  /// Functions whose address somebody takes: in code, or in what a variable begins with.
  void find_addressed() {
    std::set<std::string> names;
    for (const Variable& v : module_.variables) {
      for (const SymbolInit& symbol : v.symbols) {
        names.insert(symbol.symbol);
      }
    }
    for (const auto& f : module_.functions) {
      for (const Instruction& i : f->body) {
        if (i.opcode != Opcode::Call) {
          std::vector<Operand> operands = i.operands;
          each_operand(operands, [&](const Operand& o) {
            if (o.kind == OperandKind::Symbol) {
              names.insert(o.name);
            }
          });
        }
      }
    }
    for (const auto& f : module_.functions) {
      if (f->defined && !f->entry && names.contains(f->name)) {
        addressed_.push_back(f.get());
      }
    }
  }

  /// Which functions a call by address may mean and can be inlined; none if there are too many.
  std::vector<Function*> choices(const Function& caller, const Call& call, std::size_t room) {
    std::vector<Function*> result;
    std::size_t fitting = 0;
    for (Function* callee : addressed_) {
      if (!match(caller, *callee, call)) {
        continue;
      }
      if (++fitting > most_choices) {
        return {};
      }
      expand(*callee);
      if (states_[callee] == State::Done && can_inline(*callee) && callee->body.size() <= room) {
        room -= callee->body.size();
        result.push_back(callee);
      }
    }
    return result;
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
    std::vector<CallLeft> calls_left;
    std::size_t growth = 0;
    for (Instruction& i : f.body) {
      places.push_back(static_cast<std::uint32_t>(body.size()));
      if (const std::optional<Call> by_address = indirect_call_of(i)) {
        const auto functions = choices(f, *by_address, most_growth - growth);
        for (const Function* function : functions) {
          growth += function->body.size();
        }
        functions.empty()
            ? body.push_back(std::move(i))
            : calls_left.push_back(append_choices(f, *by_address, functions, i, body, labels));
        continue;
      }
      const std::optional<Call> call = call_of(i);
      // The module is inlined in place; find_function() is for those that only read it.
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
      keep_in_registers(f, calls_left);
    }
    states_[&f] = State::Done;
  }

  /// If the address is that of one of the functions, its body; else the call.
  CallLeft append_choices(
      Function& f,
      const Call& call,
      const std::vector<Function*>& functions,
      Instruction i,
      std::vector<Instruction>& body,
      std::vector<Label>& labels
  ) {
    const std::string prefix = fmt::format("chosen{}", ++sites_);
    const auto new_register = [&](const char* name, Type type) {
      f.registers.push_back({fmt::format("%{}_{}", prefix, name), type});
      return static_cast<std::uint32_t>(f.registers.size() - 1);
    };
    const std::uint32_t address = new_register("address", Mod::B64);
    const std::uint32_t other = new_register("other", Mod::Pred);
    const auto new_label = [&](std::size_t n) {
      labels.push_back({fmt::format("${}${}", prefix, n), 0});
      return labels.size() - 1;
    };
    const auto emit = [&](Instruction made) -> Instruction& {
      made.at = i.at;
      made.location = i.location;
      return body.emplace_back(std::move(made));
    };
    const auto branch_to = [&](std::size_t label) -> Instruction& {
      Instruction& branch = emit(templates().branch);
      branch.operands[0].index = static_cast<std::uint32_t>(f.labels.size() + label);
      branch.operands[0].name.clear();
      return branch;
    };
    const std::size_t end = new_label(0);
    if (i.guard) {
      branch_to(end).guard = Guard{i.guard->register_index, !i.guard->negated};
    }
    const std::uint32_t wanted = call.function->index;
    Instruction plain = i;
    plain.guard.reset();
    for (std::size_t n = 0; n < functions.size(); ++n) {
      Instruction& take = emit(templates().address);
      take.operands[0].index = address;
      take.operands[1].name = functions[n]->name;
      Instruction& compare = emit(templates().differs);
      compare.operands[0].index = other;
      compare.operands[1].index = wanted;
      compare.operands[2].index = address;
      const std::size_t next = new_label(n + 1);
      branch_to(next).guard = Guard{other, false};
      append(f, *functions[n], plain, *match(f, *functions[n], call), body, labels);
      branch_to(end);
      labels[next].instruction = static_cast<std::uint32_t>(body.size());
    }
    CallLeft left;
    left.at = static_cast<std::uint32_t>(body.size());
    const auto give_own = [&](const std::vector<Operand>& operands,
                              std::vector<std::string>& names) {
      for (const Operand& o : operands) {
        names.push_back(o.name);
        left.own[o.name] = fmt::format("${}${}", prefix, o.name);
        Variable v = *std::ranges::find(f.variables, o.name, &Variable::name);
        v.name = left.own[o.name];
        f.variables.push_back(std::move(v));
      }
    };
    give_own(call.arguments, left.given);
    give_own(call.returns, left.results);
    rename(plain, left.own);
    body.push_back(std::move(plain));
    labels[end].instruction = static_cast<std::uint32_t>(body.size());
    return left;
  }

  static void rename(Instruction& call, const std::map<std::string, std::string>& names) {
    each_operand(call.operands, [&](Operand& o) {
      const auto it = o.kind == OperandKind::Symbol ? names.find(o.name) : names.end();
      o.name = it != names.end() ? it->second : o.name;
    });
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

  /// A part of a .param variable that is a register.
  struct Part {
    int bits;
    std::uint32_t register_index;
  };
  using Parts = std::map<std::string, std::map<std::int64_t, Part>>;

  /// Parts of .param variables that are only loaded and stored, each always as one value.
  static void keep_in_registers(Function& f, const std::vector<CallLeft>& calls_left) {
    const std::set<std::string> others = other_names(f);
    Parts parts;
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
    hand_over(f, calls_left, parts);
  }

  /// Gives registers to calls that are left, and takes their results. `calls_left` by place.
  static void hand_over(Function& f, const std::vector<CallLeft>& calls_left, const Parts& parts) {
    std::vector<Instruction> body;
    std::vector<std::uint32_t> places;
    auto left = calls_left.begin();
    for (std::uint32_t n = 0; n < f.body.size(); ++n) {
      places.push_back(static_cast<std::uint32_t>(body.size()));
      if (left == calls_left.end() || left->at != n) {
        body.push_back(std::move(f.body[n]));
        continue;
      }
      Instruction call = std::move(f.body[n]);
      std::map<std::string, std::string> back; // variables that are none of registers
      for (const auto& [name, own] : left->own) {
        if (!parts.contains(name)) {
          back[own] = name;
        }
      }
      rename(call, back);
      std::erase_if(f.variables, [&](const Variable& v) { return back.contains(v.name); });
      const auto move = [&](const std::vector<std::string>& names, bool give) {
        for (const std::string& name : names) {
          const auto it = parts.find(name);
          if (it == parts.end()) {
            continue;
          }
          for (const auto& [offset, part] : it->second) {
            Instruction i = (give ? templates().hand : templates().take_back).at(part.bits);
            i.operands[give ? 1 : 0].index = part.register_index;
            Operand& address = i.operands[give ? 0 : 1];
            address.elements[0].name = left->own.at(name);
            address.offset = offset;
            i.at = call.at;
            i.location = call.location;
            body.push_back(std::move(i));
          }
        }
      };
      move(left->given, true);
      body.push_back(call);
      move(left->results, false);
      ++left;
    }
    places.push_back(static_cast<std::uint32_t>(body.size()));
    for (Label& label : f.labels) {
      label.instruction = places[label.instruction];
    }
    f.body = std::move(body);
  }

  static const Templates& templates() {
    static const Templates all;
    return all;
  }

  Module& module_;
  bool alone_;
  std::vector<Function*> addressed_;
  std::size_t sites_ = 0;
  std::map<const Function*, State> states_;
  std::map<std::tuple<const Function*, std::uint32_t, std::uint32_t>, std::uint32_t> locations_;
};

} // namespace

void inline_calls(Module& module, bool alone) {
  Inliner(module, alone).run();
}

} // namespace heddle::ptx
