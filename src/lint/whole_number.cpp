#include "lint/whole_number.h"

#include <clang/AST/Decl.h>
#include <llvm/ADT/StringRef.h>

#include <algorithm>
#include <array>

namespace heddle::lint {
namespace {

using namespace clang;

bool rounds(const CallExpr& call) {
  const FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr || callee->getIdentifier() == nullptr) {
    return false;
  }
  llvm::StringRef name = callee->getName();
  name.consume_front("__builtin_");
  static constexpr std::array<llvm::StringLiteral, 6> rounding =
      {"ceil", "floor", "trunc", "round", "rint", "nearbyint"};
  return std::ranges::any_of(rounding, [name](llvm::StringRef one) {
    return name == one || (name.size() == one.size() + 1 && name.starts_with(one) &&
                           (name.back() == 'f' || name.back() == 'l'));
  });
}

} // namespace

bool is_whole(const Expr* expression) {
  expression = expression->IgnoreParens();
  if (const auto* full = dyn_cast<FullExpr>(expression)) {
    return is_whole(full->getSubExpr());
  }
  if (expression->isTypeDependent()) {
    return false;
  }
  if (expression->getType()->isIntegralOrEnumerationType()) {
    return true;
  }
  if (const auto* cast = dyn_cast<CastExpr>(expression)) {
    return cast->getCastKind() != CK_UserDefinedConversion && is_whole(cast->getSubExpr());
  }
  if (const auto* literal = dyn_cast<FloatingLiteral>(expression)) {
    return literal->getValue().isInteger();
  }
  if (const auto* call = dyn_cast<CallExpr>(expression)) {
    return rounds(*call);
  }
  if (const auto* unary = dyn_cast<UnaryOperator>(expression)) {
    return (unary->getOpcode() == UO_Minus || unary->getOpcode() == UO_Plus) &&
           is_whole(unary->getSubExpr());
  }
  if (const auto* binary = dyn_cast<BinaryOperator>(expression)) {
    return (binary->isAdditiveOp() || binary->getOpcode() == BO_Mul) &&
           is_whole(binary->getLHS()) && is_whole(binary->getRHS());
  }
  if (const auto* reference = dyn_cast<DeclRefExpr>(expression)) {
    const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
    return variable != nullptr && variable->getType().isConstQualified() &&
           variable->getInit() != nullptr && !variable->getInit()->isValueDependent() &&
           is_whole(variable->getInit());
  }
  return false;
}

} // namespace heddle::lint
