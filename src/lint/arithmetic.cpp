#include "lint/arithmetic.h"

#include "lint/bounds.h"

#include <algorithm>

namespace heddle::lint {
namespace {

constexpr std::size_t deepest = 40;

Product times(Product a, const Product& b) {
  a.constant *= b.constant;
  a.factors.insert(a.factors.end(), b.factors.begin(), b.factors.end());
  std::ranges::sort(a.factors);
  return a;
}

/// Are blocks known to be rows, or taken to be? Who computes the index of an element from x alone
/// has launched rows, or the threads of a column would do the same work.
bool is_one_dimensional(const Uniformity& uniformity) {
  const LaunchFacts& facts = uniformity.facts;
  if ((facts.flat_y && facts.flat_z) || facts.has_depth) {
    return !facts.has_depth;
  }
  const auto& code = uniformity.flow.graph.code;
  const auto reads = [&](Symbol symbol) {
    return std::ranges::any_of(code, [&](const Instruction& one) {
      return one.op == Op::Symbol && one.symbol == symbol;
    });
  };
  return reads(Symbol::ThreadIndexX) && reads(Symbol::BlockIndexX) && reads(Symbol::BlockSizeX) &&
         !reads(Symbol::ThreadIndexY) && !reads(Symbol::ThreadIndexZ) &&
         !reads(Symbol::BlockSizeY) && !reads(Symbol::BlockSizeZ);
}

} // namespace

bool Product::divides(const Product& other) const {
  return constant != 0 && other.constant % constant == 0 &&
         std::ranges::includes(other.factors, factors);
}

std::optional<std::int64_t> Arithmetic::constant(ValueId id) const {
  const Instruction* code = flow_.instruction(id);
  if (code == nullptr) {
    return std::nullopt;
  }
  if (code->op == Op::Constant) {
    return code->number;
  }
  if (code->op == Op::Symbol && code->symbol == Symbol::BlockSizeX) {
    return uniformity_.facts.size_x;
  }
  if (code->op != Op::Arithmetic || flow_.values[id].operands.empty() ||
      flow_.values[id].operands.size() > 2) {
    return std::nullopt;
  }
  const auto& operands = flow_.values[id].operands;
  const auto left = constant(flow_.canonical(operands[0]));
  if (!left) {
    return std::nullopt;
  }
  if (operands.size() == 1) {
    return code->arithmetic == Operator::Negate       ? std::optional(-*left)
           : code->arithmetic == Operator::Complement ? std::optional(~*left)
                                                      : std::nullopt;
  }
  const auto right = constant(flow_.canonical(operands[1]));
  if (!right) {
    return std::nullopt;
  }
  switch (code->arithmetic) {
  case Operator::Add:
    return *left + *right;
  case Operator::Subtract:
    return *left - *right;
  case Operator::Multiply:
    return *left * *right;
  case Operator::Divide:
    return *right == 0 ? std::nullopt : std::optional(*left / *right);
  case Operator::ShiftLeft:
    return *right < 0 || *right > 62 ? std::nullopt : std::optional(*left << *right);
  case Operator::ShiftRight:
    return *right < 0 || *right > 62 ? std::nullopt : std::optional(*left >> *right);
  case Operator::Minimum:
    return std::min(*left, *right);
  case Operator::Maximum:
    return std::max(*left, *right);
  default:
    return std::nullopt;
  }
}

std::optional<Symbol> Arithmetic::symbol(ValueId id) const {
  const Instruction* code = flow_.instruction(id);
  return code != nullptr && code->op == Op::Symbol ? std::optional(code->symbol) : std::nullopt;
}

Product Arithmetic::factorise(ValueId id) const {
  id = flow_.canonical(id);
  if (const auto number = constant(id)) {
    return {*number, {}};
  }
  const Instruction* code = flow_.instruction(id);
  if (code != nullptr && code->op == Op::Arithmetic && flow_.values[id].operands.size() == 2) {
    const auto& operands = flow_.values[id].operands;
    if (code->arithmetic == Operator::Multiply && code->is_whole) {
      return times(factorise(operands[0]), factorise(operands[1]));
    }
    if (const auto by = constant(flow_.canonical(operands[1]));
        code->arithmetic == Operator::ShiftLeft && by && *by >= 0 && *by < 62) {
      return times(factorise(operands[0]), {std::int64_t{1} << *by, {}});
    }
  }
  return {1, {id}};
}

bool Arithmetic::is_multiple(ValueId id, const Product& of, std::vector<ValueId>& open) const {
  id = flow_.canonical(id);
  if (std::ranges::find(open, id) != open.end()) {
    return true; // by induction
  }
  if (open.size() > deepest) {
    return false;
  }
  const Product product = factorise(id);
  if (product.constant == 0 || of.divides(product)) {
    return true;
  }
  open.push_back(id);
  const auto& operands = flow_.values[id].operands;
  const auto both = [&](ValueId a, ValueId b) {
    return is_multiple(a, of, open) && is_multiple(b, of, open);
  };
  bool result = false;
  if (flow_.values[id].kind == Value::Kind::Phi) {
    result = std::ranges::all_of(operands, [&](ValueId one) { return is_multiple(one, of, open); });
  } else if (
      const Instruction* code = flow_.instruction(id); code != nullptr && code->op == Op::Arithmetic
  ) {
    switch (code->arithmetic) {
    case Operator::Add:
    case Operator::Minimum:
    case Operator::Maximum:
      result = both(operands[0], operands[1]);
      break;
    case Operator::Subtract: {
      result = both(operands[0], operands[1]);
      // n - n % k
      const Instruction* rest = flow_.instruction(flow_.canonical(operands[1]));
      if (!result && rest != nullptr && rest->op == Op::Arithmetic &&
          rest->arithmetic == Operator::Remainder) {
        const auto& inner = flow_.values[flow_.canonical(operands[1])].operands;
        result = flow_.canonical(inner[0]) == flow_.canonical(operands[0]) &&
                 of.divides(factorise(inner[1]));
      }
      break;
    }
    case Operator::Select:
      result = both(operands[1], operands[2]);
      break;
    case Operator::Negate:
      result = is_multiple(operands[0], of, open);
      break;
    case Operator::And: {
      // n & ~(k - 1)
      const auto mask = constant(flow_.canonical(operands[1]));
      result = mask && of.factors.empty() && (*mask & (of.constant - 1)) == 0 &&
               (of.constant & (of.constant - 1)) == 0;
      break;
    }
    default:
      break;
    }
  }
  open.pop_back();
  return result;
}

Arithmetic::Linear
Arithmetic::decompose(ValueId id, std::uint32_t user, std::vector<ValueId>& open) const {
  id = flow_.canonical(id);
  Linear result;
  if (std::ranges::find(open, id) != open.end()) {
    result.valid = true;
    result.itself = id;
    return result;
  }
  if (open.size() > deepest || uniformity_.escapes_divergently(id, user)) {
    return result;
  }
  if (uniformity_.is_uniform_at(id, user)) {
    result.valid = true;
    const Product product = factorise(id);
    if (product.constant != 0) {
      result.generators.push_back(product);
    }
    return result;
  }
  if (const auto which = symbol(id)) {
    const auto mention = [&](Symbol wanted) -> std::optional<ValueId> {
      const auto found = flow_.graph.symbols.find(wanted);
      return found == flow_.graph.symbols.end() ? std::nullopt
                                                : std::optional(flow_.canonical(found->second));
    };
    // Bounds are the values of blockDim, found by what they are.
    const auto extent = [&](Symbol size) {
      if (size == Symbol::BlockSizeX && uniformity_.facts.size_x) {
        return Product{*uniformity_.facts.size_x, {}};
      }
      const auto at = mention(size);
      return at ? Product{1, {*at}} : Product{0, {}};
    };
    result.thread = id;
    result.valid = true;
    switch (*which) {
    case Symbol::ThreadIndexX:
      result.bound = extent(Symbol::BlockSizeX);
      break;
    case Symbol::ThreadIndexY:
      result.bound = extent(Symbol::BlockSizeY);
      break;
    case Symbol::ThreadIndexZ:
      result.bound = extent(Symbol::BlockSizeZ);
      break;
    case Symbol::ThreadRank:
      result.bound = extent(Symbol::BlockSize);
      if (is_one_dimensional(uniformity_)) { // threadIdx.x by another name
        result.bound = extent(Symbol::BlockSizeX);
        result.thread = mention(Symbol::ThreadIndexX).value_or(id);
      }
      break;
    default:
      result.valid = false;
    }
    return result;
  }
  if (flow_.values[id].kind == Value::Kind::Phi) {
    return decompose_phi(id, open);
  }
  const Instruction* code = flow_.instruction(id);
  if (code == nullptr || code->op != Op::Arithmetic || code->is_float ||
      flow_.values[id].operands.size() != 2) {
    return result;
  }
  const auto& operands = flow_.values[id].operands;
  switch (code->arithmetic) {
  case Operator::Add:
    return decompose_sum(operands[0], operands[1], /*minus=*/false, flow_.values[id].block, open);
  case Operator::Subtract:
    return decompose_sum(operands[0], operands[1], /*minus=*/true, flow_.values[id].block, open);
  case Operator::Multiply: {
    ValueId thread = operands[0];
    ValueId factor = operands[1];
    if (!uniformity_.is_uniform_at(factor, flow_.values[id].block)) {
      std::swap(thread, factor);
    }
    if (!uniformity_.is_uniform_at(factor, flow_.values[id].block)) {
      return result;
    }
    result = decompose(thread, flow_.values[id].block, open);
    const Product by = factorise(factor);
    result.valid = result.valid && result.itself == no_value;
    result.scale = times(result.scale, by);
    result.bound = times(result.bound, by);
    for (Product& generator : result.generators) {
      generator = times(generator, by);
    }
    return result;
  }
  case Operator::Or:
  case Operator::Xor:
    return decompose_bits(id, open);
  default:
    return decompose_digit(id, *code, open);
  }
}

/// `blockIdx.x << 16 | threadIdx.x`: a sum, where the bits of the two are apart.
Arithmetic::Linear Arithmetic::decompose_bits(ValueId id, std::vector<ValueId>& open) const {
  const auto& operands = flow_.values[id].operands;
  const std::uint32_t user = flow_.values[id].block;
  if (!uniformity_.is_uniform_at(operands[0], user) &&
      !uniformity_.is_uniform_at(operands[1], user)) {
    return {};
  }
  const Linear sum = decompose_sum(operands[0], operands[1], /*minus=*/false, user, open);
  std::int64_t bits = 0;
  for (const Product& one : sum.generators) {
    bits |= one.constant;
  }
  return sum.valid && sum.itself == no_value && lies_below(sum, bits & -bits) ? sum : Linear();
}

/// T / c and T % c of a thread's index T are digits: indices of their own, with bounds of their
/// own.
Arithmetic::Linear
Arithmetic::decompose_digit(ValueId id, const Instruction& code, std::vector<ValueId>& open) const {
  Linear result;
  const auto& operands = flow_.values[id].operands;
  const auto by = constant(flow_.canonical(operands[1]));
  if (by == (code.arithmetic == Operator::Divide ? 1 : 0) &&
      (code.arithmetic == Operator::Divide || code.arithmetic == Operator::ShiftRight)) {
    return decompose(operands[0], flow_.values[id].block, open);
  }
  if (const auto limit = Bounds(*this, uniformity_).upper(id)) {
    result.thread = id;
    result.bound = Product{*limit, {}};
    result.valid = true;
  }
  return result;
}

Arithmetic::Linear Arithmetic::decompose_sum(
    ValueId left,
    ValueId right,
    bool minus,
    std::uint32_t user,
    std::vector<ValueId>& open
) const {
  Linear a = decompose(left, user, open);
  Linear b = decompose(right, user, open);
  Linear result;
  if (!a.valid || !b.valid || (a.itself != no_value && b.itself != no_value) ||
      (minus && b.itself != no_value)) {
    return result;
  }
  result = a;
  result.itself = a.itself != no_value ? a.itself : b.itself;
  result.generators.insert(result.generators.end(), b.generators.begin(), b.generators.end());
  if (b.thread == no_value) {
    return result;
  }
  if (a.thread == no_value) {
    result.valid = !minus;
    result.thread = b.thread;
    result.scale = b.scale;
    result.bound = b.bound;
    return result;
  }
  if (a.thread == b.thread && a.scale == b.scale) {
    if (minus) {
      result.thread = no_value;
      result.scale = result.bound = Product();
    } else {
      result.valid = false;
    }
    return result;
  }
  // threadIdx.y * blockDim.x + threadIdx.x: digits of one number.
  if (!minus && b.scale == Product() && a.scale == b.bound) {
    result.scale = Product();
    result.thread = std::min(a.thread, b.thread);
    return result;
  }
  if (!minus && a.scale == Product() && b.scale == a.bound) {
    result.scale = Product();
    result.bound = b.bound;
    result.thread = std::min(a.thread, b.thread);
    return result;
  }
  result.valid = false;
  return result;
}

Arithmetic::Linear Arithmetic::decompose_phi(ValueId id, std::vector<ValueId>& open) const {
  Linear result;
  if (uniformity_.joins_divergently(flow_.values[id].block)) {
    return result;
  }
  open.push_back(id);
  std::vector<Product> generators;
  bool first = true;
  bool valid = true;
  for (const ValueId operand : flow_.values[id].operands) {
    const Linear one = decompose(operand, flow_.values[id].block, open);
    if (!one.valid || (one.itself != no_value && (one.itself != id || one.thread != no_value))) {
      valid = false;
      break;
    }
    generators.insert(generators.end(), one.generators.begin(), one.generators.end());
    if (one.itself == id) {
      continue; // itself and a step
    }
    if (first) {
      result = one;
      first = false;
    } else if (one.thread != result.thread || one.scale != result.scale) {
      valid = false;
      break;
    }
  }
  open.pop_back();
  result.valid = valid && !first;
  result.itself = no_value;
  result.generators = std::move(generators);
  return result;
}

bool Arithmetic::is_bound(const Linear& value, const Product& bound) const {
  if (value.bound.constant != 0 && value.bound.divides(bound)) {
    return true;
  }
  if (bound.factors.empty()) {
    const std::int64_t most = uniformity_.facts.max_threads
                                  ? static_cast<std::int64_t>(*uniformity_.facts.max_threads)
                                  : most_threads;
    return value.scale == Product() && bound.constant >= most;
  }
  return false;
}

/// Is the thread part less than `unit`, a power of two, and the rest a multiple of it?
bool Arithmetic::lies_below(const Linear& value, std::int64_t unit) const {
  return unit > 0 && is_bound(value, {unit, {}}) &&
         std::ranges::all_of(value.generators, [&](const Product& one) {
           return one.constant % unit == 0;
         });
}

bool Arithmetic::is_uniform_comparison(
    Operator op,
    ValueId left,
    ValueId right,
    std::uint32_t user
) const {
  std::vector<ValueId> open;
  const Linear a = decompose(left, user, open);
  open.clear();
  const Linear b = decompose(right, user, open);
  if (!a.valid || !b.valid || a.itself != no_value || b.itself != no_value) {
    return false;
  }
  if (a.thread == b.thread && a.scale == b.scale) {
    return true; // both sides move together
  }
  const bool is_less =
      op == Operator::Less || op == Operator::GreaterEqual; // a < y or its negation
  if (b.thread != no_value || a.thread == no_value || !is_less) {
    return false;
  }
  if (a.generators.empty()) {
    // threadIdx.x < something that no thread reaches
    if (const auto limit = constant(flow_.canonical(right)); limit && is_bound(a, {*limit, {}})) {
      return true;
    }
  }
  // T + U < Y: try the divisors that the code itself uses.
  std::vector<Product> candidates = a.generators;
  if (a.bound.constant != 0) {
    candidates.push_back(a.bound);
  }
  for (std::size_t i = 0, count = candidates.size(); i < count; ++i) {
    for (const ValueId factor : candidates[i].factors) {
      candidates.push_back({1, {factor}});
    }
    if (candidates[i].constant != 1 && !candidates[i].factors.empty()) {
      candidates.push_back({candidates[i].constant, {}});
    }
  }
  if (uniformity_.facts.max_threads) {
    candidates.push_back({static_cast<std::int64_t>(*uniformity_.facts.max_threads), {}});
  }
  constexpr std::int64_t warp = 32;
  for (const Product& candidate : candidates) {
    if (candidate.constant <= 0) {
      continue;
    }
    const bool stride = std::ranges::any_of(a.generators, [&](const Product& one) {
      return candidate.divides(one);
    });
    const bool assumed = stride && (candidate.factors.empty() ? candidate.constant % warp == 0 &&
                                                                    !uniformity_.facts.max_threads
                                                              : candidate.factors.size() == 1);
    if (!is_bound(a, candidate) && !assumed) {
      continue;
    }
    if (!std::ranges::all_of(a.generators, [&](const Product& one) {
          return candidate.divides(one);
        })) {
      continue;
    }
    std::vector<ValueId> path;
    if (is_multiple(right, candidate, path)) {
      return true;
    }
  }
  return false;
}

bool Arithmetic::is_uniform(ValueId id) const {
  const Instruction* code = flow_.instruction(id);
  if (code == nullptr || code->op != Op::Arithmetic) {
    return false;
  }
  const bool orders = // ceil(n / 128.0) * 128 is of type double
      code->arithmetic == Operator::Less || code->arithmetic == Operator::LessEqual ||
      code->arithmetic == Operator::Greater || code->arithmetic == Operator::GreaterEqual;
  if (code->is_float && !orders) {
    return false;
  }
  const auto& operands = flow_.values[id].operands;
  if (operands.size() == 3 && code->arithmetic == Operator::Select) {
    return flow_.canonical(operands[1]) == flow_.canonical(operands[2]) &&
           uniformity_.is_uniform_at(operands[1], flow_.values[id].block);
  }
  if (operands.size() != 2) {
    return false;
  }
  if (flow_.canonical(operands[0]) == flow_.canonical(operands[1]) &&
      (code->arithmetic == Operator::Equal || code->arithmetic == Operator::NotEqual ||
       code->arithmetic == Operator::Subtract || code->arithmetic == Operator::Xor)) {
    return true;
  }
  if (Bounds(*this, uniformity_).decide(*code, operands[0], operands[1])) {
    return true;
  }
  switch (code->arithmetic) {
  case Operator::Less:
  case Operator::GreaterEqual:
    return is_uniform_comparison(
               code->arithmetic,
               operands[0],
               operands[1],
               flow_.values[id].block
           ) ||
           is_uniform_comparison(
               Operator::Greater,
               operands[0],
               operands[1],
               flow_.values[id].block
           );
  case Operator::Greater:
    return is_uniform_comparison(Operator::Less, operands[1], operands[0], flow_.values[id].block);
  case Operator::LessEqual:
    return is_uniform_comparison(
        Operator::GreaterEqual,
        operands[1],
        operands[0],
        flow_.values[id].block
    );
  case Operator::Subtract: {
    std::vector<ValueId> open;
    const Linear difference =
        decompose_sum(operands[0], operands[1], /*minus=*/true, flow_.values[id].block, open);
    return difference.valid && difference.itself == no_value && difference.thread == no_value;
  }
  case Operator::Divide:
  case Operator::ShiftRight: {
    std::vector<ValueId> open;
    const Linear dividend = decompose(operands[0], flow_.values[id].block, open);
    Product by = factorise(operands[1]);
    if (code->arithmetic == Operator::ShiftRight) {
      by = {by.factors.empty() && by.constant < 62 ? std::int64_t{1} << by.constant : 0, {}};
    }
    return dividend.valid && dividend.itself == no_value && by.constant > 0 &&
           uniformity_.is_uniform_at(operands[1], flow_.values[id].block) &&
           is_bound(dividend, by) &&
           std::ranges::all_of(dividend.generators, [&](const Product& one) {
             return by.divides(one);
           });
  }
  case Operator::And: { // of `block << 16 | thread` the upper bits
    const auto mask = constant(flow_.canonical(operands[1]));
    std::vector<ValueId> open;
    const Linear word = mask ? decompose(operands[0], flow_.values[id].block, open) : Linear();
    return word.valid && word.itself == no_value && lies_below(word, *mask & -*mask);
  }
  default:
    return false;
  }
}

} // namespace heddle::lint
