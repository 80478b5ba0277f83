#include "reduce/states/cluster_text.h"

#include "reduce/states/lane.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace heddle::reduce {

using isa::Frame;
using isa::LaneMask;

namespace {

// What an image holds of a barrier and of a warp, in its order: one list for writing and reading.

template <class Barrier, class F> void each_part(Barrier& barrier, F&& f) {
  f(&barrier.expected, sizeof barrier.expected);
  f(&barrier.arrivals, sizeof barrier.arrivals);
  f(&barrier.popc, sizeof barrier.popc);
  f(&barrier.all, sizeof barrier.all);
  f(&barrier.any, sizeof barrier.any);
  f(barrier.waiting.data(), barrier.waiting.size() * sizeof(LaneMask));
  f(barrier.arrived.data(), barrier.arrived.size() * sizeof(LaneMask));
}

template <class WarpState, class Loops> auto masks_of(WarpState& state, Loops& loops) {
  return std::array{
      &state.warp.live,
      &state.warp.blocked,
      &state.arrived,
      &state.red_popc,
      &state.red_and,
      &state.red_or,
      &state.cluster_arrived,
      &state.cluster_waiting,
      &state.cluster_passed,
      &state.grid_waiting,
      &loops.endless,
      &loops.stepping,
      &loops.local,
      &loops.sleeping,
      &loops.plain,
      &loops.owners
  };
}

/// Of lanes that have arrived at a collective.
template <class WarpState, class F> void each_arrival(WarpState& state, F&& f) {
  for (LaneMask m = state.arrived; m != 0; m &= m - 1) {
    const std::size_t lane = slot(std::countr_zero(m));
    f(state.membermask[lane]);
    f(state.collective[lane].kind);
    f(state.collective[lane].contribute);
    f(state.collective[lane].conclude);
    f(state.exchange.value[lane]);
  }
}

/// What lanes that have arrived at a shfl hand over to nobody is forgotten.
void forget_unread(LiveState& live, Block::WarpState& state) {
  for (LaneMask m = state.arrived; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (state.collective[slot(lane)].kind == isa::CollectiveKind::Shfl) {
      const Frame& frame = *state.warp.frame[slot(lane)];
      const LiveState::At& at = live.at(*frame.code, *state.collective_op[slot(lane)]);
      state.exchange.value[slot(lane)] *= at.handed_over >> lane & 1;
    }
  }
}

/// Who can make no more owned accesses need not be told apart by those that it has made.
void forget_owners(LiveState& live, Work& work, std::size_t c) {
  Cluster& cluster = *work.clusters[c];
  Work::Progress& progress = work.progress[c];
  bool some_owner = progress.owner, some_may_be = false;
  for (const auto& block : progress.loops) {
    some_owner =
        some_owner || std::ranges::any_of(block, [](const auto& w) { return w.owners != 0; });
  }
  for (std::size_t b = 0; some_owner && b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      const isa::Warp& warp = cluster.block(b).warps()[w].warp;
      LaneMask may_be = 0;
      for (LaneMask m = warp.live; m != 0; m &= m - 1) {
        const int lane = std::countr_zero(m);
        may_be |= (identity_of(live, warp, lane) & LiveState::Owns) != 0 ? bit(lane) : 0;
      }
      progress.loops[b][w].owners &= may_be;
      some_may_be = some_may_be || may_be != 0;
    }
  }
  progress.owner = progress.owner && some_may_be;
}

} // namespace

ClusterText::ClusterText(
    LiveState& live,
    TextBuffers& buffers,
    const TextOptions& options,
    Work& work,
    std::size_t cluster
)
    : live_(live),
      buffers_(buffers),
      options_(options),
      cluster_(*work.clusters[cluster]),
      progress_(work.progress[cluster]),
      writer_(buffers.image),
      lane_writer_(buffers.lane),
      decisive_writer_(buffers.decisive) {
  forget_owners(live, work, cluster);
  Work::Progress::each_member(progress_, [&](const auto& member) {
    writer_.put(member);
    shared.value(member);
  });
  apart = cluster_.size() == 1 && !progress_.joins_are_moves && !progress_.polls &&
          !progress_.phases.in_use();
  for (std::size_t b = 0; b < cluster_.size(); ++b) {
    write_block(b);
  }
  if (!ended && options_.phases) {
    const std::size_t begin = writer_.size();
    progress_.phases.save(writer_.bytes());
    shared.bytes(buffers_.image.data() + begin, writer_.size() - begin);
  }
}

void ClusterText::write_block(std::size_t b) {
  Block& block = cluster_.block(b);
  const Block::Own own = block.own();
  const std::size_t begin = writer_.size();
  writer_.put(own.live);
  ended = ended && block.ended();
  lets_dependents_begin = lets_dependents_begin && block.lets_dependents_begin();
  if (!block.ended()) {
    writer_.put(own.launched_dependents);
    writer_.put(own.grids_before_over);
    for (std::uint8_t i = 0; i < own.barriers.size(); ++i) {
      const Block::Barrier& barrier = own.barriers[i];
      writer_.put(barrier.in_use);
      apart = apart && !barrier.in_use;
      if (barrier.in_use) {
        each_part(barrier, [&](const void* part, std::size_t bytes) { writer_.raw(part, bytes); });
      }
    }
    BarrierTurns::each_member(progress_.turns[b], [&](const auto& part) { writer_.put(part); });
  }
  const bool turns = !block.ended() && progress_.turns[b].in_use();
  apart = apart && !turns;
  shared.bytes(buffers_.image.data() + begin, writer_.size() - begin);
  for (std::size_t w = 0; w < block.warps().size(); ++w) {
    forget_unread(live_, block.warps()[w]);
    write_warp(b, w, turns);
    for (int lane = 0; lane < isa::warp_size; ++lane) {
      threads.emplace_back();
      if ((block.warps()[w].warp.live >> lane & 1) != 0) {
        write_lane(b, w, lane, turns);
      }
    }
    if (options_.by_warps) {
      block.rules()->save(w, writer_.bytes());
    }
  }
}

void ClusterText::write_warp(std::size_t b, std::size_t w, bool turns) {
  const Block& block = cluster_.block(b);
  const Block::WarpState& state = block.warps()[w];
  const isa::Warp& warp = state.warp;
  const Work::Progress::Loops& loops = progress_.loops[b][w];
  const auto masks = masks_of(state, loops);
  for (const LaneMask* mask : masks) {
    writer_.put(*mask);
  }
  if (turns) {
    const std::span<const BarrierTurns::Bits> known = progress_.turns[b].of_warp(w);
    writer_.raw(known.data(), known.size_bytes());
  }
  apart = apart && (warp.live & (warp.blocked | state.arrived | state.cluster_arrived)) == 0;
  const std::size_t collective = writer_.size();
  each_arrival(state, [&](const auto& part) { writer_.put(part); });
  const auto words =
      static_cast<std::uint32_t>(state.arrived != 0 ? state.exchange.words.size() : 0);
  writer_.put(words);
  writer_.raw(state.exchange.words.data(), words * sizeof(std::uint32_t));
  writer_.put(static_cast<std::uint32_t>(state.warpgroup_ahead.size()));
  for (const Block::WarpState::WarpgroupOp& ahead : state.warpgroup_ahead) {
    writer_.put(live_.at(*ahead.code, *ahead.op).name);
    writer_.put(ahead.operands);
    const std::size_t bytes = ahead.read == nullptr ? 0 : ahead.read->size();
    writer_.put(static_cast<std::uint32_t>(bytes));
    if (bytes != 0) {
      writer_.raw(ahead.read->data(), bytes);
    }
  }
  shared.bytes(buffers_.image.data() + collective, writer_.size() - collective);
}

void ClusterText::write_lane(std::size_t b, std::size_t w, int lane, bool turns) {
  Block& block = cluster_.block(b);
  const Block::WarpState& state = block.warps()[w];
  const isa::Warp& warp = state.warp;
  const Work::Progress::Loops& loops = progress_.loops[b][w];
  ThreadText& thread = threads.back();
  thread.live = true;
  for (const LaneMask* mask : masks_of(state, loops)) {
    thread.flags = thread.flags << 1 | (*mask >> lane & 1);
  }
  thread.begin = lane_writer_.size();
  buffers_.decisive.clear();
  const ImageWriter::Asks asks =
      lane_writer_
          .lane(live_, warp, lane, loops, options_.by_decisions ? &decisive_writer_ : nullptr);
  thread.identity = thread.asked = asks.asked;
  all_asked |= asks.asked;
  thread.reads_shared = asks.reads_shared;
  thread.writes_shared = asks.writes_shared;
  if (slot(lane) < loops.open.size()) {
    const OpenAccesses& open = loops.open[slot(lane)];
    lane_writer_.raw(open.data(), open.size() * sizeof(OpenAccess));
    if (options_.by_decisions) {
      decisive_writer_.raw(open.data(), open.size() * sizeof(OpenAccess));
    }
  }
  thread.end = lane_writer_.size();
  if ((loops.owners & bit(lane)) != 0) {
    thread.identity |= LiveState::Thread;
  }
  if (progress_.owner) {
    thread.identity |= LiveState::Block;
  }
  all |= thread.identity;
  if (turns) {
    thread.flags =
        combine(thread.flags, std::uint64_t{progress_.turns[b].of_warp(w)[slot(lane)]}).low;
  }
  if (options_.by_warps) {
    thread.flags = combine(thread.flags, block.rules()->place(w, lane)).low;
  }
  const Hash128 all_of_it = hash_of(buffers_.lane.data() + thread.begin, thread.end - thread.begin);
  thread.state = options_.by_decisions ? hash_of(buffers_.decisive.data(), buffers_.decisive.size())
                                       : all_of_it;
  thread.summand = combine(all_of_it.low, all_of_it.high, std::uint64_t{threads.size()});
  sum_of_bytes.add(thread.summand);
}

namespace {

/// `first`: the number of its first thread in the cluster.
void read_warp(
    LiveState& live,
    Block& block,
    Work::Progress& progress,
    std::size_t b,
    std::size_t w,
    const std::vector<const ImageThread*>& parts,
    std::size_t first,
    ImageReader& reader
) {
  Block::WarpState& state = block.warps()[w];
  isa::Warp& warp = state.warp;
  Work::Progress::Loops& loops = progress.loops[b][w];
  warp.reset();
  for (LaneMask* mask : masks_of(state, loops)) {
    reader.get(*mask);
  }
  if (!block.ended() && progress.turns[b].in_use()) {
    const std::span<BarrierTurns::Bits> known = progress.turns[b].of_warp(w);
    reader.raw(known.data(), known.size_bytes());
  }
  each_arrival(state, [&](auto& part) { reader.get(part); });
  const auto words = reader.get<std::uint32_t>();
  if (words != 0) {
    state.exchange.words.resize(words);
    reader.raw(state.exchange.words.data(), words * sizeof(std::uint32_t));
  }
  state.passed.clear();
  state.warpgroup_ahead.resize(reader.get<std::uint32_t>());
  for (Block::WarpState::WarpgroupOp& ahead : state.warpgroup_ahead) {
    const LiveState::At& at = live.named(reader.get<std::uint64_t>());
    ahead.op = at.op;
    ahead.code = at.code;
    reader.get(ahead.operands);
    Block::Bytes bytes(reader.get<std::uint32_t>());
    if (!bytes.empty()) {
      reader.raw(bytes.data(), bytes.size());
    }
    ahead.read = bytes.empty() ? nullptr : std::make_shared<const Block::Bytes>(std::move(bytes));
  }
  reader.next_warp();
  loops.open.clear();
  for (LaneMask m = warp.live; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::vector<std::byte>& bytes = parts[first + slot(lane)]->bytes;
    reader.lane(live, warp, lane, loops, bytes);
    if (const OpenAccesses& open = parts[first + slot(lane)]->open; !open.empty()) {
      loops.open.resize(isa::warp_size);
      loops.open[slot(lane)] = open;
    }
    state.collective_op[slot(lane)] = warp.pc[slot(lane)] - 1; // if it waits at one
  }
}

} // namespace

void read_cluster(
    LiveState& live,
    const TextOptions& options,
    Work& work,
    std::size_t c,
    const Image& image
) {
  Cluster& cluster = *work.clusters[c];
  Work::Progress& progress = work.progress[c];
  ImageReader reader(image.rest->bytes);
  Work::Progress::each_member(progress, [&](auto& member) { reader.get(member); });
  std::size_t first = 0; // thread of the warp
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    Block& block = cluster.block(b);
    const Block::Own own = block.own();
    block.divergence().reset();
    reader.get(own.live);
    if (!block.ended()) {
      reader.get(own.launched_dependents);
      reader.get(own.grids_before_over);
      const std::byte* shared = image.shared->bytes.data() + b * block.all_shared().size();
      std::memcpy(block.all_shared().data(), shared, block.all_shared().size());
      for (Block::Barrier& barrier : own.barriers) {
        reader.get(barrier.in_use);
        if (barrier.in_use) {
          each_part(barrier, [&](void* part, std::size_t bytes) { reader.raw(part, bytes); });
        } else {
          barrier.expected = barrier.arrivals = barrier.popc = 0;
          barrier.all = true;
          barrier.any = false;
          std::ranges::fill(barrier.waiting, 0);
          std::ranges::fill(barrier.arrived, 0);
        }
      }
      if (progress.turns[b].in_use()) {
        progress.turns[b].start(block.warps().size());
      }
      BarrierTurns::each_member(progress.turns[b], [&](auto& part) { reader.get(part); });
    }
    for (std::size_t w = 0; w < block.warps().size(); ++w, first += isa::warp_size) {
      read_warp(live, block, progress, b, w, image.parts, first, reader);
      if (options.by_warps) {
        reader.position() = block.rules()->load(w, reader.position());
      }
    }
  }
  progress.phases.start(threads_of(cluster));
  if (!image.ended && options.phases) {
    reader.position() = progress.phases.load(reader.position(), threads_of(cluster));
  }
  reader.go_on_in(image.history);
  for (std::size_t b = 0; options.by_warps && b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      reader.position() = cluster.block(b).rules()->load_history(w, reader.position());
    }
  }
}

} // namespace heddle::reduce
