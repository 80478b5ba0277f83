// BlockUnwritten: of one block, which bits of registers, shared and local memory nobody has
// written, and what each instruction does to that.
#pragma once

#include "unwritten/monitor.h"

namespace heddle::unwritten {

class BlockUnwritten final : public machine::BlockMonitor, private isa::AccessWatch {
public:
  BlockUnwritten(Unwritten& unwritten, machine::Block& block)
      : unwritten_(unwritten),
        block_(block) {}

  /// The handler of every op that matters: what it means, and the original one.
  static const isa::Op* execute(isa::Exec& exec, const isa::Op& op);

  // --- machine::BlockMonitor ---------------------------------------------------------------------
  const isa::RegionWatch* region_watch() const override;
  void started() override;
  void arrived(std::size_t, std::size_t, isa::LaneMask) override {}
  void opened(std::size_t, std::span<const isa::LaneMask>, bool) override {}
  void cluster_arrived(std::size_t, isa::LaneMask, bool) override {}
  void cluster_opened() override {}
  void cluster_passed(std::size_t, isa::LaneMask) override {}
  void warp_synced(std::size_t, isa::LaneMask) override {}
  void dependency_waited() override {}

private:
  struct Cell {
    Bits bits = 0;
    Origin origin = 0;
  };
  /// Of an activation of a function.
  struct Registers {
    bool any = false;
    std::vector<isa::LaneMask> lanes; // by register: those of which some bit is unwritten
    std::vector<Cell> cells;          // by register and lane, once there are any
  };
  struct Place {
    Area* area = nullptr; // nullptr: everything there counts as written
    std::uint64_t offset = 0;
    memory::Address address = 0;
    enum class Space : std::uint8_t {
      Global,
      Shared,
      Local
    } space = Space::Global;
  };

  const isa::Op* run(isa::Exec& exec, const isa::Op& op);
  Registers& registers(const isa::Frame& frame);
  bool is_unwritten(const Registers& r, std::uint32_t index, int lane) const {
    return index != Input::none && (r.lanes[index] >> lane & 1) != 0;
  }
  void set(Registers& r, std::uint32_t index, int lane, Bits bits, Origin origin);
  void clear(Registers& r, const Use& use, isa::LaneMask lanes);

  void look_at_guard(const isa::Exec& exec, Registers& r, const Use& use);
  void look_at_address(const isa::Exec& exec, Registers& r, const Use& use);
  void compute(const isa::Exec& exec, Registers& r, const Use& use);
  /// Lanes wait in a shuffle for others: which lane each of them reads.
  struct Pending {
    const isa::Warp* warp = nullptr;
    const isa::Frame* frame = nullptr;
    const Use* use = nullptr;
    isa::LaneMask lanes = 0;
    std::array<std::uint8_t, isa::warp_size> from{};
  };
  Pending sources_of_shuffle(isa::Exec& exec, Registers& r, const Use& use) const;
  void settle_shuffles(isa::Exec& exec, Registers& r);
  void shuffle(isa::Exec& exec, Registers& r, const Use& use, const Pending& sources);
  void unpack(const isa::Exec& exec, Registers& r, const Use& use);
  Source source(const isa::Exec& exec, const Registers& r, const Input& input, int lane) const;

  void access(isa::Exec& exec, Registers& r, const Use& use);
  void load(Registers& r, const Use& use, int lane, const Place& place);
  void store(Registers& r, const Use& use, int lane, const Place& place);
  void update(Registers& r, const Use& use, int lane, const Place& place);
  void compare_and_swap(Registers& r, const Use& use, int lane, const Place& place, Bits bits);
  static void addresses(isa::Exec& exec, const Use& use, std::uint64_t (&address)[isa::warp_size]);
  Place place(isa::Exec& exec, const Use& use, std::uint64_t address, int lane);
  Place place(isa::Exec& exec, std::uint64_t address, bool shared, bool local, int lane);
  Area& local(const isa::Warp& warp);

  // --- Compiled code (region.cpp)
  const Use* find_use(const isa::Code& code, const isa::Op& op); // nullptr: nothing that matters
  bool reads_written(
      isa::Exec& exec,
      const Use& use,
      isa::LaneMask lanes,
      const std::uint64_t (&address)[isa::warp_size]
  );
  bool is_plain(
      isa::Exec& exec,
      const Use& use,
      isa::LaneMask lanes,
      const std::uint64_t (&address)[isa::warp_size]
  );
  static std::uint64_t accessed_in_region(
      isa::RegionContext& context,
      const isa::Op& op,
      isa::LaneMask lanes,
      const std::uint64_t* each,
      std::uint64_t base,
      std::int64_t stride
  );
  static bool may_call_in_region(isa::Exec& exec, const isa::Op& op);
  static bool may_enter_region(isa::Exec& exec);
  Origin origin_of_ended(const Use& use, int lane, int ended);
  std::string name_of(int lane) const;
  Origin origin_of(const Use& use, int lane, const Place& place, std::uint64_t offset);
  void accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) override;

  Unwritten& unwritten_;
  machine::Block& block_;
  const isa::Code* code_ = nullptr; // whose table was used last
  const Unwritten::Table* table_ = nullptr;
  const isa::Frame* frame_ = nullptr; // whose registers were used last
  Registers* registers_ = nullptr;
  std::unordered_map<const isa::Frame*, Registers> frames_;
  std::unique_ptr<Area> shared_;
  std::vector<std::unique_ptr<Area>> local_; // by warp, lane after lane
  const isa::Warp* warp_ = nullptr;          // that executes an access
  std::vector<Pending> pending_;
};

/// That of a block.
inline BlockUnwritten& unwritten_in(machine::Block& block) {
  return static_cast<BlockUnwritten&>(block.monitor()->of(machine::BlockMonitor::Subject::Values));
}

} // namespace heddle::unwritten
