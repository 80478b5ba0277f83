// evaluate.h: what arithmetic gives for numbers that are tried.
//
//   leaves_of(flow, id, leaves)                     // k, for `(k + 1) % 3`
//   evaluate(flow, id, [&](ValueId one) { return one == k ? std::optional(5) : std::nullopt; })
//
// Overflow is not looked at.
#pragma once

#include "lint/dataflow.h"

#include <functional>

namespace heddle::lint {

/// Widths and signs of numbers are lost in flow.h: is a result wanted as it is written, or only
/// where it would be the same for unsigned numbers?
enum class Signs : std::uint8_t {
  Any,
  NoMatter
};
/// What an operator gives; nothing where that is not defined, or not known.
std::optional<std::int64_t> apply(Operator op, std::int64_t left, std::int64_t right, Signs signs);
std::optional<std::int64_t> apply(Operator op, std::int64_t only);

using Numbers = std::function<std::optional<std::int64_t>(ValueId)>;

/// The value, where that of the canonical values that it is made of is known.
std::optional<std::int64_t>
evaluate(const Dataflow& flow, ValueId id, const Numbers& numbers, int depth = 0);

/// What a value is computed from, constants aside, each once; false: too much.
bool leaves_of(const Dataflow& flow, ValueId id, std::vector<ValueId>& leaves, int depth = 0);

} // namespace heddle::lint
