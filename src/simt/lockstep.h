// Lockstep: the warps of a block of real PTX threads under the rules of rules.h, in the place of
// Block's own scheduling (`heddle run --warps=lockstep`).
//
//   EngineOptions options;
//   options.warp_rules = simt::lockstep({});
//
// Whoever wants to choose every step itself (reduce/stepper.h) makes the clusters with the same
// factory and moves warps, not threads, through machine::WarpRules.
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
  bool stale_reads = false;                      // see cache.h; an engine must have one worker
  bool common_exit = false;                      // reconvergence as if all ends were one place
  std::uint64_t trace_steps = 0;                 // of the first warp of the first block that starts
  std::function<void(const std::string&)> trace; // gets its lines
};

/// The factory to give to the engine.
machine::MakeWarpRules lockstep(LockstepOptions options);

class Lockstep final : public machine::WarpRules {
public:
  struct Common { // of all blocks
    explicit Common(LockstepOptions given)
        : options(std::move(given)),
          codes(options.common_exit ? analysis::Ends::Meet : analysis::Ends::Leave) {}

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
  std::vector<Behind> behind(std::size_t w) const override;
  bool stale_reads() const override { return cache_ != nullptr; }
  Next next(isa::Exec& exec, std::size_t w) override;
  std::vector<isa::LaneMask> sides(isa::Exec& exec, std::size_t w) override;
  isa::Stop step(isa::Exec& exec, std::size_t w, const Pick& pick) override;
  void save(std::size_t w, std::vector<std::byte>& bytes) const override;
  void save_history(std::size_t w, std::vector<std::byte>& bytes) const override;
  const std::byte* load(std::size_t w, const std::byte* bytes) override;
  const std::byte* load_history(std::size_t w, const std::byte* bytes) override;
  std::uint64_t shape(std::size_t w) const override;
  std::uint64_t place(std::size_t w, int lane) const override;

  const Warp& warp(std::size_t w) const;

private:
  struct WarpOfBlock;
  class RandomChoices;
  class Picked;
  static std::vector<LaneMask> sides_of_call(WarpOfBlock& own);
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
