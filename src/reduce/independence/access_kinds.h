// AccessKinds: what instructions are to the assumption that accesses are independent
// ([RED-INDEPENDENT], sums.h), found out once for each.
#pragma once

#include "analysis/forgotten_answer.h"
#include "isa/program.h"
#include "machine/live_state.h"
#include "ptx/effect.h"
#include "reduce/independence/owned.h"
#include "reduce/mutant.h"

#include <cstdint>
#include <unordered_map>

namespace heddle::reduce {

using namespace machine;

class AccessKinds {
public:
  /// `by_warps`: lanes go by rules, so that no update is a sum. `movers`: [RED-MOVERS].
  AccessKinds(LiveState& live, const Learned& learned, bool by_warps, bool movers, Mutant mutant)
      : live_(live),
        mutant_(mutant),
        // One order of several: what is out of order is not followed to what is open.
        movable_(movers && learned.unordered == 0 ? ~learned.immovable : 0),
        seen_outside_(learned.immovable),
        contended_(learned.contended),
        // One order of several is searched for instructions as a whole (order_data.h).
        places_(learned.places == 0 || learned.unordered != 0 ? everywhere : learned.places),
        by_warps_(by_warps) {}

  /// Names the kind of sum that the operation is; 0: none.
  std::uint32_t sum_kind(const isa::Code& code, const isa::Op& op);
  /// Of instructions that are told apart where it matters whether accesses are independent.
  unsigned bucket(const isa::Code& code, const isa::Op& op);
  /// Are its accesses contended somewhere?
  bool contended(const isa::Code& code, const isa::Op& op) {
    return (contended_ >> bucket(code, op) & 1) != 0;
  }
  /// Is one to this address?
  bool contended(const isa::Code& code, const isa::Op& op, memory::Address address) {
    return contended(code, op) && (places_ == everywhere || (places_ & places_of(address)) != 0);
  }
  /// One that is: may it be made early, as long as nobody makes a conflicting one before it?
  bool movable(const isa::Code& code, const isa::Op& op, memory::Address address) {
    return movable_ != 0 && memory::AddressSpace::in_device_range(address) &&
           !ptx::effect_of(code.function->body[op.instruction]).is(ptx::Effect::Kind::Update) &&
           (movable_ >> bucket(code, op) & 1) != 0;
  }
  /// A store that may come before others' accesses if neither host nor copies see it ([RED-EARLY]).
  bool unseen_outside(const isa::Code& code, const isa::Op& op) {
    return (seen_outside_ >> bucket(code, op) & 1) == 0;
  }
  /// An atomic operation: whatever it returns, is its thread the same soon
  /// (analysis/forgotten_result.h)?
  bool forgets_result(const isa::Code& code, const isa::Op& op);
  /// A question to an mbarrier: is its answer forgotten; may it depend on such an answer whether it
  /// is asked (analysis/forgotten_answer.h)?
  bool forgets_answer(const isa::Code& code, const isa::Op& op) {
    return mutant_ == Mutant::PeeksForgetUses || answers(code).forgotten(op.instruction);
  }
  bool may_skip(const isa::Code& code, const isa::Op& op) {
    return mutant_ != Mutant::PeeksForgetWhich && answers(code).may_skip(op.instruction);
  }
  bool some_movable() const { return movable_ != 0; }

private:
  const analysis::ForgottenAnswers& answers(const isa::Code& code) {
    const analysis::ForgottenAnswers::Options options{
        .either_side = mutant_ == Mutant::PeeksForgetSides,
        .forgets_loops = mutant_ == Mutant::PeeksForgetLoops
    };
    return answers_.try_emplace(code.function, *code.function, options).first->second;
  }

  LiveState& live_;
  Mutant mutant_;
  std::uint64_t movable_, seen_outside_;
  static constexpr std::uint64_t everywhere = ~std::uint64_t{0};
  std::uint64_t contended_, places_;
  bool by_warps_;
  std::unordered_map<const isa::Op*, std::uint32_t> sum_kinds_;
  std::unordered_map<const isa::Op*, unsigned> buckets_;
  std::unordered_map<const isa::Op*, bool> forgets_result_;
  std::unordered_map<const ptx::Function*, analysis::ForgottenAnswers> answers_;
};

} // namespace heddle::reduce
