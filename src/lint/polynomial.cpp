#include "lint/polynomial.h"

#include <algorithm>
#include <set>

namespace heddle::lint {
namespace {

constexpr int deepest_sum = 16;
constexpr std::size_t most_terms = 32;
constexpr ValueId more_blocks = no_value - 1; // gridDim.x - blockIdx.x - 1

bool is_symbol(const Dataflow& flow, ValueId id, Symbol symbol) {
  const Instruction* code = id < more_blocks ? flow.instruction(id) : nullptr;
  return code != nullptr && code->op == Op::Symbol && code->symbol == symbol;
}

} // namespace

bool is_given(const Dataflow& flow, ValueId id) {
  const Instruction* code = flow.instruction(id);
  return code == nullptr ? flow.values[id].kind == Value::Kind::Initial
                         : (code->op == Op::Symbol && code->symbol != Symbol::Clock) ||
                               code->op == Op::Parameter;
}

Polynomial Polynomial::number(std::int64_t value) {
  Polynomial result;
  if (value != 0) {
    result.terms_[{}] = value;
  }
  return result;
}

Polynomial Polynomial::leaf(ValueId id) {
  Polynomial result;
  result.terms_[{id}] = 1;
  return result;
}

Polynomial Polynomial::plus(const Polynomial& other, std::int64_t sign) const {
  Polynomial result = *this;
  for (const auto& [factors, times] : other.terms_) {
    std::int64_t& sum = result.terms_[factors];
    sum += sign * times;
    if (sum == 0) {
      result.terms_.erase(factors);
    }
  }
  return result;
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
  Polynomial result;
  for (const auto& [factors, times] : terms_) {
    for (const auto& [more, others] : other.terms_) {
      std::vector<ValueId> all = factors;
      all.insert(all.end(), more.begin(), more.end());
      std::ranges::sort(all);
      Polynomial product;
      product.terms_[std::move(all)] = times * others;
      result = result + product;
    }
  }
  return result;
}

Polynomial Polynomial::of(const Dataflow& flow, ValueId id, int depth) {
  id = flow.canonical(id);
  const Instruction* code = flow.instruction(id);
  if (code != nullptr && code->op == Op::Constant) {
    return number(code->number);
  }
  const auto& operands = flow.values[id].operands;
  if (code == nullptr || code->op != Op::Arithmetic || code->is_float || operands.size() != 2 ||
      depth > deepest_sum) {
    return leaf(id);
  }
  const auto operand = [&](std::size_t i) { return of(flow, operands[i], depth + 1); };
  switch (code->arithmetic) {
  case Operator::Add:
    return operand(0) + operand(1);
  case Operator::Subtract:
    return operand(0) - operand(1);
  case Operator::Multiply: {
    const Polynomial left = operand(0);
    const Polynomial right = operand(1);
    return left.terms_.size() * right.terms_.size() > most_terms ? leaf(id) : left * right;
  }
  default:
    return leaf(id);
  }
}

std::vector<ValueId> Polynomial::leaves() const {
  std::set<ValueId> all;
  for (const auto& [factors, times] : terms_) {
    all.insert(factors.begin(), factors.end());
  }
  return {all.begin(), all.end()};
}

Polynomial Polynomial::with(ValueId replaced, const Polynomial& by) const {
  Polynomial result;
  for (const auto& [factors, times] : terms_) {
    Polynomial product = number(times);
    for (const ValueId one : factors) {
      product = product * (one == replaced ? by : leaf(one));
    }
    result = result + product;
  }
  return result;
}

Polynomial Polynomial::renamed(const std::map<ValueId, ValueId>& names) const {
  Polynomial result = *this;
  for (const auto& [old_name, new_name] : names) {
    result = result.with(old_name, leaf(new_name));
  }
  return result;
}

/// 2 * k * n - n, of n elements in each row: 2 * k - 1
Polynomial Polynomial::without_common_lengths(const Dataflow& flow) const {
  Polynomial result = *this;
  for (const ValueId length : leaves()) {
    const auto has = [&](const auto& term) {
      return std::ranges::binary_search(term.first, length);
    };
    while (is_given(flow, length) && std::ranges::all_of(result.terms_, has)) {
      Polynomial shorter;
      for (const auto& [all, times] : result.terms_) {
        std::vector<ValueId> factors = all;
        factors.erase(std::ranges::find(factors, length));
        shorter.terms_[std::move(factors)] = times;
      }
      result = std::move(shorter);
    }
  }
  return result;
}

bool Polynomial::is_odd() const {
  const auto constant = terms_.find({});
  return constant != terms_.end() && std::ranges::all_of(terms_, [](const auto& term) {
           return (term.second % 2 == 0) == !term.first.empty();
         });
}

bool Polynomial::is_never_zero(const Dataflow& flow) const {
  Polynomial sum = without_common_lengths(flow);
  if (sum.is_odd()) {
    return true;
  }
  const std::vector<ValueId> of_these = leaves();
  const auto find = [&](Symbol symbol) {
    return std::ranges::find_if(of_these, [&](ValueId one) {
      return is_symbol(flow, one, symbol);
    });
  };
  const auto size = find(Symbol::GridSizeX);
  const auto index = find(Symbol::BlockIndexX);
  if (size != of_these.end() && index != of_these.end()) {
    sum = sum.with(*size, leaf(*index) + leaf(more_blocks) + number(1));
  }
  const auto constant = sum.terms_.find({});
  if (constant == sum.terms_.end()) {
    return false;
  }
  return std::ranges::all_of(sum.terms_, [&](const auto& term) {
    return (term.second > 0) == (constant->second > 0) &&
           std::ranges::all_of(term.first, [&](ValueId one) {
             return one == more_blocks || is_given(flow, one);
           });
  });
}

} // namespace heddle::lint
