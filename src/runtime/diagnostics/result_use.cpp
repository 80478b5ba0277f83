// Implements result_use.h.
//
// Follows the result along all ways through the function that has made the call: a set of places
// (registers and slots of the stack) that hold it, which moves add to and writes take from. A
// division, a comparison, a store elsewhere: any other reader uses it.
#include "runtime/diagnostics/result_use.h"

#include "runtime/diagnostics/instruction.h"

#include <algorithm>
#include <set>
#include <vector>

namespace heddle::runtime {
namespace {

using Slot = Instruction::Slot;
using Kind = Instruction::Kind;

constexpr std::uint16_t of_result = 1;                         // rax
constexpr std::uint16_t lost_in_calls = 0b0000'1111'1100'0111; // rax rcx rdx rsi rdi r8 to r11
constexpr std::uint16_t of_arguments = 0b0000'0011'1100'0110;  // rcx rdx rsi rdi r8 r9
constexpr std::uint8_t frame_pointer = 5;
constexpr std::size_t most_instructions = 2000;

enum class Fate : std::uint8_t {
  Dropped,
  Used,
  Returned
};

struct Place {
  const std::uint8_t* at = nullptr;
  std::uint16_t registers = 0; // that hold the result
  std::vector<Slot> slots;     // the same, sorted
  auto operator<=>(const Place&) const = default;
  bool lost() const { return registers == 0 && slots.empty(); }
};

/// What becomes of a result that `begin` finds in rax, in the rest of that function.
class Follow {
public:
  Fate result(const std::uint8_t* begin) {
    todo_.push_back({begin, of_result, {}});
    Fate fate = Fate::Dropped;
    while (!todo_.empty()) {
      Place place = std::move(todo_.back());
      todo_.pop_back();
      if (place.lost() || !seen_.insert(place).second) {
        continue;
      }
      if (seen_.size() > most_instructions) {
        return Fate::Used;
      }
      const Fate here = step(std::move(place));
      if (here == Fate::Used) {
        return here;
      }
      fate = here == Fate::Returned ? here : fate;
    }
    return fate;
  }

private:
  Fate step(Place place) {
    const Instruction i = decode(place.at);
    if (i.kind == Kind::Unknown) {
      return Fate::Used;
    }
    const bool slot_holds = i.slot && std::ranges::binary_search(place.slots, *i.slot);
    switch (i.kind) {
    case Kind::Return:
      return (place.registers & of_result) != 0 ? Fate::Returned : Fate::Dropped;
    case Kind::End:
      return Fate::Used; // a tail call, which may take it along
    case Kind::Jump:
    case Kind::Branch:
      if (i.kind == Kind::Branch) {
        Place behind = place;
        behind.at += i.length;
        todo_.push_back(std::move(behind));
      }
      place.at = i.target;
      todo_.push_back(std::move(place));
      return Fate::Dropped;
    case Kind::Call:
      if ((place.registers & (of_arguments | i.reads)) != 0) {
        return Fate::Used;
      }
      place.registers &= static_cast<std::uint16_t>(~lost_in_calls);
      break;
    case Kind::Move:
      if (!move(place, i, slot_holds)) {
        return Fate::Used;
      }
      break;
    default:
      if ((place.registers & i.reads) != 0 || (slot_holds && !i.writes_slot)) {
        return Fate::Used;
      }
      overwrite(place, i);
    }
    place.at += i.length;
    todo_.push_back(std::move(place));
    return Fate::Dropped;
  }

  /// False: it goes where this does not follow it.
  static bool move(Place& place, const Instruction& i, bool slot_holds) {
    const bool to_memory = i.writes == 0;
    std::uint16_t sources = i.reads;
    if (i.slot) {
      sources &= static_cast<std::uint16_t>(~(1U << i.slot->base));
    }
    const bool carried = (place.registers & sources) != 0 || (slot_holds && !i.writes_slot);
    const bool as_address = i.slot && (place.registers >> i.slot->base & 1) != 0;
    // Relative to the stack pointer it may be an argument of the next call.
    const bool on_stack = i.slot && i.slot->base == frame_pointer;
    if (as_address || (carried && to_memory && !on_stack)) {
      return false;
    }
    overwrite(place, i);
    if (carried && to_memory) {
      place.slots.insert(std::ranges::upper_bound(place.slots, *i.slot), *i.slot);
    } else if (carried) {
      place.registers |= i.writes;
    }
    return true;
  }

  static void overwrite(Place& place, const Instruction& i) {
    place.registers &= static_cast<std::uint16_t>(~i.writes);
    if (i.writes_slot) {
      std::erase(place.slots, *i.slot);
    }
  }

  std::vector<Place> todo_;
  std::set<Place> seen_;
};

} // namespace

bool result_is_dropped(std::span<const void* const> callers) {
  for (const void* caller : callers) {
    const Fate fate = Follow().result(static_cast<const std::uint8_t*>(caller));
    if (fate != Fate::Returned) {
      return fate == Fate::Dropped;
    }
  }
  return false;
}

} // namespace heddle::runtime
