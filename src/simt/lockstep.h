// Lockstep: the warps of a block of real PTX threads under the rules of rules.h, in the place of
// Block's own scheduling (`heddle run --warps=lockstep`).
//
//   EngineOptions options;
//   options.warp_rules = simt::lockstep({});
//
// Whoever wants to choose every step itself (an explorer) makes the clusters with the same factory,
// takes the object from Block::rules(), and moves warps, not threads:
//
//   auto& rules = static_cast<simt::Lockstep&>(*block.rules());
//   Token at = rules.next(w);            // who would execute what; mask 0: nobody
//   rules.step(exec, w, choices);        // one rule; asks `choices` wherever the rules leave it
//   open
#pragma once

#include "machine/block.h"
#include "simt/cache.h"
#include "simt/ptx_core.h"

#include <functional>
#include <memory>
#include <optional>

namespace heddle::simt {

struct LockstepOptions {
  std::optional<std::uint64_t> seed;             // choices at random; else the defaults of Choices
  bool stale_reads = false;                      // see cache.h; needs an engine with one worker
  std::uint64_t trace_steps = 0;                 // of the first warp of the first block that starts
  std::function<void(const std::string&)> trace; // gets its lines
};

/// The factory to give to the engine.
machine::MakeWarpRules lockstep(LockstepOptions options);

class Lockstep final : public machine::WarpRules {
public:
  struct Common { // of all blocks
    LockstepOptions options;
    CodeTable codes;
    std::atomic<bool> traced{false};
  };
  Lockstep(machine::Block& block, std::shared_ptr<Common> common);
  ~Lockstep() override;

  // --- machine::WarpRules ------------------------------------------------------------------------
  void start() override;
  isa::Stop turn(isa::Exec& exec, std::size_t w) override;
  void hash(std::size_t w, Hasher& hasher) const override;
  std::string describe(std::size_t w, int lane) const override;

  // --- One step at a time
  // --------------------------------------------------------------------------
  const Warp& warp(std::size_t w) const;
  Token next(std::size_t w) const { return next_to_execute(warp(w)); }
  /// True if the warp waits for a barrier or collective that has not opened.
  bool waits(std::size_t w) const;
  /// `exec` must have entered the block. Failed: exec.fault() says why.
  Stepped step(isa::Exec& exec, std::size_t w, Choices& choices, Observer* observer = nullptr);
  /// An explorer's move: a step, and then all steps that others cannot see (isa::Visible), at most
  /// `limit` of them. Moved with *spins set: the limit was reached, in a loop that others cannot
  /// see or a long computation; moving on is a move again.
  Stepped move(
      isa::Exec& exec,
      std::size_t w,
      Choices& choices,
      std::uint64_t limit,
      bool* spins = nullptr
  );

private:
  struct WarpOfBlock;
  class RandomChoices;
  class Trace;

  machine::Block& block_;
  std::shared_ptr<Common> common_;
  std::vector<WarpOfBlock> warps_;
  std::unique_ptr<Choices> choices_;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<Trace> trace_;
  std::int64_t round_fuel_ = 0;
};

} // namespace heddle::simt
