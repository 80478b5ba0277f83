// Exec as the handlers of a region see it: included by exec.h in the place of the interpreter's,
// when the files with handlers are compiled to LLVM bitcode (HEDDLE_REGION_HANDLERS; src/jit).
//
// So a handler has one definition and is compiled twice. Here it executes for one lane
// (lane_count), and its operands lie in slots (Ref::raw is an offset there). The compiler of
// regions makes of it a function of values without memory (jit/lane_function.h) and widens that to
// as many lanes as it wants. What is only declared makes a handler that calls it one that a region
// leaves to the interpreter.
#pragma once

#include "isa/op.h"

namespace heddle::isa {

// What lanes tell each other. The compiler of regions knows these (jit/lane_talk.h).
extern "C" {
/// The number of the lane in its warp.
[[gnu::const]] std::uint32_t heddle_region_lane() noexcept;
/// The lanes that execute the op.
[[gnu::const]] LaneMask heddle_region_executing() noexcept;
/// Their votes.
[[gnu::const]] LaneMask heddle_region_ballot(bool vote) noexcept;
/// The value of another lane, below 32.
[[gnu::const]] std::uint32_t heddle_region_read(std::uint32_t value, std::uint32_t lane) noexcept;
/// Those of the executing lanes that have the same value.
[[gnu::const]] LaneMask heddle_region_same32(std::uint32_t value) noexcept;
[[gnu::const]] LaneMask heddle_region_same64(std::uint64_t value) noexcept;
/// The values of the executing lanes as one, by an ops::Fold.
[[gnu::const]] std::uint32_t heddle_region_fold(std::uint32_t value, std::uint32_t how) noexcept;
}

struct RegionFrame {
  std::uint32_t local_base = 0;
};

class Exec {
public:
  // --- Filled in by the compiler of regions: jit/lane_function.cpp knows this layout
  std::byte* slots = nullptr;
  const Ref* list = nullptr;          // the op's, from Op::list on
  const std::byte* special = nullptr; // of the lane
  RegionFrame region_frame;

  // --- What handlers use
  template <class T> const T* in(Ref ref) const {
    // A special value that is no operand of the op keeps its place.
    return reinterpret_cast<const T*>(
        ref.area() == Area::Special ? special + ref.offset() : slots + ref.raw
    );
  }
  template <class T> T* out(Ref ref) const { return reinterpret_cast<T*>(slots + ref.raw); }
  LaneMask predicate(Ref ref) const { return *in<LaneMask>(ref); }
  void set_predicate(Ref ref, LaneMask value) const { *out<LaneMask>(ref) = value; }
  const Ref* refs(const Op&) const { return list; }
  LaneMask mask() const { return all_lanes; }
  LaneMask group() const { return all_lanes; }
  template <class F> void each(F&& f) const { f(0); }
  const RegionFrame& frame() const { return region_frame; }
  static std::uint32_t lane_number(int) { return heddle_region_lane(); }
  static LaneMask executing() { return heddle_region_executing(); }
  static LaneMask ballot(LaneMask votes) { return heddle_region_ballot((votes & 1) != 0); }
  static std::uint32_t of_lane(const std::uint32_t* value, std::uint32_t lane) {
    return heddle_region_read(*value, lane);
  }

  // --- The interpreter's alone
  const Op* stop_at(Stop why, const Op* next);
  const Op* stop_fault(Fault fault);
  const Op* stop_fault();
  const Op* stop_unsupported(std::string what);
  const Op* block(const Op& op, const Op* next);
  bool spend(std::uint32_t amount);
  bool spend_on_poll(const Op& op, std::uint32_t amount);
  Stop why() const;
  Fault& fault();
  Environment& environment();
  const Code& code() const;
  const memory::AddressSpace& space() const;
  Warp& warp();
  const memory::Range& last_range() const;
  memory::Range shared_range() const;
  std::byte* translate(int, memory::Address, std::uint32_t, bool);
  std::byte* translate_shared(int, std::uint64_t, std::uint32_t, bool);
  std::byte* translate_local(int, std::uint64_t, std::uint32_t, bool);
  std::byte* translate_param(int, std::uint64_t, std::uint32_t);
};

} // namespace heddle::isa
