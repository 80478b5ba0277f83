// WeakOrder: what the instructions of device threads are to the PTX memory model (src/weak), for a
// search with ModelOptions::weak (spec/memory-model.md).
//
//   WeakOrder weak(exec);
//   journal.tell_last(weak);                   // of each access, right before it happens
//   weak.keep();                             // before a move: undo_to(mark()) goes back to here
//   weak.begin_turn(turn, pick);             // before one lane makes its next visible operation
//   …                                        // it runs
//   weak.end_turn();
//   if (weak.race()) …                       // [MEM-RACE]
//
// Memory itself holds the newest message of each place. A read of an older one finds it there: its
// bytes are put there for the one instruction, and taken away behind it. A write that is older than
// what is there is taken away in the same way.
//
// A strong access of a vector is one for each element, in any order (PTX ISA 9.0, 8.2.2).
//
// May be wrong: plain writes of one value by several threads are no race, unless that is asked for
// (misses; saw_same_value() says so). See src/weak/weak_memory.h. What is not an access, an update,
// a fence or a barrier is a gap().
#pragma once

#include "isa/exec.h"
#include "machine/block.h"
#include "machine/world.h"
#include "memory/address_space.h"
#include "ptx/module.h"
#include "weak/weak_memory.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace heddle::model {

using namespace machine;

/// What a fence is about ([MEM-RESTRICT]).
enum class Objects : std::uint8_t {
  All,
  OwnShared,    // in shared memory of its thread's block
  ClusterShared // … of its thread's cluster
};

class WeakOrder final : public isa::AccessWatch {
public:
  /// `same_value_races`: are plain writes of one value by several threads data races?
  WeakOrder(const isa::Exec& exec, bool same_value_races);

  /// A strong access that a lane is about to make.
  struct Next {
    weak::Range range;
    weak::Access access;
    std::uint32_t elements = 1; // side by side
    bool reads = false, writes = false;
    bool compares = false; // atom.cas: writes only if it finds `expected`
    weak::Value expected{};
    const std::byte* at = nullptr;
    const char* what = "";
    std::uint32_t element_bytes() const { return range.bytes / elements; }
    weak::Range element(std::uint32_t n) const {
      return {range.at + std::uint64_t{n} * element_bytes(), element_bytes()};
    }
  };
  static constexpr std::uint32_t most_elements = 8;
  /// One way to make it.
  struct Way {
    struct Element {
      std::uint32_t rank = 0; // message that is read, or position of what is written
      bool newest = true;     // … or becomes the newest
    };
    std::array<Element, most_elements> elements{};
    bool newest = true; // all of them
    bool writes = false;
    weak::Value value{}; // that is read
  };
  /// All of them, the one that accesses memory as it is last.
  std::vector<Way> ways(weak::Thread thread, const Next& next) const;
  /// Does it write behind all messages that are there, and read nothing? ([RED-EARLY])
  bool only_comes_last(weak::Thread thread, const Next& next) const {
    return next.writes && !next.reads && ways(thread, next).size() == 1;
  }
  /// [RED-SETTLED] A read of one element that finds several messages, whose place has been written
  /// as far as watch_writes() looked, and that races with nothing, whichever of them it finds.
  bool could_be_settled(weak::Thread thread, const Next& next, const std::vector<Way>& ways) const;
  /// From now on it is noted which places are written strongly, of those that `watched` names.
  void watch_writes(std::function<bool(const weak::Range&)> watched) {
    watched_ = std::move(watched);
  }
  /// Those that were written a second time, since the last call.
  std::vector<weak::Range> take_rewritten() { return std::exchange(rewritten_, {}); }
  /// Is the fence one that changes nothing but its thread's position?
  bool tells_nothing(weak::Thread thread, const ptx::Instruction& fence) const;
  /// What a move that makes it in that way is called; stays where it is.
  const char* name(const Next& next, const Way& way) const;
  /// A number of the place, not 0.
  static std::uint32_t number(const weak::Range& range);

  // --- Threads -----------------------------------------------------------------------------------
  /// Of a grid that begins.
  void begin_threads(
      std::uint32_t grid,
      const std::vector<std::pair<weak::Thread, weak::Location>>& threads
  );
  void end_threads(weak::Thread first, std::uint64_t count); // those of them that live
  /// The host, or a copy, has moved: what it has written is seen at once.
  void look_again(const memory::AddressSpace& space);
  /// The host knows all that has been done, and so does whoever reads strongly what it writes
  /// there.
  void host_writes(const std::byte* at, std::uint64_t bytes) {
    writes(at, bytes, {.view = now_->all_events()});
  }

  // --- Commands, by names; see WeakMemory --------------------------------------------------------
  void submit(std::uint32_t command, std::vector<std::uint32_t> behind) {
    change().submit(command, std::move(behind));
  }
  enum class Knows : std::uint8_t {
    Order,     // what it comes behind, and what it or its threads have done
    Everything // that has been done
  };
  /// `part_of`: what does not complete before it. Returns what it has known.
  weak::Told complete(
      std::uint32_t command,
      bool grid,
      Knows knows,
      std::optional<std::uint32_t> part_of = {}
  );
  /// A command has written there, and knew that.
  void writes(const std::byte* at, std::uint64_t bytes, const weak::Told& knew);

  // --- A turn of some lanes of a warp
  struct Memory { // of a block of the cluster
    const std::byte* begin = nullptr;
    std::uint64_t size = 0;
    std::uint64_t name = 0; // of its first byte; 0: local memory, which is nobody else's
  };
  static constexpr std::uint64_t not_an_address = weak::Range::of_cluster;
  struct Turn {
    weak::Thread first = 0; // of lane 0 of the warp
    const Block* block = nullptr;
    std::size_t warp = 0;
    const Grid* grid = nullptr;
    std::vector<Memory> memories;
    std::uint32_t pick = 0; // from 1: which of the ways; 0: memory as it is
  };
  void begin_turn(Turn turn);
  void accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) override;
  void fence(int lane, const ptx::Instruction& i);
  void end_turn();
  /// Of an access since begin_turn() that did not see the newest value: why it did not have to.
  std::string reason() const;
  std::uint64_t name_of(const std::byte* at) const;

  // --- Barriers ----------------------------------------------------------------------------------
  void meet(const std::vector<weak::Thread>& threads, std::uint64_t arrived_at);
  void arrive(std::uint64_t barrier, weak::Thread thread) { change().arrive(barrier, thread); }
  void open(std::uint64_t barrier, std::uint64_t as);
  void leave(std::uint64_t barrier, weak::Thread thread) { change().leave(barrier, thread); }

  // --- What was found ----------------------------------------------------------------------------
  struct Side {
    const isa::Op* op = nullptr;
    const isa::Code* code = nullptr;
    std::string who;
    const char* what = "";
  };
  struct Found {
    Side first, second;
    std::uint32_t bytes = 0;
    bool scopes = false; // both are strong
  };
  const std::optional<Found>& race() const { return race_; }
  /// An operation that is not modelled: what it is. Empty: there was none.
  const std::string& gap() const { return gap_; }
  void not_modelled(std::string_view what);
  void forget_found();
  /// An access that no Turn::pick chose could be made in several ways, since forget_found().
  bool made_unchosen() const { return unchosen_; }
  /// Plain writes of one value that nothing orders, which were taken for no race.
  bool saw_same_value() const { return same_value_; }
  bool left_out_messages() const { return now_->left_out_messages(); }
  weak::WeakMemory::ScFences sc_fences() const { return now_->sc_fences(); }

  // --- States ------------------------------------------------------------------------------------
  std::size_t mark() const { return undo_.size(); }
  void keep() {
    undo_.push_back(now_);
    stale_.reset();
  }
  void undo_to(std::size_t mark);
  void forget_undo() { undo_.clear(); }
  void tidy();
  Hash128 name() const;

private:
  weak::WeakMemory& change();
  void note_written(const weak::Range& range);
  std::vector<weak::Range> ranges_of(Objects objects) const;
  std::uint64_t tag(int lane);

  struct Behind { // what is left to do when the operation has been made
    weak::Thread thread = 0;
    Next next;
    Way way;
    std::byte* at = nullptr;
    weak::Value before{};
    std::uint64_t tag = 0;
  };

  const isa::Exec& exec_;
  std::shared_ptr<weak::WeakMemory> now_;
  std::vector<std::shared_ptr<weak::WeakMemory>> undo_;
  Turn turn_;
  std::vector<Behind> behind_;
  std::optional<Found> race_;
  std::function<bool(const weak::Range&)> watched_;
  std::vector<weak::Range> rewritten_;
  std::uint64_t allocations_ = 0; // the AddressSpace's generation when somebody last looked again
  std::string gap_;
  bool same_value_races_;
  bool unchosen_ = false, same_value_ = false;
  struct Stale { // an access that did not see this
    weak::Unseen newest;
    weak::Value value{};
    std::uint32_t bytes = 0;
  };
  std::optional<Stale> stale_; // the first one since keep()
  std::vector<Side> sides_;
  std::map<std::tuple<const isa::Op*, weak::Thread>, std::uint64_t> tags_;
  mutable std::map<std::string, std::unique_ptr<std::string>> names_; // made when first asked for
};

/// What a strong access is to the memory model.
weak::Access weak_access(const ptx::Instruction& i);
struct FenceKind {
  weak::Fence fence; // without its objects
  weak::Scope scope{};
  Objects objects{};
};
/// What a fence is: nothing, if it is one for proxies, or for the initialisation of mbarriers,
/// only.
std::optional<FenceKind> weak_fence(const ptx::Instruction& i);
/// Elements of the vector that an access is of; 1 if it is of none.
std::uint32_t access_elements(const ptx::Instruction& i);
/// Bytes that an access touches.
std::uint32_t access_bytes(const ptx::Instruction& i);

} // namespace heddle::model
