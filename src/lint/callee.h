// callee.h: what the text of a call says about it, for lower_call.cpp.
//
//   if (const FunctionDecl* one = constant_callee(*call.getCallee(), context)) …   // a pointer's
//   value
//
// Nothing here makes instructions.
#pragma once

#include "lint/flow.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>

namespace heddle::lint {

/// What a pointer points to, or a pointer to a member names, where that does not change: a template
/// argument, a constant, `&S::f`, a variable that is only read. Null: nothing of that kind.
const clang::ValueDecl*
constant_pointee(const clang::Expr& expression, const clang::ASTContext& context);
/// The same for what is called.
const clang::FunctionDecl*
constant_callee(const clang::Expr& callee, const clang::ASTContext& context);

/// `(object.*member)(…)` and `(pointer->*member)(…)`: the operator; null for other calls.
const clang::BinaryOperator* member_pointer_call(const clang::CallExpr& call);

/// The type of the function that is called through a pointer.
clang::QualType called_type(const clang::CallExpr& call);

/// The kernel that is an argument of cudaLaunchKernel and its relatives.
const clang::FunctionDecl* launched_kernel(const clang::CallExpr& call);

/// Is what is called an object of class type with a call operator, in a template?
const clang::CXXRecordDecl* called_object(const clang::CallExpr& call);

/// Order and scope of an atomic operation or a fence, from the type of its object, its arguments
/// and its name. No call: inside a template, where only the name is known.
void set_order(
    const clang::CallExpr* call,
    const std::string& name,
    const clang::ASTContext& context,
    Instruction& made
);

/// cg::sync(group), group.sync() through the base class: by the static type of the group.
Effect barrier_of_group(const clang::CallExpr& call);

/// The argument that points to where such a function writes what it has read. -1: none.
int nvcc_atomic_output(const std::string& name);

/// The argument of a copy, or of such a function, that points to the value it passes on. -1: none.
int passed_by_pointer(const std::string& name);

/// The arguments of memcpy and its relatives where they name objects and the size is the whole of
/// the first one: it is then assigned from the second one.
struct WholeCopy {
  const clang::Expr* to = nullptr;
  const clang::Expr* from = nullptr;
};
WholeCopy
whole_copy(const std::string& name, const clang::CallExpr& call, const clang::ASTContext& context);

} // namespace heddle::lint
