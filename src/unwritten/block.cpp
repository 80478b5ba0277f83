// Implements block.h.
#include "unwritten/block.h"

#include "isa/ops_address.h"
#include "isa/ops_collective.h"
#include "machine/fault_diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::unwritten {

using isa::LaneMask;
using ptx::Mod;

namespace {

template <class F> void each(LaneMask lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) {
    f(std::countr_zero(lanes));
  }
}

} // namespace

const isa::Op* BlockUnwritten::execute(isa::Exec& exec, const isa::Op& op) {
  auto& block = static_cast<machine::Block&>(exec.environment());
  return unwritten_in(block).run(exec, op);
}

void BlockUnwritten::started() {
  frames_.clear();
  frame_ = nullptr;
  pending_.clear();
  local_.clear();
  local_.resize(block_.warps().size());
  shared_ = std::make_unique<Area>(0, block_.shared_bytes(), 0);
}

// --- Registers ---------------------------------------------------------------------------------

BlockUnwritten::Registers& BlockUnwritten::registers(const isa::Frame& frame) {
  if (frame_ != &frame) {
    frame_ = &frame;
    registers_ = &frames_[&frame];
    registers_->lanes.resize(frame.code->function->registers.size());
  }
  return *registers_;
}

void BlockUnwritten::set(Registers& r, std::uint32_t index, int lane, Bits bits, Origin origin) {
  if (index == Input::none) {
    return;
  }
  if (bits == 0) {
    r.lanes[index] &= ~(LaneMask{1} << lane);
    return;
  }
  if (r.cells.empty()) {
    r.cells.resize(r.lanes.size() * isa::warp_size);
  }
  r.any = true;
  r.lanes[index] |= LaneMask{1} << lane;
  r.cells[std::size_t{index} * isa::warp_size + static_cast<std::size_t>(lane)] = {bits, origin};
}

void BlockUnwritten::clear(Registers& r, const Use& use, LaneMask lanes) {
  for (const std::uint32_t index : use.results) {
    if (index != Input::none) {
      r.lanes[index] &= ~lanes;
    }
  }
}

Source BlockUnwritten::source(
    const isa::Exec& exec,
    const Registers& r,
    const Input& input,
    int lane
) const {
  Source s;
  if (input.index == Input::none) {
    s.value = input.value;
    return s;
  }
  const isa::Code& code = exec.code();
  const isa::Ref ref = code.registers[input.index];
  const Mod type = code.function->registers[input.index].type;
  if (type == Mod::Pred) {
    s.value = exec.in<LaneMask>(ref)[0] >> lane & 1;
    s.value ^= input.negated ? 1 : 0;
  } else {
    const auto bytes = static_cast<std::size_t>(std::clamp(ptx::type_bits(type), 16, 128) / 8);
    std::memcpy(
        &s.value,
        exec.in<std::byte>(ref) + bytes * static_cast<std::size_t>(lane),
        std::min<std::size_t>(bytes, sizeof s.value)
    );
  }
  if (is_unwritten(r, input.index, lane)) {
    s.bits =
        r.cells[std::size_t{input.index} * isa::warp_size + static_cast<std::size_t>(lane)].bits;
  }
  return s;
}

// --- Instructions ------------------------------------------------------------------------------

const Use* BlockUnwritten::find_use(const isa::Code& code, const isa::Op& op) {
  if (&code != code_) {
    code_ = &code;
    table_ = &unwritten_.table(code);
  }
  return (*table_)[static_cast<std::size_t>(&op - code.ops.data())].get();
}

const isa::Op* BlockUnwritten::run(isa::Exec& exec, const isa::Op& op) {
  const Use& use = *find_use(exec.code(), op);
  Registers& r = registers(exec.frame());
  if (!pending_.empty()) {
    settle_shuffles(exec, r);
  }
  if (r.any) {
    look_at_guard(exec, r, use);
    look_at_address(exec, r, use);
  }
  switch (use.kind) {
  case Kind::Load:
  case Kind::Store:
  case Kind::Update:
    access(exec, r, use);
    break;
  case Kind::Decides:
    if (!r.any) {
      break;
    }
    for (const Input& input : use.sources) {
      each(exec.mask(), [&](int lane) {
        if (is_unwritten(r, input.index, lane)) {
          const Cell& cell =
              r.cells[std::size_t{input.index} * isa::warp_size + static_cast<std::size_t>(lane)];
          unwritten_.found(Matter::Branch, cell.origin, use);
        }
      });
    }
    break;
  case Kind::Call: {
    const isa::Frame* before = &exec.frame();
    clear(r, use, exec.mask());
    const isa::Op* next = use.handler(exec, op);
    if (next != nullptr && &exec.frame() != before) {
      const isa::Frame& frame = exec.frame();
      frames_.erase(&frame);
      frame_ = nullptr;
      Area& area = local(exec.warp());
      each(exec.group(), [&](int lane) {
        area.forget(
            static_cast<std::uint64_t>(lane) * exec.warp().local_stride + frame.local_base,
            frame.code->local_bytes
        );
      });
    }
    return next;
  }
  case Kind::Writes: {
    clear(r, use, exec.mask());
    const isa::Watching watching(exec, *this);
    return use.handler(exec, op);
  }
  case Kind::Shuffle: {
    const Pending sources = sources_of_shuffle(exec, r, use);
    if (r.any || exec.warp().live != isa::all_lanes) {
      shuffle(exec, r, use, sources);
    }
    const isa::Op* next = use.handler(exec, op);
    if (next == nullptr && exec.why() == isa::Stop::Blocked) {
      pending_.push_back(sources);
    }
    return next;
  }
  case Kind::Unpack:
    if (r.any) {
      unpack(exec, r, use);
    }
    break;
  default:
    if (r.any) {
      compute(exec, r, use);
    }
    break;
  }
  return use.handler(exec, op);
}

void BlockUnwritten::look_at_guard(const isa::Exec& exec, Registers& r, const Use& use) {
  if (!use.instruction->guard) {
    return;
  }
  const std::uint32_t guard = use.instruction->guard->register_index;
  const LaneMask lanes = r.lanes[guard] & exec.group();
  if (lanes == 0 || use.kind == Kind::Load) {
    return;
  }
  const auto first = static_cast<std::size_t>(std::countr_zero(lanes));
  const Origin origin = r.cells[std::size_t{guard} * isa::warp_size + first].origin;
  switch (use.kind) {
  case Kind::Decides:
    unwritten_.found(Matter::Branch, origin, use);
    break;
  case Kind::Store:
  case Kind::Update:
  case Kind::Call:
  case Kind::Writes:
    unwritten_.found(Matter::Guard, origin, use);
    break;
  default:
    break;
  }
}

void BlockUnwritten::look_at_address(const isa::Exec& exec, Registers& r, const Use& use) {
  for (const std::uint32_t index : use.address) {
    const LaneMask lanes = r.lanes[index] & exec.mask();
    if (lanes != 0) {
      const auto first = static_cast<std::size_t>(std::countr_zero(lanes));
      unwritten_
          .found(Matter::Address, r.cells[std::size_t{index} * isa::warp_size + first].origin, use);
    }
  }
}

void BlockUnwritten::compute(const isa::Exec& exec, Registers& r, const Use& use) {
  const LaneMask lanes = exec.mask();
  LaneMask concerned = 0;
  for (const Input& input : use.sources) {
    if (input.index != Input::none) {
      concerned |= r.lanes[input.index];
    }
  }
  concerned &= lanes;
  if (concerned == 0) {
    clear(r, use, lanes);
    return;
  }
  std::vector<Source> sources(use.sources.size());
  each(lanes, [&](int lane) {
    Origin origin = 0;
    for (std::size_t n = 0; n < sources.size(); ++n) {
      sources[n] = source(exec, r, use.sources[n], lane);
      if (sources[n].bits != 0 && origin == 0) {
        origin = r.cells
                     [std::size_t{use.sources[n].index} * isa::warp_size +
                      static_cast<std::size_t>(lane)]
                         .origin;
      }
    }
    bool computes = false;
    const Bits bits = origin == 0 ? 0 : spread(use, sources, computes);
    for (const std::uint32_t index : use.results) {
      if (index != Input::none) {
        const Mod type = exec.code().function->registers[index].type;
        const Bits width = ones(static_cast<unsigned>(ptx::type_bits(type)));
        set(r, index, lane, bits & width, computes ? origin | computed : origin);
      }
    }
  });
}

void BlockUnwritten::unpack(const isa::Exec& exec, Registers& r, const Use& use) {
  const auto width = static_cast<unsigned>(use.bits / use.results.size());
  each(exec.mask(), [&](int lane) {
    const Source s = source(exec, r, use.sources[0], lane);
    const Origin origin = s.bits == 0 ? 0
                                      : r.cells
                                            [std::size_t{use.sources[0].index} * isa::warp_size +
                                             static_cast<std::size_t>(lane)]
                                                .origin;
    for (std::size_t n = 0; n < use.results.size(); ++n) {
      const Bits bits = s.bits >> n * width & ones(width);
      set(r, use.results[n], lane, bits, origin);
    }
  });
}

BlockUnwritten::Pending
BlockUnwritten::sources_of_shuffle(isa::Exec& exec, Registers& r, const Use& use) const {
  Pending sources{&exec.warp(), &exec.frame(), &use, exec.mask(), {}};
  each(exec.mask(), [&](int lane) {
    const auto b = static_cast<std::uint32_t>(source(exec, r, use.sources[1], lane).value);
    const auto c = static_cast<std::uint32_t>(source(exec, r, use.sources[2], lane).value);
    sources.from[static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(
        isa::ops::shuffle_source(*use.instruction, lane, b, c).lane & (isa::warp_size - 1)
    );
  });
  return sources;
}

/// Lanes that had to wait go on: whom they have met is known now. Who is not among them, and has
/// ended, had ended before.
void BlockUnwritten::settle_shuffles(isa::Exec& exec, Registers& r) {
  const machine::Block::WarpState& state = block_.warps()[block_.index_of(exec.warp())];
  warp_ = &exec.warp();
  std::erase_if(pending_, [&](Pending& one) {
    const LaneMask lanes = one.lanes & exec.group();
    if (one.warp != &exec.warp() || one.frame != &exec.frame() || lanes == 0) {
      return false;
    }
    const LaneMask ended = ~state.exchange.lanes & ~exec.warp().live;
    each((lanes & ~state.exchange.lanes) == 0 ? lanes : 0, [&](int lane) {
      const int other = one.from[static_cast<std::size_t>(lane)];
      if ((ended >> other & 1) != 0) {
        set(r, one.use->results[0], lane, ones(32), origin_of_ended(*one.use, lane, other));
      }
    });
    one.lanes &= ~lanes;
    return one.lanes == 0;
  });
}

void BlockUnwritten::shuffle(
    isa::Exec& exec,
    Registers& r,
    const Use& use,
    const Pending& sources
) {
  const LaneMask lanes = exec.mask();
  const LaneMask ended = ~exec.warp().live;
  const Input& value = use.sources[0];
  warp_ = &exec.warp();
  std::array<Cell, isa::warp_size> from{};
  each(lanes, [&](int lane) {
    const int other = sources.from[static_cast<std::size_t>(lane)];
    if ((ended >> other & 1) != 0) { // PTX does not say what is read there
      from[static_cast<std::size_t>(lane)] = Cell{ones(32), origin_of_ended(use, lane, other)};
    } else if ((lanes >> other & 1) != 0 && is_unwritten(r, value.index, other)) {
      from[static_cast<std::size_t>(lane)] =
          r.cells[std::size_t{value.index} * isa::warp_size + static_cast<std::size_t>(other)];
    }
  });
  clear(r, use, lanes);
  each(lanes, [&](int lane) {
    const Cell& cell = from[static_cast<std::size_t>(lane)];
    set(r, use.results[0], lane, cell.bits, cell.origin);
  });
}

// --- Memory ------------------------------------------------------------------------------------

Area& BlockUnwritten::local(const isa::Warp& warp) {
  std::unique_ptr<Area>& area = local_[block_.index_of(warp)];
  if (area == nullptr) {
    area = std::make_unique<Area>(0, isa::warp_size * warp.local_stride, 0);
  }
  return *area;
}

void BlockUnwritten::addresses(
    isa::Exec& exec,
    const Use& use,
    std::uint64_t (&address)[isa::warp_size]
) {
  if (use.in_shared) {
    isa::addresses<isa::Space::Shared>(exec, *use.op, address);
  } else if (use.in_local) {
    isa::addresses<isa::Space::Local>(exec, *use.op, address);
  } else {
    isa::addresses<isa::Space::Generic>(exec, *use.op, address);
  }
}

BlockUnwritten::Place
BlockUnwritten::place(isa::Exec& exec, const Use& use, std::uint64_t address, int lane) {
  Place at = place(exec, address, use.in_shared, use.in_local, lane);
  if (at.area != nullptr && !at.area->contains(at.offset, use.bytes_accessed())) {
    at.area = nullptr; // a fault
  }
  return at;
}

BlockUnwritten::Place
BlockUnwritten::place(isa::Exec& exec, std::uint64_t address, bool shared, bool local, int lane) {
  Place place;
  place.address = address;
  if (!shared && !local) {
    if (!isa::in_window(address)) {
      place.area = unwritten_.memory().global(address);
      place.offset = place.area != nullptr ? address - place.area->base() : 0;
      return place;
    }
    const std::uint64_t offset = address - memory::window_base;
    shared = offset < memory::window_size;
    local = !shared && offset < 2 * memory::window_size;
  }
  const std::uint64_t offset = address & 0xffff'ffffU;
  if (local) {
    place.space = Place::Space::Local;
    const isa::Warp& warp = exec.warp();
    if (offset < warp.local_bytes) {
      place.area = &this->local(warp);
      place.offset = static_cast<std::uint64_t>(lane) * warp.local_stride + offset;
    }
    return place;
  }
  if (!shared) {
    return place; // parameters
  }
  place.space = Place::Space::Shared;
  const std::uint64_t rank = offset >> memory::shared_rank_shift;
  BlockUnwritten* owner = this;
  if (rank != 0 && rank - 1 != block_.rank()) {
    if (rank - 1 >= block_.cluster().size()) {
      return place;
    }
    owner = &unwritten_in(block_.cluster().block(rank - 1));
  }
  place.area = owner->shared_.get();
  place.offset = offset & ((std::uint64_t{1} << memory::shared_rank_shift) - 1);
  return place;
}

void BlockUnwritten::access(isa::Exec& exec, Registers& r, const Use& use) {
  if (use.at_parameters) {
    clear(r, use, exec.mask());
    return;
  }
  warp_ = &exec.warp();
  std::uint64_t address[isa::warp_size];
  addresses(exec, use, address);
  each(exec.mask(), [&](int lane) {
    const Place at = place(exec, use, address[lane], lane);
    switch (use.kind) {
    case Kind::Load:
      load(r, use, lane, at);
      break;
    case Kind::Store:
      store(r, use, lane, at);
      break;
    default:
      update(r, use, lane, at);
      break;
    }
  });
}

std::string BlockUnwritten::name_of(int lane) const {
  const machine::Dim3 thread = block_.thread_index(block_.index_of(*warp_), lane);
  const machine::Dim3 block = block_.index();
  return fmt::format(
      "thread ({},{},{}) of block ({},{},{}) of kernel '{}'",
      thread.x,
      thread.y,
      thread.z,
      block.x,
      block.y,
      block.z,
      block_.grid().describe()
  );
}

Origin BlockUnwritten::origin_of_ended(const Use& use, int lane, int ended) {
  return unwritten_.origin(use, [&](Report& report) {
    report.who = name_of(lane);
    report.bytes = 4;
    report.ended_lane = ended;
  });
}

Origin
BlockUnwritten::origin_of(const Use& use, int lane, const Place& place, std::uint64_t offset) {
  const Origin known = place.area->origin(offset);
  if (known != 0) {
    return known;
  }
  return unwritten_.origin(use, [&](Report& report) {
    report.who = name_of(lane);
    const machine::Grid& grid = block_.grid();
    report.read.launches = {{grid.describe(), grid.config().called_from}};
    report.bytes = use.element;
    if (place.space == Place::Space::Global) {
      report.lies_in(unwritten_.space(), place.address);
      return;
    }
    std::string name;
    for (const ptx::Operand& operand : use.instruction->operands) {
      if (operand.kind == ptx::OperandKind::Address && !operand.name.empty()) {
        name = machine::demangle(operand.name);
      }
    }
    const bool is_local = place.space == Place::Space::Local;
    report.memory = is_local ? "local memory of the thread" : "shared memory of the block";
    if (!name.empty() && !is_local) {
      report.memory += fmt::format(", '{}'", name);
    }
  });
}

void BlockUnwritten::load(Registers& r, const Use& use, int lane, const Place& place) {
  bool any = false;
  for (std::size_t n = 0; n < use.results.size(); ++n) {
    const std::uint32_t index = use.results[n];
    const std::uint64_t offset = place.offset + n * use.element;
    Bits bits = place.area == nullptr ? 0 : place.area->bits(offset, use.element);
    if (bits == 0 || index == Input::none) {
      set(r, index, lane, 0, 0);
      continue;
    }
    any = true;
    const Origin origin = origin_of(use, lane, place, offset);
    if (use.is_signed && use.element < 8 && (bits >> (use.element * 8 - 1) & 1) != 0) {
      bits |= ~ones(use.element * 8U);
    }
    set(r, index, lane, bits, origin);
  }
  if (any && place.space == Place::Space::Global && !place.area->touched()) {
    unwritten_.found(Matter::Nothing, origin_of(use, lane, place, place.offset), use);
  }
}

void BlockUnwritten::store(Registers& r, const Use& use, int lane, const Place& place) {
  for (std::size_t n = 0; n < use.sources.size(); ++n) {
    const Input& input = use.sources[n];
    Cell cell;
    if (is_unwritten(r, input.index, lane)) {
      cell = r.cells[std::size_t{input.index} * isa::warp_size + static_cast<std::size_t>(lane)];
      cell.bits &= ones(use.element * 8U);
    }
    if (cell.bits != 0 && (cell.origin & computed) != 0 && place.space == Place::Space::Global) {
      unwritten_.found(Matter::Result, cell.origin, use);
      cell.bits = 0; // told once is enough
    }
    if (place.area != nullptr) {
      place.area->write(place.offset + n * use.element, use.element, cell.bits, cell.origin);
    }
  }
}

void BlockUnwritten::update(Registers& r, const Use& use, int lane, const Place& place) {
  const ptx::Instruction& i = *use.instruction;
  Bits bits = 0;
  Origin origin = 0;
  if (place.area != nullptr) {
    bits = place.area->bits(place.offset, use.element);
    if (i.has(Mod::Cas)) {
      compare_and_swap(r, use, lane, place, bits);
      return;
    }
    origin = bits != 0 ? origin_of(use, lane, place, place.offset) : 0;
    place.area->written(place.offset, use.element);
  }
  if (bits != 0 && !i.has(Mod::Exch)) {
    unwritten_.found(Matter::Update, origin, use);
    bits = 0;
  }
  for (const Input& input : use.sources) {
    if (is_unwritten(r, input.index, lane)) {
      const Cell& cell =
          r.cells[std::size_t{input.index} * isa::warp_size + static_cast<std::size_t>(lane)];
      if (!i.has(Mod::Exch)) {
        unwritten_.found(Matter::Update, cell.origin, use);
      } else if (place.area != nullptr) {
        place.area->write(place.offset, use.element, cell.bits, cell.origin);
      }
    }
  }
  for (const std::uint32_t index : use.results) {
    set(r, index, lane, bits, origin);
  }
}

/// An atomic object smaller than a word is changed so: read the word, swap it for one in which the
/// object has another value. Its neighbours are compared, too, whether or not somebody has written
/// them, and stay as they are. So only a comparison with something that does not come from the word
/// itself is a use of it.
void BlockUnwritten::compare_and_swap(
    Registers& r,
    const Use& use,
    int lane,
    const Place& place,
    Bits bits
) {
  if (bits == 0 || use.sources.size() < 2) {
    clear(r, use, LaneMask{1} << lane);
    return;
  }
  const Origin origin = origin_of(use, lane, place, place.offset);
  // In a function that is called the other value may come from a parameter: not followed.
  if (bits == ones(use.element * 8U) && !is_unwritten(r, use.sources[0].index, lane) &&
      use.code == block_.grid().kernel().code) {
    unwritten_.found(Matter::Update, origin, use);
  }
  const std::uint32_t index = use.sources[1].index;
  const Bits swapped =
      is_unwritten(r, index, lane)
          ? r.cells[std::size_t{index} * isa::warp_size + static_cast<std::size_t>(lane)].bits
          : 0;
  place.area->write(place.offset, use.element, bits & swapped, origin); // as if it succeeds
  clear(r, use, LaneMask{1} << lane);
}

/// An instruction of which no more is known than where it writes.
void BlockUnwritten::accessed(int /*lane*/, std::byte* at, std::uint32_t bytes, bool store) {
  if (!store) {
    return;
  }
  for (std::size_t rank = 0; rank < block_.cluster().size(); ++rank) {
    machine::Block& block = block_.cluster().block(rank);
    const auto offset = static_cast<std::uint64_t>(at - block.shared());
    auto& owner = unwritten_in(block);
    if (at >= block.shared() && owner.shared_->contains(offset, bytes)) {
      owner.shared_->written(offset, bytes);
      return;
    }
  }
  unwritten_.memory().written_at(at, bytes);
}

} // namespace heddle::unwritten
