#include "lint/lower.h"

#include "lint/unwritten_locals.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

namespace heddle::lint {

using namespace clang;

std::string plain_name(const NamedDecl& declaration) {
  std::string name = declaration.getNameAsString();
  for (const DeclContext* at = declaration.getDeclContext(); at != nullptr; at = at->getParent()) {
    if (const auto* space = dyn_cast<NamespaceDecl>(at)) {
      if (!space->isInline() && !space->isAnonymousNamespace() &&
          !space->getName().starts_with("__")) {
        name = space->getNameAsString() + "::" + name;
      }
    } else if (const auto* record = dyn_cast<RecordDecl>(at)) {
      name = record->getNameAsString() + "::" + name;
    }
  }
  return name;
}

std::int64_t number_of(const llvm::APSInt& value) {
  return static_cast<std::int64_t>(value.extOrTrunc(64).getRawData()[0]);
}

// --- The unit

UnitLowering::UnitLowering(ASTContext& ast, const LowerOptions& options, Unit& out)
    : context(ast),
      unit(out),
      options_(options) {
  unit.files.assign(1, "");
}

namespace {

/// Finds the bodies to begin with, and functions whose address is taken.
class RootFinder : public RecursiveASTVisitor<RootFinder> {
public:
  explicit RootFinder(UnitLowering& lowering) : lowering_(lowering) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return false; }
  bool VisitFunctionDecl(FunctionDecl* function) {
    if (function->doesThisDeclarationHaveABody()) {
      lowering_.add_root(function);
    }
    if (const auto* method = dyn_cast<CXXMethodDecl>(function)) {
      lowering_.note_override(*method);
    }
    return true;
  }
  bool VisitLambdaExpr(LambdaExpr*) { return true; }
  bool TraverseCallExpr(CallExpr* call) { return traverse_call(call); }
  bool TraverseCXXMemberCallExpr(CXXMemberCallExpr* call) { return traverse_call(call); }
  bool TraverseCXXOperatorCallExpr(CXXOperatorCallExpr* call) { return traverse_call(call); }
  bool TraverseCUDAKernelCallExpr(CUDAKernelCallExpr* call) { return traverse_call(call); }
  bool VisitDeclRefExpr(DeclRefExpr* reference) {
    if (const auto* function = dyn_cast<FunctionDecl>(reference->getDecl())) {
      lowering_.note_address_taken(function);
    }
    return true;
  }

private:
  bool traverse_call(CallExpr* call) {
    if (call->getDirectCallee() == nullptr && !TraverseStmt(call->getCallee())) {
      return false;
    }
    return std::ranges::all_of(call->arguments(), [this](Expr* argument) {
      return TraverseStmt(argument);
    });
  }
  UnitLowering& lowering_;
};

bool is_pattern(const FunctionDecl& function) {
  return function.isDependentContext();
}

/// A pattern is worth reading only while nothing instantiates it.
bool has_instantiation(const FunctionDecl& function) {
  if (const FunctionTemplateDecl* pattern = function.getDescribedFunctionTemplate()) {
    for (const FunctionDecl* made : pattern->specializations()) {
      if (made->hasBody() && !made->isDependentContext()) {
        return true;
      }
    }
    return false;
  }
  if (const auto* record = dyn_cast<CXXRecordDecl>(function.getDeclContext())) {
    if (const ClassTemplateDecl* pattern = record->getDescribedClassTemplate()) {
      for (const ClassTemplateSpecializationDecl* made : pattern->specializations()) {
        for (const CXXMethodDecl* method : made->methods()) {
          if (method->getDeclName() == function.getDeclName() && method->hasBody()) {
            return true;
          }
        }
      }
    }
  }
  return false;
}

} // namespace

void UnitLowering::add_root(const FunctionDecl* function) {
  if (is_pattern(*function)) {
    if (has_instantiation(*function)) {
      return;
    }
    // Generic lambdas and members of local classes are read where they are called.
    const auto* method = dyn_cast<CXXMethodDecl>(function);
    if (method != nullptr && method->getParent()->isLambda()) {
      return;
    }
  }
  function_id(function);
}

void UnitLowering::note_address_taken(const FunctionDecl* function) {
  auto& list = address_taken_[function->getType().getCanonicalType().getTypePtr()];
  if (std::ranges::find(list, function->getCanonicalDecl()) == list.end()) {
    list.push_back(function->getCanonicalDecl());
  }
}

const std::vector<const FunctionDecl*>& UnitLowering::address_taken(QualType type) {
  return address_taken_[type.getCanonicalType().getTypePtr()];
}

void UnitLowering::note_override(const CXXMethodDecl& method) {
  const auto note = [&](const auto& self, const CXXMethodDecl& at) -> void {
    for (const CXXMethodDecl* base : at.overridden_methods()) {
      auto& list = overriders_[base->getCanonicalDecl()];
      if (std::ranges::find(list, method.getCanonicalDecl()) == list.end()) {
        list.push_back(method.getCanonicalDecl());
      }
      self(self, *base);
    }
  };
  note(note, method);
}

const std::vector<const CXXMethodDecl*>& UnitLowering::overriders(const CXXMethodDecl& method) {
  return overriders_[method.getCanonicalDecl()];
}

void UnitLowering::lower_all() {
  RootFinder finder(*this);
  const SourceManager& sources = context.getSourceManager();
  unit.lines = sources.getBufferData(sources.getMainFileID()).count('\n');
  for (Decl* declaration : context.getTranslationUnitDecl()->decls()) {
    const SourceLocation where = declaration->getLocation();
    if (where.isValid() && !sources.isInSystemHeader(sources.getExpansionLoc(where))) {
      finder.TraverseDecl(declaration);
    }
  }
  while (!waiting_.empty()) {
    const FunctionDecl* next = waiting_.front();
    waiting_.pop_front();
    const std::uint32_t id = functions_.at(next->getCanonicalDecl());
    const bool called = unit.functions[id].is_called;
    Function lowered = FunctionLowering(*this, *next, id).lower();
    lowered.is_called = lowered.is_called || called || unit.functions[id].is_called;
    find_unwritten_locals(*this, *next, lowered);
    unit.functions[id] = std::move(lowered);
  }
}

std::uint32_t UnitLowering::function_id(const FunctionDecl* function) {
  const auto [entry, is_new] = functions_.try_emplace(
      function->getCanonicalDecl(),
      static_cast<std::uint32_t>(unit.functions.size())
  );
  if (is_new) {
    unit.functions.emplace_back();
    unit.functions.back().name = plain_name(*function);
    const FunctionDecl* definition = nullptr;
    if (function->hasBody(definition) && definition != nullptr) {
      waiting_.push_back(definition);
    }
  }
  return entry->second;
}

std::uint32_t UnitLowering::global_id(const VarDecl* variable) {
  variable = variable->getCanonicalDecl();
  const auto [entry, is_new] =
      globals_.try_emplace(variable, static_cast<std::uint32_t>(unit.globals.size()));
  if (is_new) {
    Variable made;
    made.name = variable->getNameAsString();
    made.is_volatile = variable->getType().isVolatileQualified() ||
                       context.getBaseElementType(variable->getType()).isVolatileQualified();
    made.space = variable->hasAttr<CUDASharedAttr>()      ? Space::Shared
                 : variable->hasAttr<CUDAConstantAttr>()  ? Space::Constant
                 : variable->getType().isConstQualified() ? Space::Constant
                                                          : Space::Global;
    made.is_host = made.space == Space::Global && !variable->hasAttr<CUDADeviceAttr>();
    made.is_managed = llvm::any_of(variable->specific_attrs<AnnotateAttr>(), [](const auto* one) {
      return one->getAnnotation() == managed_annotation;
    });
    made.spot = spot(variable->getLocation());
    unit.globals.push_back(std::move(made));
  }
  return entry->second;
}

std::int64_t UnitLowering::field_id(const void* field) {
  return fields_.try_emplace(field, static_cast<std::int64_t>(fields_.size())).first->second;
}

std::int64_t UnitLowering::named_field_id(const std::string& name) {
  constexpr std::int64_t first = 1 << 24;
  return first + named_fields_.try_emplace(name, static_cast<std::int64_t>(named_fields_.size()))
                     .first->second;
}

std::uint32_t UnitLowering::file_id(FileID file) {
  const auto [entry, is_new] =
      files_.try_emplace(file, static_cast<std::uint32_t>(unit.files.size()));
  if (is_new) {
    const auto ref = context.getSourceManager().getFileEntryRefForID(file);
    unit.files.push_back(ref ? ref->getName().str() : "");
  }
  return entry->second;
}

Spot UnitLowering::spot(SourceRange range) {
  if (range.isInvalid()) {
    return {};
  }
  const auto [entry, is_new] =
      spots_.try_emplace({range.getBegin().getRawEncoding(), range.getEnd().getRawEncoding()});
  if (is_new) {
    entry->second = place_of(range);
  }
  return entry->second;
}

Spot UnitLowering::place_of(SourceRange range) {
  Spot result;
  const SourceManager& sources = context.getSourceManager();
  SourceLocation begin = range.getBegin();
  SourceLocation end = range.getEnd();
  result.in_macro = begin.isMacroID() && !sources.isMacroArgExpansion(begin);
  begin = begin.isMacroID() ? (result.in_macro ? sources.getExpansionRange(begin).getBegin()
                                               : sources.getSpellingLoc(begin))
                            : begin;
  if (end.isMacroID()) {
    end = sources.isMacroArgExpansion(end) ? sources.getSpellingLoc(end)
                                           : sources.getExpansionRange(end).getEnd();
  }
  const auto [file, offset] = sources.getDecomposedLoc(begin);
  const auto [end_file, end_offset] = sources.getDecomposedLoc(end);
  result.file = file_id(file);
  result.begin = offset;
  result.line = sources.getLineNumber(file, offset);
  result.column = sources.getColumnNumber(file, offset);
  result.end = offset + 1;
  if (end_file == file && end_offset >= offset) {
    result.end = end_offset + Lexer::MeasureTokenLength(end, sources, context.getLangOpts());
  }
  result.in_system = sources.isInSystemHeader(begin) || unit.files[result.file].empty();
  return result;
}

std::string UnitLowering::source_text(SourceRange range) {
  return Lexer::getSourceText(
             CharSourceRange::getTokenRange(range),
             context.getSourceManager(),
             context.getLangOpts()
  )
      .str();
}

bool UnitLowering::is_in_toolkit(const Decl& declaration) {
  const SourceManager& sources = context.getSourceManager();
  const SourceLocation where = sources.getExpansionLoc(declaration.getLocation());
  if (where.isInvalid()) {
    return true; // a builtin
  }
  if (!sources.isInSystemHeader(where)) {
    return false;
  }
  // What copies threadIdx and its relatives is read as written.
  if (const auto* method = dyn_cast<CXXMethodDecl>(&declaration);
      method != nullptr && method->getParent()->getName().starts_with("__cuda_builtin_")) {
    return false;
  }
  const StringRef file = sources.getFilename(where);
  return !file.contains("cooperative_groups") && !file.contains("/cccl/") &&
         !file.contains("/cub/") && !file.contains("/thrust/") && !file.contains("/cuda/std/");
}

Known UnitLowering::known(const FunctionDecl& function, QualType object) {
  const std::string name = plain_name(function);
  const auto configured = [this](const std::string& candidate) {
    return options_.synchronization_functions.contains(candidate);
  };
  if (configured(name) || (!options_.synchronization_functions.empty() &&
                           configured(function.getQualifiedNameAsString()))) {
    return {true, Effect::BlockBarrier, std::nullopt};
  }
  Known known = known_function(name);
  if (!known.known && !object.isNull()) {
    if (object->isPointerType()) {
      object = object->getPointeeType();
    }
    if (const CXXRecordDecl* record = object->getAsCXXRecordDecl()) {
      known = known_function(plain_name(*record) + "::" + function.getNameAsString());
    }
  }
  if (!known.known && name.starts_with("cuda") &&
      function.getDeclContext()->getRedeclContext()->isTranslationUnit() && name.size() > 4 &&
      std::isupper(static_cast<unsigned char>(name[4])) != 0) {
    return {true, Effect::HostApi, std::nullopt};
  }
  return known;
}

// --- One function

FunctionLowering::FunctionLowering(
    UnitLowering& unit,
    const FunctionDecl& declaration,
    std::uint32_t id
)
    : unit_(unit),
      declaration_(declaration),
      id_(id) {}

bool FunctionLowering::is_object(QualType type) {
  if (type.isNull()) {
    return false; // a list in braces in a template
  }
  type = type.getCanonicalType();
  return type->isRecordType() || type->isArrayType();
}

std::uint32_t FunctionLowering::new_block() {
  out_.blocks.emplace_back();
  return static_cast<std::uint32_t>(out_.blocks.size() - 1);
}

void FunctionLowering::start(std::uint32_t block) {
  current_ = block;
  out_.blocks[block].first = static_cast<std::uint32_t>(out_.code.size());
}

void FunctionLowering::finish(Terminator end) {
  out_.blocks[current_].last = static_cast<std::uint32_t>(out_.code.size());
  out_.blocks[current_].end = std::move(end);
}

void FunctionLowering::jump(std::uint32_t target, JumpKind kind, Spot where) {
  Terminator end;
  end.kind = kind == JumpKind::Return ? Terminator::Kind::Return : Terminator::Kind::Jump;
  end.successors = {target};
  end.jump = kind;
  end.jump_spot = where;
  finish(std::move(end));
}

ValueId FunctionLowering::emit(Instruction instruction) {
  out_.code.push_back(std::move(instruction));
  return static_cast<ValueId>(out_.code.size() - 1);
}

ValueId FunctionLowering::emit(Op op, std::vector<ValueId> operands, SourceRange range) {
  Instruction made;
  made.op = op;
  made.operands = std::move(operands);
  made.spot = unit_.spot(range);
  return emit(std::move(made));
}

ValueId FunctionLowering::constant(std::int64_t number, SourceRange range) {
  const ValueId made = emit(Op::Constant, {}, range);
  out_.code[made].number = number;
  return made;
}

ValueId
FunctionLowering::arithmetic(Operator op, std::vector<ValueId> operands, SourceRange range) {
  const ValueId made = emit(Op::Arithmetic, std::move(operands), range);
  out_.code[made].arithmetic = op;
  return made;
}

ValueId
FunctionLowering::store(ValueId address, ValueId value, SourceRange range, std::string name) {
  const ValueId made = emit(Op::Store, {address, value}, range);
  out_.code[made].name = std::move(name);
  return made;
}

ValueId FunctionLowering::load(ValueId address, SourceRange range, bool is_volatile) {
  const ValueId made = emit(Op::Load, {address}, range);
  out_.code[made].is_volatile = is_volatile;
  return made;
}

ValueId FunctionLowering::symbol(Symbol which, SourceRange range) {
  const ValueId made = emit(Op::Symbol, {}, range);
  out_.code[made].symbol = which;
  return made;
}

std::uint32_t
FunctionLowering::new_local(std::string name, QualType type, Spot where, bool parameter) {
  Variable made;
  made.name = std::move(name);
  made.is_volatile = !type.isNull() && type.isVolatileQualified();
  made.is_parameter = parameter;
  made.spot = where;
  out_.locals.push_back(std::move(made));
  return static_cast<std::uint32_t>(out_.locals.size() - 1);
}

ValueId FunctionLowering::local_address(std::uint32_t local, SourceRange range) {
  const ValueId made = emit(Op::LocalAddress, {}, range);
  out_.code[made].number = local;
  return made;
}

ValueId FunctionLowering::temporary(QualType type, SourceRange range) {
  return local_address(new_local("", type, unit_.spot(range)), range);
}

namespace {

/// What an attribute says: __launch_bounds__(128). In a template it may not be known.
std::optional<std::uint32_t> number_given(const Expr* expression, const ASTContext& context) {
  Expr::EvalResult result;
  return expression != nullptr && !expression->isValueDependent() &&
                 expression->EvaluateAsInt(result, context)
             ? std::optional(static_cast<std::uint32_t>(number_of(result.Val.getInt())))
             : std::nullopt;
}

} // namespace

Function FunctionLowering::lower() {
  const auto* method = dyn_cast<CXXMethodDecl>(&declaration_);
  out_.name = plain_name(declaration_);
  out_.is_kernel = declaration_.hasAttr<CUDAGlobalAttr>();
  out_.is_device = out_.is_kernel || declaration_.hasAttr<CUDADeviceAttr>();
  out_.is_host = !out_.is_device || declaration_.hasAttr<CUDAHostAttr>();
  out_.is_instantiation = declaration_.isTemplateInstantiation();
  out_.is_pattern = is_pattern(declaration_);
  out_.spot = unit_.spot(SourceRange(declaration_.getLocation()));
  out_.in_system = out_.spot.in_system;
  out_.is_called = method != nullptr && method->getParent()->isLambda(); // read where it is called
  if (const auto* bounds = declaration_.getAttr<CUDALaunchBoundsAttr>()) {
    out_.max_threads = number_given(bounds->getMaxThreads(), unit_.context);
  }
  if (const auto* cluster = declaration_.getAttr<CUDAClusterDimsAttr>()) {
    out_.cluster_x = number_given(cluster->getX(), unit_.context);
  }
  new_local("the result", declaration_.getReturnType(), {});
  new_block();
  new_block(); // the exit
  start(0);
  if (method != nullptr && method->isInstance()) {
    this_local_ = new_local("this", {}, {}, true);
    ++out_.parameters;
    if (method->getParent()->isLambda()) {
      llvm::DenseMap<const ValueDecl*, FieldDecl*> captures;
      method->getParent()->getCaptureFields(captures, captured_this_);
      captures_ = std::move(captures);
    }
  }
  for (const ParmVarDecl* parameter : declaration_.parameters()) {
    locals_[parameter] = new_local(
        parameter->getNameAsString(),
        parameter->getType(),
        unit_.spot(parameter->getLocation()),
        true
    );
    ++out_.parameters;
  }
  std::uint32_t index = 0;
  const auto pass = [&](std::uint32_t local, bool object, SourceRange range) {
    const ValueId argument = emit(Op::Parameter, {}, range);
    out_.code[argument].number = index++;
    const ValueId to = local_address(local, range);
    if (object) {
      emit(Op::CopyObject, {to, argument}, range);
    } else {
      store(to, argument, range);
    }
  };
  if (this_local_) {
    pass(*this_local_, /*object=*/false, declaration_.getLocation());
  }
  for (const ParmVarDecl* parameter : declaration_.parameters()) {
    pass(locals_.at(parameter), is_object(parameter->getType()), parameter->getLocation());
  }
  if (const auto* constructor = dyn_cast<CXXConstructorDecl>(&declaration_)) {
    lower_constructor_initializers(*constructor);
  }
  if (const auto* destructor = dyn_cast<CXXDestructorDecl>(&declaration_)) {
    own_parts(*destructor);
  }
  statement(declaration_.getBody());
  end_scope(0);
  jump(1);
  start(1);
  Terminator end;
  end.kind = Terminator::Kind::Exit;
  finish(std::move(end));
  return std::move(out_);
}

namespace {

/// What leads from an object to the member that is initialised, through unnamed unions. Members of
/// a union share its bytes, and are no step.
std::vector<const FieldDecl*> members_on_the_way(const CXXCtorInitializer& init) {
  std::vector<const FieldDecl*> steps;
  const auto enter = [&](const FieldDecl* one) {
    if (!one->getParent()->isUnion()) {
      steps.push_back(one);
    }
  };
  if (const IndirectFieldDecl* inner = init.getIndirectMember()) {
    for (const NamedDecl* step : inner->chain()) {
      enter(cast<FieldDecl>(step));
    }
  } else {
    enter(init.getMember());
  }
  return steps;
}

} // namespace

void FunctionLowering::lower_constructor_initializers(const CXXConstructorDecl& constructor) {
  for (const CXXCtorInitializer* init : constructor.inits()) {
    const SourceRange range = init->getSourceRange();
    ValueId to = load(local_address(*this_local_, range), range);
    if (const FieldDecl* field = init->getAnyMember()) {
      for (const FieldDecl* step : members_on_the_way(*init)) {
        to = emit(Op::Field, {to}, range);
        out_.code[to].number = unit_.field_id(step->getCanonicalDecl());
      }
      initialize(to, field->getType(), init->getInit(), field->getNameAsString());
    } else if (init->getInit() != nullptr) {
      object_into(init->getInit(), to);
    }
  }
}

} // namespace heddle::lint
