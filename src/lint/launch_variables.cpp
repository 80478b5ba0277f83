#include "lint/launch_variables.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

namespace heddle::lint {

using namespace clang;

namespace {

std::optional<Symbol> symbol_of_member(const ValueDecl& member) {
  const auto* record = dyn_cast<RecordDecl>(member.getDeclContext());
  if (record == nullptr || record->getIdentifier() == nullptr ||
      member.getIdentifier() == nullptr || member.getName().size() != 1) {
    return std::nullopt;
  }
  static constexpr std::pair<llvm::StringLiteral, Symbol> names[] = {
      {"__cuda_builtin_threadIdx_t", Symbol::ThreadIndexX},
      {"__cuda_builtin_blockIdx_t", Symbol::BlockIndexX},
      {"__cuda_builtin_blockDim_t", Symbol::BlockSizeX},
      {"__cuda_builtin_gridDim_t", Symbol::GridSizeX},
  };
  for (const auto& [name, first] : names) {
    if (record->getName() == name) {
      return static_cast<Symbol>(static_cast<int>(first) + member.getName().front() - 'x');
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Symbol> launch_symbol(const Expr& expression) {
  if (const auto* property = dyn_cast<MSPropertyRefExpr>(&expression)) {
    return symbol_of_member(*property->getPropertyDecl());
  }
  const auto* member = dyn_cast<MemberExpr>(&expression);
  return member != nullptr && expression.getType().isConstQualified()
             ? symbol_of_member(*member->getMemberDecl())
             : std::nullopt;
}

} // namespace heddle::lint
