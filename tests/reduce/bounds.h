// All micro-programs up to a bound, each with a number.
//
//   const Bound& bound = *find_bound("alike-2x2");
//   for (std::uint64_t n = 0; n < bound.size(); ++n)
//     if (const auto program = bound.program(n)) …
//
// A number is read as digits, one for each thing that can be chosen. Numbers that say nothing new
// name no program: those that another one says with other names for places or actors, that ask for
// the result of an operation that has none, or that can neither wait nor hang. None that says
// something is left out; a few say the same as another one.
#pragma once

#include "reduce/micro_program.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::enumeration {

class Bound {
public:
  struct Size {
    std::string name{};
    bool alike = true; // all actors have one code; else each has its own
    std::uint8_t actors = 2, operations = 2;
    std::vector<Kind> kinds{};
    std::vector<Shape> shapes{};
    std::vector<Place> places{Place::P, Place::Q};
    std::vector<Value> values{Value::One};
    std::uint8_t rounds = 0;           // loops of so many tickets, too
    bool whose_hang = true;            // a hang may depend on who the actor is
    bool ticket = false;               // the first operation of all is `increment P`
    bool whose_operations = true;      // whether an operation is done may depend on that
    std::uint8_t first_operations = 0; // of actor 0, if it does less than the others
    std::uint8_t results = 3;          // results are compared with 0, 1, …, or with each actor
    bool may_hang = true;              // else actors only wait
    bool polls = false;        // the last actor goes round until its first operation finds not 0
    std::uint8_t arrivals = 0; // of the mbarrier
    std::vector<HostKind> host{};
    bool launch_first = true; // of all that the host does, and no more among it
    bool prompt = true;       // MicroProgram's
    std::uint8_t host_operations = 0;
    std::uint8_t beside = 0; // a second host thread's operations, of the same kinds
    bool weak = false;       // MicroProgram's
    bool narrow = false;
    bool lockstep = false;
    bool functions = false;
    std::vector<model::ProgressModel> models{model::ProgressModel::Cuda};
    std::vector<Width> widths{Width::B32};
    std::vector<Strength> strengths{Strength::Relaxed};
    bool passes = false; // Q is for plain accesses only, P for others: to have a data race counts
  };
  explicit Bound(Size size);
  const std::string& name() const { return size_.name; }
  std::uint64_t size() const { return total_; }
  std::optional<MicroProgram> program(std::uint64_t number) const;

private:
  // What one actor may do, or all if they are alike.
  struct Role {
    // Of each operation, without guards; none: nothing is done.
    std::vector<std::vector<std::optional<Operation>>> variants{};
    std::vector<std::vector<Guard>> guards{}; // of each operation
    std::vector<std::optional<Hang>> hangs{std::nullopt};
    std::vector<std::uint8_t> rounds{0};
    std::uint64_t codes = 1; // numbers
  };
  Size size_;
  std::vector<Role> roles_;
  std::vector<std::optional<HostOperation>> host_; // none: nothing is done
  std::uint64_t total_ = 0;

  static std::vector<std::optional<Operation>> variants(const Size& size);
  static Role role(const Size& size, std::uint8_t operations, bool polls);
  static std::optional<Code> code(const Role& role, std::uint64_t number);
  std::optional<std::vector<HostOperation>>
  host(std::uint64_t& number, std::uint8_t operations, bool launches) const;
};

/// The size of bounds of one thread that decides by its clock, in each way that a condition of
/// spec/clocks.md is about.
Bound::Size decided_by_clocks(
    std::vector<Kind> kinds = {
        Kind::Begin,
        Kind::BeginOther,
        Kind::Passed,
        Kind::PassedLong,
        Kind::PassedOther,
        Kind::LowBit,
        Kind::KeptBit
    }
);

/// The size of bounds of copies of two words, and who looks at them meanwhile.
enum class Looks : std::uint8_t {
  Strongly,
  Weak,
  Lockstep
};
Bound::Size looks_at_few_words(Looks by = Looks::Strongly);

std::span<const Bound> bounds(); // smallest first
const Bound* find_bound(std::string_view name);

} // namespace heddle::enumeration
