#include "reduce/states/images.h"

#include "reduce/states/lane.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace heddle::reduce {

using isa::LaneMask;

namespace {

/// One hash for each warp, of its lanes taken together; 0, 0: it has ended. `sum` becomes that of
/// the warps.
std::vector<Hash128> name_warps(Cluster& cluster, std::span<const Hash128> lanes, HashSum& sum) {
  std::vector<Hash128> result;
  sum = {};
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    Block& block = cluster.block(b);
    for (std::size_t w = 0; w < block.warps().size(); ++w) {
      HashSum own;
      for (LaneMask m = block.warps()[w].warp.live; m != 0; m &= m - 1) {
        own.add(
            lanes[result.size() * isa::warp_size + static_cast<std::size_t>(std::countr_zero(m))]
        );
      }
      Hash128 name;
      if (block.warps()[w].warp.live != 0) {
        Hasher hasher;
        hasher.value(own.low);
        hasher.value(own.high);
        hasher.value(block.rules()->shape(w));
        name = hasher.finish();
        sum.add(name);
      }
      result.push_back(name);
    }
  }
  return result;
}

} // namespace

void Images::load(Work& work, std::size_t c) {
  const Image* image = work.images[c];
  if (work.loaded[c] != image) {
    work.loaded[c] = image;
    read_cluster(live_, options_, work, c, *image);
  }
}

const Image* Images::intern(Work& work, std::size_t c, MoveFinder& finder) {
  Cluster& cluster = *work.clusters[c];
  const Work::Progress& progress = work.progress[c];
  const ClusterText text(live_, buffers_, options_, work, c);
  // The content, and who it is where somebody can still ask.
  // What is known of the use of mbarriers is known of threads by their numbers.
  const bool places = renaming_.tells_places_apart(work, text.all) || progress.phases.in_use();
  const std::uint64_t where = renaming_.tells_blocks_apart(text.all) ? std::uint64_t{c} + 1 : 0;
  const Hash128 own = hash_of(buffers_.image.data(), buffers_.image.size());
  auto rest = std::make_unique<ImageRest>();
  // Data may tell which cluster it is of even where nothing else does.
  const std::uint64_t of_cluster = dead_.by_decisions() ? std::uint64_t{c} + 1 : where;
  rest->content = combine(own.low, own.high, of_cluster, std::uint64_t{places}, work.identity);
  const ImageShared& own_shared = *intern_shared(work, c);
  const Hash128 content = ImageStore::content_of(*rest, own_shared, text.sum_of_bytes);
  if (const Image* known = store_.find(content)) {
    return known;
  }
  rest->bytes = buffers_.image;
  rest->hash = text.shared.finish();
  rest->lets_dependents_begin = text.lets_dependents_begin;
  rest->apart = text.apart ? combine(progress.epochs.front()).low | 1 : 0;
  auto image = std::make_unique<Image>();
  image->content = content;
  image->sum_of_bytes = text.sum_of_bytes;
  image->made = progress.made;
  image->ended = text.ended;
  image->joins_are_moves = progress.joins_are_moves;
  image->owner = progress.owner;
  image->places = places;
  image->where = where;
  image->asked_where = renaming_.tells_blocks_apart(text.all_asked) ? where : 0;
  image->rest = store_.intern(std::move(rest));
  image->shared = &own_shared;
  for (std::size_t b = 0; options_.by_warps && b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      cluster.block(b).rules()->save_history(w, image->history);
    }
  }
  const Names names = name(work, text, *image);
  const std::size_t block_threads = work.command->grid->config().block.count();
  const std::size_t last_block = text.threads.size() / cluster.size() * (cluster.size() - 1);
  const std::size_t count = last_block + block_threads;
  const std::vector<Hash128>& movers = options_.by_warps ? names.warps : names.lanes;
  image->threads.resize(options_.by_warps ? names.warps.size() : count);
  for (std::size_t t = 0; t < image->threads.size(); ++t) {
    image->threads[t] =
        renaming_.class_of(work, c, *image, t, movers[t], placed(*image, text.threads[t].identity));
  }
  std::vector<std::size_t> turns(count, MoveFinder::no_turn);
  if (options_.by_warps) {
    finder.find_warp_moves(work, c, *image, names.lanes);
  } else {
    // What mbarriers are in use for concerns several threads.
    image->by_thread = count > 1 && !progress.phases.in_use() && !progress.polls;
    finder.find_moves(work, c, *image, turns);
  }
  image->ready.shrink_to_fit();
  image->parts.resize(count);
  for (std::size_t t = 0; t < count; ++t) {
    if (text.threads[t].live) {
      add_part(work, c, text, names.lanes[t], t, turns[t], *image);
    }
  }
  return store_.add(std::move(image));
}

/// Is a thread called by its place in the cluster?
bool Images::placed(const Image& image, std::uint8_t identity) const {
  return image.places || renaming_.placed(identity);
}

/// What a thread is called.
static Hash128 called(const ClusterText& text, std::size_t t, bool by_place) {
  const ThreadText& thread = text.threads[t];
  const std::uint64_t place = by_place ? std::uint64_t{t} + 1 : 0;
  return combine(thread.state.low, thread.state.high, thread.flags, place);
}

Hash128 Images::unnumbered(const ClusterText& text, const Image& image, std::size_t t) const {
  return name_in_sum(called(text, t, placed(image, text.threads[t].asked)));
}

/// The hash: of the threads taken together, each with what it may still learn about itself.
Images::Names Images::name(const Work& work, const ClusterText& text, Image& image) const {
  Names names;
  names.lanes.resize(text.threads.size());
  std::uint64_t read = 0, written = 0;
  for (std::size_t t = 0; t < text.threads.size(); ++t) {
    const ThreadText& thread = text.threads[t];
    if (!thread.live) {
      continue;
    }
    names.lanes[t] = called(text, t, placed(image, thread.identity));
    image.sum.add(name_in_sum(names.lanes[t]));
    image.unnumbered_sum.add(unnumbered(text, image, t));
    read |= thread.reads_shared;
    written |= thread.writes_shared;
  }
  if (options_.by_warps) {
    names.warps = name_warps(text.cluster(), names.lanes, image.sum);
    image.unnumbered_sum = image.sum; // warps keep their numbers
  }
  image.left_out = dead_.left_out_of_shared(work, read, written);
  renaming_.set_name(work, text.all, DeadData::sum_of(work, *image.shared, image.left_out), image);
  return names;
}

/// `turn`: the number of its move, or no_turn.
void Images::add_part(
    const Work& work,
    std::size_t c,
    const ClusterText& text,
    const Hash128& lane,
    std::size_t t,
    std::size_t turn,
    Image& image
) {
  const std::size_t warps = work.clusters[c]->block(0).warps().size();
  const std::size_t block = t / isa::warp_size / warps, warp = t / isa::warp_size % warps;
  const ThreadText& thread = text.threads[t];
  auto part = std::make_unique<ImageThread>();
  part->bytes.assign(
      buffers_.lane.begin() + static_cast<std::ptrdiff_t>(thread.begin),
      buffers_.lane.begin() + static_cast<std::ptrdiff_t>(thread.end)
  );
  part->summand = thread.summand;
  part->lane = lane;
  part->in_sum = name_in_sum(lane);
  part->unnumbered = unnumbered(text, image, t);
  part->identity = thread.identity;
  part->asked = thread.asked;
  part->reads_shared = thread.reads_shared;
  part->writes_shared = thread.writes_shared;
  part->placed = placed(image, thread.identity);
  const auto& open = work.progress[c].loops[block][warp].open;
  if (t % isa::warp_size < open.size()) {
    part->open = open[t % isa::warp_size];
    image.open_places |= places_of(part->open);
  }
  if (turn != MoveFinder::no_turn) {
    part->can_move = true;
    part->ready = image.ready[turn];
    part->ready.block = static_cast<std::uint32_t>(block);
    part->ready.warp = static_cast<std::uint32_t>(warp);
    part->ready.lane = static_cast<int>(t % isa::warp_size);
    part->ready.who = 0;
    part->ready.count = 1;
  }
  image.parts[t] = store_.intern(std::move(part));
}

const ImageShared* Images::intern_shared(const Work& work, std::size_t c) {
  Cluster& cluster = *work.clusters[c];
  const std::size_t each = cluster.block(0).all_shared().size(), size = each * cluster.size();
  const ImageShared* like = work.loaded[c] != nullptr ? work.loaded[c]->shared : nullptr;
  HashSum sum;
  if (like != nullptr) {
    sum = like->sum;
  } else {
    sum.add(combine(std::uint64_t{size}));
  }
  constexpr std::size_t step = 128; // bytes that are compared at once
  static constexpr std::array<std::byte, step> zeros{};
  bool changed = false;
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    const Block& block = cluster.block(b);
    for (std::size_t at = 0; at < each; at += step) {
      const std::size_t bytes = std::min(step, each - at);
      const std::byte* is = block.ended() ? zeros.data() : block.all_shared().data() + at;
      const std::byte* was = like != nullptr ? like->bytes.data() + b * each + at : zeros.data();
      if (std::memcmp(is, was, bytes) == 0) {
        continue;
      }
      changed = true;
      for (std::size_t word = 0; word < bytes; word += sizeof(std::uint64_t)) {
        std::uint64_t before = 0, after = 0;
        std::memcpy(&before, was + word, sizeof before);
        std::memcpy(&after, is + word, sizeof after);
        if (before != after) {
          const std::uint64_t* name = shared_word(b * each + at + word);
          sum.subtract(MemoryJournal::hash(name, before));
          sum.add(MemoryJournal::hash(name, after));
        }
      }
    }
  }
  if (like != nullptr && !changed) {
    return like;
  }
  return store_.shared(sum, [&] {
    decltype(ImageShared::bytes) bytes(size);
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      if (!cluster.block(b).ended()) {
        std::ranges::copy(
            cluster.block(b).all_shared(),
            bytes.begin() + static_cast<std::ptrdiff_t>(b * each)
        );
      }
    }
    return bytes;
  });
}

const Image* Images::derive(
    const Work& work,
    std::size_t c,
    const Image& before,
    std::size_t thread,
    const LaneOutcome& outcome
) {
  const ImageThread& from = *before.parts[thread];
  const ImageThread* to = outcome.thread;
  HashSum sum_of_bytes = before.sum_of_bytes;
  sum_of_bytes.subtract(from.summand);
  if (to != nullptr) {
    sum_of_bytes.add(to->summand);
  }
  const ImageShared& shared = *store_.written(*before.shared, outcome.shared);
  const Hash128 content = ImageStore::content_of(*outcome.rest, shared, sum_of_bytes);
  if (const Image* known = store_.find(content)) {
    return known;
  }
  auto image = std::make_unique<Image>();
  image->content = content;
  image->rest = outcome.rest;
  image->shared = &shared;
  image->parts = before.parts;
  image->parts[thread] = to;
  image->sum_of_bytes = sum_of_bytes;
  image->sum = before.sum;
  image->sum.subtract(from.in_sum);
  if (to != nullptr) {
    image->sum.add(to->in_sum);
  }
  image->unnumbered_sum = before.unnumbered_sum;
  image->unnumbered_sum.subtract(from.unnumbered);
  if (to != nullptr) {
    image->unnumbered_sum.add(to->unnumbered);
  }
  image->made = before.made;
  image->joins_are_moves = before.joins_are_moves;
  image->owner = before.owner;
  image->places = before.places;
  image->where = before.where;
  image->asked_where = renaming_.asked_where_after(before, thread, to);
  image->by_thread = true;
  for (const ImageThread* part : image->parts) {
    image->open_places |= part != nullptr ? places_of(part->open) : 0;
  }
  std::uint8_t identity = LiveState::Nothing;
  std::uint64_t read = 0, written = 0;
  for (const ImageThread* part : image->parts) {
    identity |= part != nullptr ? part->identity : 0;
    read |= part != nullptr ? part->reads_shared : 0;
    written |= part != nullptr ? part->writes_shared : 0;
  }
  image->left_out = dead_.left_out_of_shared(work, read, written);
  renaming_
      .set_name(work, identity, DeadData::sum_of(work, *image->shared, image->left_out), *image);
  const bool alone = Renaming::is_alone(work, before);
  if (alone) {
    image->threads = before.threads;
  } else {
    image->threads.resize(before.threads.size());
  }
  for (std::size_t t = 0; t < image->parts.size(); ++t) {
    const ImageThread* part = image->parts[t];
    ThreadClass& who = image->threads[t];
    if (!alone || t == thread) {
      who = part != nullptr ? renaming_.class_of(work, c, *image, t, part->lane, part->placed) : 0;
    }
    if (part == nullptr || !part->can_move) {
      continue;
    }
    if (renaming_.symmetry() && !part->placed) {
      const auto like = std::ranges::find(image->ready, who, &Image::Ready::who);
      if (like != image->ready.end()) {
        ++like->count;
        continue;
      }
    }
    image->ready.push_back(part->ready);
    image->ready.back().who = who;
  }
  return store_.add(std::move(image));
}

} // namespace heddle::reduce
