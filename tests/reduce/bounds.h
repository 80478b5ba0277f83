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

namespace heddle::reduce {

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
    std::uint8_t rounds = 0;      // loops of so many tickets, too
    bool whose_hang = true;       // a hang may depend on who the actor is
    bool ticket = false;          // the first operation of all is `increment P`
    bool whose_operations = true; // whether an operation is done may depend on that
  };
  explicit Bound(Size size);
  const std::string& name() const { return size_.name; }
  std::uint64_t size() const { return total_; }
  std::optional<MicroProgram> program(std::uint64_t number) const;

private:
  Size size_;
  // Of each operation, without guards; none: nothing is done.
  std::vector<std::vector<std::optional<Operation>>> variants_;
  std::vector<std::vector<Guard>> guards_; // of each operation
  std::vector<std::optional<Hang>> hangs_;
  std::uint64_t codes_ = 0; // numbers of one actor's code
  std::uint64_t total_ = 0;

  static std::vector<std::optional<Operation>> variants(const Size& size);
  std::optional<Code> code(std::uint64_t number) const;
};

std::span<const Bound> bounds(); // smallest first
const Bound* find_bound(std::string_view name);

} // namespace heddle::reduce
