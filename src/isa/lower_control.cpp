// Control flow: bra, brx.idx, call (direct, indirect, and the functions Heddle provides), ret,
// exit, trap, brkpt. PTX ISA 9.0, sections "Control Flow Instructions" and "Miscellaneous
// Instructions".
//
// A call copies the bytes of .param variables between the frames' local memories, lane by lane.
// Parameters in .reg space (hand-written PTX only) are answered with unsupported.
#include "isa/call_arguments.h"
#include "isa/lanes.h"
#include "isa/lower_device_runtime.h"
#include "isa/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

namespace heddle::isa {
namespace {

// --- Branches

const Op* to(Exec& exec, const Op& op, const Op* target) {
  if (target <= &op && exec.spend(1)) {
    return exec.stop_at(Stop::Fuel, target);
  }
  return target;
}

const Op* run_bra(Exec& exec, const Op& op) {
  const Op* target = exec.code().ops.data() + op.target;
  if (exec.mask() == exec.group()) {
    return to(exec, op, target);
  }
  return exec.diverge(exec.mask(), target, &op + 1);
}

Result<void> lower_bra(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.execute = run_bra;
  l.branch_to(l.emit(op), i.operands.at(0).index);
  return {};
}

/// op.a: u32 index per lane; targets are the ops named in Code::refs[list …].
const Op* run_brx(Exec& exec, const Op& op) {
  const auto* index = exec.in<std::uint32_t>(op.a);
  const auto target_of = [&](int lane) -> const Op* {
    const std::uint32_t n = index[lane];
    return n < op.count ? exec.code().ops.data() + exec.code().refs[op.list + n].raw : nullptr;
  };
  const int first = std::countr_zero(exec.mask());
  const Op* target = target_of(first);
  if (target == nullptr) {
    Fault fault;
    fault.kind = FaultKind::IllegalInstruction;
    fault.lane = first;
    fault.text = fmt::format("brx.idx with index {} of {}", index[first], op.count);
    return exec.stop_fault(std::move(fault));
  }
  const auto lanes_to = [&](LaneMask lanes, const Op* where) {
    LaneMask same = 0;
    for (LaneMask m = lanes; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      same |= static_cast<LaneMask>(target_of(lane) == where) << lane;
    }
    return same;
  };
  const LaneMask same = lanes_to(exec.mask(), target);
  if (same == exec.group()) {
    return to(exec, op, target);
  }
  const LaneMask not_taken = exec.group() & ~exec.mask();
  for (LaneMask rest = exec.mask() & ~same; rest != 0;) {
    const Op* other = target_of(std::countr_zero(rest));
    const LaneMask there = lanes_to(rest, other);
    rest &= ~there;
    exec.leave(there, other != nullptr ? other : &op); // where it is their turn to fail
  }
  if (not_taken != 0) {
    exec.leave(not_taken, &op + 1);
  }
  return exec.stop_at(Stop::Diverged, target);
}

Result<void> lower_brx(Lowering& l, const ptx::Instruction& i) {
  const ptx::Operand& name = i.operands.at(1);
  const auto list = std::ranges::find(l.function().targets, name.name, &ptx::TargetList::name);
  if (list == l.function().targets.end()) {
    return input_error(fmt::format("brx.idx: no .branchtargets '{}'", name.name));
  }
  Op op = l.op(i);
  op.execute = run_brx;
  op.a = l.source(i.operands.at(0), ptx::Mod::U32);
  op.count = static_cast<std::uint16_t>(list->targets.size());
  op.list = l.list(std::vector<Ref>(list->targets.size()));
  for (std::size_t n = 0; n < list->targets.size(); ++n) {
    const auto label = std::ranges::find(l.function().labels, list->targets[n], &ptx::Label::name);
    if (label == l.function().labels.end()) {
      return input_error(fmt::format("brx.idx: no label '{}'", list->targets[n]));
    }
    l.reference_to(
        op.list + static_cast<std::uint32_t>(n),
        static_cast<std::uint32_t>(label - l.function().labels.begin())
    );
  }
  l.emit(op);
  return {};
}

// --- Calls
// ------------------------------------------------------------------------------------------- Call
// ops: Code::refs[list …] holds, as plain numbers, for each returned value and then each argument
// {offset in the caller's frame, bytes}; op.count = arguments, op.imm2 = returned values.

const Op* enter(Exec& exec, const Op& op, const Code& callee) {
  const Frame& caller = exec.frame();
  const LaneMask entering = exec.mask();
  if (callee.parameter_offsets.size() < op.count) {
    Fault fault;
    fault.kind = FaultKind::BadCall;
    fault.lane = std::countr_zero(entering);
    fault.text = fmt::format(
        "'{}' is called with {} arguments, it has {}",
        callee.function->name,
        op.count,
        callee.parameter_offsets.size()
    );
    return exec.stop_fault(std::move(fault));
  }
  const Op* next = exec.call(op, callee);
  if (next == nullptr) {
    return nullptr;
  }
  pass_arguments(exec, op, entering, caller, exec.frame());
  return next;
}

const Op* run_call(Exec& exec, const Op& op) {
  return enter(exec, op, *reinterpret_cast<const Code*>(op.imm));
}

/// op.a: u64 address of the function per lane.
const Op* run_indirect_call(Exec& exec, const Op& op) {
  const auto* address = exec.in<std::uint64_t>(op.a);
  const int first = std::countr_zero(exec.mask());
  const Code* callee = exec.environment().function_at(address[first]);
  if (callee == nullptr) {
    Fault fault;
    fault.kind = FaultKind::BadCall;
    fault.lane = first;
    fault.address = address[first];
    fault.text = fmt::format("call of {:#x}, which is no function", address[first]);
    return exec.stop_fault(std::move(fault));
  }
  LaneMask rest = 0;
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    rest |= static_cast<LaneMask>(address[lane] != address[first]) << lane;
  }
  if (rest != 0) {
    exec.leave(rest, &op); // they execute this call when it is their turn
  }
  return enter(exec, op, *callee);
}

const Op* run_return(Exec& exec, const Op& op) {
  const Frame& frame = exec.frame();
  if (frame.caller != nullptr) {
    pass_results(exec, exec.mask(), frame);
  }
  return exec.return_lanes(op);
}

Result<void> lower_ret(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.execute = run_return;
  op.flags |= l.function().entry ? Visible : 0;
  l.emit(op);
  return {};
}

const Op* run_exit(Exec& exec, const Op& op) {
  return exec.exit_lanes(op);
}

Result<void> lower_exit(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.execute = run_exit;
  op.flags |= Visible;
  l.emit(op);
  return {};
}

// --- Functions that Heddle provides

const Op* run_vprintf(Exec& exec, const Op& op) {
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto format = argument<std::uint64_t>(exec, op, lane, 0);
    const auto values = argument<std::uint64_t>(exec, op, lane, 1);
    const int written = exec.environment().vprintf(exec, lane, format, values);
    if (exec.why() == Stop::Fault) {
      return exec.stop_fault();
    }
    give_back(exec, op, lane, written);
  }
  return &op + 1;
}

const Op* run_malloc(Exec& exec, const Op& op) {
  exec.each([&](int lane) {
    const auto bytes = argument<std::uint64_t>(exec, op, lane, 0);
    give_back(exec, op, lane, exec.environment().device_malloc(bytes));
  });
  return &op + 1;
}

const Op* run_free(Exec& exec, const Op& op) {
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto p = argument<std::uint64_t>(exec, op, lane, 0);
    if (p != 0 && !exec.environment().device_free(p)) {
      Fault fault;
      fault.kind = FaultKind::HeapMisuse;
      fault.lane = lane;
      fault.address = p;
      fault.text = "free() of a pointer that malloc() did not return, or that is free already";
      return exec.stop_fault(std::move(fault));
    }
  }
  exec.forget_freed();
  return &op + 1;
}

/// A string in the program's memory, at most 1000 characters.
std::string text_at(Exec& exec, int lane, memory::Address a) {
  std::string text;
  while (a != 0 && text.size() < 1000) {
    const std::byte* c = exec.translate(lane, a++, 1, /*store=*/false);
    if (c == nullptr || *c == std::byte{0}) {
      break;
    }
    text += static_cast<char>(*c);
  }
  return text;
}

const Op* run_assertfail(Exec& exec, const Op& op) {
  const int lane = std::countr_zero(exec.mask());
  Fault fault;
  const std::string message = text_at(exec, lane, argument<std::uint64_t>(exec, op, lane, 0));
  const std::string file = text_at(exec, lane, argument<std::uint64_t>(exec, op, lane, 1));
  const auto line = argument<std::uint32_t>(exec, op, lane, 2);
  const std::string function = text_at(exec, lane, argument<std::uint64_t>(exec, op, lane, 3));
  fault.kind = FaultKind::Assert;
  fault.lane = lane;
  fault.text = fmt::format("{}:{}: {}: assertion `{}` failed", file, line, function, message);
  return exec.stop_fault(std::move(fault));
}

const Op* run_unknown_function(Exec& exec, const Op& op) {
  return exec.stop_unsupported(exec.code().messages[static_cast<std::size_t>(op.imm)]);
}

Handler provided_function(std::string_view name) {
  if (name == "vprintf") {
    return run_vprintf;
  }
  if (name == "malloc") {
    return run_malloc;
  }
  if (name == "free") {
    return run_free;
  }
  if (name == "__assertfail" || name == "__assert_fail") {
    return run_assertfail;
  }
  return device_runtime_function(name);
}

/// Offsets and sizes of the .param variables named in a call's list.
Result<void> append_parameters(
    Lowering& l,
    const ptx::Operand& list,
    std::vector<Ref>& refs,
    std::uint32_t& count
) {
  for (const ptx::Operand& element : list.elements) {
    if (element.kind != ptx::OperandKind::Symbol) {
      return unsupported("call with a parameter that is not a .param variable");
    }
    TRY(auto symbol, l.symbol(element.name));
    if (symbol.kind != SymbolResolver::Symbol::Kind::FunctionParam || symbol.variable == nullptr) {
      return unsupported("call with a parameter that is not a .param variable");
    }
    refs.push_back(Ref{static_cast<std::uint32_t>(symbol.address)});
    refs.push_back(Ref{static_cast<std::uint32_t>(symbol.variable->byte_size())});
    ++count;
  }
  return {};
}

/// call{.uni} {(returns),} function {, (arguments)} {, prototype or target list};
Result<void> lower_call(Lowering& l, const ptx::Instruction& i) {
  std::size_t at = 0;
  const ptx::Operand* returns = nullptr;
  const ptx::Operand* arguments = nullptr;
  if (i.operands.at(0).kind == ptx::OperandKind::List) {
    returns = &i.operands[at++];
  }
  const ptx::Operand& function = i.operands.at(at++);
  if (at < i.operands.size() && i.operands[at].kind == ptx::OperandKind::List) {
    arguments = &i.operands[at];
  }
  std::vector<Ref> refs;
  std::uint32_t return_count = 0;
  std::uint32_t argument_count = 0;
  if (returns != nullptr) {
    TRY_VOID(append_parameters(l, *returns, refs, return_count));
  }
  if (arguments != nullptr) {
    TRY_VOID(append_parameters(l, *arguments, refs, argument_count));
  }
  Op op = l.op(i);
  op.list = l.list(refs);
  op.count = static_cast<std::uint16_t>(argument_count);
  op.imm2 = return_count;
  if (function.kind == ptx::OperandKind::Register) {
    op.a = l.source(function, ptx::Mod::U64);
    op.execute = run_indirect_call;
    l.emit(op);
    return {};
  }
  TRY(const Code* callee, l.resolver().callee(*l.code().module, function.name));
  if (callee != nullptr) {
    op.imm = reinterpret_cast<std::int64_t>(callee);
    op.execute = run_call;
  } else if (const Handler provided = provided_function(function.name)) {
    op.execute = provided;
    op.flags |= Visible;
  } else {
    op.execute = run_unknown_function;
    op.imm = static_cast<std::int64_t>(l.code().messages.size());
    l.code().messages.push_back(fmt::format("function '{}' of the device runtime", function.name));
  }
  l.emit(op);
  return {};
}

// --- The stack (PTX ISA 9.0, 9.7.17)
//
// It grows from the end of a lane's local memory towards the frames (isa::Warp::stack).

template <class T> const Op* run_alloca(Exec& exec, const Op& op) {
  Warp& warp = exec.warp();
  const auto align = std::max<std::uint64_t>(static_cast<std::uint64_t>(op.imm), 16);
  const std::uint64_t lowest = exec.frame().local_end();
  const T* const bytes = exec.in<T>(op.a);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t top = warp.local_bytes - warp.stack[static_cast<std::size_t>(lane)];
    if (bytes[lane] > top || (top - bytes[lane]) / align * align < lowest) {
      Fault fault;
      fault.kind = FaultKind::StackOverflow;
      fault.lane = lane;
      fault.bytes = static_cast<std::uint32_t>(warp.local_bytes);
      fault.text = exec.frame().code->function->name;
      return exec.stop_fault(std::move(fault));
    }
  }
  T* const result = exec.out<T>(op.d);
  exec.each([&](int lane) {
    const std::uint64_t top = warp.local_bytes - warp.stack[static_cast<std::size_t>(lane)];
    const std::uint64_t start = (top - bytes[lane]) / align * align;
    warp.grow_stack(exec.frame(), lane, static_cast<std::int64_t>(top - start));
    if (exec.is_watched()) { // as in Exec::call
      std::ranges::fill(warp.stack_of(lane).first(top - start), std::byte{0});
    }
    result[lane] = static_cast<T>(start);
  });
  return &op + 1;
}

template <class T> const Op* run_stacksave(Exec& exec, const Op& op) {
  const Warp& warp = exec.warp();
  T* const result = exec.out<T>(op.d);
  exec.each([&](int lane) {
    result[lane] = static_cast<T>(warp.local_bytes - warp.stack[static_cast<std::size_t>(lane)]);
  });
  return &op + 1;
}

/// Frees what this call has allocated since the save. A value that no save gave is ignored.
template <class T> const Op* run_stackrestore(Exec& exec, const Op& op) {
  Warp& warp = exec.warp();
  const T* const saved = exec.in<T>(op.a);
  exec.each([&](int lane) {
    const std::uint64_t top = warp.local_bytes - warp.stack[static_cast<std::size_t>(lane)];
    const std::uint64_t own = exec.frame().allocated_by(lane);
    if (saved[lane] >= top && saved[lane] - top <= own) {
      warp.grow_stack(exec.frame(), lane, -static_cast<std::int64_t>(saved[lane] - top));
    }
  });
  return &op + 1;
}

Result<void> lower_stack(Lowering& l, const ptx::Instruction& i) {
  const ptx::Type type = i.type().value_or(ptx::Mod::U64);
  const bool wide = type == ptx::Mod::U64;
  Op op = l.op(i);
  switch (i.opcode) {
  case ptx::Opcode::Alloca:
    op.d = l.destination(i.operands.at(0));
    op.a = l.source(i.operands.at(1), type);
    op.imm = i.operands.size() > 2 ? static_cast<std::int64_t>(i.operands[2].bits) : 8;
    op.execute = wide ? run_alloca<std::uint64_t> : run_alloca<std::uint32_t>;
    op.imm = op.imm == 0 ? 8 : op.imm;
    if (op.imm < 0 || !std::has_single_bit(static_cast<std::uint64_t>(op.imm))) {
      return unsupported("alloca with an alignment that is no power of two");
    }
    break;
  case ptx::Opcode::Stacksave:
    op.d = l.destination(i.operands.at(0));
    op.execute = wide ? run_stacksave<std::uint64_t> : run_stacksave<std::uint32_t>;
    break;
  default:
    op.a = l.source(i.operands.at(0), type);
    op.execute = wide ? run_stackrestore<std::uint64_t> : run_stackrestore<std::uint32_t>;
    break;
  }
  l.emit(op);
  return {};
}

// --- Ends

const Op* run_trap(Exec& exec, const Op& op) {
  Fault fault;
  fault.kind = FaultKind::Trap;
  fault.lane = std::countr_zero(exec.mask());
  fault.text = op.imm == 0 ? "trap instruction" : "breakpoint instruction";
  return exec.stop_fault(std::move(fault));
}

Result<void> lower_trap(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.execute = run_trap;
  op.flags |= Visible;
  op.imm = i.opcode == ptx::Opcode::Brkpt ? 1 : 0;
  l.emit(op);
  return {};
}

const Op* run_nothing(Exec&, const Op& op) {
  return &op + 1;
}

/// pmevent: a profiler event has no effect on the program.
Result<void> lower_nothing(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.execute = run_nothing;
  l.emit(op);
  return {};
}

} // namespace

CallKind what_calls(const Op& op) {
  return op.execute == run_call                               ? CallKind::Function
         : op.execute == run_indirect_call                    ? CallKind::Address
         : op.execute == run_malloc || op.execute == run_free ? CallKind::Heap
                                                              : CallKind::Other;
}

void register_control(LowerTable& table) {
  table[ptx::Opcode::Bra] = lower_bra;
  table[ptx::Opcode::Brx] = lower_brx;
  table[ptx::Opcode::Call] = lower_call;
  table[ptx::Opcode::Ret] = lower_ret;
  table[ptx::Opcode::Exit] = lower_exit;
  table[ptx::Opcode::Trap] = lower_trap;
  table[ptx::Opcode::Alloca] = lower_stack;
  table[ptx::Opcode::Stacksave] = lower_stack;
  table[ptx::Opcode::Stackrestore] = lower_stack;
  table[ptx::Opcode::Brkpt] = lower_trap;
  table[ptx::Opcode::Pmevent] = lower_nothing;
}

} // namespace heddle::isa
