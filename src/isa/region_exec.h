// Exec as the handlers of a region see it: included by exec.h in the place of the interpreter's,
// when the files with handlers are compiled to LLVM bitcode (HEDDLE_REGION_HANDLERS; src/jit).
//
// So a handler has one definition and is compiled twice. Here its operands lie in slots that the
// compiler of regions has filled in (Ref::raw is an offset there), and all 32 lanes execute. What
// is only declared makes a handler that calls it one that a region leaves to the interpreter. A
// handler that answers nullptr has done nothing that may not be done again: the interpreter's
// handler executes the op then.
#pragma once

#include "isa/op.h"

namespace heddle::isa {

struct RegionFrame {
  std::uint32_t local_base = 0;
};
struct RegionWarp {
  std::byte* local = nullptr;
  std::uint64_t local_stride = 0;
};

class Exec {
public:
  // --- Filled in by the compiler of regions: jit/region_builder.cpp knows this layout
  // -------------
  std::byte* slots = nullptr;
  const Ref* list = nullptr;            // the op's, from Op::list on
  const memory::Range* range = nullptr; // where this op went last
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  std::byte* param = nullptr;
  std::uint64_t param_bytes = 0;
  RegionWarp region_warp;
  RegionFrame region_frame;

  // --- What handlers use
  // ---------------------------------------------------------------------------
  template <class T> const T* in(Ref ref) const {
    return reinterpret_cast<const T*>(slots + ref.raw);
  }
  template <class T> T* out(Ref ref) const { return reinterpret_cast<T*>(slots + ref.raw); }
  LaneMask predicate(Ref ref) const { return *in<LaneMask>(ref); }
  void set_predicate(Ref ref, LaneMask value) const { *out<LaneMask>(ref) = value; }
  const Ref* refs(const Op&) const { return list; }
  LaneMask mask() const { return all_lanes; }
  LaneMask group() const { return all_lanes; }
  template <class F> void each(F&& f) const {
    for (int lane = 0; lane < warp_size; ++lane) {
      f(lane);
    }
  }

  const memory::Range& last_range() const { return *range; }
  memory::Range shared_range() const {
    return {0, shared_bytes, reinterpret_cast<std::int64_t>(shared), true};
  }
  // Lane by lane is the interpreter's way: an access that needs it must not begin here.
  std::byte* translate(int, memory::Address, std::uint32_t, bool) { return nullptr; }
  std::byte* translate_shared(int, std::uint64_t, std::uint32_t, bool) { return nullptr; }
  std::byte* translate_local(int lane, std::uint64_t offset, std::uint32_t bytes, bool) {
    const std::uint64_t stride = region_warp.local_stride;
    const bool fits = bytes <= stride && offset <= stride - bytes && (offset & (bytes - 1)) == 0;
    return fits ? region_warp.local + static_cast<std::uint64_t>(lane) * stride + offset : nullptr;
  }
  std::byte* translate_param(int, std::uint64_t offset, std::uint32_t bytes) {
    return bytes <= param_bytes && offset <= param_bytes - bytes ? param + offset : nullptr;
  }
  const RegionWarp& warp() const { return region_warp; }
  const RegionFrame& frame() const { return region_frame; }

  // --- The interpreter's alone
  // ---------------------------------------------------------------------
  const Op* stop_at(Stop why, const Op* next);
  const Op* stop_fault(Fault fault);
  const Op* stop_fault();
  const Op* stop_unsupported(std::string what);
  const Op* block(const Op& op, const Op* next);
  bool spend(std::uint32_t amount);
  Stop why() const;
  Fault& fault();
  Environment& environment();
  const Code& code() const;
  const memory::AddressSpace& space() const;
};

} // namespace heddle::isa
