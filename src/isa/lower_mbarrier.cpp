// Lowers mbarrier.{init, inval, expect_tx, complete_tx, arrive, arrive_drop, test_wait, try_wait,
// pending_count} (PTX ISA 9.0, 9.7.13.15).
//
// The object is touched by one worker at a time (it lies in the shared memory of a cluster that one
// worker runs), so plain reads and writes do. try_wait never suspends: it answers at once and,
// where the phase has not completed, gives the others a turn; PTX lets it answer false at any time.
// Orders and scopes are stronger than asked for (see ops_memory.h). UB that is reported: more
// arrivals than expected, counts out of range, objects outside shared memory.
#include "isa/lower_mbarrier.h"

#include "isa/lower_memory_address.h"
#include "isa/ops_mbarrier.h"
#include "isa/ops_memory.h"

#include <fmt/format.h>

namespace heddle::isa {
namespace {

using ops::Mbarrier;
using ops::MbarrierMisuse;
using ptx::Mod;

/// The object of `lane`, or nullptr with fault() filled in.
template <Space S> std::byte* object(Exec& exec, const Op& op, int lane, std::uint64_t address) {
  if (S == Space::Generic && address - memory::shared_window >= memory::window_size) {
    return wrong_space(exec, lane, address, sizeof(std::uint64_t), /*store=*/true);
  }
  return host<S>(exec, op, lane, address, sizeof(std::uint64_t), /*store=*/true);
}

void fill_misuse(Exec& exec, int lane, std::uint64_t address, MbarrierMisuse what) {
  Fault& fault = exec.fault();
  fault = Fault{};
  fault.kind = FaultKind::BarrierMisuse;
  fault.lane = lane;
  fault.address = address;
  fault.bytes = sizeof(std::uint64_t);
  fault.store = true;
  fault.text = what;
}

const Op* misuse(Exec& exec, int lane, std::uint64_t address, MbarrierMisuse what) {
  fill_misuse(exec, lane, address, what);
  return exec.stop_fault();
}

/// Changes each executing lane's object with f(lane, Mbarrier&) and stores the word before it in
/// op.d (if there is one).
template <Space S, class F> const Op* change(Exec& exec, const Op& op, F f) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  auto* d = op.d.none() ? nullptr : exec.out<std::uint64_t>(op.d);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* p = object<S>(exec, op, lane, address[lane]);
    if (p == nullptr) {
      return access_fault(exec, op);
    }
    const auto word = ops::weak_load<std::uint64_t>(p);
    Mbarrier barrier = Mbarrier::unpack(word);
    if (const MbarrierMisuse what = f(lane, barrier)) {
      return misuse(exec, lane, address[lane], what);
    }
    ops::weak_store(p, barrier.pack());
    if (d != nullptr) {
      d[lane] = ops::mbarrier_token(word);
    }
  }
  return &op + 1;
}

template <Space S> const Op* run_init(Exec& exec, const Op& op) {
  const auto* count = exec.in<std::uint32_t>(op.b);
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  return change<S>(exec, op, [&](int lane, Mbarrier& b) {
    if (b.expected != 0) { // most are initialised for the first time
      exec.environment().gives_up_mbarrier(exec, op, lane, address[lane], /*again=*/true);
    }
    return ops::mbarrier_init(b, count[lane]);
  });
}

template <Space S> const Op* run_inval(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  return change<S>(exec, op, [&](int lane, Mbarrier& b) -> MbarrierMisuse {
    exec.environment().gives_up_mbarrier(exec, op, lane, address[lane], /*again=*/false);
    b = Mbarrier{};
    return nullptr;
  });
}

/// op.b: arrivals; op.c: transactions to expect before, or none.
template <Space S, bool Drop> const Op* run_arrive(Exec& exec, const Op& op) {
  const auto* count = exec.in<std::uint32_t>(op.b);
  const auto* transactions = op.c.none() ? nullptr : exec.in<std::uint32_t>(op.c);
  return change<S>(exec, op, [&](int lane, Mbarrier& b) -> MbarrierMisuse {
    if (transactions != nullptr) {
      if (const MbarrierMisuse what = ops::mbarrier_expect_tx(b, transactions[lane])) {
        return what;
      }
    }
    return ops::mbarrier_arrive(b, count[lane], Drop);
  });
}

template <Space S, bool Expect> const Op* run_transactions(Exec& exec, const Op& op) {
  const auto* count = exec.in<std::uint32_t>(op.b);
  return change<S>(exec, op, [&](int lane, Mbarrier& b) {
    return Expect ? ops::mbarrier_expect_tx(b, count[lane])
                  : ops::mbarrier_complete_tx(b, count[lane]);
  });
}

/// op.d: predicate; op.b: token (u64) or parity (u32).
template <Space S, bool Parity, bool Try> const Op* run_test(Exec& exec, const Op& op) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  LaneMask complete = 0;
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::byte* p = object<S>(exec, op, lane, address[lane]);
    if (p == nullptr) {
      return access_fault(exec, op);
    }
    const Mbarrier barrier = Mbarrier::unpack(ops::weak_load<std::uint64_t>(p));
    const bool done = Parity
                          ? ops::mbarrier_test_parity(barrier, exec.in<std::uint32_t>(op.b)[lane])
                          : ops::mbarrier_test(barrier, exec.in<std::uint64_t>(op.b)[lane]);
    complete |= static_cast<LaneMask>(done) << lane;
  }
  exec.set_predicate(op.d, complete);
  if (complete != 0) {
    exec.environment().passes_mbarrier(exec, op, complete, address);
  }
  if (Try && complete != exec.mask()) {
    return exec.stop_at(Stop::Yield, &op + 1);
  }
  return after_poll(exec, op);
}

const Op* run_pending_count(Exec& exec, const Op& op) {
  auto* d = exec.out<std::uint32_t>(op.d);
  const auto* state = exec.in<std::uint64_t>(op.b);
  exec.each([&](int lane) { d[lane] = ops::mbarrier_of_token(state[lane]).pending; });
  return &op + 1;
}

#define HEDDLE_EITHER_SPACE(space, function, ...)                                                  \
  ((space) == Space::Shared ? function<Space::Shared __VA_OPT__(, ) __VA_ARGS__>                   \
                            : function<Space::Generic __VA_OPT__(, ) __VA_ARGS__>)

Handler select_test(Space space, bool parity, bool tries) {
  if (parity) {
    return tries ? HEDDLE_EITHER_SPACE(space, run_test, true, true)
                 : HEDDLE_EITHER_SPACE(space, run_test, true, false);
  }
  return tries ? HEDDLE_EITHER_SPACE(space, run_test, false, true)
               : HEDDLE_EITHER_SPACE(space, run_test, false, false);
}

Result<void> lower_mbarrier(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  if (i.has(Mod::PendingCount)) {
    op.d = l.destination(i.operands.at(0));
    op.b = l.source(i.operands.at(1), Mod::B64);
    op.execute = run_pending_count;
    l.emit(op);
    return {};
  }
  const bool arrives = i.has(Mod::Arrive) || i.has(Mod::ArriveDrop);
  const bool tests = i.has(Mod::TestWait) || i.has(Mod::TryWait);
  // A result first, where there is one; then the address; then counts.
  const std::size_t at = i.operands.at(0).kind == ptx::OperandKind::Address ? 0 : 1;
  if ((arrives || tests) && at == 1) {
    op.d = l.destination(i.operands[0]);
  }
  TRY(const Space space, lower_access(l, i.operands.at(at), space_of(i), op));
  if (space != Space::Shared && space != Space::Generic) {
    return unsupported("an mbarrier outside shared memory");
  }
  op.flags |= Visible;
  const ptx::Operand* argument = i.operands.size() > at + 1 ? &i.operands[at + 1] : nullptr;
  if (i.has(Mod::Init) && argument != nullptr) {
    op.b = l.source(*argument, Mod::U32);
    op.execute = HEDDLE_EITHER_SPACE(space, run_init);
  } else if (i.has(Mod::Inval)) {
    op.execute = HEDDLE_EITHER_SPACE(space, run_inval);
  } else if (arrives) {
    const bool expects = i.has(Mod::ExpectTx);
    if (expects && argument != nullptr) {
      op.c = l.source(*argument, Mod::U32);
    }
    op.b = argument != nullptr && !expects ? l.source(*argument, Mod::U32)
                                           : l.constant_of(std::uint32_t{1});
    op.execute = i.has(Mod::ArriveDrop) ? HEDDLE_EITHER_SPACE(space, run_arrive, true)
                                        : HEDDLE_EITHER_SPACE(space, run_arrive, false);
  } else if (tests && argument != nullptr && !op.d.none()) {
    const bool parity = i.has(Mod::Parity);
    op.b = l.source(*argument, parity ? Mod::U32 : Mod::B64);
    op.execute = select_test(space, parity, i.has(Mod::TryWait));
  } else if (i.has(Mod::ExpectTx) && argument != nullptr) {
    op.b = l.source(*argument, Mod::U32);
    op.execute = HEDDLE_EITHER_SPACE(space, run_transactions, true);
  } else if (i.has(Mod::CompleteTx) && argument != nullptr) {
    op.b = l.source(*argument, Mod::U32);
    op.execute = HEDDLE_EITHER_SPACE(space, run_transactions, false);
  } else {
    return unsupported("this form of mbarrier");
  }
  l.emit(op);
  return {};
}

#undef HEDDLE_EITHER_SPACE

} // namespace

Result<void> emit_complete_tx(
    Lowering& l,
    const ptx::Instruction& i,
    const ptx::Operand& operand,
    std::optional<ptx::Mod> space,
    Ref bytes
) {
  Op op = l.op(i);
  TRY(const Space where, lower_access(l, operand, space, op));
  op.b = bytes;
  if (where == Space::Shared) {
    op.execute = run_transactions<Space::Shared, /*Expect=*/false>;
  } else if (where == Space::Generic) {
    op.execute = run_transactions<Space::Generic, /*Expect=*/false>;
  } else {
    return unsupported("an mbarrier outside shared memory");
  }
  l.emit(op);
  return {};
}

namespace {

template <class F> bool change_one(Exec& exec, int lane, std::uint64_t address, F f) {
  std::byte* p = exec.translate_shared(lane, address, sizeof(std::uint64_t), /*store=*/true);
  if (p == nullptr) {
    return false;
  }
  Mbarrier barrier = Mbarrier::unpack(ops::weak_load<std::uint64_t>(p));
  if (const MbarrierMisuse what = f(barrier)) {
    fill_misuse(exec, lane, address, what);
    return false;
  }
  ops::weak_store(p, barrier.pack());
  return true;
}

} // namespace

bool complete_tx(Exec& exec, int lane, std::uint64_t address, std::uint32_t bytes) {
  return change_one(exec, lane, address, [&](Mbarrier& b) {
    return ops::mbarrier_complete_tx(b, bytes);
  });
}

bool arrive_async(Exec& exec, int lane, std::uint64_t address, bool increment) {
  return change_one(exec, lane, address, [&](Mbarrier& b) -> MbarrierMisuse {
    if (increment) {
      if (b.pending == Mbarrier::largest_count) {
        return "more than 1048575 pending arrivals at an mbarrier";
      }
      ++b.pending;
    }
    return ops::mbarrier_arrive(b, 1, /*drop=*/false);
  });
}

void register_mbarrier(LowerTable& table) {
  table[ptx::Opcode::Mbarrier] = lower_mbarrier;
}

} // namespace heddle::isa
