// PtxCore: a warp of PTX threads as a Core of the lockstep rules: the same instructions as
// everywhere else in Heddle (isa::Exec), one at a time.
//
// A Pc is the address of an Op, an Activation that of a Frame. The lanes' own record of where they
// stand is isa::Warp: each instruction writes it for the lanes that executed it.
#pragma once

#include "machine/block.h"
#include "simt/cache.h"
#include "simt/ptx_code.h"

namespace heddle::simt {

class PtxCore final : public Core {
public:
  /// `cache`: of the block, or nullptr if reads are never stale.
  PtxCore(isa::Warp& warp, CodeTable& table, Cache* cache)
      : warp_(warp),
        table_(table),
        cache_(cache) {}

  /// The exec to use from now on, with its block entered.
  void use(isa::Exec* exec) { exec_ = exec; }
  /// What the last execute() stopped with.
  isa::Stop stop() const { return stop_; }

  Kind kind(Activation activation, Pc pc) override;
  Pc next(Activation activation, Pc pc) override;
  Pc reconvergence(Activation activation, Pc branch) override;
  bool ends_early(Activation activation, Pc branch, Pc pc) override;
  LaneMask call_together(Activation activation, Pc pc, LaneMask lanes) override;
  bool execute(Activation activation, Pc pc, LaneMask lanes, Executed& result) override;
  LaneMask waiting() const override { return warp_.blocked; }
  LaneMask stand_at(LaneMask lanes, Activation activation, Pc pc) const override;
  LaneMask live() const override { return warp_.live; }

  static Pc pc_of(const isa::Op* op) { return reinterpret_cast<Pc>(op); }
  static const isa::Op* op_of(Pc pc) { return reinterpret_cast<const isa::Op*>(pc); }
  static Activation activation_of(const isa::Frame* f) { return reinterpret_cast<Activation>(f); }
  static const isa::Frame* frame_of(Activation a) { return reinterpret_cast<const isa::Frame*>(a); }

private:
  const CodeFacts::Fact& fact(Activation activation, Pc pc);

  isa::Warp& warp_;
  CodeTable& table_;
  Cache* cache_;
  isa::Exec* exec_ = nullptr;
  isa::Stop stop_ = isa::Stop::None;
  const isa::Code* code_ = nullptr; // of the last fact
  const CodeFacts* facts_ = nullptr;
};

} // namespace heddle::simt
