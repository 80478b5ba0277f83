// Implements weak_moves.h.
#include "reduce/states/weak_moves.h"

#include "isa/lower_memory_address.h"
#include "isa/ops_address.h"
#include "machine/fault_diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace heddle::reduce {

using isa::LaneMask;
using Kind = ptx::Effect::Kind;
using ptx::Mod;

namespace {

// A state names what each thread knows of each access.
constexpr std::uint64_t most_threads = 4096;

/// Of a range in global memory; of one elsewhere all of them.
std::uint64_t places_of(const weak::Range& range) {
  return (range.at & WeakOrder::not_an_address) != 0
             ? ~std::uint64_t{0}
             : reduce::places_of(
                   memory::AddressSpace::device_address(
                       reinterpret_cast<const std::byte*>(range.at)
                   ),
                   range.bytes
               );
}

} // namespace

WeakMoves::WeakMoves(
    World& world,
    isa::Exec& exec,
    LiveState& live,
    const Works& works,
    AccessKinds& kinds,
    Sums& sums,
    const WeakOptions& options
)
    : world_(world),
      exec_(exec),
      live_(live),
      works_(works),
      kinds_(kinds),
      sums_(sums),
      options_(options),
      order_(exec, options.same_value_races) {
  if (!options_.settled) {
    return;
  }
  order_.watch_writes([this](const weak::Range& range) {
    const std::uint64_t places = places_of(range);
    return ~places != 0 && (options_.rewritten & places) == 0;
  });
}

std::string WeakMoves::begin_threads(Work& work) {
  const std::uint64_t blocks = work.command->grid->config().grid.count();
  if (blocks * work.command->grid->config().block.count() > most_threads) {
    return fmt::format("{} has more than {} threads", work.command->label, most_threads);
  }
  const auto name = [&](std::uint64_t kind, std::uint64_t number) {
    return static_cast<std::uint32_t>(combine(work.identity, kind, number).low);
  };
  std::vector<std::pair<weak::Thread, weak::Location>> all;
  for (std::size_t c = 0; c < work.clusters.size(); ++c) {
    Cluster& cluster = *work.clusters[c];
    for (std::size_t b = 0; b < cluster.size(); ++b) {
      const weak::Location location{
          name(0, c * cluster.size() + b),
          name(1, c),
          static_cast<std::uint32_t>(work.command->device),
          name_of(work)
      };
      const std::uint64_t threads = work.command->grid->config().block.count();
      const weak::Thread first = weak_thread({&work, c, b, 0, 0});
      for (std::uint64_t t = 0; t < threads; ++t) {
        all.emplace_back(first + t, location);
      }
    }
  }
  order_.begin_threads(name_of(work), all);
  return {};
}

/// Of a grid, or of another command.
std::uint32_t WeakMoves::name_of(const Work& work) {
  return static_cast<std::uint32_t>(combine(work.identity, std::uint64_t{2}, std::uint64_t{0}).low);
}

void WeakMoves::submitted(const Work& work, const std::set<const Command*>& before) {
  std::vector<std::uint32_t> behind;
  for (const auto& other : works_) {
    if (!other->done && before.contains(other->command.get())) {
      behind.push_back(name_of(*other));
    }
  }
  order_.submit(name_of(work), std::move(behind));
}

/// It knew what its own threads knew, what it came behind itself, and what its parts knew. That it
/// was over before another one began, without an order between the two, tells that one nothing. A
/// wait for a value and a host function know all that has been done, as the host does.
void WeakMoves::completed(const Work& done) {
  const Command& command = *done.command;
  using Knows = WeakOrder::Knows;
  const bool sees =
      command.kind == CommandKind::ValueWait || command.kind == CommandKind::HostFunction;
  const auto whole = std::ranges::find_if(works_, [&](const auto& work) {
    return !work->done && command.part_of != 0 && work->command->id == command.part_of;
  });
  const weak::Told knew = order_.complete(
      name_of(done),
      done.kernel(),
      sees ? Knows::Everything : Knows::Order,
      whole == works_.end() ? std::nullopt : std::optional(name_of(**whole))
  );
  for (const Command::Region& region : command.touches.value_or(std::vector<Command::Region>())) {
    const void* const at = region.write ? world_.space().host_pointer(region.begin, 1) : nullptr;
    if (at == nullptr) {
      continue;
    }
    const auto* bytes = static_cast<const std::byte*>(at);
    if (command.kind == CommandKind::Set) {
      order_.writes(bytes, region.bytes, knew);
    } else {
      order_.host_writes(bytes, region.bytes);
    }
  }
}

void WeakMoves::host_writes(std::uintptr_t address, std::uint64_t bytes) {
  if (const void* const at = world_.space().host_pointer(address, 1)) {
    order_.host_writes(static_cast<const std::byte*>(at), bytes);
  }
}

void WeakMoves::note_ends(Work& work, std::size_t c) {
  Cluster& cluster = *work.clusters[c];
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    for (std::size_t w = 0; w < cluster.block(b).warps().size(); ++w) {
      const Lane at{&work, c, b, w, 0};
      const weak::Thread first = weak_thread(at);
      for (std::uint64_t m = LaneMask(~warp_state(at).warp.live); m != 0;) {
        const int lane = std::countr_zero(m), count = std::countr_one(m >> lane);
        order_.end_threads(first + static_cast<weak::Thread>(lane), static_cast<unsigned>(count));
        m &= ~std::uint64_t{0} << (lane + count);
      }
    }
  }
}

WeakOrder::Turn WeakMoves::turn_of(const Lane& at) {
  Cluster& cluster = *at.work->clusters[at.cluster];
  WeakOrder::Turn turn;
  turn.first = weak_thread(at);
  turn.block = &cluster.block(at.block);
  turn.warp = at.warp;
  turn.grid = at.work->command->grid.get();
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    const Block& block = cluster.block(b);
    const std::uint64_t number = at.cluster * cluster.size() + b;
    constexpr std::uint64_t room = std::uint64_t{1} << 32;
    turn.memories.push_back(
        {block.all_shared().data(),
         block.all_shared().size(),
         WeakOrder::not_an_address | combine(at.work->identity, number).low / room * room}
    );
    if (b == at.block) {
      turn.memories.push_back({block.local().data(), block.local().size(), 0});
    }
  }
  return turn;
}

std::optional<WeakNext> WeakMoves::next(const Lane& at) {
  isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  isa::Frame& frame = *warp.frame[index];
  const isa::Op& op = *warp.pc[index];
  if (!stands_at_visible(at) || op.instruction >= frame.code->function->body.size()) {
    return std::nullopt;
  }
  const ptx::Instruction& i = frame.code->function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  const std::uint32_t bytes = access_bytes(i);
  if (!effect.is_access() || !effect.is_strong() || effect.is_async() || bytes == 0 ||
      bytes > sizeof(weak::Value)) {
    return std::nullopt;
  }
  Cluster& cluster = *at.work->clusters[at.cluster];
  std::uint64_t addresses[isa::warp_size];
  exec_.enter_block(cluster.block(at.block).exec_block());
  exec_.select(warp, frame, LaneMask{1} << at.lane);
  isa::addresses<isa::Space::Generic>(exec_, op, addresses);
  const std::uint64_t address = addresses[index];
  const auto space = i.one_of(ptx::Category::Space);
  WeakNext result;
  WeakOrder::Next& next = result.next;
  if ((space && *space != Mod::Global) ||
      address - memory::shared_window < memory::window_size) { // of the cluster
    const auto place = shared_place(at, address, bytes);
    if (!place) {
      return std::nullopt;
    }
    const Block& block = cluster.block(place->first);
    next.at = block.all_shared().data() + place->second;
    result.in_shared = place->first * block.all_shared().size() + place->second;
  } else {
    next.at = static_cast<const std::byte*>(world_.space().host_pointer(address, bytes));
    if (next.at == nullptr) {
      return std::nullopt;
    }
  }
  order_.begin_turn(turn_of(at));
  next.range = {order_.name_of(next.at), bytes};
  next.elements = access_elements(i);
  next.access = weak_access(i);
  next.reads = effect.reads();
  next.writes = effect.writes();
  next.what = effect.name;
  if (i.opcode == ptx::Opcode::Atom && i.has(Mod::Cas)) {
    next.compares = true;
    const auto* operand = exec_.in<std::byte>(op.b) + index * bytes;
    std::memcpy(next.expected.data(), operand, bytes);
  }
  return result;
}

bool WeakMoves::comes_early(const Lane& at) {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const isa::Op& op = *warp.pc[index];
  const isa::Code& code = *warp.frame[index]->code;
  const ptx::Instruction& i = code.function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  const weak::Thread thread = weak_thread(at) + static_cast<weak::Thread>(at.lane);
  if (effect.is(Kind::Fence)) {
    return mutant_is(Mutant::EarlyFencesThatTell) || order_.tells_nothing(thread, i);
  }
  const Work::Progress& progress = at.work->progress[at.cluster];
  const bool kind =
      effect.is(Kind::Store) || (effect.is(Kind::Update) && mutant_is(Mutant::EarlyUpdates));
  if (!kind || !effect.is_strong() || !progress.made || progress.joins_are_moves ||
      !kinds_.unseen_outside(code, op)) {
    return false;
  }
  const auto next = this->next(at);
  return next && (order_.only_comes_last(thread, next->next) ||
                  (effect.is(Kind::Update) && order_.ways(thread, next->next).size() == 1));
}

void WeakMoves::add_ways(Move move, const Image& image, std::vector<Move>& result) const {
  const auto& known = image.ready[move.ready].weak_next;
  if (known == nullptr) {
    result.push_back(move);
    return;
  }
  WeakOrder::Next next = known->next;
  if (known->in_shared) {
    next.at = image.shared->bytes.data() + *known->in_shared;
  }
  const Lane at{works_[move.work].get(), move.cluster, move.block, move.warp, move.lane};
  const weak::Thread thread = weak_thread(at) + static_cast<weak::Thread>(move.lane);
  const std::vector<WeakOrder::Way> ways = order_.ways(thread, next);
  const bool alone =
      (image.made || mutant_is(Mutant::SettledBeforeStart)) && is_settled(move, *known, next, ways);
  for (std::size_t n = 0; n < ways.size(); ++n) {
    move.pick = ways.size() == 1 ? 0 : static_cast<std::uint32_t>(n + 1);
    move.what = order_.name(next, ways[n]);
    move.alone = alone;
    if (next.reads) {
      (ways[n].newest ? move.fresh : move.stale) = WeakOrder::number(next.range);
    }
    result.push_back(move);
    move.fresh = move.stale = 0;
  }
}

/// [RED-SETTLED] Can nothing that others do meanwhile change what the read at which the thread
/// stands may find? And does the thread come to it only once?
bool WeakMoves::is_settled(
    const Move& move,
    const WeakNext& known,
    const WeakOrder::Next& next,
    const std::vector<WeakOrder::Way>& ways
) const {
  if (!options_.settled || known.in_shared || ways.size() == 1) {
    return false;
  }
  const std::uint64_t places = places_of(next.range);
  const weak::Thread thread =
      weak_thread({works_[move.work].get(), move.cluster, move.block, move.warp, move.lane}) +
      static_cast<weak::Thread>(move.lane);
  const bool once = move.code == works_[move.work]->command->grid->kernel().code &&
                    !live_.at(*move.code, *move.op).repeats;
  return ~places != 0 && (options_.rewritten & places) == 0 && once &&
         kinds_.unseen_outside(*move.code, *move.op) && order_.could_be_settled(thread, next, ways);
}

unsigned WeakMoves::note_settled(const Move& move) {
  const Image& image = *works_[move.work]->images[move.cluster];
  sums_.note_settled(places_of(image.ready[move.ready].weak_next->next.range));
  return kinds_.bucket(*move.code, *move.op);
}

void WeakMoves::begin_run(const Lane& at, LaneMask lanes, std::uint32_t pick) {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const isa::Op& op = *warp.pc[index];
  const auto& body = warp.frame[index]->code->function->body;
  WeakOrder::Turn turn = turn_of(at);
  turn.pick = pick;
  order_.begin_turn(std::move(turn));
  meets_ = false;
  if ((op.flags & isa::Visible) != 0 && op.instruction < body.size()) {
    const ptx::Instruction& i = body[op.instruction];
    const ptx::Effect& effect = ptx::effect_of(i);
    meets_ = effect.is(Kind::Barrier) && effect.meets == ptx::Effect::Meets::Warp;
    for (LaneMask m = lanes; m != 0 && effect.is(Kind::Fence); m &= m - 1) {
      Lane own = at;
      own.lane = std::countr_zero(m);
      if (stands_at_visible(own)) {
        order_.fence(own.lane, i);
      }
    }
    const bool library =
        effect.is(Kind::Call) && ptx::library_function(i) == ptx::LibraryFunction::Memory;
    if (library || effect.is(Kind::Mbarrier) || effect.is(Kind::Copy) || effect.is_async() ||
        effect.is(Kind::Dependency)) {
      order_.not_modelled(effect.name);
    }
  }
}

bool WeakMoves::end_run(const Lane& at, LaneMask lanes, bool failed) {
  order_.end_turn();
  for (const weak::Range& range : order_.take_rewritten()) {
    sums_.note_rewritten(places_of(range));
  }
  if (meets_ && !failed) { // at once; of others Block tells
    std::vector<weak::Thread> met;
    const weak::Thread first = weak_thread(at);
    for (LaneMask m = lanes & ~warp_state(at).warp.blocked; m != 0; m &= m - 1) {
      met.push_back(first + static_cast<weak::Thread>(std::countr_zero(m)));
    }
    order_.meet(met, first);
  }
  return order_.race() || !order_.gap().empty();
}

std::optional<Failure> WeakMoves::failure() const {
  Failure failure;
  if (!order_.gap().empty()) {
    failure.incomplete = fmt::format("--memory=ptx does not model {}", order_.gap());
    return failure;
  }
  if (!order_.race()) {
    return std::nullopt;
  }
  const WeakOrder::Found& found = *order_.race();
  report::Diagnostic d(
      report::Finding::DataRace,
      fmt::format(
          "data race: {} and {} access the same {} bytes, and nothing orders the two",
          found.first.who,
          found.second.who,
          found.bytes
      )
  );
  d.threads.push_back(found.second.who);
  d.rule = found.scopes ? "RACE-STRONG" : "RACE";
  int number = 0;
  for (const WeakOrder::Side& side : {found.second, found.first}) {
    FaultReport place;
    describe_instruction(*side.code, *side.op, place);
    add_place(d, place, fmt::format("{}: {}", side.who, side.what), fmt::format("({}) ", ++number));
  }
  if (!d.labels.empty()) {
    d.place = d.labels.front().place;
  }
  d.notes.emplace_back(
      "with weak memory: a release orders only what is before it, and only for an acquire that "
      "reads from it"
  );
  failure.race = std::move(d);
  return failure;
}

} // namespace heddle::reduce
