#include "lint/callee.h"

#include "lint/lower.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <array>

namespace heddle::lint {

using namespace clang;

namespace {

/// Counts what a body does with a variable: how often it is named, and how often only read.
class UsesOf : public RecursiveASTVisitor<UsesOf> {
public:
  explicit UsesOf(const VarDecl& variable) : variable_(variable) {}
  bool shouldVisitTemplateInstantiations() const { return false; }
  bool VisitDeclRefExpr(DeclRefExpr* one) {
    named_ += one->getDecl() == &variable_ ? 1 : 0;
    return true;
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr* cast) {
    const auto* one = dyn_cast<DeclRefExpr>(cast->getSubExpr()->IgnoreParens());
    read_ +=
        cast->getCastKind() == CK_LValueToRValue && one != nullptr && one->getDecl() == &variable_
            ? 1
            : 0;
    return true;
  }
  bool only_reads() const { return named_ == read_; }

private:
  const VarDecl& variable_;
  unsigned named_ = 0, read_ = 0;
};

/// Does the variable hold what it was initialised with wherever it is read?
bool keeps_its_value(const VarDecl& variable) {
  if (variable.getInit() == nullptr || isa<ParmVarDecl>(variable)) {
    return false;
  }
  if (variable.getType().isConstQualified()) {
    return true;
  }
  const auto* function = dyn_cast<FunctionDecl>(variable.getDeclContext());
  if (!variable.hasLocalStorage() || function == nullptr || function->getBody() == nullptr) {
    return false;
  }
  UsesOf uses(variable);
  uses.TraverseStmt(function->getBody());
  return uses.only_reads();
}

} // namespace

const ValueDecl* constant_pointee(const Expr& expression, const ASTContext& context) {
  const Expr* pointer = expression.IgnoreParenImpCasts();
  if (const auto* reference = dyn_cast<DeclRefExpr>(pointer)) {
    const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
    if (variable != nullptr && keeps_its_value(*variable)) {
      return constant_pointee(*variable->getInit(), context);
    }
  }
  if (const auto* address = dyn_cast<UnaryOperator>(pointer);
      address != nullptr && address->getOpcode() == UO_AddrOf) {
    if (const auto* named = dyn_cast<DeclRefExpr>(address->getSubExpr()->IgnoreParens())) {
      return named->getDecl();
    }
  }
  if (pointer->isValueDependent() || pointer->isTypeDependent() || pointer->containsErrors()) {
    return nullptr;
  }
  Expr::EvalResult result;
  if (!pointer->EvaluateAsRValue(result, context)) {
    return nullptr;
  }
  if (result.Val.isMemberPointer()) {
    return result.Val.getMemberPointerDecl();
  }
  return result.Val.isLValue() ? result.Val.getLValueBase().dyn_cast<const ValueDecl*>() : nullptr;
}

const FunctionDecl* constant_callee(const Expr& callee, const ASTContext& context) {
  const auto* member = dyn_cast<BinaryOperator>(callee.IgnoreParenImpCasts());
  const bool through_member = member != nullptr && member->isPtrMemOp();
  return dyn_cast_or_null<FunctionDecl>(
      constant_pointee(through_member ? *member->getRHS() : callee, context)
  );
}

const BinaryOperator* member_pointer_call(const CallExpr& call) {
  const auto* made = dyn_cast<BinaryOperator>(call.getCallee()->IgnoreParens());
  return made != nullptr && made->isPtrMemOp() ? made : nullptr;
}

QualType called_type(const CallExpr& call) {
  if (const BinaryOperator* member = member_pointer_call(call)) {
    const auto* pointer = member->getRHS()->getType()->getAs<MemberPointerType>();
    return pointer != nullptr ? pointer->getPointeeType() : QualType();
  }
  const QualType type = call.getCallee()->getType();
  return type->isPointerType() ? type->getPointeeType() : type;
}

const FunctionDecl* launched_kernel(const CallExpr& call) {
  for (const Expr* argument : call.arguments()) {
    if (const auto* reference =
            dyn_cast<DeclRefExpr>(argument->IgnoreParenCasts()->IgnoreImpCasts())) {
      if (const auto* kernel = dyn_cast<FunctionDecl>(reference->getDecl());
          kernel != nullptr && kernel->hasAttr<CUDAGlobalAttr>()) {
        return kernel;
      }
    }
  }
  return nullptr;
}

const CXXRecordDecl* called_object(const CallExpr& call) {
  const QualType type = call.getCallee()->getType();
  return type.isNull() ? nullptr : type.getNonReferenceType()->getAsCXXRecordDecl();
}

namespace {

MemoryOrder order_of(std::int64_t value) {
  switch (value) {
  case 0:
    return MemoryOrder::Relaxed;
  case 1:
  case 2:
    return MemoryOrder::Acquire;
  case 3:
    return MemoryOrder::Release;
  default:
    return MemoryOrder::Both;
  }
}

Scope scope_from(std::int64_t thread_scope) {
  switch (thread_scope) {
  case 0:
    return Scope::System;
  case 1:
    return Scope::Device;
  case 2:
    return Scope::Block;
  default:
    return Scope::Thread;
  }
}

/// The scope in cuda::atomic<T, scope> and cuda::atomic_ref<T, scope>.
Scope scope_of(QualType object) {
  if (object.isNull()) {
    return Scope::None;
  }
  if (object->isPointerType() || object->isReferenceType()) {
    object = object->getPointeeType();
  }
  const auto* record =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(object->getAsCXXRecordDecl());
  if (record == nullptr) {
    return Scope::System;
  }
  for (const TemplateArgument& argument : record->getTemplateArgs().asArray()) {
    if (argument.getKind() == TemplateArgument::Integral) {
      return scope_from(number_of(argument.getAsIntegral()));
    }
  }
  return Scope::System;
}

/// Of nvcc's __nv_atomic_ functions, whose orders and scopes are plain numbers.
void nvcc_atomic(
    const std::string& name,
    const CallExpr& call,
    const ASTContext& context,
    Instruction& made
) {
  if (call.getNumArgs() < 2) {
    return;
  }
  static constexpr std::array scopes =
      {Scope::Thread, Scope::Block, Scope::Cluster, Scope::Device, Scope::System};
  static constexpr std::array orders = {
      MemoryOrder::Relaxed,
      MemoryOrder::Acquire,
      MemoryOrder::Acquire,
      MemoryOrder::Release,
      MemoryOrder::Both,
      MemoryOrder::Both
  };
  const auto number = [&](unsigned index) -> std::optional<std::size_t> {
    Expr::EvalResult result;
    const Expr* argument = call.getArg(index);
    if (argument->isValueDependent() || !argument->EvaluateAsInt(result, context)) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(number_of(result.Val.getInt()));
  };
  // The scope is last; before it the order, or the orders of success and of failure.
  const unsigned last = call.getNumArgs() - 1;
  const unsigned orders_given = name.find("compare_exchange") != std::string::npos ? 2 : 1;
  made.scope = Scope::System;
  made.order = MemoryOrder::Both;
  if (const auto scope = number(last); scope && *scope < scopes.size()) {
    made.scope = scopes.at(*scope);
  }
  if (last >= orders_given) {
    if (const auto order = number(last - orders_given); order && *order < orders.size()) {
      made.order = orders.at(*order);
    }
  }
}

} // namespace

void set_order(
    const CallExpr* call,
    const std::string& name,
    const ASTContext& context,
    Instruction& made
) {
  const auto* member = dyn_cast_or_null<CXXMemberCallExpr>(call);
  const auto* overloaded = dyn_cast_or_null<CXXOperatorCallExpr>(call);
  made.order = MemoryOrder::Both;
  if (member != nullptr) {
    made.scope = scope_of(member->getImplicitObjectArgument()->IgnoreParenBaseCasts()->getType());
  } else if (overloaded != nullptr && overloaded->getNumArgs() > 0) {
    made.scope = scope_of(overloaded->getArg(0)->IgnoreParenBaseCasts()->getType());
  } else {
    made.scope = name.ends_with("_block")    ? Scope::Block
                 : name.ends_with("_system") ? Scope::System
                                             : Scope::Device;
    made.order = name.starts_with("atomic") ? MemoryOrder::Relaxed : MemoryOrder::Both;
  }
  if (call == nullptr) {
    return;
  }
  if (name.starts_with("__nv_atomic_")) {
    return nvcc_atomic(name, *call, context, made);
  }
  for (const Expr* argument : call->arguments()) {
    const std::string spelled = argument->getType().getAsString();
    Expr::EvalResult result;
    if (spelled.find("memory_order") != std::string::npos && !argument->isValueDependent() &&
        argument->EvaluateAsInt(result, context)) {
      made.order = order_of(number_of(result.Val.getInt()));
    } else if (
        made.effect == Effect::Fence && spelled.find("thread_scope") != std::string::npos &&
        !argument->isValueDependent() && argument->EvaluateAsInt(result, context)
    ) {
      made.scope = scope_from(number_of(result.Val.getInt()));
    }
  }
}

Effect barrier_of_group(const CallExpr& call) {
  const auto* member = dyn_cast<CXXMemberCallExpr>(&call);
  const Expr* group = member != nullptr       ? member->getImplicitObjectArgument()
                      : call.getNumArgs() > 0 ? call.getArg(0)
                                              : nullptr;
  const CXXRecordDecl* record =
      group != nullptr ? group->IgnoreParenImpCasts()->getType()->getAsCXXRecordDecl() : nullptr;
  if (record == nullptr) {
    return Effect::GroupBarrier;
  }
  const std::string of = record->getNameAsString();
  return of == "thread_block"    ? Effect::BlockBarrier
         : of == "grid_group"    ? Effect::GridBarrier
         : of == "cluster_group" ? Effect::ClusterBarrier
         : of == "thread_group"  ? Effect::GroupBarrier
                                 : Effect::WarpBarrier;
}

int nvcc_atomic_output(const std::string& name) {
  return name == "__nv_atomic_load" || name.starts_with("__nv_atomic_compare_exchange") ? 1
         : name == "__nv_atomic_exchange"                                               ? 2
                                                                                        : -1;
}

namespace {

bool is_memory_copy(const std::string& name) {
  static constexpr std::array names =
      {"memcpy", "memmove", "std::memcpy", "std::memmove", "__builtin_memcpy", "__builtin_memmove"};
  return std::ranges::find(names, name) != names.end();
}

/// &x, or an array: x. Null where it is no object by name, or reading it twice does something.
const Expr* object_behind(const Expr* pointer, const ASTContext& context) {
  pointer = pointer->IgnoreParenCasts();
  const Expr* object = pointer;
  if (const auto* address = dyn_cast<UnaryOperator>(pointer)) {
    object = address->getOpcode() == UO_AddrOf ? address->getSubExpr() : nullptr;
  } else if (pointer->getType()->isPointerType()) {
    object = nullptr;
  }
  return object != nullptr && object->isGLValue() && !object->isTypeDependent() &&
                 !object->HasSideEffects(context)
             ? object
             : nullptr;
}

} // namespace

int passed_by_pointer(const std::string& name) {
  return is_memory_copy(name) || name == "__nv_atomic_store" || name == "__nv_atomic_exchange" ? 1
         : name == "__nv_atomic_compare_exchange"                                              ? 2
                                                                                               : -1;
}

WholeCopy whole_copy(const std::string& name, const CallExpr& call, const ASTContext& context) {
  if (!is_memory_copy(name) || call.getNumArgs() != 3) {
    return {};
  }
  const WholeCopy made{
      object_behind(call.getArg(0), context),
      object_behind(call.getArg(1), context)
  };
  Expr::EvalResult size;
  if (made.to == nullptr || made.from == nullptr || made.to->getType()->isIncompleteType() ||
      made.to->getType()->isDependentType() || call.getArg(2)->isValueDependent() ||
      !call.getArg(2)->EvaluateAsInt(size, context)) {
    return {};
  }
  const auto whole = context.getTypeSizeInChars(made.to->getType()).getQuantity();
  return number_of(size.Val.getInt()) == whole ? made : WholeCopy{};
}

} // namespace heddle::lint
