// Implements lane_runner.h.
#include "reduce/free_moves/lane_runner.h"

#include "machine/fault_diagnostic.h"
#include "ptx/effect.h"

#include <bit>
#include <utility>
#include <vector>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using isa::Stop;
using Kind = ptx::Effect::Kind;

bool LaneRunner::look_at_clock(const Lane& at, LaneMask lanes, Time time) {
  if (parts_.independence.operations().clocks().look(at, lanes, time)) {
    return true;
  }
  parts_.under_way.give_up(parts_.independence.operations().clocks().gap());
  return false;
}

Stop LaneRunner::run(const Lane& at, std::int64_t fuel, LaneMask with, bool reconverge) {
  if (parts_.independence.heap() != nullptr) {
    const Cluster& cluster = *at.work->clusters[at.cluster];
    const std::uint64_t block = at.cluster * cluster.size() + at.block;
    const std::uint64_t threads = at.work->command->grid->config().block.count();
    parts_.independence.heap()->turn(at.work->identity, block * threads + at.warp * isa::warp_size);
  }
  if (!look_at_clock(
          at,
          bit(at.lane) | with,
          parts_.independence.operations().clocks().take_time()
      )) {
    return Stop::Unsupported;
  }
  if (parts_.weak) {
    parts_.weak->begin_run(at, bit(at.lane) | with, std::exchange(parts_.under_way.weak_pick, 0));
  }
  Stop stop = run_noting(at, fuel, with, reconverge);
  if (parts_.weak && parts_.weak->end_run(at, bit(at.lane) | with, stop == Stop::Fault)) {
    stop = Stop::Fault;
  }
  const bool wrong = parts_.machine.journal.misuse().op != nullptr ||
                     at.work->clusters[at.cluster]->block(at.block).divergence();
  return wrong ? Stop::Fault : stop;
}

Stop LaneRunner::run_noting(const Lane& at, std::int64_t fuel, LaneMask with, bool reconverge) {
  Cluster& cluster = *at.work->clusters[at.cluster];
  Block& running = cluster.block(at.block);
  if (parts_.options.dead_data.by_decisions) { // others visit the shared memory of a larger cluster
    parts_.dead_data.cone().in_block(
        cluster.size() == 1 ? &at.work->command->grid->kernel() : nullptr,
        running.all_shared().data()
    );
  }
  if (!parts_.options.independence.orderly) {
    return run_turn(at, fuel, with, reconverge);
  }
  if (parts_.options.independence.data_order) {
    parts_.independence.order().in_block(OrderData::memory_of(cluster, at.block));
  }
  parts_.independence.accesses().begin_turn();
  const std::uint32_t first = number_in_cluster({at.work, at.cluster, at.block, at.warp, 0});
  const std::uint64_t epoch = at.work->progress[at.cluster].epochs[at.block];
  const Stop stop = run_turn(at, fuel, with, reconverge);
  parts_.independence.accesses().end_turn(first, epoch);
  return stop;
}

Stop LaneRunner::run_turn(const Lane& at, std::int64_t fuel, LaneMask with, bool reconverge) {
  parts_.machine.exec.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
  at.work->progress[at.cluster].running_warp = at.warp;
  isa::Exec::Turn turn;
  turn.fuel = fuel;
  turn.stop_at_visible = true;
  turn.reconverge = reconverge;
  isa::Warp& warp = warp_state(at).warp;
  LaneMask lanes = bit(at.lane) | with;
  if (!parts_.options.independence.phases) {
    return parts_.machine.exec.run(warp, lanes, turn);
  }
  const auto index = static_cast<std::size_t>(at.lane);
  const Op& op = *warp.pc[index];
  if ((op.flags & isa::Visible) == 0) {
    return parts_.machine.exec.run(warp, lanes, turn);
  }
  const ptx::Instruction& i = warp.frame[index]->code->function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is(Kind::Mbarrier) || effect.is(Kind::Copy) || Mbarriers::tells_bytes(i, op)) {
    const Stop stop = parts_.independence.operations().mbarriers().run(at, lanes);
    if (stop == Stop::Fault || stop == Stop::Unsupported ||
        (warp.pc[index]->flags & isa::Visible) != 0) {
      return stop;
    }
    parts_.machine.exec.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
    return parts_.machine.exec.run(warp, lanes, turn);
  }
  parts_.independence.operations().library_barriers().note(at);
  Phases& phases = at.work->progress[at.cluster].phases;
  const std::vector<Mbarriers::Handover> word =
      phases.in_use() ? parts_.independence.operations().mbarriers().handovers(at, lanes)
                      : std::vector<Mbarriers::Handover>();
  if (!word.empty()) {
    parts_.machine.exec.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
  }
  const Stop stop = parts_.machine.exec.run(warp, lanes, turn);
  for (const Mbarriers::Handover& handover : word) {
    phases.take_word({&handover.thread, 1}, handover.word);
    phases.leave_word({&handover.thread, 1}, handover.word);
  }
  if (phases.in_use() && (effect.is(Kind::Barrier) || effect.is_of_warp())) {
    // Lanes that met at once; of others Block tells.
    std::vector<Phases::Thread> met;
    for (lanes &= ~warp.blocked; lanes != 0; lanes &= lanes - 1) {
      Lane other = at;
      other.lane = std::countr_zero(lanes);
      met.push_back(number_in_cluster(other));
    }
    phases.meet(met);
  }
  return stop;
}

void LaneRunner::fail(const Lane& at) {
  if (parts_.under_way.failure && !parts_.under_way.failure->incomplete.empty()) {
    return; // it is our own gap
  }
  if (auto failure = parts_.weak ? parts_.weak->failure() : std::nullopt) {
    parts_.under_way.failure = std::move(failure);
    return;
  }
  parts_.under_way.failure = Failure{};
  Block& block = at.work->clusters[at.cluster]->block(at.block);
  parts_.under_way.failure->report =
      report_fault(*at.work->command->grid, block, at.warp, parts_.machine.exec);
  if (parts_.under_way.failure->report.fault.kind == isa::FaultKind::HeapMisuse &&
      parts_.independence.heap() != nullptr) {
    parts_.under_way.failure->report.nearest =
        parts_.independence.heap()->nearest(parts_.under_way.failure->report.fault.address);
  }
  if (const AccessNotes::Misuse& misuse = parts_.machine.journal.misuse(); misuse.op != nullptr) {
    FaultReport& report = parts_.under_way.failure->report;
    report.kind = FaultReport::Kind::Fault;
    report.nearest = parts_.independence.heap()->nearest(misuse.at);
    report.fault = {};
    report.fault.kind = report.nearest && report.nearest->freed ? isa::FaultKind::UseAfterFree
                                                                : isa::FaultKind::OutOfBounds;
    report.fault.lane = misuse.lane;
    report.fault.address = parts_.independence.heap()->address_of(misuse.at);
    report.fault.bytes = misuse.bytes;
    report.fault.store = misuse.store;
    report.thread = block.thread_index(at.warp, misuse.lane);
    report.lanes = 1;
    describe_instruction(*misuse.code, *misuse.op, report);
  }
}

} // namespace heddle::reduce
