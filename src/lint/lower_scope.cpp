// Ends of scopes: destructors of local objects, of members and of bases, and calls of virtual
// functions. A barrier may hide in each of them.
//
// Destructors of temporaries, of elements of arrays and of parameters are not called, and nothing
// is destroyed on the way of an exception. Only code of the device is looked at: on the host
// nothing here depends on destructors.
#include "lint/lower.h"

#include <clang/Basic/SourceManager.h>

namespace heddle::lint {

using namespace clang;

namespace {

const CXXDestructorDecl* destructor_of(QualType type) {
  const CXXRecordDecl* record =
      type.isNull() || type->isDependentType() ? nullptr : type->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition() || record->hasTrivialDestructor()) {
    return nullptr;
  }
  const CXXDestructorDecl* destructor = record->getDestructor();
  return destructor != nullptr && destructor->hasBody() ? destructor : nullptr;
}

} // namespace

void FunctionLowering::own(const VarDecl& variable, std::uint32_t local) {
  if (const CXXDestructorDecl* destructor = destructor_of(variable.getType());
      destructor != nullptr && out_.is_device) {
    owned_.push_back({destructor, &variable, nullptr, local, scope_end_});
  }
}

/// What a destructor destroys after its own body: members, then bases.
void FunctionLowering::own_parts(const CXXDestructorDecl& destructor) {
  const CXXRecordDecl* record = destructor.getParent();
  if (!out_.is_device || record->isUnion() || record->isDependentContext()) {
    return;
  }
  for (const CXXBaseSpecifier& base : record->bases()) {
    if (const CXXDestructorDecl* one = destructor_of(base.getType())) {
      owned_.push_back({one, nullptr, nullptr, *this_local_, {}});
    }
  }
  for (const FieldDecl* field : record->fields()) {
    if (const CXXDestructorDecl* one = destructor_of(field->getType())) {
      owned_.push_back({one, nullptr, field, *this_local_, {}});
    }
  }
}

void FunctionLowering::destroy(const Owned& one) {
  const SourceRange range =
      one.variable != nullptr ? one.variable->getLocation() : declaration_.getLocation();
  ValueId object = local_address(one.local, range);
  if (one.variable == nullptr) {
    object = load(object, range); // this
    if (one.field != nullptr) {
      object = emit(Op::Field, {object}, range);
      out_.code[object].number = unit_.field_id(one.field->getCanonicalDecl());
    }
  }
  call_function(*one.destructor, {object}, nullptr, range);
}

void FunctionLowering::destroy_from(std::size_t depth) {
  for (std::size_t i = owned_.size(); i-- > depth;) {
    destroy(Owned(owned_[i]));
  }
}

void FunctionLowering::end_scope(std::size_t depth) {
  destroy_from(depth);
  owned_.resize(depth);
}

/// A goto leaves the scopes of the variables that are not visible at its label.
void FunctionLowering::destroy_for_goto(const LabelDecl& label) {
  if (label.getStmt() == nullptr) {
    return;
  }
  const SourceManager& sources = unit_.context.getSourceManager();
  const SourceLocation to = sources.getExpansionLoc(label.getStmt()->getBeginLoc());
  for (std::size_t i = owned_.size(); i-- > 0;) {
    const Owned one = owned_[i];
    const bool stays =
        one.variable == nullptr ||
        (sources
             .isBeforeInTranslationUnit(sources.getExpansionLoc(one.variable->getLocation()), to) &&
         sources.isBeforeInTranslationUnit(to, sources.getExpansionLoc(one.scope_end)));
    if (!stays) {
      destroy(one);
    }
  }
}

/// The bodies that a virtual call may reach: all overriders that the unit has.
std::vector<const FunctionDecl*> FunctionLowering::virtual_targets(
    const CXXMethodDecl& called,
    const CXXMemberCallExpr& expression
) {
  const auto* written = dyn_cast<MemberExpr>(expression.getCallee()->IgnoreParens());
  if (!called.isVirtual() || (written != nullptr && written->hasQualifier())) {
    return {};
  }
  const Expr* object = expression.getImplicitObjectArgument();
  if (const CXXMethodDecl* known =
          const_cast<CXXMethodDecl&>(called).getDevirtualizedMethod(object, false)) {
    return {known};
  }
  constexpr std::size_t most = 8; // candidates read one by one
  std::vector<const FunctionDecl*> targets;
  if (called.hasBody()) {
    targets.push_back(&called);
  }
  for (const CXXMethodDecl* one : unit_.overriders(called)) {
    if (one->hasBody() && targets.size() < most) {
      targets.push_back(one);
    }
  }
  return targets;
}

} // namespace heddle::lint
