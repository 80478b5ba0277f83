// Expressions to instructions: values of scalars, addresses of objects.
#include "lint/callee.h"
#include "lint/launch_variables.h"
#include "lint/lower.h"
#include "lint/unreadable.h"
#include "lint/whole_number.h"

namespace heddle::lint {

using namespace clang;

namespace {

std::optional<Operator> operator_of(BinaryOperatorKind kind) {
  switch (kind) {
  case BO_Add:
  case BO_AddAssign:
    return Operator::Add;
  case BO_Sub:
  case BO_SubAssign:
    return Operator::Subtract;
  case BO_Mul:
  case BO_MulAssign:
    return Operator::Multiply;
  case BO_Div:
  case BO_DivAssign:
    return Operator::Divide;
  case BO_Rem:
  case BO_RemAssign:
    return Operator::Remainder;
  case BO_Shl:
  case BO_ShlAssign:
    return Operator::ShiftLeft;
  case BO_Shr:
  case BO_ShrAssign:
    return Operator::ShiftRight;
  case BO_And:
  case BO_AndAssign:
    return Operator::And;
  case BO_Or:
  case BO_OrAssign:
    return Operator::Or;
  case BO_Xor:
  case BO_XorAssign:
    return Operator::Xor;
  case BO_LT:
    return Operator::Less;
  case BO_LE:
    return Operator::LessEqual;
  case BO_GT:
    return Operator::Greater;
  case BO_GE:
    return Operator::GreaterEqual;
  case BO_EQ:
    return Operator::Equal;
  case BO_NE:
    return Operator::NotEqual;
  case BO_LAnd:
    return Operator::LogicalAnd;
  case BO_LOr:
    return Operator::LogicalOr;
  default:
    return std::nullopt;
  }
}

/// None: in a template Clang may not have computed it.
std::optional<std::int64_t>
enumerator_number(const EnumConstantDecl& enumerator, ASTContext& context) {
  if (!enumerator.getDeclContext()->isDependentContext()) {
    return number_of(enumerator.getInitVal());
  }
  Expr::EvalResult result;
  const Expr* init = enumerator.getInitExpr();
  return init != nullptr && !init->isValueDependent() && init->EvaluateAsInt(result, context)
             ? std::optional(number_of(result.Val.getInt()))
             : std::nullopt;
}

/// The parameter of a template has the same value wherever the template names it: Dataflow compares
/// the number.
ValueId numbered(Function& function, ValueId made, const ValueDecl& parameter) {
  function.code[made].number = static_cast<std::int64_t>(parameter.getCanonicalDecl()->getID());
  return made;
}

/// The operand that says "everything that I depend on".
void collect_operands(const Stmt* s, std::vector<const Expr*>& out, int depth) {
  if (s == nullptr || depth > 6) {
    return;
  }
  for (const Stmt* child : s->children()) {
    if (const auto* expression = dyn_cast_or_null<Expr>(child)) {
      out.push_back(expression);
    } else {
      collect_operands(child, out, depth + 1);
    }
  }
}

} // namespace

ValueId FunctionLowering::unknown(const Expr* expression) {
  std::vector<const Expr*> children;
  collect_operands(expression, children, 0);
  std::vector<ValueId> operands;
  for (const Expr* child : children) {
    if (!isa<LambdaExpr>(child)) {
      operands.push_back(value(child));
    }
  }
  if (expression->containsErrors()) {
    // It may do anything: what is declared nowhere must not look like an endless loop.
    Instruction made;
    made.op = Op::Known;
    made.effect = Effect::Unknown;
    made.operands = std::move(operands);
    made.name = unreadable_expression;
    made.spot = unit_.spot(expression->getSourceRange());
    return emit(std::move(made));
  }
  return arithmetic(Operator::Other, std::move(operands), expression->getSourceRange());
}

void FunctionLowering::discard(const Expr* expression) {
  if (expression == nullptr) {
    return;
  }
  const Expr* inner = expression->IgnoreParens();
  if (const auto* cleanups = dyn_cast<ExprWithCleanups>(inner)) {
    return discard(cleanups->getSubExpr());
  }
  if (const auto* cast = dyn_cast<CastExpr>(inner);
      cast != nullptr && cast->getCastKind() == CK_ToVoid) {
    return discard(cast->getSubExpr());
  }
  if (const auto* comma = dyn_cast<BinaryOperator>(inner);
      comma != nullptr && comma->getOpcode() == BO_Comma) {
    discard(comma->getLHS());
    return discard(comma->getRHS());
  }
  value(inner);
}

/// A class object: where it is. A scalar: what it is.
ValueId FunctionLowering::value(const Expr* expression) {
  if (expression->getType().isNull()) {
    return unknown(expression);
  }
  if (is_object(expression->getType()) && !expression->getType()->isDependentType()) {
    if (expression->isGLValue()) {
      return address(expression);
    }
    const ValueId made = temporary(expression->getType(), expression->getSourceRange());
    object_into(expression, made);
    return made;
  }
  return scalar(expression);
}

bool UnitLowering::is_simple(const Stmt* s, int depth) {
  if (s == nullptr) {
    return true;
  }
  if (depth > 12 || isa<LambdaExpr>(s) || isa<StmtExpr>(s) || isa<CXXConstructExpr>(s) ||
      isa<AbstractConditionalOperator>(s) || isa<CXXNewExpr>(s) || isa<CXXDeleteExpr>(s)) {
    return false;
  }
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr) {
      return false;
    }
    const Known meaning = known(*callee, {});
    const bool pure = (meaning.known && meaning.effect == Effect::Pure) ||
                      (!meaning.known && is_in_toolkit(*callee));
    return pure && std::ranges::all_of(call->arguments(), [&](const Expr* argument) {
             return is_simple(argument, depth + 1);
           });
  }
  if (const auto* one = dyn_cast<UnaryOperator>(s);
      one != nullptr && one->isIncrementDecrementOp()) {
    return false;
  }
  if (const auto* two = dyn_cast<BinaryOperator>(s);
      two != nullptr && (two->isAssignmentOp() || two->getOpcode() == BO_Comma)) {
    return false;
  }
  return std::ranges::all_of(s->children(), [&](const Stmt* child) {
    return is_simple(child, depth + 1);
  });
}

ValueId FunctionLowering::scalar(const Expr* expression) {
  const SourceRange range = expression->getSourceRange();
  if (const auto which = launch_symbol(*expression)) {
    return symbol(*which, range);
  }
  switch (expression->getStmtClass()) {
  case Stmt::ParenExprClass:
    return scalar(cast<ParenExpr>(expression)->getSubExpr());
  case Stmt::ConstantExprClass:
    return scalar(cast<ConstantExpr>(expression)->getSubExpr());
  case Stmt::ExprWithCleanupsClass:
    return scalar(cast<ExprWithCleanups>(expression)->getSubExpr());
  case Stmt::MaterializeTemporaryExprClass:
    return scalar(cast<MaterializeTemporaryExpr>(expression)->getSubExpr());
  case Stmt::CXXBindTemporaryExprClass:
    return scalar(cast<CXXBindTemporaryExpr>(expression)->getSubExpr());
  case Stmt::SubstNonTypeTemplateParmExprClass:
    return scalar(cast<SubstNonTypeTemplateParmExpr>(expression)->getReplacement());
  case Stmt::CXXDefaultArgExprClass:
    return scalar(cast<CXXDefaultArgExpr>(expression)->getExpr());
  case Stmt::CXXDefaultInitExprClass:
    return scalar(cast<CXXDefaultInitExpr>(expression)->getExpr());
  case Stmt::GenericSelectionExprClass:
    return scalar(cast<GenericSelectionExpr>(expression)->getResultExpr());
  case Stmt::ChooseExprClass:
    return scalar(cast<ChooseExpr>(expression)->getChosenSubExpr());
  case Stmt::PseudoObjectExprClass:
    return scalar(cast<PseudoObjectExpr>(expression)->getSyntacticForm());
  case Stmt::MSPropertyRefExprClass:
    return unknown(expression);
  case Stmt::OpaqueValueExprClass: {
    if (const auto known = opaque_.find(expression); known != opaque_.end()) {
      return known->second;
    }
    const Expr* source = cast<OpaqueValueExpr>(expression)->getSourceExpr();
    if (source == nullptr) {
      return constant(0, range);
    }
    const ValueId made = expression->isGLValue() ? address(source) : value(source);
    opaque_[expression] = made;
    return made;
  }
  case Stmt::CXXBoolLiteralExprClass:
    return constant(cast<CXXBoolLiteralExpr>(expression)->getValue() ? 1 : 0, range);
  case Stmt::CharacterLiteralClass:
    return constant(cast<CharacterLiteral>(expression)->getValue(), range);
  case Stmt::IntegerLiteralClass: {
    const llvm::APInt& number = cast<IntegerLiteral>(expression)->getValue();
    return constant(static_cast<std::int64_t>(number.getLimitedValue()), range);
  }
  case Stmt::FloatingLiteralClass:
    return arithmetic(Operator::Other, {}, range);
  case Stmt::CXXNullPtrLiteralExprClass:
  case Stmt::GNUNullExprClass:
  case Stmt::ImplicitValueInitExprClass:
  case Stmt::CXXScalarValueInitExprClass:
    return constant(0, range);
  case Stmt::CXXThisExprClass:
    if (captured_this_ != nullptr && this_local_) {
      const ValueId closure = load(local_address(*this_local_, range), range);
      const ValueId field = emit(Op::Field, {closure}, range);
      out_.code[field].number = unit_.field_id(captured_this_->getCanonicalDecl());
      return captured_this_->getType()->isPointerType() ? load(field, range) : field;
    }
    return this_local_ ? load(local_address(*this_local_, range), range) : constant(0, range);
  case Stmt::UnaryOperatorClass:
    return unary(*cast<UnaryOperator>(expression));
  case Stmt::BinaryOperatorClass:
  case Stmt::CompoundAssignOperatorClass:
    return binary(*cast<BinaryOperator>(expression));
  case Stmt::ConditionalOperatorClass:
  case Stmt::BinaryConditionalOperatorClass:
    return conditional(*cast<AbstractConditionalOperator>(expression), /*want_address=*/false);
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::UserDefinedLiteralClass: {
    const ValueId made = call(*cast<CallExpr>(expression));
    return expression->isGLValue() && !is_object(expression->getType()) ? load(made, range) : made;
  }
  case Stmt::CXXOperatorCallExprClass: {
    const ValueId made = call_operator(*cast<CXXOperatorCallExpr>(expression));
    return expression->isGLValue() && !is_object(expression->getType()) ? load(made, range) : made;
  }
  case Stmt::CUDAKernelCallExprClass:
    return launch(*cast<CUDAKernelCallExpr>(expression));
  case Stmt::StmtExprClass: {
    const CompoundStmt* body = cast<StmtExpr>(expression)->getSubStmt();
    ValueId result = no_value;
    for (const Stmt* child : body->body()) {
      const auto* last = child == body->body_back() ? dyn_cast<Expr>(child) : nullptr;
      if (last != nullptr && !last->getType()->isVoidType()) {
        result = value(last);
      } else {
        statement(child);
      }
    }
    return result != no_value ? result : constant(0, range);
  }
  case Stmt::LambdaExprClass:
  case Stmt::InitListExprClass:
  case Stmt::CXXConstructExprClass:
  case Stmt::CXXTemporaryObjectExprClass:
    if (const auto* list = dyn_cast<InitListExpr>(expression);
        list != nullptr && !is_object(list->getType())) {
      return list->getNumInits() == 1 ? scalar(list->getInit(0)) : constant(0, range);
    } else {
      const ValueId made = temporary(expression->getType(), range);
      object_into(expression, made);
      return made;
    }
  case Stmt::CXXNewExprClass: {
    Instruction made;
    made.op = Op::Known;
    made.effect = Effect::Allocate;
    made.name = "new";
    made.spot = unit_.spot(range);
    return emit(std::move(made));
  }
  case Stmt::UnaryExprOrTypeTraitExprClass:
  case Stmt::TypeTraitExprClass:
  case Stmt::SizeOfPackExprClass:
  case Stmt::CXXNoexceptExprClass: {
    Expr::EvalResult result;
    if (!expression->isValueDependent() && expression->EvaluateAsInt(result, unit_.context)) {
      return constant(number_of(result.Val.getInt()), range);
    }
    return arithmetic(Operator::Other, {}, range); // the same for all threads
  }
  default:
    break;
  }
  if (const auto* cast = dyn_cast<CastExpr>(expression)) {
    const Expr* inner = cast->getSubExpr();
    switch (cast->getCastKind()) {
    case CK_LValueToRValue: {
      // Constants of the language and of templates.
      Expr::EvalResult result;
      if (expression->getType()->isIntegralOrEnumerationType() && !expression->isValueDependent() &&
          !inner->containsErrors() &&
          (isa<DeclRefExpr>(inner->IgnoreParens()) || isa<MemberExpr>(inner->IgnoreParens())) &&
          expression->EvaluateAsInt(result, unit_.context)) {
        return constant(number_of(result.Val.getInt()), range);
      }
      const Expr* bare = inner->IgnoreParens();
      if (isa<PseudoObjectExpr>(bare) || isa<ConditionalOperator>(bare) || launch_symbol(*bare)) {
        return scalar(bare);
      }
      return load(address(inner), range, inner->getType().isVolatileQualified());
    }
    case CK_ArrayToPointerDecay: {
      const ValueId array = address(inner);
      const ValueId made = emit(Op::Element, {array, constant(0, range)}, range);
      out_.code[made].is_object = true;
      return made;
    }
    case CK_FunctionToPointerDecay:
    case CK_BuiltinFnToFnPtr: {
      return scalar(inner);
    }
    case CK_PointerToBoolean:
    case CK_IntegralToBoolean:
    case CK_FloatingToBoolean:
      return scalar(inner);
    default:
      return value(inner);
    }
  }
  if (const auto* reference = dyn_cast<DeclRefExpr>(expression)) {
    if (const auto* enumerator = dyn_cast<EnumConstantDecl>(reference->getDecl())) {
      const auto number = enumerator_number(*enumerator, unit_.context);
      return number ? constant(*number, range) : arithmetic(Operator::Other, {}, range);
    }
    if (isa<FunctionDecl>(reference->getDecl())) {
      return constant(unit_.function_number(*reference->getDecl()), range);
    }
    if (isa<NonTypeTemplateParmDecl>(reference->getDecl())) {
      return numbered(out_, arithmetic(Operator::Other, {}, range), *reference->getDecl());
    }
  }
  if (expression->isGLValue() || isa<DeclRefExpr>(expression) ||
      isa<ArraySubscriptExpr>(expression) || isa<CXXDependentScopeMemberExpr>(expression) ||
      isa<MemberExpr>(expression)) {
    const ValueId at = address(expression);
    return is_object(expression->getType())
               ? at
               : load(at, range, expression->getType().isVolatileQualified());
  }
  if (const auto* made = dyn_cast<CXXUnresolvedConstructExpr>(expression);
      made != nullptr && made->getNumArgs() == 1) {
    return value(made->getArg(0));
  }
  if (const auto* list = dyn_cast<ParenListExpr>(expression);
      list != nullptr && list->getNumExprs() == 1) {
    return value(list->getExpr(0));
  }
  return unknown(expression);
}

ValueId FunctionLowering::address(const Expr* expression) {
  if (expression->getType().isNull()) {
    const ValueId made = temporary({}, expression->getSourceRange());
    store(made, unknown(expression), expression->getSourceRange());
    return made;
  }
  const SourceRange range = expression->getSourceRange();
  switch (expression->getStmtClass()) {
  case Stmt::ParenExprClass:
    return address(cast<ParenExpr>(expression)->getSubExpr());
  case Stmt::ExprWithCleanupsClass:
    return address(cast<ExprWithCleanups>(expression)->getSubExpr());
  case Stmt::ConstantExprClass:
    return address(cast<ConstantExpr>(expression)->getSubExpr());
  case Stmt::SubstNonTypeTemplateParmExprClass:
    return address(cast<SubstNonTypeTemplateParmExpr>(expression)->getReplacement());
  case Stmt::CXXDefaultArgExprClass:
    return address(cast<CXXDefaultArgExpr>(expression)->getExpr());
  case Stmt::CXXDefaultInitExprClass:
    return address(cast<CXXDefaultInitExpr>(expression)->getExpr());
  case Stmt::DeclRefExprClass: {
    const auto* reference = cast<DeclRefExpr>(expression);
    return variable_address(*reference->getDecl(), *reference);
  }
  case Stmt::MemberExprClass:
    return member_address(*cast<MemberExpr>(expression));
  case Stmt::CXXDependentScopeMemberExprClass: {
    const auto* member = cast<CXXDependentScopeMemberExpr>(expression);
    const ValueId base =
        member->isImplicitAccess()
            ? (this_local_ ? load(local_address(*this_local_, range), range) : constant(0, range))
        : member->isArrow() || !member->getBase()->isGLValue() ? value(member->getBase())
                                                               : address(member->getBase());
    const ValueId made = emit(Op::Field, {base}, range);
    out_.code[made].number = unit_.named_field_id(member->getMember().getAsString());
    return made;
  }
  case Stmt::ArraySubscriptExprClass: {
    const auto* subscript = cast<ArraySubscriptExpr>(expression);
    const ValueId base = scalar(subscript->getBase());
    const ValueId index = scalar(subscript->getIdx());
    return emit(Op::Element, {base, index}, range);
  }
  case Stmt::UnaryOperatorClass: {
    const auto* one = cast<UnaryOperator>(expression);
    if (one->getOpcode() == UO_Deref) {
      return scalar(one->getSubExpr());
    }
    if (one->isIncrementDecrementOp()) {
      return step_variable(
          one->getSubExpr(),
          one->isIncrementOp(),
          one->isPrefix(),
          /*want_address=*/true,
          range
      );
    }
    if (one->getOpcode() == UO_Extension || one->getOpcode() == UO_Real ||
        one->getOpcode() == UO_Imag) {
      return address(one->getSubExpr());
    }
    break;
  }
  case Stmt::BinaryOperatorClass:
  case Stmt::CompoundAssignOperatorClass: {
    const auto* two = cast<BinaryOperator>(expression);
    if (two->getOpcode() == BO_Comma) {
      discard(two->getLHS());
      return address(two->getRHS());
    }
    if (two->isAssignmentOp()) {
      return assign(two->getOpcode(), two->getLHS(), two->getRHS(), range);
    }
    if (const auto member = pointed_member(*two)) {
      return *member;
    }
    break;
  }
  case Stmt::ConditionalOperatorClass:
  case Stmt::BinaryConditionalOperatorClass:
    return conditional(*cast<AbstractConditionalOperator>(expression), /*want_address=*/true);
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass:
    if (expression->isGLValue() || is_object(expression->getType())) {
      const auto* made = dyn_cast<CXXOperatorCallExpr>(expression);
      return made != nullptr ? call_operator(*made) : call(*cast<CallExpr>(expression));
    }
    break;
  case Stmt::MaterializeTemporaryExprClass: {
    const Expr* inner = cast<MaterializeTemporaryExpr>(expression)->getSubExpr();
    const ValueId made = temporary(inner->getType(), range);
    initialize(made, inner->getType(), inner, "");
    return made;
  }
  case Stmt::OpaqueValueExprClass:
    return scalar(expression);
  case Stmt::PseudoObjectExprClass:
  case Stmt::MSPropertyRefExprClass: {
    const ValueId made = temporary(expression->getType(), range);
    store(made, scalar(expression), range);
    return made;
  }
  default:
    if (const auto* cast = dyn_cast<CastExpr>(expression);
        cast != nullptr && cast->getSubExpr()->isGLValue()) {
      return address(cast->getSubExpr());
    }
    break;
  }
  if (!expression->isGLValue() && !expression->isTypeDependent() &&
      expression->getType()->isPointerType()) {
    return scalar(expression);
  }
  const ValueId made = temporary(expression->getType(), range);
  if (is_object(expression->getType()) && !expression->isGLValue()) {
    object_into(expression, made);
  } else {
    const bool known =
        expression->isGLValue() || isa<StringLiteral>(expression) || expression->isTypeDependent();
    store(
        made,
        known && !isa<CallExpr>(expression) && !isa<CastExpr>(expression) &&
                !isa<BinaryOperator>(expression) && !isa<UnaryOperator>(expression)
            ? unknown(expression)
            : scalar(expression),
        range
    );
  }
  return made;
}

ValueId
FunctionLowering::variable_address(const ValueDecl& declared, const DeclRefExpr& reference) {
  const SourceRange range = reference.getSourceRange();
  if (const auto* binding = dyn_cast<BindingDecl>(&declared)) {
    if (binding->getBinding() != nullptr) {
      return address(binding->getBinding());
    }
  }
  if (const auto* one = dyn_cast<VarDecl>(&declared)) {
    const bool is_reference = one->getType()->isReferenceType();
    if (const auto field = captures_.find(one);
        field != captures_.end() && this_local_ && !locals_.contains(one)) {
      const ValueId closure = load(local_address(*this_local_, range), range);
      const ValueId made = emit(Op::Field, {closure}, range);
      out_.code[made].number = unit_.field_id(field->second->getCanonicalDecl());
      return field->second->getType()->isReferenceType() ? load(made, range) : made;
    }
    if (one->hasGlobalStorage() || one->hasAttr<CUDASharedAttr>()) {
      const ValueId made = emit(Op::GlobalAddress, {}, range);
      out_.code[made].number = unit_.global_id(one);
      return is_reference ? load(made, range) : made;
    }
    auto local = locals_.find(one);
    if (local == locals_.end()) {
      // From an enclosing function, by a lambda in a template: nothing is known of it.
      local =
          locals_
              .emplace(
                  one,
                  new_local(one->getNameAsString(), one->getType(), unit_.spot(one->getLocation()))
              )
              .first;
    }
    const ValueId made = local_address(local->second, range);
    return is_reference ? load(made, range) : made;
  }
  const ValueId made = temporary(declared.getType(), range);
  store(made, arithmetic(Operator::Other, {}, range), range);
  return made;
}

ValueId FunctionLowering::member_address(const MemberExpr& expression) {
  const SourceRange range = expression.getSourceRange();
  if (const auto which = launch_symbol(expression)) { // bound to a reference
    const ValueId made = temporary(expression.getType(), range);
    store(made, symbol(*which, range), range);
    return made;
  }
  if (const auto* one = dyn_cast<VarDecl>(expression.getMemberDecl())) {
    discard(expression.getBase());
    const ValueId made = emit(Op::GlobalAddress, {}, range);
    out_.code[made].number = unit_.global_id(one);
    return made;
  }
  const auto* field = dyn_cast<FieldDecl>(expression.getMemberDecl());
  const Expr* base_expression = expression.getBase();
  const ValueId base = expression.isArrow()           ? scalar(base_expression)
                       : base_expression->isGLValue() ? address(base_expression)
                                                      : value(base_expression);
  if (field == nullptr) {
    const ValueId made = temporary(expression.getType(), range);
    store(made, arithmetic(Operator::Other, {base}, range), range);
    return made;
  }
  if (field->getParent()->isUnion()) {
    return base; // members that share bytes are one variable
  }
  const ValueId made = emit(Op::Field, {base}, range);
  out_.code[made].number = unit_.field_id(field->getCanonicalDecl());
  return field->getType()->isReferenceType() ? load(made, range) : made;
}

ValueId FunctionLowering::unary(const UnaryOperator& expression) {
  const SourceRange range = expression.getSourceRange();
  switch (expression.getOpcode()) {
  case UO_AddrOf: {
    const auto* named = dyn_cast<DeclRefExpr>(expression.getSubExpr()->IgnoreParens());
    return named != nullptr && isa<FunctionDecl>(named->getDecl())
               ? constant(unit_.function_number(*named->getDecl()), range)
               : address(expression.getSubExpr());
  }
  case UO_Deref:
    return is_object(expression.getType()) ? scalar(expression.getSubExpr())
                                           : load(
                                                 scalar(expression.getSubExpr()),
                                                 range,
                                                 expression.getType().isVolatileQualified()
                                             );
  case UO_LNot:
    return arithmetic(Operator::Not, {value(expression.getSubExpr())}, range);
  case UO_Minus:
    return arithmetic(Operator::Negate, {value(expression.getSubExpr())}, range);
  case UO_Not:
    return arithmetic(Operator::Complement, {value(expression.getSubExpr())}, range);
  case UO_PreInc:
  case UO_PreDec:
  case UO_PostInc:
  case UO_PostDec:
    return step_variable(
        expression.getSubExpr(),
        expression.isIncrementOp(),
        expression.isPrefix(),
        /*want_address=*/false,
        range
    );
  default:
    return value(expression.getSubExpr());
  }
}

ValueId FunctionLowering::step_variable(
    const Expr* operand,
    bool increment,
    bool prefix,
    bool want_address,
    SourceRange range
) {
  const ValueId at = address(operand);
  const ValueId old = load(at, range, operand->getType().isVolatileQualified());
  ValueId changed;
  if (operand->getType()->isPointerType()) {
    changed = emit(Op::Element, {old, constant(increment ? 1 : -1, range)}, range);
  } else {
    changed = arithmetic(
        increment ? Operator::Add : Operator::Subtract,
        {old, constant(1, range)},
        range
    );
  }
  const auto* named = dyn_cast<DeclRefExpr>(operand->IgnoreParens());
  const ValueId stored =
      store(at, changed, range, named != nullptr ? named->getDecl()->getNameAsString() : "");
  out_.code[stored].is_volatile = operand->getType().isVolatileQualified();
  return want_address ? at : prefix ? changed : old;
}

/// Returns the address that was assigned to.
ValueId FunctionLowering::assign(
    BinaryOperatorKind kind,
    const Expr* left,
    const Expr* right,
    SourceRange range
) {
  const auto* named = dyn_cast<DeclRefExpr>(left->IgnoreParenImpCasts());
  const std::string name = named != nullptr ? named->getDecl()->getNameAsString() : "";
  if (kind == BO_Assign) {
    if (is_object(left->getType())) {
      const ValueId to = address(left);
      object_into(right, to);
      return to;
    }
    const ValueId what = value(right);
    const ValueId to = address(left);
    const ValueId made = store(to, what, range, name);
    out_.code[made].is_volatile = left->getType().isVolatileQualified();
    return to;
  }
  const ValueId what = value(right);
  const ValueId to = address(left);
  const ValueId old = load(to, range, left->getType().isVolatileQualified());
  ValueId changed;
  const Operator op = operator_of(kind).value_or(Operator::Other);
  if (left->getType()->isPointerType()) {
    changed = emit(
        Op::Element,
        {old, op == Operator::Subtract ? arithmetic(Operator::Negate, {what}, range) : what},
        range
    );
  } else {
    changed = arithmetic(op, {old, what}, range);
    out_.code[changed].is_float = left->getType()->isFloatingType();
    out_.code[changed].is_whole = is_whole(left) && is_whole(right);
  }
  const ValueId made = store(to, changed, range, name);
  out_.code[made].is_volatile = left->getType().isVolatileQualified();
  return to;
}

ValueId FunctionLowering::binary(const BinaryOperator& expression) {
  const SourceRange range = expression.getSourceRange();
  if (expression.isAssignmentOp()) {
    const ValueId to =
        assign(expression.getOpcode(), expression.getLHS(), expression.getRHS(), range);
    return expression.isGLValue() && is_object(expression.getType()) ? to : load(to, range);
  }
  if (expression.getOpcode() == BO_Comma) {
    discard(expression.getLHS());
    return value(expression.getRHS());
  }
  if (expression.isLogicalOp() && !unit_.is_simple(expression.getRHS())) {
    return short_circuit(&expression);
  }
  const ValueId left = value(expression.getLHS());
  const ValueId right = value(expression.getRHS());
  const Operator op = operator_of(expression.getOpcode()).value_or(Operator::Other);
  const bool left_pointer = expression.getLHS()->getType()->isPointerType();
  const bool right_pointer = expression.getRHS()->getType()->isPointerType();
  if (left_pointer && !right_pointer && (op == Operator::Add || op == Operator::Subtract)) {
    return emit(
        Op::Element,
        {left, op == Operator::Subtract ? arithmetic(Operator::Negate, {right}, range) : right},
        range
    );
  }
  if (right_pointer && !left_pointer && op == Operator::Add) {
    return emit(Op::Element, {right, left}, range);
  }
  const ValueId made = arithmetic(op, {left, right}, range);
  out_.code[made].is_float = expression.getLHS()->getType()->isFloatingType();
  out_.code[made].is_whole = is_whole(expression.getLHS()) && is_whole(expression.getRHS());
  return made;
}

/// && and || whose right operand does something.
ValueId FunctionLowering::short_circuit(const Expr* expression) {
  const SourceRange range = expression->getSourceRange();
  const std::uint32_t local = new_local("", expression->getType(), unit_.spot(range));
  const std::uint32_t yes = new_block();
  const std::uint32_t no = new_block();
  const std::uint32_t after = new_block();
  branch(expression, yes, no, Construct::Conditional, unit_.spot(range));
  start(yes);
  store(local_address(local, range), constant(1, range), range);
  jump(after);
  start(no);
  store(local_address(local, range), constant(0, range), range);
  jump(after);
  start(after);
  return load(local_address(local, range), range);
}

ValueId
FunctionLowering::conditional(const AbstractConditionalOperator& expression, bool want_address) {
  const SourceRange range = expression.getSourceRange();
  if (const auto known = constant_condition(unit_.context, expression.getCond())) {
    const Expr* chosen = *known ? expression.getTrueExpr() : expression.getFalseExpr();
    return want_address ? address(chosen) : value(chosen);
  }
  if (!want_address && unit_.is_simple(expression.getTrueExpr()) &&
      unit_.is_simple(expression.getFalseExpr()) && !is_object(expression.getType())) {
    const ValueId condition = scalar(expression.getCond());
    const ValueId yes = value(expression.getTrueExpr());
    const ValueId no = value(expression.getFalseExpr());
    return arithmetic(Operator::Select, {condition, yes, no}, range);
  }
  const std::uint32_t local = new_local("", expression.getType(), unit_.spot(range));
  const std::uint32_t yes = new_block();
  const std::uint32_t no = new_block();
  const std::uint32_t after = new_block();
  const bool is_void = expression.getType()->isVoidType();
  const auto arm = [&](std::uint32_t block, const Expr* chosen) {
    start(block);
    if (is_void) {
      discard(chosen);
    } else {
      const ValueId result = want_address && chosen->isGLValue() ? address(chosen) : value(chosen);
      store(local_address(local, range), result, range);
    }
    jump(after);
  };
  branch(expression.getCond(), yes, no, Construct::Conditional, unit_.spot(range));
  arm(yes, expression.getTrueExpr());
  arm(no, expression.getFalseExpr());
  start(after);
  return is_void ? constant(0, range) : load(local_address(local, range), range);
}

} // namespace heddle::lint
