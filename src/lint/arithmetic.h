// arithmetic.h: expressions that look divergent and are not.
//
//   for (int i = threadIdx.x; i < (n + B - 1) / B * B; i += B)     // same number of trips for all
//   if (threadIdx.x < blockDim.x)                                  // always
//   base = i - threadIdx.x                                         // the same for all
//
// A value is taken apart into a thread part T, 0 <= T < bound, and a rest that is uniform and of
// which only divisors are kept. T + U < Y is U < Y for all threads when K divides U and Y and T <
// K. With a constant or named K that the code uses as its stride, T < K is assumed: who writes i +=
// 256 in a loop that starts at threadIdx.x has launched 256 threads, or the loop would do the wrong
// work.
#pragma once

#include "lint/uniformity.h"

namespace heddle::lint {

/// A product of a constant and values that are the same for all threads.
struct Product {
  std::int64_t constant = 1;
  std::vector<ValueId> factors; // canonical, sorted

  bool divides(const Product& other) const;
  bool operator==(const Product&) const = default;
};

class Arithmetic {
public:
  explicit Arithmetic(const Uniformity& uniformity)
      : uniformity_(uniformity),
        flow_(uniformity.flow) {}

  /// Is this value (an arithmetic instruction) uniform although operands are not?
  bool is_uniform(ValueId id) const;
  std::optional<std::int64_t> constant(ValueId id) const;
  std::optional<Symbol> symbol(ValueId id) const;

private:
  struct Linear {
    bool valid = false;
    ValueId thread = no_value;       // canonical
    Product scale, bound;            // thread part = thread * scale; 0 <= thread part < bound
    ValueId itself = no_value;       // a phi that is being looked at
    std::vector<Product> generators; // every one divides its share of the rest
  };
  /// As seen from block `user`: what leaves a loop at different trips is not uniform outside of it.
  Linear decompose(ValueId id, std::uint32_t user, std::vector<ValueId>& open) const;
  Linear decompose_sum(
      ValueId left,
      ValueId right,
      bool minus,
      std::uint32_t user,
      std::vector<ValueId>& open
  ) const;
  Linear decompose_digit(ValueId id, const Instruction& code, std::vector<ValueId>& open) const;
  Linear decompose_bits(ValueId id, std::vector<ValueId>& open) const;
  Linear decompose_phi(ValueId id, std::vector<ValueId>& open) const;
  bool is_uniform_comparison(Operator op, ValueId left, ValueId right, std::uint32_t user) const;
  bool is_multiple(ValueId id, const Product& of, std::vector<ValueId>& open) const;
  Product factorise(ValueId id) const;
  bool is_bound(const Linear& value, const Product& bound) const;
  bool lies_below(const Linear& value, std::int64_t unit) const;

  const Uniformity& uniformity_;
  const Dataflow& flow_;
};

} // namespace heddle::lint
