// Images of clusters: writing down what a cluster's future depends on, going back to it, and what
// it is called: its hash, the moves in it and the classes of its threads.
#include "base/check.h"
#include "model/image_bytes.h"
#include "reduce/stepper_work.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace heddle::reduce {

using isa::Frame;
using isa::LaneMask;

namespace {

LaneMask bit(int lane) {
  return LaneMask{1} << lane;
}
std::size_t slot(int lane) {
  return static_cast<std::size_t>(lane);
}

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

} // namespace

/// Who can make no more owned accesses need not be told apart by those that it has made.
void Stepper::forget_owners(Work& work, std::size_t c) {
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
        may_be |= (identity_of(live_, warp, lane) & LiveState::Owns) != 0 ? bit(lane) : 0;
      }
      progress.loops[b][w].owners &= may_be;
      some_may_be = some_may_be || may_be != 0;
    }
  }
  progress.owner = progress.owner && some_may_be;
}

/// May a thread of the cluster still ask which block it is in, or which lane it is?
bool Stepper::tells_blocks_apart(std::uint8_t identity) const {
  return !options_.symmetry ||
         ((identity & LiveState::Block) != 0 && !mutant_is(Mutant::SymmetryForgetsBlocks));
}
bool Stepper::tells_places_apart(const Work& work, std::uint8_t identity) const {
  return !options_.symmetry || (identity & LiveState::Place) != 0 ||
         work.clusters.front()->size() > 1;
}

/// Writes the cluster into scratch_.image and finds its image, or makes one.
const Image* Stepper::intern(Work& work, std::size_t c) {
  forget_owners(work, c);
  Cluster& cluster = *work.clusters[c];
  const Work::Progress& progress = work.progress[c];
  ImageWriter writer(scratch_.image); // of what belongs to no thread
  ImageWriter lane_writer(scratch_.lane);
  ImageWriter decisive_writer(scratch_.decisive); // one lane
  ImageWriter* const decisive = options_.by_decisions ? &decisive_writer : nullptr;

  struct Slot {
    bool live = false;
    std::uint8_t identity = LiveState::Nothing; // that something may be decided by
    std::uint8_t asked = LiveState::Nothing;    // the same without what it keeps ([RED-OWNED])
    std::size_t begin = 0, end = 0;             // in scratch_.lane
    std::uint64_t flags = 0;                    // what its warp knows of it
    Hash128 state;                              // by which something may be decided
    Hash128 summand;
    std::uint64_t reads_shared = 0, writes_shared = 0; // as in LiveState::At
  };
  std::vector<Slot> threads;
  std::uint8_t all = LiveState::Nothing; // what some thread may learn about itself, or keeps
  std::uint8_t all_asked = LiveState::Nothing;
  Hasher shared; // of everything that belongs to no thread
  Work::Progress::each_member(progress, [&](const auto& member) {
    writer.put(member);
    shared.value(member);
  });
  bool ended = true;
  bool lets_dependents_begin = true;
  bool apart = cluster.size() == 1 && !progress.joins_are_moves && !progress.polls &&
               !progress.phases.in_use();
  HashSum sum_of_bytes;
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    Block& block = cluster.block(b);
    const Block::Own own = block.own();
    const std::size_t begin = writer.size();
    writer.put(own.live);
    ended = ended && block.ended();
    lets_dependents_begin = lets_dependents_begin && block.lets_dependents_begin();
    if (!block.ended()) {
      writer.put(own.launched_dependents);
      writer.put(own.grids_before_over);
      for (std::uint8_t i = 0; i < own.barriers.size(); ++i) {
        const Block::Barrier& barrier = own.barriers[i];
        writer.put(barrier.in_use);
        apart = apart && !barrier.in_use;
        if (barrier.in_use) {
          each_part(barrier, [&](const void* part, std::size_t bytes) { writer.raw(part, bytes); });
        }
      }
      BarrierTurns::each_member(progress.turns[b], [&](const auto& part) { writer.put(part); });
    }
    const bool turns = !block.ended() && progress.turns[b].in_use();
    apart = apart && !turns;
    shared.bytes(scratch_.image.data() + begin, writer.size() - begin);
    for (std::size_t w = 0; w < block.warps().size(); ++w) {
      forget_unread(live_, block.warps()[w]);
      const Block::WarpState& state = block.warps()[w];
      const isa::Warp& warp = state.warp;
      const Work::Progress::Loops& loops = progress.loops[b][w];
      const auto masks = masks_of(state, loops);
      for (const LaneMask* mask : masks) {
        writer.put(*mask);
      }
      if (turns) {
        const std::span<const BarrierTurns::Bits> known = progress.turns[b].of_warp(w);
        writer.raw(known.data(), known.size_bytes());
      }
      apart = apart && (warp.live & (warp.blocked | state.arrived | state.cluster_arrived)) == 0;
      const std::size_t collective = writer.size();
      each_arrival(state, [&](const auto& part) { writer.put(part); });
      const auto words =
          static_cast<std::uint32_t>(state.arrived != 0 ? state.exchange.words.size() : 0);
      writer.put(words);
      writer.raw(state.exchange.words.data(), words * sizeof(std::uint32_t));
      writer.put(static_cast<std::uint32_t>(state.warpgroup_ahead.size()));
      for (const Block::WarpState::WarpgroupOp& ahead : state.warpgroup_ahead) {
        writer.put(live_.at(*ahead.code, *ahead.op).name);
        writer.put(ahead.operands);
        const std::size_t bytes = ahead.read == nullptr ? 0 : ahead.read->size();
        writer.put(static_cast<std::uint32_t>(bytes));
        if (bytes != 0) {
          writer.raw(ahead.read->data(), bytes);
        }
      }
      shared.bytes(scratch_.image.data() + collective, writer.size() - collective);
      for (int lane = 0; lane < isa::warp_size; ++lane) {
        Slot& thread = threads.emplace_back();
        if ((warp.live >> lane & 1) == 0) {
          continue;
        }
        thread.live = true;
        for (const LaneMask* mask : masks) {
          thread.flags = thread.flags << 1 | (*mask >> lane & 1);
        }
        thread.begin = lane_writer.size();
        scratch_.decisive.clear();
        const ImageWriter::Asks asks = lane_writer.lane(live_, warp, lane, loops, decisive);
        thread.identity = thread.asked = asks.asked;
        all_asked |= asks.asked;
        thread.reads_shared = asks.reads_shared;
        thread.writes_shared = asks.writes_shared;
        if (slot(lane) < loops.open.size()) {
          const OpenAccesses& open = loops.open[slot(lane)];
          lane_writer.raw(open.data(), open.size() * sizeof(OpenAccess));
          if (decisive != nullptr) {
            decisive->raw(open.data(), open.size() * sizeof(OpenAccess));
          }
        }
        thread.end = lane_writer.size();
        if ((loops.owners & bit(lane)) != 0) {
          thread.identity |= LiveState::Thread;
        }
        if (progress.owner) {
          thread.identity |= LiveState::Block;
        }
        all |= thread.identity;
        if (turns) {
          thread.flags =
              combine(thread.flags, std::uint64_t{progress.turns[b].of_warp(w)[slot(lane)]}).low;
        }
        if (by_warps()) {
          thread.flags = combine(thread.flags, block.rules()->place(w, lane)).low;
        }
        const Hash128 all_of_it =
            hash_of(scratch_.lane.data() + thread.begin, thread.end - thread.begin);
        thread.state = decisive != nullptr
                           ? hash_of(scratch_.decisive.data(), scratch_.decisive.size())
                           : all_of_it;
        thread.summand = combine(all_of_it.low, all_of_it.high, std::uint64_t{threads.size()});
        sum_of_bytes.add(thread.summand);
      }
      if (by_warps()) {
        block.rules()->save(w, writer.bytes());
      }
    }
  }

  if (!ended && options_.phases) {
    const std::size_t begin = writer.size();
    progress.phases.save(writer.bytes());
    shared.bytes(scratch_.image.data() + begin, writer.size() - begin);
  }

  // The content, and who it is where somebody can still ask.
  // What is known of the use of mbarriers is known of threads by their numbers.
  const bool places = tells_places_apart(work, all) || progress.phases.in_use();
  const std::uint64_t where = tells_blocks_apart(all) ? std::uint64_t{c} + 1 : 0;
  const Hash128 own = hash_of(scratch_.image.data(), scratch_.image.size());
  auto rest = std::make_unique<ImageRest>();
  // Data may tell which cluster it is of even where nothing else does.
  const std::uint64_t of_cluster = options_.by_decisions ? std::uint64_t{c} + 1 : where;
  rest->content = combine(own.low, own.high, of_cluster, std::uint64_t{places}, work.identity);
  const ImageShared& own_shared = *intern_shared(work, c);
  const Hash128 content = ImageStore::content_of(*rest, own_shared, sum_of_bytes);
  if (const Image* known = images_.find(content)) {
    return known;
  }
  rest->bytes = scratch_.image;
  rest->hash = shared.finish();
  rest->lets_dependents_begin = lets_dependents_begin;
  rest->apart = apart ? combine(progress.epochs.front()).low | 1 : 0;
  auto image = std::make_unique<Image>();
  image->content = content;
  image->sum_of_bytes = sum_of_bytes;
  image->made = progress.made;
  image->ended = ended;
  image->joins_are_moves = progress.joins_are_moves;
  image->owner = progress.owner;
  image->places = places;
  image->where = where;
  image->asked_where = tells_blocks_apart(all_asked) ? where : 0;
  image->rest = images_.intern(std::move(rest));
  image->shared = &own_shared;
  for (std::size_t b = 0; by_warps() && b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      cluster.block(b).rules()->save_history(w, image->history);
    }
  }

  // The hash: of the threads taken together, each with what it may still learn about itself.
  const auto placed_by = [&](std::uint8_t identity) {
    return places || ((identity & (LiveState::Thread | LiveState::Place)) != 0 &&
                      !mutant_is(Mutant::SymmetryForgetsPlaces));
  };
  const auto placed = [&](const Slot& thread) { return placed_by(thread.identity); };
  const auto called = [&](std::size_t t, bool by_place) {
    const Slot& thread = threads[t];
    const std::uint64_t place = by_place ? std::uint64_t{t} + 1 : 0;
    return combine(thread.state.low, thread.state.high, thread.flags, place);
  };
  const auto unnumbered = [&](std::size_t t) {
    return name_in_sum(called(t, placed_by(threads[t].asked)));
  };
  std::vector<Hash128> lanes(threads.size());
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const Slot& thread = threads[t];
    if (!thread.live) {
      continue;
    }
    lanes[t] = called(t, placed(thread));
    image->sum.add(name_in_sum(lanes[t]));
    image->unnumbered_sum.add(unnumbered(t));
  }
  const std::vector<Hash128> warps =
      by_warps() ? name_warps(cluster, lanes, image->sum) : std::vector<Hash128>();
  if (by_warps()) {
    image->unnumbered_sum = image->sum; // warps keep their numbers
  }
  std::uint64_t read = 0, written = 0;
  for (const Slot& thread : threads) {
    read |= thread.live ? thread.reads_shared : 0;
    written |= thread.live ? thread.writes_shared : 0;
  }
  image->left_out = left_out_of_shared(work, read, written);
  set_hash(work, all, *image);
  const std::size_t block_threads = work.command->grid->config().block.count();
  const std::size_t last_block = threads.size() / cluster.size() * (cluster.size() - 1);
  const std::size_t count = last_block + block_threads;
  const std::vector<Hash128>& movers = by_warps() ? warps : lanes;
  image->threads.resize(by_warps() ? warps.size() : count);
  for (std::size_t t = 0; t < image->threads.size(); ++t) {
    image->threads[t] = class_of(work, c, *image, t, movers[t], placed(threads[t]));
  }
  std::vector<std::size_t> turns(count, no_turn);
  if (by_warps()) {
    find_warp_moves(work, c, *image, lanes);
  } else {
    // What mbarriers are in use for concerns several threads.
    image->by_thread = count > 1 && !progress.phases.in_use() && !progress.polls;
    find_moves(work, c, *image, turns);
  }
  image->ready.shrink_to_fit();
  image->parts.resize(count);
  for (std::size_t t = 0; t < count; ++t) {
    const Slot& thread = threads[t];
    if (!thread.live) {
      continue;
    }
    auto part = std::make_unique<ImageThread>();
    part->bytes.assign(
        scratch_.lane.begin() + static_cast<std::ptrdiff_t>(thread.begin),
        scratch_.lane.begin() + static_cast<std::ptrdiff_t>(thread.end)
    );
    part->summand = thread.summand;
    part->lane = lanes[t];
    part->in_sum = name_in_sum(lanes[t]);
    part->unnumbered = unnumbered(t);
    part->identity = thread.identity;
    part->asked = thread.asked;
    part->reads_shared = thread.reads_shared;
    part->writes_shared = thread.writes_shared;
    part->placed = placed(thread);
    const auto& open = progress
                           .loops[t / isa::warp_size / cluster.block(0).warps().size()]
                                 [t / isa::warp_size % cluster.block(0).warps().size()]
                           .open;
    if (t % isa::warp_size < open.size()) {
      part->open = open[t % isa::warp_size];
      image->open_places |= places_of(part->open);
    }
    if (turns[t] != no_turn) {
      part->can_move = true;
      part->ready = image->ready[turns[t]];
      part->ready.block =
          static_cast<std::uint32_t>(t / isa::warp_size / cluster.block(0).warps().size());
      part->ready.warp =
          static_cast<std::uint32_t>(t / isa::warp_size % cluster.block(0).warps().size());
      part->ready.lane = static_cast<int>(t % isa::warp_size);
      part->ready.who = 0;
      part->ready.count = 1;
    }
    image->parts[t] = images_.intern(std::move(part));
  }
  return images_.add(std::move(image));
}

/// The journal takes over what the cluster has written, except what is in its image.
void Stepper::absorb_writes(Work& work, std::size_t c) {
  std::vector<MemoryJournal::Bytes> own;
  Cluster& cluster = *work.clusters[c];
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    const Block& block = cluster.block(b);
    const std::uint64_t size = block.all_shared().size();
    own.push_back({block.all_shared().data(), size, shared_word(b * size)});
    own.push_back({block.local().data(), block.local().size(), nullptr});
  }
  // Where blocks start at once it matters whether a choice meets a command.
  if (options_.sums || options_.orderly || options_.starts_at_once) {
    seen_.choice = access_monitor_.note(work, c, own) || seen_.choice;
  }
  journal_.absorb(own);
}

void Stepper::capture(std::size_t n, std::size_t c) {
  Work& work = *works_[n];
  absorb_writes(work, c);
  note_ends(work, c);
  if (weak_) {
    note_weak_ends(work, c);
  }
  const Image* image = intern(work, c);
  work.loaded[c] = image;
  replace_image(n, c, image);
}

void Stepper::replace_image(std::size_t n, std::size_t c, const Image* image) {
  Work& work = *works_[n];
  if (const Image* before = work.images[c]; image != before) {
    log_.push_back(
        {Log::Kind::Image, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(c), before}
    );
    set_image(work, c, image);
  }
}

void Stepper::set_image(Work& work, std::size_t c, const Image* image) {
  if (work.images[c] != nullptr) {
    work.sum.subtract(work.images[c]->hash);
    work.unnumbered.subtract(work.images[c]->unnumbered);
    work.open_places.subtract(work.images[c]->open_places);
  }
  if (image != nullptr) {
    work.sum.add(image->hash);
    work.unnumbered.add(image->unnumbered);
    work.open_places.add(image->open_places);
  }
  work.images[c] = image;
}

/// Lets the cluster's threads stand where the image says.
void Stepper::load(Work& work, std::size_t c) {
  const Image* image = work.images[c];
  if (work.loaded[c] == image) {
    return;
  }
  work.loaded[c] = image;
  Cluster& cluster = *work.clusters[c];
  Work::Progress& progress = work.progress[c];
  ImageReader reader(image->rest->bytes);
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
      const std::byte* shared = image->shared->bytes.data() + b * block.all_shared().size();
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
    const bool turns = !block.ended() && progress.turns[b].in_use();
    for (std::size_t w = 0; w < block.warps().size(); ++w, first += isa::warp_size) {
      Block::WarpState& state = block.warps()[w];
      isa::Warp& warp = state.warp;
      Work::Progress::Loops& loops = progress.loops[b][w];
      warp.reset();
      for (LaneMask* mask : masks_of(state, loops)) {
        reader.get(*mask);
      }
      if (turns) {
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
        const LiveState::At& at = live_.named(reader.get<std::uint64_t>());
        ahead.op = at.op;
        ahead.code = at.code;
        reader.get(ahead.operands);
        Block::Bytes bytes(reader.get<std::uint32_t>());
        if (!bytes.empty()) {
          reader.raw(bytes.data(), bytes.size());
        }
        ahead.read =
            bytes.empty() ? nullptr : std::make_shared<const Block::Bytes>(std::move(bytes));
      }
      reader.next_warp();
      loops.open.clear();
      for (LaneMask m = warp.live; m != 0; m &= m - 1) {
        const int lane = std::countr_zero(m);
        const std::vector<std::byte>& bytes = image->parts[first + slot(lane)]->bytes;
        reader.lane(live_, warp, lane, loops, bytes);
        if (const OpenAccesses& open = image->parts[first + slot(lane)]->open; !open.empty()) {
          loops.open.resize(isa::warp_size);
          loops.open[slot(lane)] = open;
        }
        state.collective_op[slot(lane)] = warp.pc[slot(lane)] - 1; // if it waits at one
      }
      if (by_warps()) {
        reader.position() = block.rules()->load(w, reader.position());
      }
    }
  }
  progress.phases.start(threads_of(cluster));
  if (!image->ended && options_.phases) {
    reader.position() = progress.phases.load(reader.position(), threads_of(cluster));
  }
  reader.go_on_in(image->history);
  for (std::size_t b = 0; by_warps() && b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      reader.position() = cluster.block(b).rules()->load_history(w, reader.position());
    }
  }
}

} // namespace heddle::reduce
