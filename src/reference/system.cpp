// Implements system.h.
#include "reference/system.h"

#include "base/check.h"
#include "ptx/effect.h"
#include "ptx/special_register.h"
#include "reference/state_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace heddle::reference {

using isa::LaneMask;
using isa::Stop;
using machine::Block;
using Kind = ptx::Effect::Kind;

namespace {

/// Waiting threads stand behind the instruction at which they wait.
const isa::Op& place_of(const isa::Warp& warp, int lane) {
  const isa::Op* const pc = warp.pc[slot(lane)];
  return (warp.blocked >> lane & 1) != 0 ? pc[-1] : *pc;
}

const ptx::Instruction& instruction_at(const isa::Warp& warp, int lane) {
  return warp.frame[slot(lane)]->code->function->body[place_of(warp, lane).instruction];
}

/// Does the guard let the lane execute the op at which it stands?
bool executes(const isa::Warp& warp, int lane) {
  const isa::Op& op = *warp.pc[slot(lane)];
  if ((op.flags & isa::Guarded) == 0) {
    return true;
  }
  LaneMask mask = 0;
  std::memcpy(&mask, warp.frame[slot(lane)]->registers.data() + op.guard.offset(), sizeof mask);
  return (mask >> lane & 1) != static_cast<LaneMask>(op.guard_negated);
}

std::string thread_name(Block& block, std::size_t warp, int lane) {
  const machine::Dim3 t = block.thread_index(warp, lane);
  const machine::Dim3 b = block.index();
  return fmt::format("thread ({},{},{}) of block ({},{},{})", t.x, t.y, t.z, b.x, b.y, b.z);
}

/// Does the reference know what the instruction does to others?
std::optional<std::string> refused(const ptx::Instruction& i) {
  const ptx::Effect& effect = ptx::effect_of(i);
  const bool known = !effect.is_async() && !effect.is(Kind::Dependency) &&
                     !effect.is(Kind::WarpWide) && !effect.is(Kind::Copy) &&
                     !effect.is(Kind::ActiveLanes) &&
                     !(effect.is(Kind::Other) && !effect.is_strong());
  if (!known) {
    return fmt::format("the reference does not know {}", effect.name);
  }
  for (const ptx::Operand& operand : i.operands) {
    if (operand.kind != ptx::OperandKind::Special) {
      continue;
    }
    const auto asked = ptx::find_special_register(operand.name);
    if (asked && asked->asks == ptx::Asks::Clock) {
      return "the reference does not know clocks";
    }
  }
  if (effect.is(Kind::Call) && ptx::library_function(i) != ptx::LibraryFunction::None) {
    return "the reference does not know calls of the device library";
  }
  return std::nullopt;
}

} // namespace

/// Notes what a thread accesses that others may see.
class System::Watch final : public isa::AccessWatch {
public:
  void begin(const isa::Warp& warp, bool strong) {
    local_ = {warp.local, warp.local_stride * isa::warp_size};
    strong_ = strong;
    accesses_.clear();
    of_local_ = false;
  }
  void accessed(int /*lane*/, std::byte* at, std::uint32_t bytes, bool store) override {
    if (at >= local_.data() && at < local_.data() + local_.size()) {
      of_local_ = true;
    } else {
      accesses_.push_back({.at = at, .bytes = bytes, .writes = store, .strong = strong_});
    }
  }
  std::vector<Access> take() { return std::move(accesses_); }
  /// Automatic storage: no step ([STEP.3], [STEP.4]).
  bool of_local() const { return of_local_; }

private:
  std::span<std::byte> local_;
  bool strong_ = false, of_local_ = false;
  std::vector<Access> accesses_;
};

System::System(
    std::vector<Launched> grids,
    std::vector<std::span<std::byte>> memory,
    memory::AddressSpace& space
)
    : memory_(std::move(memory)),
      watch_(std::make_unique<Watch>()),
      exec_(space) {
  std::uint32_t threads = 0;
  for (Launched& launched : grids) {
    Grid& grid = grids_.emplace_back();
    grid.launched = std::move(launched);
    grid.first_thread = threads;
    const std::shared_ptr<machine::Grid>& of = grid.launched.grid;
    for (std::uint64_t c = 0; c < of->cluster_count(); ++c) {
      auto& cluster = *grid.clusters.emplace_back(std::make_unique<machine::Cluster>(of));
      cluster.start(c);
      for (std::size_t b = 0; b < cluster.size(); ++b) {
        cluster.block(b).look_for_divergence(); // [BAR-6] [WARP-MASK]
        for (Block::WarpState& state : cluster.block(b).warps()) {
          clear_registers(*state.warp.frame[slot(std::countr_zero(state.warp.live))]);
          std::memset(state.warp.local, 0, state.warp.local_stride * isa::warp_size);
          threads += isa::warp_size;
        }
      }
    }
    grid.stepped.resize(grid.clusters.size(), 0);
  }
  watching_.emplace(exec_, *watch_);
  load(save()); // each thread has frames of its own
}

System::~System() = default;

bool System::over(const Grid& grid) {
  return std::ranges::all_of(grid.clusters, [](const auto& cluster) {
    for (std::size_t b = 0; b < cluster->size(); ++b) {
      if (!cluster->block(b).ended()) {
        return false;
      }
    }
    return true;
  });
}

bool System::over() const {
  return std::ranges::all_of(grids_, [](const Grid& grid) { return over(grid); });
}

bool System::may_begin(const Grid& grid) const {
  return std::ranges::all_of(grid.launched.behind, [this](std::size_t before) {
    return over(grids_[before]);
  });
}

std::vector<Move> System::enabled() {
  std::vector<Move> moves;
  for (std::size_t g = 0; g < grids_.size(); ++g) {
    Grid& grid = grids_[g];
    if (!may_begin(grid)) {
      continue;
    }
    const bool together =
        grid.launched.grid->config().cooperative && std::ranges::count(grid.stepped, 1) != 0;
    std::uint32_t thread = grid.first_thread;
    for (std::size_t c = 0; c < grid.clusters.size(); ++c) {
      for (std::size_t b = 0; b < grid.clusters[c]->size(); ++b) {
        Block& block = grid.clusters[c]->block(b);
        for (std::size_t w = 0; w < block.warps().size(); ++w, thread += isa::warp_size) {
          const isa::Warp& warp = block.warps()[w].warp;
          for (LaneMask m = warp.live & ~warp.blocked; m != 0; m &= m - 1) {
            const int lane = std::countr_zero(m);
            moves.push_back(
                {g,
                 c,
                 b,
                 w,
                 lane,
                 thread + static_cast<std::uint32_t>(lane),
                 together || grid.stepped[c] != 0}
            );
          }
        }
      }
    }
  }
  return moves;
}

Block& System::block_of(const Move& move) {
  return grids_[move.grid].clusters[move.cluster]->block(move.block);
}

Taken System::apply(const Move& move) {
  Block& block = block_of(move);
  isa::Warp& warp = block.warps()[move.warp].warp;
  const isa::Op& op = *warp.pc[slot(move.lane)];
  const ptx::Effect& effect = ptx::effect_of(instruction_at(warp, move.lane));
  const bool executed = executes(warp, move.lane);
  if (executed) {
    if (auto why = refused(instruction_at(warp, move.lane))) {
      Taken nothing;
      nothing.refused = std::move(*why);
      return nothing;
    }
  }
  const bool acts = executed && (op.flags & isa::Visible) != 0;
  const isa::Frame* const frame = warp.frame[slot(move.lane)];
  watch_->begin(warp, effect.is_strong());
  exec_.enter_block(block.exec_block());
  const Stop stop = exec_.step(warp, LaneMask{1} << move.lane);
  Taken taken;
  taken.accesses = watch_->take();
  machine::Cluster& cluster = *grids_[move.grid].clusters[move.cluster];
  if (stop == Stop::Fault || stop == Stop::Unsupported) {
    taken.fault = exec_.fault().text.empty() ? "fault" : exec_.fault().text;
    return taken;
  }
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    if (const auto& found = cluster.block(b).divergence()) {
      taken.fault = found->fault.text;
      return taken;
    }
  }
  const bool ended = (warp.live >> move.lane & 1) == 0;
  if (!ended && warp.frame[slot(move.lane)] != frame &&
      warp.frame[slot(move.lane)]->caller == frame) {
    clear_registers(*warp.frame[slot(move.lane)]);
  }
  const bool makes_step = effect.step == ptx::StepKind::End
                              ? ended
                              : acts && effect.step != ptx::StepKind::None && !watch_->of_local();
  if (makes_step) {
    taken.step = true;
    grids_[move.grid].stepped[move.cluster] = 1;
  }
  return taken;
}

std::vector<std::string> System::blocked() const {
  std::vector<std::string> result;
  for (const Grid& grid : grids_) {
    for (const auto& cluster : grid.clusters) {
      for (std::size_t b = 0; b < cluster->size(); ++b) {
        Block& block = cluster->block(b);
        for (std::size_t w = 0; w < block.warps().size(); ++w) {
          const isa::Warp& warp = block.warps()[w].warp;
          for (LaneMask m = warp.live & warp.blocked; m != 0; m &= m - 1) {
            result.push_back(thread_name(block, w, std::countr_zero(m)));
          }
        }
      }
    }
  }
  return result;
}

std::string System::name_of(const Move& move) const {
  return thread_name(
      grids_[move.grid].clusters[move.cluster]->block(move.block),
      move.warp,
      move.lane
  );
}

const Bytes& System::save() {
  Bytes& bytes = saved_;
  bytes.clear();
  for (const std::span<std::byte> part : memory_) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  for (Grid& grid : grids_) {
    // Whether a cluster that has ended has taken a step is of use to a cooperative grid only.
    for (const std::uint8_t stepped : grid.stepped) {
      bytes.push_back(std::byte{stepped});
    }
    for (const auto& cluster : grid.clusters) {
      for (std::size_t b = 0; b < cluster->size(); ++b) {
        save_block(cluster->block(b), bytes);
      }
    }
  }
  return bytes;
}

void System::load(const Bytes& state) {
  const std::byte* at = state.data();
  for (const std::span<std::byte> part : memory_) {
    std::memcpy(part.data(), at, part.size());
    at += part.size();
  }
  for (Grid& grid : grids_) {
    std::memcpy(grid.stepped.data(), at, grid.stepped.size());
    at += grid.stepped.size();
    for (const auto& cluster : grid.clusters) {
      for (std::size_t b = 0; b < cluster->size(); ++b) {
        at = load_block(cluster->block(b), at);
      }
    }
  }
  HEDDLE_CHECK(at == state.data() + state.size(), "a state of another program");
}

} // namespace heddle::reference
