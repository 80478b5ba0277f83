// Statements to basic blocks.
#include "lint/clang_version.h"
#include "lint/lower.h"

#include <clang/AST/StmtOpenMP.h>

namespace heddle::lint {

using namespace clang;

std::optional<bool> constant_condition(ASTContext& context, const Expr* condition) {
  if (condition->isValueDependent() || condition->isTypeDependent() ||
      condition->containsErrors()) {
    return std::nullopt;
  }
  bool result = false;
  const bool is_known = condition->EvaluateAsBooleanCondition(result, context);
  return is_known ? std::optional(result) : std::nullopt;
}

Terminator ending(Effect effect, const Spot& where) {
  Terminator end;
  end.kind = effect == Effect::Trap ? Terminator::Kind::Trapped : Terminator::Kind::Dead;
  end.jump = JumpKind::Return;
  end.jump_spot = where;
  return end;
}

void FunctionLowering::statement(const Stmt* s) {
  if (s == nullptr) {
    return;
  }
  switch (s->getStmtClass()) {
  case Stmt::CompoundStmtClass: {
    const std::size_t depth = owned_.size();
    const SourceLocation outer = scope_end_;
    scope_end_ = s->getEndLoc();
    for (const Stmt* child : cast<CompoundStmt>(s)->body()) {
      statement(child);
    }
    end_scope(depth);
    scope_end_ = outer;
    return;
  }
  case Stmt::DeclStmtClass:
    return declaration_statement(*cast<DeclStmt>(s));
  case Stmt::IfStmtClass:
  case Stmt::WhileStmtClass:
  case Stmt::DoStmtClass:
  case Stmt::ForStmtClass:
  case Stmt::CXXForRangeStmtClass:
  case Stmt::SwitchStmtClass: {
    const std::size_t depth = owned_.size();
    control(*s);
    return end_scope(depth); // variables of its head
  }
  case Stmt::ReturnStmtClass:
    return return_statement(*cast<ReturnStmt>(s));
  case Stmt::GCCAsmStmtClass:
    return assembly(*cast<GCCAsmStmt>(s));
  case Stmt::AttributedStmtClass:
    return statement(cast<AttributedStmt>(s)->getSubStmt());
  case Stmt::LabelStmtClass: {
    const std::uint32_t block = label_block(cast<LabelStmt>(s)->getDecl());
    jump(block);
    start(block);
    return statement(cast<LabelStmt>(s)->getSubStmt());
  }
  case Stmt::GotoStmtClass:
    destroy_for_goto(*cast<GotoStmt>(s)->getLabel());
    jump(
        label_block(cast<GotoStmt>(s)->getLabel()),
        JumpKind::Goto,
        unit_.spot(s->getSourceRange())
    );
    return start(new_block());
  case Stmt::BreakStmtClass:
    if (!targets_.empty()) {
      destroy_from(targets_.back().break_depth);
      jump(targets_.back().break_to, JumpKind::Break, unit_.spot(s->getSourceRange()));
      start(new_block());
    }
    return;
  case Stmt::ContinueStmtClass:
    if (!targets_.empty()) {
      destroy_from(targets_.back().continue_depth);
      jump(targets_.back().continue_to, JumpKind::Continue, unit_.spot(s->getSourceRange()));
      start(new_block());
    }
    return;
  case Stmt::CaseStmtClass:
  case Stmt::DefaultStmtClass: {
    const auto* one = cast<SwitchCase>(s);
    if (const auto block = cases_.find(one); block != cases_.end()) {
      jump(block->second); // falls through
      start(block->second);
    }
    return statement(one->getSubStmt());
  }
  case Stmt::CXXTryStmtClass:
    return statement(cast<CXXTryStmt>(s)->getTryBlock());
  case Stmt::NullStmtClass:
    return;
  default:
    if (const auto* expression = dyn_cast<Expr>(s)) {
      return discard(expression);
    }
    for (const Stmt* child : s->children()) {
      statement(child);
    }
  }
}

void FunctionLowering::control(const Stmt& s) {
  switch (s.getStmtClass()) {
  case Stmt::IfStmtClass:
    return if_statement(*cast<IfStmt>(&s));
  case Stmt::WhileStmtClass:
    return while_statement(*cast<WhileStmt>(&s));
  case Stmt::DoStmtClass:
    return do_statement(*cast<DoStmt>(&s));
  case Stmt::ForStmtClass:
    return for_statement(*cast<ForStmt>(&s));
  case Stmt::CXXForRangeStmtClass:
    return range_for_statement(*cast<CXXForRangeStmt>(&s));
  default:
    return switch_statement(*cast<SwitchStmt>(&s));
  }
}

void FunctionLowering::declaration_statement(const DeclStmt& s) {
  for (const Decl* declared : s.decls()) {
    if (const auto* one = dyn_cast<VarDecl>(declared)) {
      variable(*one);
    } else if (const auto* assertion = dyn_cast<StaticAssertDecl>(declared)) {
      static_assertion(*assertion->getAssertExpr());
    }
  }
}

/// In a template that nothing instantiates it says what its parameters are: see asserted.h.
void FunctionLowering::static_assertion(const Expr& condition) {
  if (condition.isValueDependent() && !condition.containsErrors() && unit_.is_simple(&condition)) {
    const std::uint32_t holds = new_block(), fails = new_block();
    const Spot where = unit_.spot(condition.getSourceRange());
    branch(&condition, holds, fails, Construct::If, where);
    start(fails);
    finish(ending(Effect::Trap, where));
    start(holds);
  }
}

void FunctionLowering::variable(const VarDecl& declared) {
  if (declared.hasGlobalStorage() || declared.hasAttr<CUDASharedAttr>()) {
    return; // static and __shared__: no code runs here
  }
  const SourceRange range = declared.getSourceRange();
  const std::uint32_t local =
      new_local(declared.getNameAsString(), declared.getType(), unit_.spot(declared.getLocation()));
  locals_[&declared] = local;
  const ValueId to = local_address(local, declared.getLocation());
  // In a loop the variable is a new one each time round.
  if (declared.getInit() == nullptr || is_object(declared.getType())) {
    store(to, emit(Op::Undefined, {}, range), range);
  }
  if (declared.isConstexpr() && declared.getInit() != nullptr &&
      declared.getInit()->isValueDependent()) {
    store(to, arithmetic(Operator::Other, {}, range), range); // the same for all threads
  } else if (
      const APValue* known = declared.isConstexpr() ? declared.evaluateValue() : nullptr;
      known != nullptr && known->isInt()
  ) {
    store(to, constant(number_of(known->getInt()), range), range, declared.getNameAsString());
  } else if (declared.getInit() != nullptr) {
    initialize(to, declared.getType(), declared.getInit(), declared.getNameAsString());
  }
  own(declared, local);
  if (const auto* parts = dyn_cast<DecompositionDecl>(&declared)) {
    for (const BindingDecl* part : parts->bindings()) {
      if (const VarDecl* held = part->getHoldingVar()) { // what get<I>() gives
        variable(*held);
      }
    }
  }
}

void FunctionLowering::branch(
    const Expr* condition,
    std::uint32_t yes,
    std::uint32_t no,
    Construct construct,
    const Spot& whole
) {
  condition = condition->IgnoreParens();
  if (const auto known = constant_condition(unit_.context, condition)) {
    return jump(*known ? yes : no);
  }
  const auto* cleanups = dyn_cast<ExprWithCleanups>(condition);
  const Expr* inner =
      (cleanups != nullptr ? cleanups->getSubExpr() : condition)->IgnoreParenImpCasts();
  if (const auto* negation = dyn_cast<UnaryOperator>(inner);
      negation != nullptr && negation->getOpcode() == UO_LNot) {
    return branch(negation->getSubExpr(), no, yes, construct, whole);
  }
  if (const auto* both = dyn_cast<BinaryOperator>(inner); both != nullptr && both->isLogicalOp()) {
    const bool is_and = both->getOpcode() == BO_LAnd;
    const auto left = constant_condition(unit_.context, both->getLHS());
    if (left) {
      return *left == is_and ? branch(both->getRHS(), yes, no, construct, whole)
                             : jump(is_and ? no : yes);
    }
    if (!unit_.is_simple(both->getRHS())) {
      const std::uint32_t second = new_block();
      branch(both->getLHS(), is_and ? second : yes, is_and ? no : second, construct, whole);
      start(second);
      return branch(both->getRHS(), yes, no, construct, whole);
    }
  }
  Terminator end;
  end.condition = scalar(condition);
  end.kind = Terminator::Kind::Branch;
  end.successors = {yes, no};
  end.construct = construct;
  end.statement = whole;
  end.condition_spot = unit_.spot(condition->getSourceRange());
  finish(std::move(end));
}

void FunctionLowering::if_statement(const IfStmt& s) {
  if (s.isConsteval()) {
    return statement(s.isNegatedConsteval() ? s.getThen() : s.getElse());
  }
  statement(s.getInit());
  if (s.getConditionVariableDeclStmt() != nullptr) {
    statement(s.getConditionVariableDeclStmt());
  }
  if (s.isConstexpr()) {
    if (const auto chosen = s.getNondiscardedCase(unit_.context)) {
      return statement(*chosen);
    }
  }
  const std::uint32_t yes = new_block();
  const std::uint32_t after = new_block();
  const std::uint32_t no = s.getElse() != nullptr ? new_block() : after;
  if (s.isConstexpr()) {
    // In a template: one way or the other, for all threads.
    Terminator end;
    end.kind = Terminator::Kind::Branch;
    end.condition = arithmetic(Operator::Other, {}, s.getCond()->getSourceRange());
    end.successors = {yes, no};
    end.statement = unit_.spot(s.getSourceRange());
    finish(std::move(end));
  } else {
    branch(s.getCond(), yes, no, Construct::If, unit_.spot(s.getSourceRange()));
  }
  start(yes);
  statement(s.getThen());
  jump(after);
  if (s.getElse() != nullptr) {
    start(no);
    statement(s.getElse());
    jump(after);
  }
  start(after);
}

void FunctionLowering::loop_body(const Stmt* body, std::uint32_t next, std::uint32_t after) {
  targets_.push_back({after, next, owned_.size(), owned_.size()});
  statement(body);
  targets_.pop_back();
  jump(next);
}

void FunctionLowering::while_statement(const WhileStmt& s) {
  const std::uint32_t head = new_block();
  const std::uint32_t body = new_block();
  const std::uint32_t after = new_block();
  jump(head);
  start(head);
  if (s.getConditionVariableDeclStmt() != nullptr) {
    statement(s.getConditionVariableDeclStmt());
  }
  branch(s.getCond(), body, after, Construct::While, unit_.spot(s.getSourceRange()));
  start(body);
  loop_body(s.getBody(), head, after);
  start(after);
}

void FunctionLowering::do_statement(const DoStmt& s) {
  const std::uint32_t body = new_block();
  const std::uint32_t test = new_block();
  const std::uint32_t after = new_block();
  jump(body);
  start(body);
  loop_body(s.getBody(), test, after);
  start(test);
  branch(s.getCond(), body, after, Construct::Do, unit_.spot(s.getSourceRange()));
  start(after);
}

void FunctionLowering::for_statement(const ForStmt& s) {
  const std::uint32_t head = new_block();
  const std::uint32_t body = new_block();
  const std::uint32_t next = new_block();
  const std::uint32_t after = new_block();
  statement(s.getInit());
  jump(head);
  start(head);
  if (s.getConditionVariableDeclStmt() != nullptr) {
    statement(s.getConditionVariableDeclStmt());
  }
  if (s.getCond() != nullptr) {
    branch(s.getCond(), body, after, Construct::For, unit_.spot(s.getSourceRange()));
  } else {
    jump(body);
  }
  start(body);
  loop_body(s.getBody(), next, after);
  start(next);
  if (s.getInc() != nullptr) {
    discard(s.getInc());
  }
  jump(head);
  start(after);
}

/// `for (int x : v)` over a std::vector reads its memory: as v[0] before the loop, because what the
/// library's iterators do is not followed.
void FunctionLowering::read_elements(const CXXForRangeStmt& s) {
  const auto* range = cast<VarDecl>(s.getRangeStmt()->getSingleDecl());
  const CXXRecordDecl* container = range->getType().getNonReferenceType()->getAsCXXRecordDecl();
  const QualType variable = s.getLoopVariable()->getType();
  const bool may_write =
      variable->isReferenceType() && !variable.getNonReferenceType().isConstQualified();
  const auto held = locals_.find(range);
  if (out_.is_device || may_write || !range->getType()->isReferenceType() || container == nullptr ||
      plain_name(*container) != "std::vector" || held == locals_.end()) {
    return;
  }
  const SourceRange where = s.getRangeInit()->getSourceRange();
  Instruction element;
  element.op = Op::Known;
  element.effect = Effect::Pure;
  element.name = "std::vector::operator[]";
  element.operands = {load(local_address(held->second, where), where)};
  element.spot = unit_.spot(where);
  load(emit(std::move(element)), where);
}

void FunctionLowering::range_for_statement(const CXXForRangeStmt& s) {
  statement(s.getInit());
  if (s.getRangeStmt() == nullptr || s.getBeginStmt() == nullptr || s.getCond() == nullptr) {
    // In a template: the number of rounds is that of the range.
    const std::uint32_t head = new_block();
    const std::uint32_t body = new_block();
    const std::uint32_t after = new_block();
    const ValueId range =
        s.getRangeInit() != nullptr ? value(s.getRangeInit()) : constant(0, s.getSourceRange());
    jump(head);
    start(head);
    Terminator end;
    end.kind = Terminator::Kind::Branch;
    end.condition = arithmetic(Operator::Other, {range}, s.getSourceRange());
    end.successors = {body, after};
    end.construct = Construct::For;
    end.statement = unit_.spot(s.getSourceRange());
    finish(std::move(end));
    start(body);
    loop_body(s.getBody(), head, after);
    return start(after);
  }
  statement(s.getRangeStmt());
  read_elements(s);
  statement(s.getBeginStmt());
  statement(s.getEndStmt());
  const std::uint32_t head = new_block();
  const std::uint32_t body = new_block();
  const std::uint32_t next = new_block();
  const std::uint32_t after = new_block();
  jump(head);
  start(head);
  branch(s.getCond(), body, after, Construct::For, unit_.spot(s.getSourceRange()));
  start(body);
  statement(s.getLoopVarStmt());
  loop_body(s.getBody(), next, after);
  start(next);
  discard(s.getInc());
  jump(head);
  start(after);
}

void FunctionLowering::switch_statement(const SwitchStmt& s) {
  statement(s.getInit());
  if (s.getConditionVariableDeclStmt() != nullptr) {
    statement(s.getConditionVariableDeclStmt());
  }
  const std::uint32_t after = new_block();
  Terminator end;
  end.kind = Terminator::Kind::Branch;
  end.construct = Construct::Switch;
  end.is_case = true;
  end.statement = unit_.spot(s.getSourceRange());
  end.condition_spot = unit_.spot(s.getCond()->getSourceRange());
  Expr::EvalResult known;
  const bool is_known = !s.getCond()->isValueDependent() && !s.getCond()->containsErrors() &&
                        s.getCond()->EvaluateAsInt(known, unit_.context);
  std::optional<std::uint32_t> chosen;
  bool has_default = false;
  std::vector<std::uint32_t> found;
  for (const SwitchCase* one = s.getSwitchCaseList(); one != nullptr;
       one = one->getNextSwitchCase()) {
    const std::uint32_t block = new_block();
    cases_[one] = block;
    found.push_back(block);
    if (isa<DefaultStmt>(one)) {
      has_default = true;
      chosen = chosen ? chosen : block;
    } else if (
        const auto* label = cast<CaseStmt>(one); is_known && !label->getLHS()->isValueDependent()
    ) {
      Expr::EvalResult at;
      if (label->getRHS() == nullptr && label->getLHS()->EvaluateAsInt(at, unit_.context) &&
          number_of(at.Val.getInt()) == number_of(known.Val.getInt())) {
        chosen = block;
      }
    }
  }
  // The list is last first; keep the order of the text.
  end.successors.assign(found.rbegin(), found.rend());
  if (!has_default) {
    end.successors.push_back(after);
  }
  if (is_known) {
    jump(chosen.value_or(after));
  } else {
    end.condition = scalar(s.getCond());
    finish(std::move(end));
  }
  start(new_block()); // before the first label
  targets_.push_back(
      {after,
       targets_.empty() ? after : targets_.back().continue_to,
       owned_.size(),
       targets_.empty() ? owned_.size() : targets_.back().continue_depth}
  );
  statement(s.getBody());
  targets_.pop_back();
  jump(after);
  start(after);
}

void FunctionLowering::return_statement(const ReturnStmt& s) {
  if (const Expr* result = s.getRetValue(); result != nullptr) {
    const SourceRange range = s.getSourceRange();
    if (result->getType()->isVoidType()) {
      discard(result);
    } else {
      initialize(local_address(0, range), declaration_.getReturnType(), result, "");
    }
  }
  destroy_from(0);
  jump(1, JumpKind::Return, unit_.spot(s.getSourceRange()));
  start(new_block());
}

std::uint32_t FunctionLowering::label_block(const LabelDecl* label) {
  const auto [entry, is_new] = labels_.try_emplace(label, 0);
  if (is_new) {
    entry->second = new_block();
  }
  return entry->second;
}

void FunctionLowering::assembly(const GCCAsmStmt& s) {
  const SourceRange range = s.getSourceRange();
  std::string text = assembly_text(s);
  for (std::size_t at = text.find("%%"); at != std::string::npos; at = text.find("%%", at + 1)) {
    text.erase(at, 1);
  }
  const InlineAssembly known = known_assembly(text);
  std::vector<ValueId> inputs;
  for (unsigned i = 0; i < s.getNumInputs(); ++i) {
    inputs.push_back(value(s.getInputExpr(i)));
  }
  ValueId result;
  if (known.symbol) {
    inputs.push_back(symbol(*known.symbol, range));
  }
  Instruction made;
  made.op = Op::Known;
  made.effect = known.effect;
  made.operands = inputs;
  made.name = "asm";
  made.spot = unit_.spot(range);
  result = emit(std::move(made));
  for (unsigned i = 0; i < s.getNumOutputs(); ++i) {
    store(address(s.getOutputExpr(i)), result, range);
  }
  if (known.effect == Effect::Trap || known.effect == Effect::ThreadExit) {
    finish(ending(known.effect, unit_.spot(range)));
    start(new_block());
  }
}

} // namespace heddle::lint
