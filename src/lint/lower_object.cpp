// Objects of class and array type: initialisation, construction, lambdas.
#include "lint/callee.h"
#include "lint/lower.h"

namespace heddle::lint {

using namespace clang;

void FunctionLowering::initialize(
    ValueId destination,
    QualType type,
    const Expr* init,
    const std::string& name
) {
  const SourceRange range = init->getSourceRange();
  if (type->isReferenceType()) {
    store(
        destination,
        init->isGLValue() || isa<ExprWithCleanups>(init) ? address(init) : value(init),
        range
    );
  } else if (is_object(type)) {
    object_into(init, destination);
  } else {
    const auto* list = dyn_cast<InitListExpr>(init);
    const Expr* one = list != nullptr && list->getNumInits() == 1 ? list->getInit(0) : init;
    store(destination, value(one), range, name);
  }
}

void FunctionLowering::object_into(const Expr* expression, ValueId destination) {
  const SourceRange range = expression->getSourceRange();
  switch (expression->getStmtClass()) {
  case Stmt::ParenExprClass:
  case Stmt::ConstantExprClass:
  case Stmt::ExprWithCleanupsClass:
  case Stmt::CXXBindTemporaryExprClass:
  case Stmt::MaterializeTemporaryExprClass:
  case Stmt::CXXFunctionalCastExprClass:
  case Stmt::CXXStdInitializerListExprClass:
  case Stmt::CXXDefaultArgExprClass:
  case Stmt::CXXDefaultInitExprClass:
  case Stmt::SubstNonTypeTemplateParmExprClass: {
    const Expr* inner = nullptr;
    if (const auto* argument = dyn_cast<CXXDefaultArgExpr>(expression)) {
      inner = argument->getExpr();
    } else if (const auto* member = dyn_cast<CXXDefaultInitExpr>(expression)) {
      inner = member->getExpr();
    } else {
      for (const Stmt* child : expression->children()) {
        inner = cast<Expr>(child);
      }
    }
    return inner != nullptr ? object_into(inner, destination)
                            : void(store(destination, constant(0, range), range));
  }
  case Stmt::CXXConstructExprClass:
  case Stmt::CXXTemporaryObjectExprClass:
    return construct(*cast<CXXConstructExpr>(expression), destination);
  case Stmt::InitListExprClass:
    return initializer_list(*cast<InitListExpr>(expression), destination);
  case Stmt::LambdaExprClass:
    return lambda(*cast<LambdaExpr>(expression), destination);
  case Stmt::CXXInheritedCtorInitExprClass:
    return inherited_constructor(*cast<CXXInheritedCtorInitExpr>(expression), destination);
  case Stmt::ImplicitValueInitExprClass:
  case Stmt::CXXScalarValueInitExprClass:
  case Stmt::StringLiteralClass:
    store(destination, constant(0, range), range);
    return;
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass: {
    const ValueId from = isa<CXXOperatorCallExpr>(expression)
                             ? call_operator(*cast<CXXOperatorCallExpr>(expression))
                             : call(*cast<CallExpr>(expression));
    emit(Op::CopyObject, {destination, from}, range);
    return;
  }
  case Stmt::ConditionalOperatorClass: {
    const auto* choice = cast<ConditionalOperator>(expression);
    if (expression->isGLValue()) {
      break;
    }
    const std::uint32_t yes = new_block();
    const std::uint32_t no = new_block();
    const std::uint32_t after = new_block();
    branch(choice->getCond(), yes, no, Construct::Conditional, unit_.spot(range));
    start(yes);
    object_into(choice->getTrueExpr(), destination);
    jump(after);
    start(no);
    object_into(choice->getFalseExpr(), destination);
    jump(after);
    start(after);
    return;
  }
  case Stmt::OpaqueValueExprClass:
    emit(Op::CopyObject, {destination, scalar(expression)}, range);
    return;
  case Stmt::StmtExprClass:
    emit(Op::CopyObject, {destination, scalar(expression)}, range);
    return;
  default:
    break;
  }
  if (const auto* inner = dyn_cast<CastExpr>(expression);
      inner != nullptr && !inner->getSubExpr()->getType()->isDependentType()) {
    const Expr* sub = inner->getSubExpr();
    if (is_object(sub->getType())) {
      // A conversion to a base class or of qualifiers, or the call of a conversion function.
      return sub->isGLValue() ? void(emit(Op::CopyObject, {destination, address(sub)}, range))
                              : object_into(sub, destination);
    }
    if (inner->getCastKind() == CK_ConstructorConversion ||
        inner->getCastKind() == CK_UserDefinedConversion) {
      return object_into(sub, destination);
    }
  }
  if (expression->isGLValue()) {
    emit(Op::CopyObject, {destination, address(expression)}, range);
    return;
  }
  store(destination, unknown(expression), range);
}

void FunctionLowering::construct(const CXXConstructExpr& expression, ValueId destination) {
  const SourceRange range = expression.getSourceRange();
  const CXXConstructorDecl* constructor = expression.getConstructor();
  if (constructor->isCopyOrMoveConstructor() && expression.getNumArgs() >= 1 &&
      (constructor->isImplicit() || constructor->isTrivial() || constructor->isDefaulted() ||
       !constructor->hasBody())) {
    const Expr* from = expression.getArg(0);
    if (from->isGLValue() && !isa<MaterializeTemporaryExpr>(from)) {
      emit(Op::CopyObject, {destination, address(from)}, range);
    } else {
      object_into(from, destination);
    }
    return;
  }
  if (constructor->isTrivial() && expression.getNumArgs() == 0) {
    store(
        destination,
        emit(expression.requiresZeroInitialization() ? Op::Constant : Op::Undefined, {}, range),
        range
    );
    return;
  }
  if (expression.getNumArgs() == 1 && is_atomic_reference(expression.getType())) {
    // Amounts to the address that it refers to.
    const Expr* referred = expression.getArg(0);
    store(destination, referred->isGLValue() ? address(referred) : value(referred), range);
    return;
  }
  std::vector<ValueId> passed = {destination};
  const auto given =
      arguments(constructor, llvm::ArrayRef(expression.getArgs(), expression.getNumArgs()));
  passed.insert(passed.end(), given.begin(), given.end());
  const FunctionDecl* definition = nullptr;
  if (!constructor->hasBody(definition)) {
    // The object depends on what it was made from.
    store(destination, arithmetic(Operator::Other, given, range), range);
    return;
  }
  if (unit_.is_in_toolkit(*constructor) && expression.getNumArgs() <= 4) {
    // dim3(x, y, z) and vector types: member by member, without reading a body.
    const CXXRecordDecl* record = constructor->getParent();
    auto field = record->field_begin();
    for (std::size_t i = 0; i < given.size() && field != record->field_end(); ++i, ++field) {
      const ValueId to = emit(Op::Field, {destination}, range);
      out_.code[to].number = unit_.field_id(field->getCanonicalDecl());
      store(to, given[i], range);
    }
    return;
  }
  call_function(*constructor, std::move(passed), nullptr, range);
}

/// using Base::Base: the base is made from what the constructor of the derived class was given.
void FunctionLowering::inherited_constructor(
    const CXXInheritedCtorInitExpr& expression,
    ValueId destination
) {
  const SourceRange range = expression.getSourceRange();
  std::vector<ValueId> passed = {destination};
  for (const ParmVarDecl* parameter : declaration_.parameters()) {
    const ValueId at = local_address(locals_.at(parameter), range);
    passed.push_back(is_object(parameter->getType()) ? at : load(at, range));
  }
  call_function(*expression.getConstructor(), std::move(passed), nullptr, range);
}

void FunctionLowering::initializer_list(const InitListExpr& list, ValueId destination) {
  const InitListExpr& meant =
      list.isSemanticForm() || list.getSemanticForm() == nullptr ? list : *list.getSemanticForm();
  const SourceRange range = list.getSourceRange();
  const QualType type = meant.getType();
  if (meant.isTransparent() && meant.getNumInits() == 1) {
    return object_into(meant.getInit(0), destination);
  }
  if (const RecordDecl* record = type->getAsRecordDecl(); record != nullptr && !record->isUnion()) {
    unsigned index = 0;
    if (const auto* full = dyn_cast<CXXRecordDecl>(record)) {
      for (unsigned base = 0; base < full->getNumBases() && index < meant.getNumInits(); ++base) {
        object_into(meant.getInit(index++), destination);
      }
    }
    for (const FieldDecl* field : record->fields()) {
      if (index >= meant.getNumInits()) {
        break;
      }
      if (field->isUnnamedBitField()) {
        continue;
      }
      const ValueId to = emit(Op::Field, {destination}, range);
      out_.code[to].number = unit_.field_id(field->getCanonicalDecl());
      initialize(to, field->getType(), meant.getInit(index++), field->getNameAsString());
    }
    return;
  }
  constexpr unsigned most = 64; // elements looked at one by one
  store(destination, constant(0, range), range);
  for (unsigned i = 0; i < std::min(meant.getNumInits(), most); ++i) {
    const Expr* init = meant.getInit(i);
    const ValueId first = emit(Op::Element, {destination, constant(0, range)}, range);
    out_.code[first].is_object = true;
    const ValueId to = emit(Op::Element, {first, constant(i, range)}, range);
    initialize(to, init->getType(), init, "");
  }
}

void FunctionLowering::lambda(const LambdaExpr& expression, ValueId destination) {
  const SourceRange range = expression.getSourceRange();
  auto init = expression.capture_init_begin();
  for (const FieldDecl* field : expression.getLambdaClass()->fields()) {
    if (init == expression.capture_init_end()) {
      break;
    }
    const Expr* captured = *init++;
    if (captured == nullptr) {
      continue;
    }
    const ValueId to = emit(Op::Field, {destination}, range);
    out_.code[to].number = unit_.field_id(field->getCanonicalDecl());
    initialize(to, field->getType(), captured, field->getNameAsString());
  }
}

/// object.*pointer, where it is known to which member the pointer leads.
std::optional<ValueId> FunctionLowering::pointed_member(const BinaryOperator& expression) {
  const ValueDecl* named =
      expression.isPtrMemOp() ? constant_pointee(*expression.getRHS(), unit_.context) : nullptr;
  const auto* field = dyn_cast_or_null<FieldDecl>(named);
  if (field == nullptr || field->getParent()->isUnion()) {
    return std::nullopt;
  }
  const Expr* base = expression.getLHS();
  const ValueId object = expression.getOpcode() == BO_PtrMemI ? scalar(base)
                         : base->isGLValue()                  ? address(base)
                                                              : value(base);
  const ValueId made = emit(Op::Field, {object}, expression.getSourceRange());
  out_.code[made].number = unit_.field_id(field->getCanonicalDecl());
  return made;
}

} // namespace heddle::lint
