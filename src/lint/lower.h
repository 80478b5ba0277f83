// lower.h: Clang's AST to Unit (flow.h). Only lower*.cpp and frontend.cpp know Clang.
//
// Each body becomes basic blocks the way a code generator would make them, with two
// simplifications: an operand of && || ?: without calls or side effects stays an expression, and a
// condition that is a compile-time constant is a jump. Template patterns without an instantiation
// are lowered with their dependent expressions as unknown values that depend on their operands.
#pragma once

#include "lint/flow.h"
#include "lint/known.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle::lint {

struct LowerOptions {
  /// More functions that are barriers of the block, by qualified name.
  std::set<std::string> synchronization_functions;
  bool system_kernels = false; // judge the kernels of system headers too
};

/// What `__managed__` means in the headers that lint reads (prelude.cpp, stub_headers.cpp).
inline constexpr llvm::StringLiteral managed_annotation = "heddle_managed";

/// Qualified name without template arguments and without namespaces that are inline, unnamed or
/// begin with two underscores (versions).
std::string plain_name(const clang::NamedDecl& declaration);

/// The low 64 bits: constants may have more (__int128), or be above the largest signed number.
std::int64_t number_of(const llvm::APSInt& value);

/// Whether a condition holds, where that is known as the file is read.
std::optional<bool> constant_condition(clang::ASTContext& context, const clang::Expr* condition);

/// Threads that get here have ended, or all of the kernel has.
Terminator ending(Effect effect, const Spot& where);

/// cuda::atomic_ref and its std namesake: to the analyses, the address of what it refers to.
bool is_atomic_reference(clang::QualType type);

class UnitLowering {
public:
  UnitLowering(clang::ASTContext& context, const LowerOptions& options, Unit& unit);
  /// Everything that the main file and its own headers define, and what that calls.
  void lower_all();

  std::uint32_t function_id(const clang::FunctionDecl* function);
  std::uint32_t global_id(const clang::VarDecl* variable);
  std::int64_t field_id(const void* field);
  /// What a pointer to it is: another number for each function, and not null.
  std::int64_t function_number(const clang::ValueDecl& function) {
    return field_id(function.getCanonicalDecl()) + 1;
  }
  std::int64_t named_field_id(const std::string& name);
  Spot spot(clang::SourceRange range);
  std::string source_text(clang::SourceRange range);
  void note_override(const clang::CXXMethodDecl& method);
  const std::vector<const clang::CXXMethodDecl*>& overriders(const clang::CXXMethodDecl& method);
  Known known(const clang::FunctionDecl& function, clang::QualType object);
  bool is_in_toolkit(const clang::Decl& declaration);
  /// No side effects, and cheap: an operand that need not become a block of its own.
  bool is_simple(const clang::Stmt* expression, int depth = 0);
  const std::vector<const clang::FunctionDecl*>& address_taken(clang::QualType function_type);
  void note_address_taken(const clang::FunctionDecl* function);
  void add_root(const clang::FunctionDecl* function);

  clang::ASTContext& context;
  Unit& unit;

private:
  std::uint32_t file_id(clang::FileID file);
  Spot place_of(clang::SourceRange range);
  const LowerOptions& options_;
  std::unordered_map<const clang::FunctionDecl*, std::uint32_t> functions_;
  std::deque<const clang::FunctionDecl*> waiting_;
  std::unordered_map<const clang::VarDecl*, std::uint32_t> globals_;
  std::unordered_map<const void*, std::int64_t> fields_;
  std::map<std::string, std::int64_t> named_fields_;
  std::map<clang::FileID, std::uint32_t> files_;
  /// Instantiations of a template repeat the places of its text.
  llvm::DenseMap<std::pair<unsigned, unsigned>, Spot> spots_;
  std::map<const clang::Type*, std::vector<const clang::FunctionDecl*>> address_taken_;
  std::map<const clang::CXXMethodDecl*, std::vector<const clang::CXXMethodDecl*>> overriders_;
};

class FunctionLowering {
public:
  FunctionLowering(UnitLowering& unit, const clang::FunctionDecl& declaration, std::uint32_t id);
  Function lower();

private:
  // lower.cpp
  std::uint32_t new_block();
  void start(std::uint32_t block);
  void finish(Terminator end);
  void jump(std::uint32_t target, JumpKind kind = JumpKind::None, Spot where = {});
  ValueId emit(Instruction instruction);
  ValueId emit(Op op, std::vector<ValueId> operands, clang::SourceRange range);
  ValueId constant(std::int64_t value, clang::SourceRange range);
  ValueId arithmetic(Operator op, std::vector<ValueId> operands, clang::SourceRange range);
  ValueId store(ValueId address, ValueId value, clang::SourceRange range, std::string name = "");
  ValueId load(ValueId address, clang::SourceRange range, bool is_volatile = false);
  ValueId symbol(Symbol which, clang::SourceRange range);
  std::uint32_t
  new_local(std::string name, clang::QualType type, Spot where, bool parameter = false);
  ValueId local_address(std::uint32_t local, clang::SourceRange range);
  ValueId temporary(clang::QualType type, clang::SourceRange range);
  void lower_constructor_initializers(const clang::CXXConstructorDecl& constructor);

  // lower_statement.cpp
  void statement(const clang::Stmt* statement);
  void declaration_statement(const clang::DeclStmt& statement);
  void static_assertion(const clang::Expr& condition);
  void variable(const clang::VarDecl& declaration);
  void control(const clang::Stmt& statement);
  void if_statement(const clang::IfStmt& statement);
  void while_statement(const clang::WhileStmt& statement);
  void do_statement(const clang::DoStmt& statement);
  void for_statement(const clang::ForStmt& statement);
  void range_for_statement(const clang::CXXForRangeStmt& statement);
  void read_elements(const clang::CXXForRangeStmt& statement);
  void switch_statement(const clang::SwitchStmt& statement);
  void return_statement(const clang::ReturnStmt& statement);
  void assembly(const clang::GCCAsmStmt& statement);
  void loop_body(const clang::Stmt* body, std::uint32_t next, std::uint32_t after);
  std::uint32_t label_block(const clang::LabelDecl* label);
  /// A branch on `condition`; short circuits with side effects become branches of their own.
  void branch(
      const clang::Expr* condition,
      std::uint32_t yes,
      std::uint32_t no,
      Construct construct,
      const Spot& whole
  );

  // lower_expression.cpp
  ValueId value(const clang::Expr* expression);   // scalar value; address of a class object
  ValueId address(const clang::Expr* expression); // of a glvalue
  ValueId scalar(const clang::Expr* expression);
  ValueId unary(const clang::UnaryOperator& expression);
  ValueId binary(const clang::BinaryOperator& expression);
  ValueId assign(
      clang::BinaryOperatorKind kind,
      const clang::Expr* left,
      const clang::Expr* right,
      clang::SourceRange range
  );
  ValueId step_variable(
      const clang::Expr* operand,
      bool increment,
      bool prefix,
      bool want_address,
      clang::SourceRange range
  );
  ValueId short_circuit(const clang::Expr* expression);
  ValueId conditional(const clang::AbstractConditionalOperator& expression, bool want_address);
  ValueId
  variable_address(const clang::ValueDecl& declaration, const clang::DeclRefExpr& reference);
  ValueId member_address(const clang::MemberExpr& expression);
  ValueId unknown(const clang::Expr* expression);
  void discard(const clang::Expr* expression);

  // lower_object.cpp
  void initialize(
      ValueId destination,
      clang::QualType type,
      const clang::Expr* init,
      const std::string& name
  );
  void object_into(const clang::Expr* expression, ValueId destination);
  void construct(const clang::CXXConstructExpr& expression, ValueId destination);
  void
  inherited_constructor(const clang::CXXInheritedCtorInitExpr& expression, ValueId destination);
  void initializer_list(const clang::InitListExpr& list, ValueId destination);
  void lambda(const clang::LambdaExpr& expression, ValueId destination);
  std::optional<ValueId> pointed_member(const clang::BinaryOperator& expression);

  // lower_scope.cpp
  /// An object whose destructor has a body: a variable, or a part of what a destructor destroys.
  struct Owned {
    const clang::CXXDestructorDecl* destructor = nullptr;
    const clang::VarDecl* variable = nullptr; // null: a part
    const clang::FieldDecl* field = nullptr;  // of a part: null for a base
    std::uint32_t local = 0;                  // the variable, or "this"
    clang::SourceLocation scope_end;          // of a variable
  };
  void own(const clang::VarDecl& variable, std::uint32_t local);
  void own_parts(const clang::CXXDestructorDecl& destructor);
  void destroy(const Owned& one);
  void destroy_from(std::size_t depth);
  void end_scope(std::size_t depth);
  void destroy_for_goto(const clang::LabelDecl& label);
  std::vector<const clang::FunctionDecl*>
  virtual_targets(const clang::CXXMethodDecl& called, const clang::CXXMemberCallExpr& expression);

  // lower_call.cpp
  ValueId call(const clang::CallExpr& expression);
  ValueId call_function(
      const clang::FunctionDecl& callee,
      std::vector<ValueId> arguments,
      const clang::CallExpr* expression,
      clang::SourceRange range
  );
  ValueId call_known(
      const Known& known,
      const std::string& name,
      std::vector<ValueId> arguments,
      const clang::CallExpr* expression,
      const clang::FunctionDecl* callee,
      clang::SourceRange range
  );
  ValueId call_pointer(const clang::CallExpr& expression);
  ValueId call_one_of(
      const std::vector<const clang::FunctionDecl*>& candidates,
      ValueId decides,
      const std::vector<ValueId>& arguments,
      const clang::CallExpr& expression
  );
  ValueId call_unresolved(const clang::CallExpr& expression);
  ValueId call_operator(const clang::CXXOperatorCallExpr& expression);
  ValueId launch(const clang::CUDAKernelCallExpr& expression);
  std::vector<ValueId>
  arguments(const clang::FunctionDecl* callee, llvm::ArrayRef<const clang::Expr*> expressions);
  void add_contents(
      const clang::FunctionDecl& callee,
      const clang::CallExpr& expression,
      const std::vector<ValueId>& values,
      std::vector<ValueId>& operands,
      clang::SourceRange range
  );
  void written_arguments(
      const clang::FunctionDecl* callee,
      const clang::CallExpr& expression,
      const std::vector<ValueId>& values,
      ValueId result,
      clang::SourceRange range
  );

  static bool is_object(clang::QualType type);

  UnitLowering& unit_;
  const clang::FunctionDecl& declaration_;
  std::uint32_t id_;
  Function out_;
  std::uint32_t current_ = 0;
  std::unordered_map<const clang::ValueDecl*, std::uint32_t> locals_;
  std::unordered_map<const clang::LabelDecl*, std::uint32_t> labels_;
  std::unordered_map<const clang::Expr*, ValueId> opaque_;
  llvm::DenseMap<const clang::ValueDecl*, clang::FieldDecl*> captures_;
  clang::FieldDecl* captured_this_ = nullptr;
  std::optional<std::uint32_t> this_local_;
  struct Targets {
    std::uint32_t break_to, continue_to;
    std::size_t break_depth, continue_depth; // objects that outlive the jump
  };
  std::vector<Owned> owned_;
  clang::SourceLocation scope_end_; // of the statement in braces that is being read
  std::vector<Targets> targets_;
  std::unordered_map<const clang::SwitchCase*, std::uint32_t> cases_;
};

} // namespace heddle::lint
