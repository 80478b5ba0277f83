// Implements weak_order.h.
#include "model/weak_order.h"

#include "isa/stored_value.h"
#include "isa/word_around.h"
#include "machine/grid.h"
#include "machine/source_place.h"
#include "ptx/effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::model {

using Kind = ptx::Effect::Kind;
using ptx::Category;
using ptx::Mod;
using ptx::Opcode;

namespace {

weak::Scope scope_of(const ptx::Instruction& i) {
  const auto scope = i.one_of(Category::Scope);
  if (!scope) {
    // PTX ISA 9.0, 9.7.13.5: .gpu if nothing is said; a volatile access has the scope .sys (8.4.1).
    return i.has(Mod::Volatile) ? weak::Scope::Sys : weak::Scope::Gpu;
  }
  switch (*scope) {
  case Mod::Cta:
    return weak::Scope::Cta;
  case Mod::Cluster:
    return weak::Scope::Cluster;
  case Mod::Sys:
    return weak::Scope::Sys;
  default:
    return weak::Scope::Gpu;
  }
}

weak::Value value_at(const std::byte* at, std::uint32_t bytes) {
  weak::Value value{};
  std::memcpy(value.data(), at, std::min<std::size_t>(bytes, sizeof value));
  return value;
}

/// Element `n` of a vector.
weak::Value part_of(const weak::Value& vector, std::uint32_t n, std::uint32_t bytes) {
  const auto* at = reinterpret_cast<const std::byte*>(vector.data());
  return value_at(at + static_cast<std::size_t>(n) * bytes, bytes);
}

std::string text(const weak::Value& value, std::uint32_t bytes) {
  return bytes <= sizeof value[0] ? fmt::format("{}", value[0])
                                  : fmt::format("{:#x}:{:016x}", value[1], value[0]);
}

// Of libcu++, for an object of one or two bytes (isa/word_around.h): the accesses that two threads
// make for one object, or for two in one word, differ in size, so they would be taken for a race.
constexpr const char* around_small_object = "an atomic access to an object of one or two bytes";

const char* why(weak::Unseen::Why why) {
  switch (why) {
  case weak::Unseen::Why::NotReleased:
    return "nothing has released it";
  case weak::Unseen::Why::NotRead:
    return "this thread has read nothing from behind its release";
  case weak::Unseen::Why::NotAcquired:
    break;
  }
  return "this thread has read from behind its release, but acquired nothing by that";
}

/// The innermost place of the user's own code.
std::string where(const isa::Code& code, const isa::Op& op) {
  machine::FaultReport report;
  machine::describe_instruction(code, op, report);
  std::vector<machine::SourcePlace> chain{report.source}; // innermost first
  chain.insert(chain.end(), report.inlined_at.begin(), report.inlined_at.end());
  const machine::SourcePlace& place = machine::users_place(chain);
  return place.line == 0
             ? std::string()
             : fmt::format("{}:{}", place.file.substr(place.file.rfind('/') + 1), place.line);
}

/// What a lane is about to store; nothing if that is more than the memory can compare.
std::optional<weak::Value> stored_value(const isa::Exec& exec, int lane, std::uint32_t bytes) {
  const auto stored = isa::stored_value(exec, *exec.current(), static_cast<std::size_t>(lane));
  return stored && stored->bytes() == bytes && bytes <= sizeof(weak::Value)
             ? std::optional(value_at(stored->data(), bytes))
             : std::nullopt;
}

} // namespace

weak::Access weak_access(const ptx::Instruction& i) {
  weak::Access access;
  access.strong = ptx::effect_of(i).is_strong();
  access.scope = scope_of(i);
  access.acquire = i.has(Mod::Acquire) || i.has(Mod::AcqRel);
  access.release = i.has(Mod::Release) || i.has(Mod::AcqRel);
  access.reduction = i.opcode == Opcode::Red;
  return access;
}

std::optional<FenceKind> weak_fence(const ptx::Instruction& i) {
  if (i.opcode == Opcode::Membar) { // a synonym of fence.sc since sm_70 (9.7.13.4)
    return i.one_of(Category::Scope)
               ? std::optional(FenceKind{{true, true, true, {}}, scope_of(i), Objects::All})
               : std::nullopt;
  }
  if (i.has(Mod::Proxy) || i.has(Mod::MbarrierInit) || !i.one_of(Category::Scope)) {
    return std::nullopt;
  }
  const bool sc = i.has(Mod::Sc);
  const bool acquire = i.has(Mod::Acquire), release = i.has(Mod::Release);
  const bool both = sc || i.has(Mod::AcqRel) || (!acquire && !release); // .acq_rel by default
  const Objects objects = i.has(Mod::SyncRestrictSharedCta)       ? Objects::OwnShared
                          : i.has(Mod::SyncRestrictSharedCluster) ? Objects::ClusterShared
                                                                  : Objects::All;
  return FenceKind{{acquire || both, release || both, sc, {}}, scope_of(i), objects};
}

std::uint32_t access_elements(const ptx::Instruction& i) {
  const auto vector = i.one_of(Category::Vector);
  return vector ? static_cast<std::uint32_t>(std::string_view(ptx::text(*vector)).back() - '0') : 1;
}

std::uint32_t access_bytes(const ptx::Instruction& i) {
  const auto type = i.type();
  const std::uint32_t bytes =
      type ? static_cast<std::uint32_t>(std::max(ptx::type_bits(*type), 8)) / 8 : 0;
  return bytes * access_elements(i);
}

namespace {

constexpr weak::Limits kept{.events = 4, .messages = 6, .all_messages = 32};

}

WeakOrder::WeakOrder(const isa::Exec& exec, bool same_value_races)
    : exec_(exec),
      now_(std::make_shared<weak::WeakMemory>(kept)),
      same_value_races_(same_value_races) {}

weak::WeakMemory& WeakOrder::change() {
  if (now_.use_count() > 1) {
    now_ = std::make_shared<weak::WeakMemory>(*now_);
  }
  return *now_;
}

std::uint32_t WeakOrder::number(const weak::Range& range) {
  const std::uint64_t words[] = {range.at, range.bytes};
  return static_cast<std::uint32_t>(XXH3_64bits(words, sizeof words)) | 1U;
}

// --- Ways ----------------------------------------------------------------------------------------

namespace {

/// With one more element, in every way that there is for it.
std::vector<WeakOrder::Way> with_element(
    const std::vector<WeakOrder::Way>& before,
    const WeakOrder::Next& next,
    std::uint32_t n,
    const weak::WeakMemory& memory,
    weak::Thread thread
) {
  std::vector<WeakOrder::Way> result;
  const weak::Range range = next.element(n);
  const auto offset = static_cast<std::size_t>(n) * range.bytes;
  const auto add = [&](std::uint32_t rank, bool newest, const weak::Value& value) {
    for (const WeakOrder::Way& way : before) {
      result.push_back(way);
      WeakOrder::Way& longer = result.back();
      longer.elements[n] = {rank, newest};
      longer.newest = way.newest && newest;
      std::memcpy(
          reinterpret_cast<std::byte*>(longer.value.data()) + offset,
          value.data(),
          std::min<std::size_t>(range.bytes, sizeof value)
      );
    }
  };
  if (next.reads) {
    const weak::Value now = value_at(next.at + offset, range.bytes);
    for (const weak::Choice& c : memory.readable(thread, range, next.access, next.writes)) {
      add(c.rank, c.newest, c.newest ? now : c.value);
    }
  } else {
    const auto positions = memory.positions(thread, range, next.access);
    for (const std::uint32_t p : positions) {
      add(p, p == positions.back(), {});
    }
  }
  return result;
}

} // namespace

std::vector<WeakOrder::Way> WeakOrder::ways(weak::Thread thread, const Next& next) const {
  if (!next.compares) {
    std::vector<Way> result{{.writes = next.writes}};
    for (std::uint32_t n = 0; n < next.elements; ++n) {
      result = with_element(result, next, n, *now_, thread); // the newest of all comes last
    }
    return result;
  }
  std::vector<Way> result;
  const weak::Value now = value_at(next.at, next.range.bytes);
  for (const bool update : {false, true}) {
    for (const weak::Choice& c : now_->readable(thread, next.range, next.access, update)) {
      const weak::Value value = c.newest ? now : c.value;
      if ((value == next.expected) == update) {
        Way& way = result.emplace_back();
        way.elements[0] = {c.rank, c.newest};
        way.newest = c.newest;
        way.writes = update;
        way.value = value;
      }
    }
  }
  std::ranges::sort(result, {}, [](const Way& way) { return way.elements[0].rank; });
  return result;
}

bool WeakOrder::could_be_settled(
    weak::Thread thread,
    const Next& next,
    const std::vector<Way>& ways
) const {
  return ways.size() > 1 && next.reads && !next.writes && next.elements == 1 &&
         !now_->written_at(next.range).empty() && std::ranges::none_of(ways, [&](const Way& way) {
           return now_->race(thread, next.range, next.access, false, way.elements[0].rank)
               .has_value();
         });
}

const char* WeakOrder::name(const Next& next, const Way& way) const {
  if (way.newest) {
    return next.what;
  }
  const std::string newest = text(value_at(next.at, next.range.bytes), next.range.bytes);
  std::string name =
      next.reads
          ? fmt::format(
                "{} that finds {} and does not see the newer {}",
                next.what,
                text(way.value, next.range.bytes),
                newest
            )
          : fmt::format("{} that becomes older than the {} that is there", next.what, newest);
  std::unique_ptr<std::string>& kept = names_[name];
  if (kept == nullptr) {
    kept = std::make_unique<std::string>(std::move(name));
  }
  return kept->c_str();
}

// --- Threads -------------------------------------------------------------------------------------

void WeakOrder::begin_threads(
    std::uint32_t grid,
    const std::vector<std::pair<weak::Thread, weak::Location>>& threads
) {
  weak::WeakMemory& memory = change();
  memory.add_threads(threads, memory.take_command(grid));
}

void WeakOrder::end_threads(weak::Thread first, std::uint64_t count) {
  if (now_->has_some(first, count)) {
    change().end_threads(first, count);
  }
}

weak::Told WeakOrder::complete(
    std::uint32_t command,
    bool grid,
    Knows knows,
    std::optional<std::uint32_t> part_of
) {
  weak::WeakMemory& memory = change();
  weak::Told knew = memory.take_command(command); // of a grid that has not begun, or none
  if (grid) {
    knew.add_all(memory.take_grid(command));
  }
  if (knows == Knows::Everything) {
    knew = {.view = memory.all_events()};
  }
  memory.complete(command, knew, part_of);
  return knew;
}

void WeakOrder::writes(const std::byte* at, std::uint64_t bytes, const weak::Told& knew) {
  constexpr std::uint64_t most = ~std::uint32_t{0};
  if (!now_->empty()) {
    change().host_writes(
        {reinterpret_cast<std::uint64_t>(at), static_cast<std::uint32_t>(std::min(bytes, most))},
        knew
    );
  }
}

// --- Turns ---------------------------------------------------------------------------------------

void WeakOrder::look_again(const memory::AddressSpace& space) {
  const auto of_block = [](const weak::Range& range) { // nobody else writes there
    return (range.at & not_an_address) != 0;
  };
  if (std::exchange(allocations_, space.generation()) != allocations_ && !now_->empty()) {
    change().forget_objects([&](const weak::Range& range) {
      const auto* at = reinterpret_cast<const std::byte*>(range.at);
      return of_block(range) ||
             space.host_pointer(memory::AddressSpace::device_address(at), range.bytes) == at;
    });
  }
  if (!now_->empty()) {
    change().look_again([&](const weak::Range& range, const weak::Value& value) {
      return of_block(range) ||
             value_at(reinterpret_cast<const std::byte*>(range.at), range.bytes) == value;
    });
  }
}

void WeakOrder::begin_turn(Turn turn) {
  turn_ = std::move(turn);
  behind_.clear();
}

/// What an address is called: the same in each execution.
std::uint64_t WeakOrder::name_of(const std::byte* at) const {
  for (const Memory& m : turn_.memories) {
    if (static_cast<std::uint64_t>(at - m.begin) < m.size) {
      return m.name == 0 ? 0 : m.name + static_cast<std::uint64_t>(at - m.begin);
    }
  }
  return reinterpret_cast<std::uint64_t>(at);
}

std::uint64_t WeakOrder::tag(int lane) {
  const isa::Op* op = exec_.current();
  const weak::Thread thread = turn_.first + static_cast<weak::Thread>(lane);
  const auto [known, is_new] = tags_.try_emplace({op, thread}, sides_.size());
  if (is_new) {
    const isa::Code& code = exec_.code();
    const ptx::Effect& effect = ptx::effect_of(code.function->body[op->instruction]);
    const Dim3 t = turn_.block->thread_index(turn_.warp, lane), b = turn_.block->index();
    sides_.push_back(
        {op,
         &code,
         fmt::format(
             "thread ({},{},{}) of block ({},{},{}) of kernel '{}'",
             t.x,
             t.y,
             t.z,
             b.x,
             b.y,
             b.z,
             turn_.grid->describe()
         ),
         effect.is_strong() && isa::has_word_address(code, *op) ? around_small_object : effect.name}
    );
  }
  return known->second;
}

void WeakOrder::not_modelled(std::string_view what) {
  if (gap_.empty()) {
    gap_ = what;
  }
}

void WeakOrder::accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) {
  const std::uint64_t name = name_of(at);
  const weak::Thread thread = turn_.first + static_cast<weak::Thread>(lane);
  if (name == 0 || !now_->has_thread(thread) || race_) {
    return;
  }
  const isa::Op& op = *exec_.current();
  const ptx::Instruction& i = exec_.code().function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  const bool synchronous = effect.is_access() && !effect.is_async();
  if (effect.is_async() || effect.is(Kind::Copy) || effect.is(Kind::Mbarrier) ||
      effect.is(Kind::Other) || (effect.is_strong() && !synchronous) ||
      (effect.is_strong() && bytes > sizeof(weak::Value))) {
    not_modelled(effect.name);
    return;
  }
  Next next;
  next.range = {name, bytes};
  next.access = effect.is_strong() ? weak_access(i) : weak::Access{};
  next.at = at;
  next.reads = effect.reads();
  next.writes = store;
  const std::uint64_t own = tag(lane);
  const std::optional<weak::Value> stored = store && !effect.is_strong() && !same_value_races_
                                                ? stored_value(exec_, lane, bytes)
                                                : std::nullopt;
  const auto has_race =
      [&](const weak::Range& range, bool writes, std::optional<std::uint32_t> reads) {
        const auto found = now_->race(thread, range, next.access, writes, reads, stored);
        if (found && (sides_[found->tag].what == around_small_object ||
                      sides_[own].what == around_small_object)) {
          not_modelled(fmt::format("{} beside another one to its word", around_small_object));
        } else if (found) {
          race_ = Found{
              sides_[found->tag],
              sides_[own],
              range.bytes,
              found->strong && next.access.strong && found->range == range
          };
        }
        return found.has_value();
      };
  if (!effect.is_strong()) {
    if (has_race(next.range, store, std::nullopt)) {
      return;
    }
    if (store) {
      same_value_ = same_value_ || (stored && now_->race(thread, next.range, next.access, true));
      change().write(thread, next.range, next.access, 0, {}, {}, own);
      if (!same_value_races_) {
        change().note_value(thread, next.range, stored);
      }
    } else {
      change().read(thread, next.range, next.access, now_->newest(next.range), own);
    }
    return;
  }
  next.elements = bytes == access_bytes(i) ? access_elements(i) : 1;
  if (i.opcode == Opcode::Atom && i.has(Mod::Cas)) {
    next.compares = true;
    const auto* operand = exec_.in<std::byte>(op.b);
    next.expected = value_at(operand + static_cast<std::size_t>(lane) * bytes, bytes);
  }
  const std::vector<Way> all = ways(thread, next);
  const Way way = turn_.pick != 0 && turn_.pick <= all.size() ? all[turn_.pick - 1] : all.back();
  for (std::uint32_t n = 0; n < next.elements; ++n) {
    const auto rank = next.reads ? std::optional(way.elements[n].rank) : std::nullopt;
    if (has_race(next.element(n), way.writes, rank)) {
      return;
    }
  }
  if (turn_.pick == 0 && all.size() > 1) { // it was taken for one that has one way only
    unchosen_ = true;
  }
  const weak::Value before = value_at(at, bytes);
  if (next.reads && !way.newest) {
    std::memcpy(at, way.value.data(), bytes);
  }
  for (std::uint32_t n = 0; n < next.elements && next.reads && !way.newest && !stale_; ++n) {
    const auto unseen = now_->unseen(thread, next.element(n));
    if (unseen && !way.elements[n].newest) {
      const std::uint32_t size = next.element_bytes();
      stale_ = {*unseen, part_of(before, n, size), size};
    }
  }
  for (std::uint32_t n = 0; n < next.elements && !way.writes; ++n) {
    change().read(thread, next.element(n), next.access, way.elements[n].rank, own);
  }
  behind_.push_back({thread, next, way, at, before, own});
}

void WeakOrder::fence(int lane, const ptx::Instruction& i) {
  const weak::Thread thread = turn_.first + static_cast<weak::Thread>(lane);
  if (auto fence = weak_fence(i); fence && now_->has_thread(thread)) {
    fence->fence.objects = ranges_of(fence->objects);
    change().fence(thread, fence->fence, fence->scope);
  }
}

std::vector<weak::Range> WeakOrder::ranges_of(Objects objects) const {
  std::vector<weak::Range> result;
  if (objects == Objects::All) {
    return result;
  }
  for (const Memory& m : turn_.memories) {
    const bool own = m.begin == turn_.block->all_shared().data();
    if (m.name != 0 && (own || objects == Objects::ClusterShared)) {
      result.push_back({m.name, static_cast<std::uint32_t>(m.size)});
    }
  }
  return result;
}

/// What a plain store is about to write. Nothing: elements of a vector, and what is wider than 8
/// bytes, are not looked at.
bool WeakOrder::tells_nothing(weak::Thread thread, const ptx::Instruction& i) const {
  const auto fence = weak_fence(i);
  return fence && now_->has_thread(thread) &&
         now_->tells_nothing(thread, fence->fence, fence->scope);
}

void WeakOrder::end_turn() {
  for (const Behind& b : behind_) {
    const std::uint32_t bytes = b.next.element_bytes();
    for (std::uint32_t n = 0; n < b.next.elements; ++n) {
      const weak::Range range = b.next.element(n);
      const Way::Element& way = b.way.elements[n];
      const weak::Value before = part_of(b.before, n, bytes);
      std::byte* const at = b.at + static_cast<std::size_t>(n) * bytes;
      const weak::Value value = value_at(at, bytes);
      if (b.way.writes && b.next.reads) {
        change().update(b.thread, range, b.next.access, way.rank, before, value, b.tag);
      } else if (b.way.writes) {
        change().write(b.thread, range, b.next.access, way.rank, before, value, b.tag);
      }
      if (b.way.writes) {
        note_written(range);
      }
      if (!way.newest) {
        std::memcpy(at, before.data(), bytes);
      }
    }
  }
  behind_.clear();
}

void WeakOrder::note_written(const weak::Range& range) {
  if (!watched_) {
    return;
  }
  const std::vector<weak::Range> again = now_->written_at(range);
  rewritten_.insert(rewritten_.end(), again.begin(), again.end());
  if (watched_(range) && std::ranges::find(again, range) == again.end()) {
    change().note_written(range);
  }
}

std::string WeakOrder::reason() const {
  if (!stale_) {
    return {};
  }
  const Side& by = sides_[stale_->newest.tag];
  const std::string place = where(*by.code, *by.op);
  return fmt::format(
      "{} wrote {}{}{}, and {}",
      by.who.substr(0, by.who.find(" of kernel")),
      text(stale_->value, stale_->bytes),
      place.empty() ? "" : " in ",
      place,
      why(stale_->newest.why)
  );
}

// --- Barriers ------------------------------------------------------------------------------------

void WeakOrder::meet(const std::vector<weak::Thread>& threads, std::uint64_t arrived_at) {
  change().meet(threads, arrived_at);
}

void WeakOrder::open(std::uint64_t barrier, std::uint64_t as) {
  change().rename(barrier, as);
}

// --- States --------------------------------------------------------------------------------------

void WeakOrder::forget_found() {
  race_.reset();
  gap_.clear();
  unchosen_ = false;
}

void WeakOrder::undo_to(std::size_t mark) {
  if (undo_.size() > mark) {
    now_ = undo_[mark];
    undo_.resize(mark);
  }
  forget_found();
}

void WeakOrder::tidy() {
  if (!now_->empty()) {
    change().tidy();
  }
}

Hash128 WeakOrder::name() const {
  Hasher hasher;
  now_->name(hasher);
  return hasher.finish();
}

} // namespace heddle::model
