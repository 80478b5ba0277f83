// Calls: known functions, bodies, pointers, operators, launches.
#include "lint/callee.h"
#include "lint/lower.h"

#include <clang/AST/ExprConcepts.h>

namespace heddle::lint {

using namespace clang;

std::vector<ValueId>
FunctionLowering::arguments(const FunctionDecl* callee, llvm::ArrayRef<const Expr*> expressions) {
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const Expr* argument = expressions[i];
    const bool by_reference = callee != nullptr && i < callee->getNumParams() &&
                              callee->getParamDecl(i)->getType()->isReferenceType();
    if (by_reference) {
      values.push_back(
          argument->isGLValue() || isa<ExprWithCleanups>(argument) ? address(argument)
                                                                   : value(argument)
      );
    } else if (is_object(argument->getType()) && !argument->isTypeDependent()) {
      const ValueId made = temporary(argument->getType(), argument->getSourceRange());
      object_into(argument, made);
      values.push_back(made);
    } else {
      values.push_back(value(argument));
    }
  }
  return values;
}

ValueId FunctionLowering::call(const CallExpr& expression) {
  if (const auto* kernel = dyn_cast<CUDAKernelCallExpr>(&expression)) {
    return launch(*kernel);
  }
  const SourceRange range = expression.getSourceRange();
  const FunctionDecl* callee = expression.getDirectCallee();
  if (callee == nullptr) {
    const Expr* target = expression.getCallee()->IgnoreParenImpCasts();
    const bool unresolved = isa<OverloadExpr>(target) || isa<CXXDependentScopeMemberExpr>(target) ||
                            isa<DependentScopeDeclRefExpr>(target) || target->isTypeDependent() ||
                            called_object(expression) != nullptr;
    return unresolved ? call_unresolved(expression) : call_pointer(expression);
  }
  const auto* member = dyn_cast<CXXMemberCallExpr>(&expression);
  QualType object;
  std::vector<ValueId> values;
  if (member != nullptr) {
    const Expr* self = member->getImplicitObjectArgument();
    object = self->IgnoreParenBaseCasts()->getType();
    if (self->getType()->isPointerType()) {
      values.push_back(scalar(self));
    } else {
      values.push_back(self->isGLValue() ? address(self) : value(self));
    }
  }
  const Known known = unit_.known(*callee, object);
  const std::string name = plain_name(*callee);
  if (known.known && known.effect == Effect::HostApi && name.starts_with("cudaLaunch") &&
      declaration_.hasBody()) {
    if (const FunctionDecl* kernel = launched_kernel(expression)) {
      Launch made;
      made.kernel = unit_.function_id(kernel);
      made.caller = id_;
      made.position = static_cast<std::uint32_t>(out_.code.size());
      // cudaLaunchKernelEx can ask for cooperation too.
      made.cooperative = name != "cudaLaunchKernel";
      made.spot = unit_.spot(range);
      unit_.unit.launches.push_back(std::move(made));
    }
  }
  if ((name == "min" || name == "max" || name == "std::min" || name == "std::max" ||
       name == "cuda::std::min" || name == "cuda::std::max" || name == "umin" || name == "umax") &&
      expression.getNumArgs() == 2) {
    const ValueId left = value(expression.getArg(0));
    const ValueId right = value(expression.getArg(1));
    const auto scalar_of = [&](ValueId at, const Expr* argument) {
      return is_object(argument->getType()) ? load(at, range) : at;
    };
    const ValueId made = arithmetic(
        name.ends_with("min") ? Operator::Minimum : Operator::Maximum,
        {scalar_of(left, expression.getArg(0)), scalar_of(right, expression.getArg(1))},
        range
    );
    if (expression.isGLValue()) {
      const ValueId at = temporary(expression.getType(), range);
      store(at, made, range);
      return at;
    }
    return made;
  }
  const auto given =
      arguments(callee, llvm::ArrayRef(expression.getArgs(), expression.getNumArgs()));
  values.insert(values.end(), given.begin(), given.end());
  if (known.known) {
    return call_known(known, name, std::move(values), &expression, callee, range);
  }
  if (const auto* method = dyn_cast<CXXMethodDecl>(callee);
      member != nullptr && method != nullptr) {
    if (const auto targets = virtual_targets(*method, *member); !targets.empty()) {
      return call_one_of(targets, values.front(), values, expression);
    }
  }
  return call_function(*callee, std::move(values), &expression, range);
}

ValueId FunctionLowering::call_function(
    const FunctionDecl& callee,
    std::vector<ValueId> values,
    const CallExpr* expression,
    SourceRange range
) {
  const FunctionDecl* definition = nullptr;
  bool has_body = callee.hasBody(definition) && definition != nullptr;
  if (const FunctionDecl* pattern = callee.getTemplateInstantiationPattern();
      !has_body && out_.is_pattern && pattern != nullptr) {
    has_body = pattern->hasBody(definition); // a template that nothing instantiates calls another
  }
  if (!has_body || (unit_.is_in_toolkit(callee) && expression != nullptr)) {
    Known meaning;
    // Functions of the system, for the host, read files and clocks; a toolkit's do not.
    const bool for_device = out_.is_device || out_.is_pattern;
    const bool pure = (for_device && unit_.is_in_toolkit(callee)) || callee.getBuiltinID() != 0 ||
                      callee.isConstexpr() || callee.isDefaulted() || callee.hasAttr<ConstAttr>();
    meaning.effect = pure ? Effect::Pure : Effect::Unknown;
    if (callee.isNoReturn()) {
      meaning.effect = Effect::Trap;
    }
    return call_known(meaning, plain_name(callee), std::move(values), expression, &callee, range);
  }
  const std::uint32_t id = unit_.function_id(definition);
  if (out_.is_device || out_.is_pattern) {
    unit_.unit.functions[id].is_called = true;
  }
  Instruction made;
  made.op = Op::Call;
  made.number = id;
  made.is_object = is_object(callee.getReturnType());
  made.operands = std::move(values);
  made.name = plain_name(callee);
  made.spot = unit_.spot(range);
  return emit(std::move(made));
}

namespace {

/// The stream of a launch; null: the default one.
const Expr* stream_of(const CallExpr* config) {
  const Expr* stream = config != nullptr && config->getNumArgs() >= 4 ? config->getArg(3) : nullptr;
  return stream == nullptr || isa<CXXDefaultArgExpr>(stream) ? nullptr : stream;
}

/// A dimension of a launch where it is a constant: 3, dim3(3, 4), or a variable made from those.
void constant_dimensions(
    const Expr* written,
    const ASTContext& context,
    std::optional<std::int64_t> (&sizes)[3],
    int depth = 0
) {
  written = written->IgnoreUnlessSpelledInSource();
  Expr::EvalResult size;
  if (written->getType()->isIntegralOrEnumerationType()) {
    sizes[1] = sizes[2] = 1;
    if (!written->isValueDependent() && written->EvaluateAsInt(size, context)) {
      sizes[0] = number_of(size.Val.getInt());
    }
    return;
  }
  if (const auto* cast = dyn_cast<CXXFunctionalCastExpr>(written)) {
    return constant_dimensions(cast->getSubExpr(), context, sizes, depth);
  }
  if (const auto* made = dyn_cast<CXXConstructExpr>(written)) {
    if (made->getNumArgs() == 1 && made->getConstructor()->isCopyOrMoveConstructor()) {
      return constant_dimensions(made->getArg(0), context, sizes, depth);
    }
    for (unsigned i = 0; i < std::min(made->getNumArgs(), 3U); ++i) {
      if (!made->getArg(i)->isValueDependent() && made->getArg(i)->EvaluateAsInt(size, context)) {
        sizes[i] = number_of(size.Val.getInt());
      }
    }
    return;
  }
  if (const auto* reference = dyn_cast<DeclRefExpr>(written); reference != nullptr && depth == 0) {
    const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
    // A variable that is not constant may have been changed since.
    if (variable != nullptr && variable->getInit() != nullptr &&
        variable->getType().isConstQualified()) {
      constant_dimensions(variable->getInit(), context, sizes, depth + 1);
    }
  }
}

} // namespace

bool is_atomic_reference(QualType type) {
  if (type.isNull() || type->isDependentType()) {
    return false;
  }
  if (type->isPointerType() || type->isReferenceType()) {
    type = type->getPointeeType();
  }
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return record != nullptr && record->getName() == "atomic_ref" &&
         plain_name(*record).starts_with("cuda::");
}

ValueId FunctionLowering::call_known(
    const Known& known,
    const std::string& name,
    std::vector<ValueId> values,
    const CallExpr* expression,
    const FunctionDecl* callee,
    SourceRange range
) {
  const QualType type = expression != nullptr ? expression->getType() : QualType();
  if (known.symbol) {
    const bool has_axes = expression != nullptr && is_object(type);
    if (!has_axes) {
      return symbol(*known.symbol, range);
    }
    const ValueId made = temporary(type, range);
    int axis = 0;
    if (const RecordDecl* record = type->getAsRecordDecl()) {
      for (const FieldDecl* field : record->fields()) {
        const ValueId to = emit(Op::Field, {made}, range);
        out_.code[to].number = unit_.field_id(field->getCanonicalDecl());
        store(
            to,
            symbol(
                static_cast<Symbol>(static_cast<int>(*known.symbol) + std::min(axis++, 2)),
                range
            ),
            range
        );
      }
    }
    return made;
  }
  Instruction made;
  made.op = Op::Known;
  made.effect = known.effect;
  made.operands = values;
  made.name = name;
  made.spot = unit_.spot(range);
  const int passed = passed_by_pointer(name);
  if (passed >= 0 && static_cast<std::size_t>(passed) < values.size()) {
    made.operands.push_back(load(values[static_cast<std::size_t>(passed)], range));
  }
  if (!known.known && callee != nullptr && expression != nullptr) {
    add_contents(*callee, *expression, values, made.operands, range);
  }
  const auto* member = dyn_cast_or_null<CXXMemberCallExpr>(expression);
  const auto* overloaded = dyn_cast_or_null<CXXOperatorCallExpr>(expression);
  if (known.effect == Effect::AtomicUpdate || known.effect == Effect::AtomicLoad ||
      known.effect == Effect::AtomicStore || known.effect == Effect::AtomicWait ||
      known.effect == Effect::Fence) {
    set_order(expression, name, unit_.context, made);
    const Expr* object = member != nullptr ? member->getImplicitObjectArgument()
                         : overloaded != nullptr && overloaded->getNumArgs() > 0
                             ? overloaded->getArg(0)
                             : nullptr;
    if (object != nullptr && !made.operands.empty() &&
        is_atomic_reference(object->IgnoreParenBaseCasts()->getType())) {
      made.operands[0] = load(made.operands[0], range);
    }
  }
  const bool is_cooperative_sync = known.effect == Effect::GroupBarrier && expression != nullptr;
  if (is_cooperative_sync) {
    // cg::sync(group), group.sync() through the base class: by the static type of the group.
    made.effect = barrier_of_group(*expression);
    if (made.effect == Effect::GroupBarrier && !made.operands.empty()) {
      // What the group was made from decides: groups.h.
      made.operands.push_back(load(made.operands.front(), range));
    }
  }
  const ValueId result = emit(std::move(made));
  if (known.effect == Effect::Trap || known.effect == Effect::ThreadExit) {
    finish(ending(known.effect, unit_.spot(range)));
    start(new_block());
    return constant(0, range);
  }
  if (expression == nullptr) {
    return result;
  }
  const bool writes = known.effect == Effect::Pure || known.effect == Effect::Unknown ||
                      known.effect == Effect::Copy;
  if (const int output = nvcc_atomic_output(name);
      output >= 0 && static_cast<std::size_t>(output) < values.size()) {
    store(values[static_cast<std::size_t>(output)], result, range);
  }
  if (const WholeCopy copied = whole_copy(name, *expression, unit_.context); copied.to != nullptr) {
    const ValueId to = address(copied.to);
    emit(Op::CopyObject, {to, address(copied.from)}, range);
  } else if (writes && callee != nullptr) {
    written_arguments(callee, *expression, values, result, range);
  }
  if (is_object(type) || (expression->isGLValue() && !type->isDependentType())) {
    const ValueId at = temporary(type, range);
    if (known.effect == Effect::Pure && !values.empty() && expression->isGLValue()) {
      // operator[] of unknown containers: the place depends on the arguments.
      store(at, result, range);
      return at;
    }
    store(at, result, range);
    return at;
  }
  return result;
}

/// curand_uniform(&state): what such a function gives depends on what its arguments point to.
void FunctionLowering::add_contents(
    const FunctionDecl& callee,
    const CallExpr& expression,
    const std::vector<ValueId>& values,
    std::vector<ValueId>& operands,
    SourceRange range
) {
  const std::size_t first =
      values.size() - std::min<std::size_t>(values.size(), expression.getNumArgs());
  for (std::size_t i = first; i < values.size() && i - first < callee.getNumParams(); ++i) {
    const QualType type = callee.getParamDecl(i - first)->getType();
    if ((type->isPointerType() || type->isReferenceType()) &&
        !type->getPointeeType()->isFunctionType() && !type->getPointeeType()->isVoidType()) {
      operands.push_back(load(values[i], range));
    }
  }
}

/// A function without a body may write through what it is given.
void FunctionLowering::written_arguments(
    const FunctionDecl* callee,
    const CallExpr& expression,
    const std::vector<ValueId>& values,
    ValueId result,
    SourceRange range
) {
  const std::size_t skipped =
      values.size() - std::min<std::size_t>(values.size(), expression.getNumArgs());
  for (std::size_t i = skipped; i < values.size(); ++i) {
    const std::size_t index = i - skipped;
    if (index >= callee->getNumParams()) {
      break;
    }
    const QualType type = callee->getParamDecl(index)->getType();
    const bool writable = (type->isPointerType() || type->isLValueReferenceType()) &&
                          !type->getPointeeType().isConstQualified() &&
                          !type->getPointeeType()->isFunctionType();
    if (writable) {
      store(values[i], result, range);
    }
  }
}

ValueId FunctionLowering::call_pointer(const CallExpr& expression) {
  const SourceRange range = expression.getSourceRange();
  const BinaryOperator* member = member_pointer_call(expression);
  const ValueId target = scalar(member != nullptr ? member->getRHS() : expression.getCallee());
  std::vector<ValueId> object;
  if (member != nullptr) {
    const Expr* self = member->getLHS();
    object.push_back(
        self->getType()->isPointerType() ? scalar(self)
        : self->isGLValue()              ? address(self)
                                         : value(self)
    );
  }
  const QualType type = called_type(expression);
  constexpr std::size_t most = 16; // candidates read one by one
  std::vector<const FunctionDecl*> candidates;
  std::vector<ValueId> choice = {target}; // decided.h reads it
  const FunctionDecl* only = constant_callee(*expression.getCallee(), unit_.context);
  for (const FunctionDecl* candidate :
       only != nullptr ? std::vector{only} : unit_.address_taken(type)) {
    if (candidate->hasBody() && candidate->hasAttr<CUDADeviceAttr>() == out_.is_device &&
        candidates.size() < most) {
      candidates.push_back(candidate);
      choice.push_back(constant(unit_.function_number(*candidate), range));
    }
  }
  auto values = arguments(only, llvm::ArrayRef(expression.getArgs(), expression.getNumArgs()));
  values.insert(values.begin(), object.begin(), object.end());
  if (candidates.empty()) {
    values.push_back(target);
    return call_known({}, "a function pointer", std::move(values), &expression, nullptr, range);
  }
  return call_one_of(candidates, arithmetic(Operator::Other, choice, range), values, expression);
}

/// One of several bodies; `decides` is what the choice depends on.
ValueId FunctionLowering::call_one_of(
    const std::vector<const FunctionDecl*>& candidates,
    ValueId decides,
    const std::vector<ValueId>& values,
    const CallExpr& expression
) {
  const SourceRange range = expression.getSourceRange();
  if (candidates.size() == 1) {
    return call_function(*candidates.front(), values, &expression, range);
  }
  const std::uint32_t local = new_local("", expression.getType(), unit_.spot(range));
  const bool is_void = expression.getType()->isVoidType();
  const std::uint32_t after = new_block();
  Terminator end;
  end.kind = Terminator::Kind::Branch;
  end.condition = decides;
  end.construct = Construct::Switch;
  end.statement = end.condition_spot = unit_.spot(range);
  std::vector<std::uint32_t> blocks;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    blocks.push_back(new_block());
  }
  end.successors = blocks;
  finish(std::move(end));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    start(blocks[i]);
    const ValueId result = call_function(*candidates[i], values, &expression, range);
    if (!is_void) {
      const ValueId to = local_address(local, range);
      if (is_object(expression.getType())) {
        emit(Op::CopyObject, {to, result}, range);
      } else {
        store(to, result, range);
      }
    }
    jump(after);
  }
  start(after);
  if (is_void) {
    return constant(0, range);
  }
  const ValueId from = local_address(local, range);
  return is_object(expression.getType()) ? from : load(from, range);
}

/// In a template that nothing instantiates: by name, or the first candidate with enough parameters.
ValueId FunctionLowering::call_unresolved(const CallExpr& expression) {
  const SourceRange range = expression.getSourceRange();
  const Expr* target = expression.getCallee()->IgnoreParenImpCasts();
  std::vector<ValueId> values;
  std::string name;
  const FunctionDecl* found = nullptr;
  const auto consider = [&](const NamedDecl* candidate) {
    candidate = candidate->getUnderlyingDecl();
    if (const auto* pattern = dyn_cast<FunctionTemplateDecl>(candidate)) {
      candidate = pattern->getTemplatedDecl();
    }
    const auto* function = dyn_cast<FunctionDecl>(candidate);
    if (function != nullptr && found == nullptr &&
        function->getNumParams() >= expression.getNumArgs() &&
        function->getMinRequiredArguments() <= expression.getNumArgs()) {
      found = function;
    }
  };
  bool is_member = false;
  if (const auto* overloads = dyn_cast<OverloadExpr>(target)) {
    name = overloads->getName().getAsString();
    for (const NamedDecl* candidate : overloads->decls()) {
      consider(candidate);
    }
    if (const auto* members = dyn_cast<UnresolvedMemberExpr>(target)) {
      is_member = true;
      if (members->isImplicitAccess()) {
        values.push_back(
            this_local_ ? load(local_address(*this_local_, range), range) : constant(0, range)
        );
      } else {
        values.push_back(
            members->isArrow() ? scalar(members->getBase()) : value(members->getBase())
        );
      }
    }
  } else if (const auto* member = dyn_cast<CXXDependentScopeMemberExpr>(target)) {
    is_member = true;
    name = member->getMember().getAsString();
    values.push_back(
        member->isImplicitAccess()
            ? (this_local_ ? load(local_address(*this_local_, range), range) : constant(0, range))
            : value(member->getBase())
    );
  } else if (const auto* scoped = dyn_cast<DependentScopeDeclRefExpr>(target)) {
    name = scoped->getDeclName().getAsString();
  } else {
    values.push_back(value(target));
    if (const CXXRecordDecl* functor = called_object(expression);
        functor != nullptr && functor->hasDefinition()) {
      DeclarationNameTable& names = unit_.context.DeclarationNames;
      for (const NamedDecl* one : functor->lookup(names.getCXXOperatorName(OO_Call))) {
        consider(one);
      }
      is_member = true;
    }
  }
  Known known = found == nullptr ? Known{} : unit_.known(*found, {});
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(found);
  const bool is_extreme = (name == "min" || name == "max") && expression.getNumArgs() == 2;
  const bool has_body = found != nullptr && !known.known && !is_extreme && found->hasBody() &&
                        (method == nullptr || method->isStatic() || is_member);
  const auto given = arguments(
      has_body ? found : nullptr,
      llvm::ArrayRef(expression.getArgs(), expression.getNumArgs())
  );
  if (is_extreme) {
    return arithmetic(name == "min" ? Operator::Minimum : Operator::Maximum, given, range);
  }
  values.insert(values.end(), given.begin(), given.end());
  if (has_body) {
    if (method != nullptr && method->isStatic() && is_member) {
      values.erase(values.begin());
    }
    return call_function(*found, std::move(values), nullptr, range);
  }
  if (!known.known) {
    known = known_function(name);
  }
  if (!known.known && is_member) {
    if (name == "thread_rank" || name == "thread_index" || name == "lane_id" || name == "laneid") {
      known = {true, Effect::Pure, Symbol::ThreadRankElsewhere};
    }
  }
  if (known.known) {
    return call_known(known, name, std::move(values), nullptr, nullptr, range);
  }
  known.effect = Effect::Pure;
  const ValueId result = call_known(known, name, std::move(values), nullptr, nullptr, range);
  // What has a name may be a function with a barrier (BlockScan(…).Sum(…)), a functor hardly is
  // one.
  out_.code[result].may_synchronise = !name.empty();
  return result;
}

namespace {

const Known computed = {false, Effect::Pure, {}};

bool is_assignment(const CXXMethodDecl* method) {
  return method != nullptr &&
         (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator());
}
bool is_unwritten(const CXXMethodDecl& method) {
  return method.isTrivial() || method.isDefaulted() || !method.hasBody();
}

/// ++one, one += 3: what an iterator of the library becomes is made of what it was. Its operators
/// are not read.
bool steps(const CXXOperatorCallExpr& expression) {
  const OverloadedOperatorKind which = expression.getOperator();
  return expression.getArg(0)->isGLValue() && (which == OO_PlusPlus || which == OO_MinusMinus ||
                                               (expression.isAssignmentOp() && which != OO_Equal));
}

} // namespace

ValueId FunctionLowering::call_operator(const CXXOperatorCallExpr& expression) {
  const SourceRange range = expression.getSourceRange();
  const FunctionDecl* callee = expression.getDirectCallee();
  if (callee == nullptr) {
    // In a template: the operator as it is for scalars.
    const auto kind = expression.getOperator();
    if (kind == OO_Subscript && expression.getNumArgs() == 2) {
      const ValueId base = value(expression.getArg(0));
      return load(emit(Op::Element, {base, value(expression.getArg(1))}, range), range);
    }
    if (expression.isAssignmentOp() && expression.getNumArgs() == 2) {
      const ValueId to = assign(
          BinaryOperator::getOverloadedOpcode(kind),
          expression.getArg(0),
          expression.getArg(1),
          range
      );
      return load(to, range);
    }
    if (kind == OO_Call) {
      return call_unresolved(expression);
    }
    return unknown(&expression);
  }
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const bool has_object = method != nullptr && method->isInstance();
  const Expr* first = expression.getArg(0);
  if (is_assignment(method) && (is_unwritten(*method) || unit_.is_in_toolkit(*method))) {
    const ValueId to = address(first);
    object_into(expression.getArg(1), to);
    return to;
  }
  std::vector<ValueId> values;
  if (has_object) {
    values.push_back(first->isGLValue() ? address(first) : value(first));
  }
  const auto rest =
      llvm::ArrayRef(expression.getArgs(), expression.getNumArgs()).drop_front(has_object ? 1 : 0);
  const auto given = arguments(callee, rest);
  values.insert(values.end(), given.begin(), given.end());
  const Known known =
      unit_.known(*callee, has_object ? first->IgnoreParenBaseCasts()->getType() : QualType());
  if (known.known) {
    return call_known(known, plain_name(*callee), std::move(values), &expression, callee, range);
  }
  if (has_object && steps(expression) && unit_.is_in_toolkit(*callee)) {
    const ValueId was = load(values[0], range);
    store(values[0], call_known(computed, "a step", {was}, nullptr, callee, range), range);
  }
  return call_function(*callee, std::move(values), &expression, range);
}

ValueId FunctionLowering::launch(const CUDAKernelCallExpr& expression) {
  const SourceRange range = expression.getSourceRange();
  Instruction made;
  made.op = Op::Known;
  made.effect = Effect::HostApi;
  made.name = "<<<>>>";
  made.spot = unit_.spot(range);
  for (const Expr* argument : expression.arguments()) {
    made.operands.push_back(value(argument));
  }
  const CallExpr* config = expression.getConfig();
  const Expr* stream = stream_of(config);
  made.operands.push_back(stream != nullptr ? value(stream) : constant(0, range));
  const ValueId result = emit(std::move(made));
  if (expression.getDirectCallee() == nullptr) {
    return result;
  }
  Launch one;
  one.kernel = unit_.function_id(expression.getDirectCallee());
  one.caller = id_;
  one.position = result;
  one.spot = unit_.spot(range);
  for (const Expr* argument : expression.arguments()) {
    one.arguments.push_back(unit_.source_text(argument->getSourceRange()));
  }
  if (config != nullptr && config->getNumArgs() >= 2) {
    constant_dimensions(config->getArg(0), unit_.context, one.grid_size);
    constant_dimensions(config->getArg(1), unit_.context, one.block_size);
    one.stream = stream == nullptr ? "" : unit_.source_text(stream->getSourceRange());
  }
  unit_.unit.launches.push_back(std::move(one));
  return result;
}

} // namespace heddle::lint
