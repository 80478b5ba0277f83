// polynomial.h: whole numbers as sums of products of what they are computed from.
//
//   last = blockIdx.x * n + n - 1; Polynomial(last + 1) - Polynomial(last)      // 1, never 0
//
// is_never_zero() takes blockIdx.x to be below gridDim.x, what a kernel is given as a number in an
// index not to be negative, and a length that all terms have not to be 0. Overflow is not looked
// at. It may say no where the answer is yes.
#pragma once

#include "lint/dataflow.h"

#include <map>

namespace heddle::lint {

class Polynomial {
public:
  Polynomial() = default;
  Polynomial(const Dataflow& flow, ValueId id) { *this = of(flow, id, 0); }

  Polynomial operator+(const Polynomial& other) const { return plus(other, 1); }
  Polynomial operator-(const Polynomial& other) const { return plus(other, -1); }
  Polynomial operator*(const Polynomial& other) const;

  /// What the terms are made of: canonical, each once.
  std::vector<ValueId> leaves() const;
  bool is_never_zero(const Dataflow& flow) const;
  /// With other values in the place of some leaves.
  Polynomial renamed(const std::map<ValueId, ValueId>& names) const;

private:
  static Polynomial of(const Dataflow& flow, ValueId id, int depth);
  static Polynomial number(std::int64_t value);
  static Polynomial leaf(ValueId id);
  Polynomial plus(const Polynomial& other, std::int64_t sign) const;
  Polynomial with(ValueId replaced, const Polynomial& by) const;
  Polynomial without_common_lengths(const Dataflow& flow) const;
  bool is_odd() const;

  std::map<std::vector<ValueId>, std::int64_t> terms_; // sorted factors -> how often; none is 0
};

/// A place in the launch, or what the kernel was given: it does not change.
bool is_given(const Dataflow& flow, ValueId id);

} // namespace heddle::lint
