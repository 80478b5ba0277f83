// How a thread is written down, and put back: its frames, live registers and local memory, and what
// it remembers of clocks.
//
//   ImageWriter writer(bytes);
//   const ImageWriter::Asks asks = writer.lane(live, warp, lane, loops);
//   …
//   ImageReader reader(bytes);
//   reader.lane(live, warp, lane, loops, bytes_of_lane);
//
// Of a register only the live ones are kept; dead ones have any value after reading. Pointers to
// code stand for themselves: they are the same in all processes of an exploration.
#pragma once

#include "machine/block.h"
#include "machine/live_state.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::model {

using namespace machine;

/// Where a lane stands. One that waits has no result of what it waits at yet, so that what is live
/// is what is live before it, although its program counter is behind it.
inline const isa::Op* place_of(const isa::Warp& warp, int lane) {
  const isa::Op* pc = warp.pc[static_cast<std::size_t>(lane)];
  return (warp.blocked & (isa::LaneMask{1} << lane)) != 0 ? pc - 1 : pc;
}

/// How much of a lane's local memory is in use, its innermost frame being this one.
inline std::uint64_t local_bytes(const isa::Frame& inner, const isa::Warp& warp) {
  return std::min(std::uint64_t{inner.local_end()}, warp.local_bytes);
}

/// The frames of a lane, outermost first.
class FrameChain {
public:
  FrameChain(const isa::Warp& warp, int lane) {
    for (isa::Frame* f = warp.frame[static_cast<std::size_t>(lane)]; f != nullptr; f = f->caller) {
      ++depth;
    }
    if (depth > few_.size()) {
      many_.resize(depth);
      frames = many_.data();
    }
    std::size_t d = depth;
    for (isa::Frame* f = warp.frame[static_cast<std::size_t>(lane)]; f != nullptr; f = f->caller) {
      frames[--d] = f;
    }
  }
  FrameChain(const FrameChain&) = delete;
  FrameChain& operator=(const FrameChain&) = delete;

private:
  std::array<isa::Frame*, 64> few_;
  std::vector<isa::Frame*> many_;

public:
  isa::Frame** frames = few_.data();
  std::size_t depth = 0;
};

/// What the lane may still learn about itself, or do, in any of its frames.
inline std::uint8_t identity_of(LiveState& live, const isa::Warp& warp, int lane) {
  const FrameChain chain(warp, lane);
  std::uint8_t identity = LiveState::Nothing;
  for (std::size_t d = 0; d < chain.depth; ++d) {
    const isa::Op* next =
        d + 1 < chain.depth ? chain.frames[d + 1]->return_op : place_of(warp, lane);
    identity |= live.at(*chain.frames[d]->code, *next).identity;
  }
  return identity;
}

/// Appends many small values to bytes, a few hundred bytes at a time.
class SmallValues {
public:
  explicit SmallValues(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  ~SmallValues() { flush(); }
  SmallValues(const SmallValues&) = delete;
  SmallValues& operator=(const SmallValues&) = delete;

  /// The first `count` bytes of `bits`, at most 8.
  void put(std::uint64_t bits, std::size_t count) {
    if (size_ + sizeof bits > few_.size()) {
      flush();
    }
    std::memcpy(few_.data() + size_, &bits, sizeof bits);
    size_ += count;
  }
  void raw(const std::byte* p, std::size_t count) {
    flush();
    bytes_.insert(bytes_.end(), p, p + count);
  }

private:
  void flush() {
    bytes_.insert(bytes_.end(), few_.data(), few_.data() + size_);
    size_ = 0;
  }

  std::vector<std::byte>& bytes_;
  std::array<std::byte, 512> few_;
  std::size_t size_ = 0;
};

/// Appends to bytes.
class ImageWriter {
public:
  explicit ImageWriter(std::vector<std::byte>& bytes) : bytes_(bytes) { bytes_.clear(); }

  void raw(const void* p, std::size_t count) {
    const auto* b = static_cast<const std::byte*>(p);
    bytes_.insert(bytes_.end(), b, b + count);
  }
  template <class T> void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(&value, sizeof value);
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte>& bytes() { return bytes_; }

  struct Asks {
    std::uint8_t identity = LiveState::Nothing;                        // LiveState::At's
    std::uint8_t asked = LiveState::Nothing;                           // the same
    std::uint64_t reads_shared = 0, writes_shared = ~std::uint64_t{0}; // the same
  };
  /// Returns what the lane may still learn about itself. `decisive`, if there is one, takes the
  /// same without registers that nothing is decided by.
  template <class Loops>
  Asks lane(
      LiveState& live,
      const isa::Warp& warp,
      int lane,
      const Loops& loops,
      ImageWriter* decisive = nullptr
  ) {
    const FrameChain chain(warp, lane);
    Asks asks;
    SmallValues whole(bytes_);
    std::optional<SmallValues> deciding;
    if (decisive != nullptr) {
      deciding.emplace(decisive->bytes_);
    }
    const auto put_both = [&](const auto& value) {
      static_assert(std::is_integral_v<std::remove_cvref_t<decltype(value)>>);
      whole.put(static_cast<std::uint64_t>(value), sizeof value);
      if (deciding) {
        deciding->put(static_cast<std::uint64_t>(value), sizeof value);
      }
    };
    const auto both = [&](const LiveState::Register& r, std::uint64_t bits, std::size_t count) {
      whole.put(bits, count);
      if (deciding && !r.data) {
        deciding->put(bits, count);
      }
    };
    const auto both_raw = [&](bool data, const std::byte* p, std::size_t count) {
      whole.raw(p, count);
      if (deciding && !data) {
        deciding->raw(p, count);
      }
    };
    bool holds_time = false;
    put_both(static_cast<std::uint32_t>(chain.depth));
    for (std::size_t d = 0; d < chain.depth; ++d) {
      const isa::Frame& frame = *chain.frames[d];
      const isa::Op* next =
          d + 1 < chain.depth ? chain.frames[d + 1]->return_op : place_of(warp, lane);
      const LiveState::At& at = live.at(*frame.code, *next);
      asks.identity |= at.identity;
      asks.asked |= at.asked;
      asks.reads_shared |= chain.depth == 1 ? at.reads_shared : ~std::uint64_t{0};
      asks.writes_shared &= chain.depth == 1 ? at.writes_shared : 0;
      holds_time = holds_time || at.holds_time;
      put_both(at.name);
      put_both(frame.allocated_by(lane));
      for (const LiveState::Register& r : at.registers) {
        if ((r.lanes & (isa::LaneMask{1} << lane)) == 0) {
          continue;
        }
        const std::byte* values = frame.registers.data() + r.offset;
        if (r.bytes == 0) {
          isa::LaneMask mask = 0;
          std::memcpy(&mask, values, sizeof mask);
          both(r, mask >> lane & 1, sizeof(std::uint8_t));
        } else {
          std::uint64_t bits = 0;
          if (r.bytes <= sizeof bits) {
            std::memcpy(&bits, values + r.bytes * static_cast<std::size_t>(lane), r.bytes);
            bits &= r.bits;
            both(r, bits, r.bytes);
          } else {
            both_raw(r.data, values + r.bytes * static_cast<std::size_t>(lane), r.bytes);
          }
        }
      }
    }
    const isa::Frame& inner = *chain.frames[chain.depth - 1];
    const auto* local = warp.local + static_cast<std::size_t>(lane) * warp.local_stride;
    if (const std::size_t count = local_bytes(inner, warp); count != 0) {
      both_raw(/*data=*/false, local, count);
    }
    if (const std::span<const std::byte> stack = warp.stack_of(lane); !stack.empty()) {
      both_raw(/*data=*/false, stack.data(), stack.size());
    }
    put_both(holds_time ? loops.late[static_cast<std::size_t>(lane)] : std::uint8_t{0});
    put_both(loops.soon[static_cast<std::size_t>(lane)]);
    return asks;
  }

private:
  std::vector<std::byte>& bytes_;
};

/// Reads what ImageWriter has written.
class ImageReader {
public:
  explicit ImageReader(const std::vector<std::byte>& bytes) : at_(bytes.data()) {}
  void go_on_in(const std::vector<std::byte>& bytes) { at_ = bytes.data(); }

  void raw(void* p, std::size_t count) {
    if (count != 0) { // else p may be null
      std::memcpy(p, at_, count);
    }
    at_ += count;
  }
  template <class T> T get() {
    T value;
    raw(&value, sizeof value);
    return value;
  }
  template <class T> void get(T& value) { raw(&value, sizeof value); }

  /// From bytes of its own.
  template <class Loops>
  void lane(
      LiveState& live,
      isa::Warp& warp,
      int lane,
      Loops& loops,
      const std::vector<std::byte>& bytes
  ) {
    const std::byte* const here = std::exchange(at_, bytes.data());
    read_lane(live, warp, lane);
    get(loops.late[static_cast<std::size_t>(lane)]);
    get(loops.soon[static_cast<std::size_t>(lane)]);
    at_ = here;
  }
  void next_warp() { entered_.clear(); }
  /// Where it is, for others that read themselves.
  const std::byte*& position() { return at_; }

private:
  void read_lane(LiveState& live, isa::Warp& warp, int lane) {
    const auto depth = get<std::uint32_t>();
    isa::Frame* frame = nullptr;
    const isa::Op* next = nullptr;
    for (std::uint32_t d = 0; d < depth; ++d) {
      const LiveState::At& at = live.named(get<std::uint64_t>());
      frame = enter(warp, at.code, frame, next, lane);
      if (const auto allocated = get<std::uint32_t>(); allocated != 0) {
        warp.grow_stack(*frame, lane, allocated);
      }
      next = at.op;
      for (const LiveState::Register& r : at.registers) {
        if ((r.lanes & (isa::LaneMask{1} << lane)) == 0) {
          continue;
        }
        std::byte* values = frame->registers.data() + r.offset;
        if (r.bytes == 0) {
          isa::LaneMask mask = 0;
          std::memcpy(&mask, values, sizeof mask);
          mask =
              (mask & ~(isa::LaneMask{1} << lane)) | (isa::LaneMask{get<std::uint8_t>()} << lane);
          std::memcpy(values, &mask, sizeof mask);
        } else {
          raw(values + r.bytes * static_cast<std::size_t>(lane), r.bytes);
        }
      }
    }
    warp.frame[static_cast<std::size_t>(lane)] = frame;
    warp.pc[static_cast<std::size_t>(lane)] =
        (warp.blocked & (isa::LaneMask{1} << lane)) != 0 ? next + 1 : next;
    raw(warp.local + static_cast<std::size_t>(lane) * warp.local_stride, local_bytes(*frame, warp));
    const std::span<std::byte> stack = warp.stack_of(lane);
    raw(stack.data(), stack.size());
  }

  /// Lanes in the same call share its frame.
  isa::Frame* enter(
      isa::Warp& warp,
      const isa::Code* code,
      isa::Frame* caller,
      const isa::Op* return_op,
      int lane
  ) {
    for (isa::Frame* known : entered_) {
      if (known->code == code && known->caller == caller && known->return_op == return_op) {
        known->lanes |= (isa::LaneMask{1} << lane);
        return known;
      }
    }
    entered_.push_back(warp.push_frame(code, caller, return_op, (isa::LaneMask{1} << lane)));
    return entered_.back();
  }

  const std::byte* at_;
  std::vector<isa::Frame*> entered_;
};

} // namespace heddle::model
