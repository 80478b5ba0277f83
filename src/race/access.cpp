// Implements block.h: what single instructions access, and whether it races.
//
// A store is looked at before it is carried out, so that the value it replaces can be compared;
// everything else afterwards, when its outcome is known.
#include "isa/matrix_memory.h"
#include "isa/ops_address.h"
#include "isa/region.h"
#include "isa/stored_value.h"
#include "memory/access_value.h"
#include "race/block.h"
#include "race/texels.h"

#include <bit>

namespace heddle::race {

using isa::LaneMask;
using memory::AccessValue;

namespace {

const isa::Op* yield(isa::Exec& exec, const isa::Op* next) {
  constexpr std::uint32_t all_fuel = 1U << 30;
  exec.spend(all_fuel);
  return exec.stop_at(isa::Stop::Yield, next);
}

} // namespace

const isa::Op* BlockRaces::execute(isa::Exec& exec, const isa::Op& op) {
  auto& block = static_cast<machine::Block&>(exec.environment());
  auto& races = races_in(block);
  return races.run(exec, op, races.races_.site(op.target));
}

const isa::Op* BlockRaces::run(isa::Exec& exec, const isa::Op& op, const Site& site) {
  const std::size_t w = block_.index_of(exec.warp());
  const LaneMask lanes = exec.mask();
  exec_ = &exec;
  op_ = &op;
  site_ = &site;
  lanes_ = lanes;
  const bool weak = (site.flags & Strong) == 0 && !site.tells_bytes;
  changes_ += weak && (site.kind == SiteKind::Load || site.kind == SiteKind::Store) ? 0 : 1;
  switch (site.kind) {
  case SiteKind::Load:
  case SiteKind::Store:
  case SiteKind::Update:
  case SiteKind::BulkStoreZeros:
    return run_access(exec, op, site, w);
  case SiteKind::Fence:
    run_fence(site, op.target, w, lanes);
    return site.handler(exec, op);
  case SiteKind::WarpBarrier: {
    // Lanes that meet at once; the others are told by the machine when they have met.
    const isa::Op* next = site.handler(exec, op);
    if (next == &op + 1 && exec.mask() == lanes) {
      warp_synced(w, lanes);
    }
    return next;
  }
  case SiteKind::BarrierInit:
  case SiteKind::BarrierArrive:
  case SiteKind::BarrierTest:
  case SiteKind::BytesArrive:
  case SiteKind::CopyArrive:
    return run_mbarrier(exec, op, site, w);
  case SiteKind::Copy:
  case SiteKind::CopyCommit:
  case SiteKind::CopyWait:
    return run_copy(exec, op, site, w);
  case SiteKind::BulkCopy:
  case SiteKind::BulkMulticast:
  case SiteKind::BulkUpdate:
  case SiteKind::BulkCommit:
  case SiteKind::BulkWait:
    return run_bulk(exec, op, site, w);
  case SiteKind::TensorLoad:
  case SiteKind::TensorStore:
    return run_tensor(exec, op, site, w);
  case SiteKind::Matrix:
    return run_matrix(exec, op, site, w);
  case SiteKind::Texels: {
    const Texels texels(exec, op, site.handler, w * isa::warp_size);
    for (const auto& [index, address, bytes] : texels.accesses) {
      touch(place(address, false), bytes, access_of(site, op.target, index), index);
    }
    return texels.next;
  }
  case SiteKind::Product:
  case SiteKind::ProductCommit:
  case SiteKind::ProductWait:
    return run_product(exec, op, site, w);
  }
  return site.handler(exec, op);
}

// --- Places ------------------------------------------------------------------------------------

BlockRaces::Place BlockRaces::place(std::uint64_t address, bool shared) {
  if (!shared) {
    if (!isa::in_window(address)) {
      return {&races_.global(), address, nullptr};
    }
    if (address - memory::shared_window >= memory::window_size) {
      return {};
    }
    address -= memory::shared_window;
  }
  address &= 0xffff'ffffU;
  const std::uint64_t rank = address >> memory::shared_rank_shift;
  address &= (std::uint64_t{1} << memory::shared_rank_shift) - 1;
  BlockRaces* owner = this;
  if (rank != 0 && rank - 1 != block_.rank()) {
    if (rank - 1 >= block_.cluster().size()) {
      return {};
    }
    owner = &races_in(block_.cluster().block(rank - 1));
  }
  return {&owner->shared_, address, owner};
}

void BlockRaces::addresses(
    isa::Exec& exec,
    const isa::Op& op,
    const Site& site,
    std::uint64_t (&to)[32]
) const {
  if (site.shared) {
    isa::addresses<isa::Space::Shared>(exec, op, to);
  } else {
    isa::addresses<isa::Space::Generic>(exec, op, to);
  }
}

// --- Accesses ----------------------------------------------------------------------------------

Access BlockRaces::access_of(const Site& site, std::uint32_t number, std::size_t index) const {
  Access by;
  by.block = number_;
  by.tick = now_[index].tick;
  by.site = number;
  by.thread = static_cast<std::uint16_t>(index);
  by.flags = site.flags;
  by.size_and_scope =
      static_cast<std::uint8_t>(std::countr_zero(site.element) | static_cast<int>(site.scope) << 4);
  return by;
}

NearOrder BlockRaces::near_order() const {
  NearOrder order;
  order.block = number_;
  order.before = before_;
  order.beside = races_.last_run_of(*command_);
  return order;
}

void BlockRaces::set_thread(NearOrder& order, std::size_t index) const {
  order.block_known = now_[index].block_known;
  order.warp_known = threads_[index].warp_known;
  order.thread = static_cast<std::uint16_t>(index);
  order.knows_others =
      !threads_[index].others.empty() || !first_of_cluster().known_of_shared_.empty();
}

void BlockRaces::touch(
    const Place& place,
    std::uint64_t bytes,
    const Access& by,
    std::size_t index
) {
  place.shadow->touch(
      place.address,
      bytes,
      by,
      [&](const Access& before) {
        return ordered(before, index) || (place.owner != nullptr && ordered_in_shared(before));
      },
      [&](const Access& before, std::uint64_t address, std::uint32_t length) {
        return race(before, by, place, address, length);
      }
  );
}

void BlockRaces::strong_access(
    const Place& place,
    const Access& by,
    const Site& site,
    std::size_t index
) {
  Cell* cell = place.shadow->cell(place.address);
  bool continues = false;
  if (cell != nullptr && (by.flags & Read) != 0) {
    continues = observe(*cell, place, by, site, index);
  }
  touch(place, site.element, by, index);
  cell = place.shadow->cell(place.address); // a byte's own by now
  if (cell != nullptr && by.writes()) {
    publish(*cell, site, index, continues);
  }
}

namespace {

/// A lane's element of that many bytes.
AccessValue element(const isa::Exec& exec, isa::Ref ref, std::size_t lane, std::size_t bytes) {
  return AccessValue::at(exec.in<std::byte>(ref) + lane * bytes, bytes);
}

} // namespace

const isa::Op*
BlockRaces::run_access(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w) {
  const LaneMask lanes = exec.mask();
  if (site.waits_for_reads && races_.yields_before_writes() && turn_for_others(op.target, 1)) {
    return yield(exec, &op);
  }
  std::uint64_t address[isa::warp_size];
  addresses(exec, op, site, address);
  const bool strong = (site.flags & Strong) != 0;
  const bool first = site.kind == SiteKind::Store && !strong;
  std::optional<OfLanes> expected; // by a comparison
  if (site.compares && !op.d.none()) {
    expected.emplace();
    for (std::size_t lane = 0; lane < isa::warp_size; ++lane) {
      (*expected)[lane] = element(exec, op.b, lane, site.element);
    }
  }
  const isa::Op* next = nullptr;
  if (!first) {
    next = site.handler(exec, op);
    if (next == nullptr &&
        (exec.why() == isa::Stop::Fault || exec.why() == isa::Stop::Unsupported)) {
      return next;
    }
  }
  look_at_access(exec, op, site, w, lanes, address, expected);
  return first ? site.handler(exec, op) : let_others_go(exec, op, site, next);
}

/// Before it is carried out: lanes that come early access their parts when the last one comes, and
/// learn of nothing until then.
const isa::Op*
BlockRaces::run_matrix(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w) {
  std::uint64_t address[isa::warp_size];
  addresses(exec, op, site, address);
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    const std::size_t index = w * isa::warp_size + lane;
    for (const auto& [at, bytes] : isa::matrix_pieces(exec, op, lane, address[lane])) {
      if (const Place where = place(at, site.shared); where.shadow != nullptr) {
        touch(where, bytes, access_of(site, op.target, index), index);
      }
    }
  }
  return site.handler(exec, op);
}

void BlockRaces::look_at_access(
    isa::Exec& exec,
    const isa::Op& op,
    const Site& site,
    std::size_t w,
    LaneMask lanes,
    const std::uint64_t (&address)[isa::warp_size],
    const std::optional<OfLanes>& expected
) {
  const bool strong = (site.flags & Strong) != 0;
  // A word that is read or written plainly: in most cases there is nothing to do, and it must cost
  // little.
  const bool plain_word = !strong && site.element == 4 && site.count == 1 && !site.tells_bytes &&
                          site.kind != SiteKind::BulkStoreZeros;
  const bool read_of_word = plain_word && site.kind == SiteKind::Load;
  const bool plain_words = !strong && site.element % 4 == 0 && !site.tells_bytes &&
                           site.kind != SiteKind::BulkStoreZeros;
  const std::uint64_t words = std::uint64_t{site.element} * site.count / 4;
  Access plain = plain_words ? access_of(site, op.target, w * isa::warp_size) : Access{};
  struct { // of the last read that was known for the whole warp
    std::uint64_t address = ~std::uint64_t{0};
    std::uint32_t tick = 0, block_known = 0;
  } last;
  // Blocks 16 threads wide: the second half of a warp reads what the first half has read.
  constexpr std::size_t half = isa::warp_size / 2;
  LaneMask known_for_warp = 0;
  LaneMask open = read_of_word ? read_words(site, plain, w, lanes, address) : lanes;
  if (plain_word && open == isa::all_lanes) {
    open = look_at_rows(site, plain, w, address);
  }
  if (plain_words && site.kind == SiteKind::Load && open == isa::all_lanes &&
      read_together(site, plain, w, words, address)) {
    return;
  }
  NearOrder order = near_order();
  for (LaneMask m = open; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    Shadow* shadow = plain_words ? shadow_of_words(site, address[lane]) : nullptr;
    if (shadow != nullptr) {
      const Now& thread = now_[w * isa::warp_size + lane];
      if (read_of_word && address[lane] == last.address && thread.tick == last.tick &&
          thread.block_known == last.block_known) {
        continue;
      }
      if (lane >= half && (known_for_warp >> (lane - half) & 1) != 0 &&
          address[lane] == address[lane - half]) {
        if (thread == now_[w * isa::warp_size + lane - half]) {
          continue;
        }
      }
      plain.thread = static_cast<std::uint16_t>(w * isa::warp_size + lane);
      plain.tick = thread.tick;
      using WordRead = Shadow::WordRead;
      WordRead kept = WordRead::No;
      if (read_of_word) {
        kept = shadow->read_word(address[lane], plain, thread.block_known);
      } else if (plain_word && shadow->write_word(address[lane], plain, thread.block_known)) {
        kept = WordRead::ForThread;
      }
      if (kept == WordRead::ForWarp) {
        last = {address[lane], thread.tick, thread.block_known};
        known_for_warp |= LaneMask{1} << lane;
      }
      if (kept != WordRead::No) {
        continue;
      }
      set_thread(order, w * isa::warp_size + lane);
      if (shadow->touch_words(address[lane], words, plain, order)) {
        continue;
      }
    }
    Place where = place(address[lane], site.shared);
    if (where.shadow == nullptr) {
      continue;
    }
    const std::size_t index = w * isa::warp_size + lane;
    Access by = access_of(site, op.target, index);
    if (site.tells_bytes) { // st.async, red.async: complete when their bytes have been counted
      by.block = bulk_agent(index);
      by.thread = 0;
      by.tick = 1;
      bulk_arrivals_[lane].push_back(by.block);
      touch(where, std::uint64_t{site.element} * site.count, by, index);
    } else if (!strong) {
      std::uint64_t bytes = std::uint64_t{site.element} * site.count;
      if (site.kind == SiteKind::BulkStoreZeros) {
        bytes = exec.in<std::uint32_t>(op.b)[lane];
      }
      touch(where, bytes, by, index);
    } else {
      Site just_read;
      const Site* as = &site;
      if (expected && element(exec, op.d, lane, site.element) != (*expected)[lane]) {
        just_read = site; // a comparison that fails writes nothing
        just_read.release = false;
        by.flags = Read | Strong;
        as = &just_read;
      }
      for (unsigned k = 0; k < site.count; ++k, where.address += site.element) {
        strong_access(where, by, *as, index);
      }
    }
  }
}

/// May others get their turns at `site`, which they do up to `most` times in a block? Counts this
/// one.
bool BlockRaces::turn_for_others(std::uint32_t site, std::size_t most) {
  if (turns_given_.size() <= site) {
    turns_given_.resize(site + 1);
  }
  if (turns_given_[site] >= most) {
    return false;
  }
  ++turns_given_[site];
  return true;
}

/// Behind a read that decides what follows others go first, a few times: what they write now, the
/// value that was read does not know of. So threads act by values that are out of date, as they may
/// in some schedule, and what is wrong about that happens in this one. Others go first as well in
/// front of a block's first write of what such reads may read (run_access()): the block that reads
/// may have a higher number.
const isa::Op* BlockRaces::let_others_go(
    isa::Exec& exec,
    const isa::Op& op,
    const Site& site,
    const isa::Op* next
) {
  const bool yields =
      next == &op + 1 && may_yield_behind(site) && turn_for_others(op.target, most_turns_behind());
  return yields ? yield(exec, next) : next;
}

/// A plain read of global memory whose value is out of date races itself. One of shared memory may
/// hand on what another thread has read.
bool BlockRaces::may_yield_behind(const Site& site) const {
  return site.decides && (site.shared || (site.flags & Strong) != 0) &&
         races_.yields_behind_reads();
}

/// The lanes of all warps once, and then four times more.
std::size_t BlockRaces::most_turns_behind() const {
  return block_.warps().size() + 4;
}

// --- Compiled code -----------------------------------------------------------------------------

/// Would others get their turns if this access was made now?
bool BlockRaces::yields(const isa::Op& op, const Site& site) const {
  return (site.waits_for_reads && races_.yields_before_writes() && turns_given(op.target) == 0) ||
         (may_yield_behind(site) && turns_given(op.target) < most_turns_behind());
}

std::uint64_t BlockRaces::accessed_in_region(
    isa::RegionContext& context,
    const isa::Op& op,
    LaneMask lanes,
    const std::uint64_t* each,
    std::uint64_t base,
    std::int64_t stride
) {
  if (op.execute != execute) {
    return 1; // of no interest: constants
  }
  isa::Exec& exec = *context.exec;
  auto& block = static_cast<machine::Block&>(exec.environment());
  auto& races = races_in(block);
  const Site& site = races.races_.site(op.target);
  if (races.yields(op, site)) {
    return 0;
  }
  races.exec_ = &exec;
  races.op_ = &op;
  races.site_ = &site;
  races.lanes_ = lanes;
  std::uint64_t address[isa::warp_size];
  isa::RegionWatch::addresses(each, base, stride, address);
  races.look_at_access(exec, op, site, block.index_of(exec.warp()), lanes, address, std::nullopt);
  return 1;
}

bool BlockRaces::may_call_in_region(isa::Exec& exec, const isa::Op& op) {
  if (op.execute != execute) {
    return true;
  }
  auto& block = static_cast<machine::Block&>(exec.environment());
  const auto& races = races_in(block);
  return !races.yields(op, races.races_.site(op.target));
}

const isa::RegionWatch* BlockRaces::region_watch() const {
  static constexpr isa::RegionWatch watch{
      .access = accessed_in_region,
      .may_call = may_call_in_region,
      .may_enter = [](isa::Exec&) { return true; },
      .enough_ops = 16
  };
  return &watch;
}

// --- Races -------------------------------------------------------------------------------------

bool BlockRaces::same_value(
    const Access& before,
    const Access& by,
    const Place& place,
    std::uint64_t address,
    std::uint32_t bytes
) const {
  // A strong store is carried out before it is looked at: what it has overwritten is not known.
  if (!site_->stores() || by.strong() || by.block != number_) {
    return false;
  }
  const std::uint64_t offset = address - place.address; // of these bytes in the access
  const auto stored = [&](std::size_t lane) { return isa::stored_bytes(*exec_, *op_, lane); };
  const std::optional<AccessValue> all = stored(by.thread % isa::warp_size);
  if (!all || offset + bytes > all->bytes()) {
    return false;
  }
  const AccessValue now = all->slice(offset, bytes);
  if (before.site == by.site && before.block == number_ &&
      before.tick == now_[before.thread].tick &&
      before.thread / isa::warp_size == by.thread / isa::warp_size &&
      (lanes_ >> before.thread % isa::warp_size & 1) != 0) {
    return stored(before.thread % isa::warp_size)->slice(offset, bytes) ==
           now; // the same instruction, not yet done
  }
  if (place.owner != nullptr) {
    return address + bytes <= place.owner->block_.shared_bytes() &&
           AccessValue::at(place.owner->block_.shared() + address, bytes) == now;
  }
  const void* at = races_.space().host_pointer(address, bytes);
  return at != nullptr && AccessValue::at(at, bytes) == now;
}

namespace {

/// Where the chain of synchronisation is broken by which a thread that knows `known` could know of
/// `before`, too: at a thread of a third block.
const BrokenLink*
broken_chain(Races& races, const Access& before, const Access& by, const Clock& known) {
  for (const BrokenLink& link : races.messages().broken_links()) {
    if (link.would_know(before) && link.reader.block != by.block &&
        link.reader.block != before.block && tells(races.site(link.read_site)) &&
        known.knows(link.reader, link.reader_tick)) { // what it did after it had read the flag
      return &link;
    }
  }
  return nullptr;
}

} // namespace

Why BlockRaces::reason(const Access& before, const Access& by, Races::Found& found) const {
  const Agent& first = races_.agent(before.block);
  const Agent& second = races_.agent(by.block);
  if (before.strong() && by.strong() && !found.unordered_value) {
    return before.size() != by.size() ? Why::Size : Why::Scope;
  }
  if (first.kind == Agent::Kind::Products) {
    return Why::Product;
  }
  const auto copies = [](const Agent& a) {
    return a.kind == Agent::Kind::Copies || a.kind == Agent::Kind::Bulk;
  };
  if (copies(first) || copies(second)) {
    return Why::Async;
  }
  for (const Why why : {Why::NarrowSync, Why::NoAcquire, Why::NoRelease}) { // surest first
    // Who only writes has not been told anything by a flag that says what may be read.
    if (why == Why::NoRelease && before.writes() && by.writes() && !found.unordered_value) {
      continue;
    }
    for (const BrokenLink& note : notes_) {
      if (note.why == why && tells(races_.site(note.read_site)) && note.would_know(before)) {
        found.flag = {note.write_site, note.read_site, {}};
        return why; // what is read at data is no flag
      }
    }
  }
  const Why distance = races_.distance(before, by);
  if (distance == Why::Commands) {
    return distance;
  }
  const BrokenLink* const link =
      by.block == number_ ? broken_chain(races_, before, by, threads_[by.thread].others) : nullptr;
  if (link != nullptr) {
    found.flag = {link->write_site, link->read_site, link->reader};
    return link->why;
  }
  if (before.strong() != by.strong()) {
    return Why::Plain;
  }
  if (second.kind == Agent::Kind::Products) {
    return Why::Block; // its own shared memory
  }
  return distance;
}

// [RACE-VALUE]: they are morally strong, and nothing orders them.
void BlockRaces::look_at_value(
    const Access& before,
    const Access& by,
    bool shared,
    std::uint64_t address,
    std::uint32_t bytes
) {
  const Site& first = races_.site(before.site);
  const Site& second = races_.site(by.site);
  if (before.site == 0 || by.site == 0 || !first.is_volatile || !second.is_volatile ||
      !(first.is_data || second.is_data) || before.writes() == by.writes() ||
      races_.count_again(before, by, false)) {
    return;
  }
  Races::Found found;
  found.first = before;
  found.second = by;
  found.unordered_value = true;
  found.why = reason(before, by, found);
  if (found.why > Why::Blocks) {
    return; // one has told the other, if with too little order
  }
  found.shared = shared;
  found.address = address;
  found.bytes = bytes;
  races_.add(found);
}

// [RACE]: they conflict, nothing orders them, and they are not morally strong.
bool BlockRaces::race(
    const Access& before,
    const Access& by,
    const Place& place,
    std::uint64_t address,
    std::uint32_t bytes
) {
  if (races_.morally_strong(before, by)) {
    look_at_value(before, by, place.owner != nullptr, address, bytes);
    return false;
  }
  if (by.strong() && races_.agent(before.block).writes_flags() &&
      (!races_.copy_looks().is_second(before.block, by.by(), place.address) || !site_->decides)) {
    return true; // a flag that the host sets by a copy: meant to be seen by whoever polls it
  }
  const bool same = before.writes() && by.writes() && same_value(before, by, place, address, bytes);
  if (races_.count_again(before, by, same)) {
    return true;
  }
  Races::Found found{.first = before, .second = by};
  found.why = reason(before, by, found);
  found.same_value = same;
  found.shared = place.owner != nullptr;
  found.address = address;
  found.bytes = bytes;
  races_.add(found);
  return true;
}

} // namespace heddle::race
