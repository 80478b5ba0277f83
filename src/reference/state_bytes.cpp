// Implements state_bytes.h.
#include "reference/state_bytes.h"

#include "isa/lowering.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <type_traits>

namespace heddle::reference {

using isa::Frame;
using isa::LaneMask;
using machine::Block;

namespace {

class Writer {
public:
  explicit Writer(std::vector<std::byte>& bytes) : bytes_(bytes), size_(bytes.size()) {}
  ~Writer() { bytes_.resize(size_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void raw(const void* p, std::size_t count) {
    if (size_ + count > bytes_.size()) {
      bytes_.resize(2 * (size_ + count));
    }
    if (count != 0) {
      std::memcpy(bytes_.data() + size_, p, count);
    }
    size_ += count;
  }
  template <class T> void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(&value, sizeof value);
  }

private:
  std::vector<std::byte>& bytes_;
  std::size_t size_; // what is behind that is room
};

class Reader {
public:
  explicit Reader(const std::byte* at) : at_(at) {}
  void raw(void* p, std::size_t count) {
    if (count != 0) {
      std::memcpy(p, at_, count);
    }
    at_ += count;
  }
  template <class T> void get(T& value) { raw(&value, sizeof value); }
  template <class T> T get() {
    T value;
    get(value);
    return value;
  }
  const std::byte* at() const { return at_; }

private:
  const std::byte* at_;
};

/// Up to the last byte that is not 0.
std::size_t used(std::span<const std::byte> bytes) {
  std::size_t count = bytes.size();
  while (count != 0 && bytes[count - 1] == std::byte{0}) {
    --count;
  }
  return count;
}

/// Calls f(offset, bytes of an element) for each register; 0 bytes: a predicate.
template <class F> void each_register(const isa::Code& code, F&& f) {
  const auto* const declared = code.function->registers.data();
  for (std::size_t r = 0; r < code.registers.size(); ++r) {
    const bool predicate = declared[r].type == ptx::Mod::Pred;
    f(code.registers[r].offset(), predicate ? 0U : isa::register_bytes(declared[r].type));
  }
  for (const auto& [offset, bytes] : code.scratch) {
    f(offset, bytes);
  }
}

/// All fields of a barrier of the block, of a warp, in one order for writing and reading.
template <class Barrier, class F> void each_field(Barrier& barrier, F&& f) {
  f(&barrier.expected, sizeof barrier.expected);
  f(&barrier.arrivals, sizeof barrier.arrivals);
  f(&barrier.popc, sizeof barrier.popc);
  f(&barrier.all, sizeof barrier.all);
  f(&barrier.any, sizeof barrier.any);
  f(&barrier.in_use, sizeof barrier.in_use);
  f(barrier.waiting.data(), barrier.waiting.size() * sizeof(LaneMask));
  f(barrier.arrived.data(), barrier.arrived.size() * sizeof(LaneMask));
}
template <class WarpState, class F> void each_mask(WarpState& state, F&& f) {
  for (auto* mask :
       {&state.warp.live,
        &state.warp.blocked,
        &state.arrived,
        &state.red_popc,
        &state.red_and,
        &state.red_or,
        &state.cluster_arrived,
        &state.cluster_waiting,
        &state.cluster_passed,
        &state.grid_waiting}) {
    f(*mask);
  }
}
/// What lanes have handed over that have arrived at a collective.
template <class WarpState, class F> void each_arrival(WarpState& state, F&& f) {
  for (LaneMask m = state.arrived; m != 0; m &= m - 1) {
    const std::size_t lane = slot(std::countr_zero(m));
    f(state.membermask[lane]);
    f(state.collective_op[lane]);
    f(state.collective[lane].kind);
    f(state.collective[lane].contribute);
    f(state.collective[lane].conclude);
    f(state.exchange.value[lane]);
  }
}

std::size_t local_bytes(const isa::Warp& warp, const Frame& inner) {
  return std::min(std::uint64_t{inner.local_end()}, warp.local_bytes);
}

void save_lane(const isa::Warp& warp, int lane, Writer& writer) {
  const Frame* const inner = warp.frame[slot(lane)];
  writer.put(inner->depth);
  for (std::uint32_t depth = 0; depth <= inner->depth; ++depth) { // outermost first
    const Frame* frame = inner;
    while (frame->depth != depth) {
      frame = frame->caller;
    }
    writer.put(frame->code);
    writer.put(frame->return_op);
    writer.put(frame->allocated_by(lane));
    each_register(*frame->code, [&](std::uint32_t offset, std::uint32_t bytes) {
      const std::byte* const values = frame->registers.data() + offset;
      if (bytes != 0) {
        writer.raw(values + bytes * slot(lane), bytes);
        return;
      }
      LaneMask mask = 0;
      std::memcpy(&mask, values, sizeof mask);
      writer.put(static_cast<std::uint8_t>(mask >> lane & 1));
    });
  }
  writer.put(warp.pc[slot(lane)]);
  writer.raw(warp.local + slot(lane) * warp.local_stride, local_bytes(warp, *inner));
  writer.raw(warp.stack_of(lane).data(), warp.stack_of(lane).size());
}

void load_lane(isa::Warp& warp, int lane, Reader& reader) {
  const LaneMask bit = LaneMask{1} << lane;
  Frame* frame = nullptr;
  for (auto left = reader.get<std::uint32_t>() + 1; left != 0; --left) {
    const auto* const code = reader.get<const isa::Code*>();
    const auto* const return_op = reader.get<const isa::Op*>();
    frame = warp.push_frame(code, frame, return_op, bit);
    warp.grow_stack(*frame, lane, reader.get<std::uint32_t>());
    each_register(*code, [&](std::uint32_t offset, std::uint32_t bytes) {
      std::byte* const values = frame->registers.data() + offset;
      if (bytes != 0) {
        reader.raw(values + bytes * slot(lane), bytes);
        return;
      }
      const LaneMask mask = reader.get<std::uint8_t>() != 0 ? bit : 0;
      std::memcpy(values, &mask, sizeof mask);
    });
  }
  warp.frame[slot(lane)] = frame;
  reader.get(warp.pc[slot(lane)]);
  reader.raw(warp.local + slot(lane) * warp.local_stride, local_bytes(warp, *frame));
  reader.raw(warp.stack_of(lane).data(), warp.stack_of(lane).size());
}

} // namespace

void clear_registers(Frame& frame) {
  std::ranges::fill(frame.registers, std::byte{0});
}

void save_block(Block& block, std::vector<std::byte>& bytes) {
  Writer writer(bytes);
  const Block::Own own = block.own();
  writer.put(own.live);
  if (block.ended()) {
    return;
  }
  writer.put(own.launched_dependents);
  writer.put(own.grids_before_over);
  for (const Block::Barrier& barrier : own.barriers) {
    each_field(barrier, [&](const void* p, std::size_t count) { writer.raw(p, count); });
  }
  const std::size_t shared = used(block.all_shared());
  writer.put(shared);
  writer.raw(block.all_shared().data(), shared);
  for (const Block::WarpState& state : block.warps()) {
    each_mask(state, [&](const LaneMask& mask) { writer.put(mask); });
    each_arrival(state, [&](const auto& part) { writer.put(part); });
    const std::size_t words = state.arrived != 0 ? state.exchange.words.size() : 0;
    writer.put(words);
    writer.raw(state.exchange.words.data(), words * sizeof(std::uint32_t));
    for (LaneMask m = state.warp.live; m != 0; m &= m - 1) {
      save_lane(state.warp, std::countr_zero(m), writer);
    }
  }
}

const std::byte* load_block(Block& block, const std::byte* bytes) {
  Reader reader(bytes);
  const Block::Own own = block.own();
  reader.get(own.live);
  block.divergence().reset();
  for (Block::WarpState& state : block.warps()) {
    state.warp.reset();
    state.tired = state.ran = state.arrived = 0;
  }
  if (block.ended()) {
    return reader.at();
  }
  reader.get(own.launched_dependents);
  reader.get(own.grids_before_over);
  for (Block::Barrier& barrier : own.barriers) {
    each_field(barrier, [&](void* p, std::size_t count) { reader.raw(p, count); });
  }
  const auto shared = reader.get<std::size_t>();
  reader.raw(block.all_shared().data(), shared);
  std::ranges::fill(block.all_shared().subspan(shared), std::byte{0});
  for (Block::WarpState& state : block.warps()) {
    each_mask(state, [&](LaneMask& mask) { reader.get(mask); });
    each_arrival(state, [&](auto& part) { reader.get(part); });
    state.exchange.words.resize(reader.get<std::size_t>());
    reader.raw(state.exchange.words.data(), state.exchange.words.size() * sizeof(std::uint32_t));
    for (LaneMask m = state.warp.live; m != 0; m &= m - 1) {
      load_lane(state.warp, std::countr_zero(m), reader);
    }
  }
  return reader.at();
}

} // namespace heddle::reference
