// Implements replay.h.
#include "replay.h"

#include "isa/exec.h"
#include "isa/program.h"
#include "memory/address_space.h"
#include "ptx/parse.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace heddle::golden {
namespace {

constexpr std::uint32_t threads = 256; // per block, as recorded

/// All that the forms need of a machine: collectives of lanes that arrive together.
class SmallWorld final : public isa::Environment {
public:
  const isa::Op* barrier(isa::Exec& exec, const isa::Op&, BarrierOp, bool) override {
    return exec.stop_unsupported("barrier in a golden form");
  }
  const isa::Op* cluster_barrier(isa::Exec& exec, const isa::Op&, ClusterBarrierOp, bool) override {
    return exec.stop_unsupported("cluster barrier in a golden form");
  }
  const isa::Op* collective(
      isa::Exec& exec,
      const isa::Op& op,
      const isa::Collective& collective,
      const std::uint32_t* membermask
  ) override {
    isa::LaneMask waits_for = 0;
    exec.each([&](int lane) { waits_for |= membermask[lane]; });
    if ((waits_for & exec.warp().live & ~exec.mask()) != 0) {
      return exec.stop_unsupported("a collective whose lanes do not arrive together");
    }
    isa::Exchange exchange;
    exchange.lanes = exec.mask();
    if (collective.contribute != nullptr) {
      collective.contribute(exec, op, exchange);
    }
    if (collective.conclude != nullptr) {
      collective.conclude(exec, op, exchange);
    }
    return &op + 1;
  }
  std::uint64_t clock() override { return 0; }
  std::uint64_t globaltimer() override { return 0; }
  const isa::Op* nanosleep(isa::Exec&, const isa::Op& op, std::uint32_t) override {
    return &op + 1;
  }
  void exited(isa::Exec&, isa::LaneMask) override {}
  std::byte* shared_of(std::uint32_t, std::uint64_t*) override { return nullptr; }
  void launch_dependents() override {}
  const isa::Op* grid_dependency_wait(isa::Exec&, const isa::Op& op) override { return &op + 1; }
  int vprintf(isa::Exec&, int, memory::Address, memory::Address) override { return -1; }
  memory::Address device_malloc(std::uint64_t) override { return 0; }
  bool device_free(memory::Address) override { return false; }
  const isa::Code* function_at(memory::Address address) override {
    auto it = kernel->functions.find(address);
    return it != kernel->functions.end() ? it->second : nullptr;
  }

  const isa::Kernel* kernel = nullptr;
};

using Special = isa::SpecialLayout;

/// %tid, %ctaid, … of warp `warp` of a one-dimensional grid.
void fill_specials(
    std::byte* area,
    std::uint32_t blocks,
    std::uint32_t warp,
    std::uint32_t shared
) {
  std::memset(area, 0, Special::bytes);
  auto set = [&](std::uint32_t which, std::uint32_t lane, std::uint32_t value) {
    std::memcpy(area + Special::offset(which) + 4 * lane, &value, 4);
  };
  std::uint32_t warps = threads / isa::warp_size;
  for (std::uint32_t lane = 0; lane < isa::warp_size; ++lane) {
    set(Special::TidX, lane, warp % warps * isa::warp_size + lane);
    set(Special::CtaidX, lane, warp / warps);
    set(Special::ClusterIdX, lane, warp / warps);
    set(Special::NctaidX, lane, blocks);
    set(Special::NclusterIdX, lane, blocks);
    set(Special::NtidX, lane, threads);
    for (std::uint32_t one :
         {Special::NtidY,
          Special::NtidZ,
          Special::NctaidY,
          Special::NctaidZ,
          Special::NclusterIdY,
          Special::NclusterIdZ,
          Special::ClusterNctaidX,
          Special::ClusterNctaidY,
          Special::ClusterNctaidZ,
          Special::ClusterNctarank}) {
      set(one, lane, 1);
    }
    set(Special::LaneId, lane, lane);
    set(Special::WarpId, lane, warp % warps);
    set(Special::NwarpId, lane, 64);
    set(Special::LanemaskEq, lane, 1U << lane);
    set(Special::LanemaskLt, lane, (1U << lane) - 1);
    set(Special::LanemaskLe, lane, (2U << lane) - 1);
    set(Special::LanemaskGt, lane, ~((2U << lane) - 1));
    set(Special::LanemaskGe, lane, ~((1U << lane) - 1));
    set(Special::TotalSmemSize, lane, shared);
    set(Special::AggrSmemSize, lane, shared);
  }
}

} // namespace

struct Replayer::Impl {
  memory::AddressSpace space;
  std::string family;
  std::string text;
  std::shared_ptr<isa::Program> program; // of the whole family, if it parses
  isa::Exec exec{space};
  isa::Warp warp;
  SmallWorld world;
  std::vector<std::byte> special = std::vector<std::byte>(Special::bytes);
  std::vector<std::byte> local;
  std::vector<std::byte> shared;
  memory::Address input = 0;
  memory::Address output = 0;

  Impl(std::string_view name, std::string_view ptx) : family(name), text(ptx) {
    std::string error;
    program = link(text, error);
    constexpr std::uint64_t bytes = std::uint64_t{8} * 8 * exhaustive_tuples;
    input = space.allocate(bytes, 256, memory::AllocationKind::Device, 0, "input").value_or(0);
    output = space.allocate(bytes, 256, memory::AllocationKind::Device, 0, "output").value_or(0);
  }

  std::shared_ptr<isa::Program> link(std::string_view ptx, std::string& error);
  /// The PTX of one form: what stands before the first form, and its own entry.
  std::string alone(const Form& form) const;
  std::string run_warp(const isa::Kernel& kernel);
};

std::shared_ptr<isa::Program> Replayer::Impl::link(std::string_view ptx, std::string& error) {
  auto parsed = ptx::parse(ptx, family + ".ptx");
  if (!parsed) {
    error = parsed.error().message;
    return nullptr;
  }
  auto linked = isa::Program::link({std::move(*parsed)}, space, 0);
  if (!linked) {
    error = linked.error().message;
    return nullptr;
  }
  return *linked;
}

std::string Replayer::Impl::alone(const Form& form) const {
  constexpr std::string_view start = "// form ";
  std::size_t at = text.find(std::string(start) + form.name + " ");
  std::size_t end = text.find(start, at + 1);
  return text.substr(0, text.find(start)) + text.substr(at, end - at);
}

std::string Replayer::Impl::run_warp(const isa::Kernel& kernel) {
  warp.reset();
  warp.special = special.data();
  warp.local = local.data();
  warp.local_stride = local.size() / isa::warp_size;
  isa::Frame* frame = warp.push_frame(kernel.code, nullptr, nullptr, isa::all_lanes);
  warp.live = isa::all_lanes;
  warp.frame.fill(frame);
  warp.pc.fill(kernel.code->ops.data());
  for (int turns = 0; warp.live != 0; ++turns) {
    // The lanes at the lowest op of one of the innermost calls.
    std::size_t chosen = isa::warp_size;
    for (isa::LaneMask m = warp.live; m != 0; m &= m - 1) {
      auto lane = static_cast<std::size_t>(std::countr_zero(m));
      if (chosen == isa::warp_size || warp.frame[lane]->depth > warp.frame[chosen]->depth ||
          (warp.frame[lane] == warp.frame[chosen] && warp.pc[lane] < warp.pc[chosen])) {
        chosen = lane;
      }
    }
    isa::LaneMask group = 0;
    for (isa::LaneMask m = warp.live; m != 0; m &= m - 1) {
      auto lane = static_cast<std::size_t>(std::countr_zero(m));
      if (warp.frame[lane] == warp.frame[chosen] && warp.pc[lane] == warp.pc[chosen]) {
        group |= 1U << lane;
      }
    }
    isa::Exec::Turn turn;
    turn.fuel = 1'000'000;
    isa::Stop stop = exec.run(warp, group, turn);
    switch (stop) {
    case isa::Stop::Unsupported:
      return "unsupported: " + exec.fault().text;
    case isa::Stop::Fault:
      return fmt::format(
          "fault {} at address {:#x} ({} bytes) {}",
          static_cast<int>(exec.fault().kind),
          exec.fault().address,
          exec.fault().bytes,
          exec.fault().text
      );
    case isa::Stop::Blocked:
    case isa::Stop::Fuel:
      return "blocked, or does not end";
    default:
      break;
    }
    if (turns > 100'000) {
      return "does not end";
    }
  }
  return {};
}

Replayer::Replayer(std::string_view family, std::string_view ptx)
    : impl_(std::make_unique<Impl>(family, ptx)) {}
Replayer::~Replayer() = default;

std::uint64_t Replayer::executed() const {
  return impl_->exec.executed();
}

std::string Replayer::run(
    const Form& form,
    const std::vector<std::uint64_t>& inputs,
    std::vector<std::uint64_t>& results
) {
  Impl& m = *impl_;
  std::string error;
  auto program = m.program != nullptr ? m.program : m.link(m.alone(form), error);
  if (program == nullptr) {
    return error;
  }
  auto found = program->kernel(form.name);
  if (!found) {
    return found.error().message;
  }
  const isa::Kernel& kernel = **found;
  results.assign(form.out_bytes.size() * form.tuples, 0);
  auto* in = static_cast<std::byte*>(m.space.host_pointer(m.input, inputs.size() * 8));
  auto* out = static_cast<std::byte*>(m.space.host_pointer(m.output, results.size() * 8));
  std::memcpy(in, inputs.data(), inputs.size() * 8);
  std::memset(out, 0, results.size() * 8);
  std::uint64_t parameters[2] = {m.input, m.output};
  m.world.kernel = &kernel;
  std::size_t stack = kernel.calls ? 16384 : (kernel.code->local_bytes + 15U) / 16 * 16;
  m.local.assign(isa::warp_size * stack, std::byte{0});
  isa::Exec::Block block;
  block.environment = &m.world;
  block.param = reinterpret_cast<std::byte*>(parameters);
  block.param_bytes = sizeof parameters;
  std::uint32_t warps = form.tuples / isa::warp_size;
  for (std::uint32_t w = 0; w < warps; ++w) {
    if (w % (threads / isa::warp_size) == 0) {
      m.shared.assign(kernel.static_shared_bytes, std::byte{0});
      block.shared = m.shared.data();
      block.shared_bytes = m.shared.size();
      m.exec.enter_block(block);
    }
    fill_specials(m.special.data(), form.tuples / threads, w, kernel.static_shared_bytes);
    std::string problem = m.run_warp(kernel);
    if (!problem.empty()) {
      return problem;
    }
  }
  std::memcpy(results.data(), out, results.size() * 8);
  return {};
}

} // namespace heddle::golden
