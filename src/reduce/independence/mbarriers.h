// Mbarriers: operations on mbarriers, of which nobody can tell when they happen ([RED-PHASES]):
// arrivals are made as soon as they can, and who waits for a phase that has not completed is
// blocked, like at any other barrier.
//
//   barriers.classify(lane);               // Phase: at once; Wait: blocked; Access: a choice
//   barriers.run(lane, lanes);             // executes it, and takes down who knows what now
//   barriers.clash()                       // true once it was wrong
//
// That nobody can tell when an arrival happens holds if there is no doubt which phase it, and each
// wait, is for; phases.h keeps watch over that. That waiting can be taken for blocking holds if
// asking in vain changes nothing: from each question on the way, however many there are and
// wherever they stand in the code, a thread that is answered "complete" comes to one and the same
// state. A thread is tried out for that.
//
// May be wrong: knowledge that passes through memory is not seen, so that a search may begin again
// without this for no reason. A token that is not looked into (mbarrier.pending_count) by the
// function that gets it is taken for one that nobody looks into.
#pragma once

#include "reduce/independence/access_kinds.h"
#include "reduce/independence/phases.h"
#include "reduce/independence/trial.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heddle::reduce {

class Mbarriers {
public:
  struct Options { // IndependenceOptions
    bool phases = false, peeks = false, neighbours = false, sums = false;
    std::uint64_t contended = 0, unordered = 0; // of Learned
  };
  Mbarriers(Trials& trials, AccessKinds& kinds, const Options& options)
      : trials_(trials),
        kinds_(kinds),
        options_(options) {}

  /// Of a bulk copy, or an asynchronous store, that tells an mbarrier of its bytes: is this op the
  /// one that does so?
  static bool tells_bytes(const ptx::Instruction& i, const isa::Op& op);
  /// Does a copy tell mbarriers of its bytes by the op that copies?
  static bool copies_and_tells(const ptx::Instruction& i);
  /// Does an asynchronous operation tell an mbarrier that it is done?
  static bool arrives_later(const ptx::Instruction& i);

  /// What the operation at which the lane stands is to the search.
  Operation classify(const Lane& at);
  /// Executes it, for one lane after the other, and takes down who knows what now.
  isa::Stop run(const Lane& first, isa::LaneMask lanes);

  struct Handover { // of what a thread knows, through a place in memory
    Phases::Thread thread = 0;
    std::uint32_t word = 0;
  };
  /// The lanes are about to make an atomic exchange of shared memory in an order that the search
  /// chooses: places through which those who come later learn what those before them knew. (So the
  /// last of those who leave a cuda::pipeline may destroy its barriers.)
  std::vector<Handover> handovers(const Lane& first, isa::LaneMask lanes);

  /// True once mbarriers were not used as IndependenceOptions::phases assumes.
  bool clash() const { return clash_; }

private:
  struct PhaseOp {
    enum class Kind : std::uint8_t {
      Init,
      Inval,
      Arrive,
      Expect, // bytes, without an arrival
      Bytes,  // have come
      Wait
    } kind{};
    bool by_parity = false;
    std::uint64_t operand = 0; // token or parity
    Phases::Object object = 0;
    std::byte* word = nullptr;
    std::uint16_t blocks = 0; // not 0: bytes have come at this place in each of these
  };
  struct PhaseWord {
    Phases::Object object = 0;
    std::byte* word = nullptr;
    unsigned phase = 0; // when it was asked for
  };
  /// What the lane is about to do with which mbarrier; none: nothing of that kind.
  std::optional<PhaseOp> operation(const Lane& at);
  std::optional<PhaseOp> copy_to_all(const Lane& at, const isa::Op& op);
  static std::vector<PhaseWord> words_of(const Lane& at, const PhaseOp& op);
  static std::optional<Phases::Waited> waited(const Lane& at, const PhaseOp& op);
  bool peeks(const Lane& at, const PhaseOp& op, const Phases::Waited& wait);
  bool asks_in_vain(const Lane& at, const PhaseOp& op, unsigned phase);
  bool is(Mutant mutant) const { return trials_.mutant == mutant; }

  Trials& trials_;
  AccessKinds& kinds_;
  Options options_;
  std::unordered_map<const ptx::Function*, bool> asks_for_pending_;
  std::unordered_map<std::uint64_t, bool> asks_in_vain_; // tried out, by state of a lane
  bool clash_ = false;
};

} // namespace heddle::reduce
