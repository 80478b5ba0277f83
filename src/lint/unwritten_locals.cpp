// Implements unwritten_locals.h.
#include "lint/unwritten_locals.h"

#include "lint/clang_version.h"

#include <clang/AST/ParentMap.h>
#include <clang/Analysis/Analyses/UninitializedValues.h>
#include <clang/Analysis/AnalysisDeclContext.h>
#include <clang/Analysis/CFG.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace heddle::lint {
namespace {

using Use = clang::UninitUse;

/// Is the value handed to a call or to inline assembly?
bool is_argument(const clang::ParentMap& parents, const clang::Expr* use) {
  for (const clang::Stmt* at = parents.getParent(use); at != nullptr; at = parents.getParent(at)) {
    if (llvm::isa<clang::CallExpr, clang::GCCAsmStmt>(at)) {
      return true;
    }
    if (!llvm::isa<clang::CastExpr, clang::ParenExpr, clang::MaterializeTemporaryExpr>(at)) {
      return false;
    }
  }
  return false;
}

/// Is there something that ends the thread, which Clang takes for something that returns?
bool may_end_thread(const clang::CFG& graph) {
  const auto ends = [](const clang::Stmt* statement) {
    if (const auto* assembly = llvm::dyn_cast<clang::GCCAsmStmt>(statement)) {
      const std::string text = assembly_text(*assembly);
      return text.find("trap") != std::string::npos || text.find("exit") != std::string::npos;
    }
    const auto* call = llvm::dyn_cast<clang::CallExpr>(statement);
    const clang::FunctionDecl* callee = call != nullptr ? call->getDirectCallee() : nullptr;
    return callee != nullptr && callee->getIdentifier() != nullptr && callee->getName() == "__trap";
  };
  return std::ranges::any_of(graph, [&](const clang::CFGBlock* block) {
    return std::ranges::any_of(*block, [&](const clang::CFGElement& element) {
      const auto statement = element.getAs<clang::CFGStmt>();
      return statement && ends(statement->getStmt());
    });
  });
}

class Uses : public clang::UninitVariablesHandler {
public:
  Uses(const clang::ParentMap& parents, bool sometimes)
      : parents_(parents),
        sometimes_(sometimes) {}

  void handleUseOfUninitVariable(const clang::VarDecl* variable, const Use& use) override {
    const bool certain = use.getKind() > Use::Sometimes;
    if (use.isConstRefOrPtrUse() || use.getKind() == Use::Maybe ||
        (!certain && (!sometimes_ || is_argument(parents_, use.getUser())))) {
      return;
    }
    const clang::Stmt* branch = certain ? nullptr : use.branch_begin()->Terminator;
    const Found found{variable, use.getUser(), branch};
    const auto known = std::ranges::find(found_, variable, &Found::variable);
    if (known == found_.end()) {
      found_.push_back(found);
    } else if (found.use->getBeginLoc() < known->use->getBeginLoc()) {
      *known = found;
    }
  }

  struct Found {
    const clang::VarDecl* variable;
    const clang::Expr* use;
    const clang::Stmt* branch; // only after it; null: always
  };
  const std::vector<Found>& all() const { return found_; }

private:
  const clang::ParentMap& parents_;
  bool sometimes_;
  std::vector<Found> found_; // the first use of each variable
};

/// As Clang has it for its warnings: a use is an element of its own.
void set_options(clang::CFG::BuildOptions& options) {
  options.PruneTriviallyFalseEdges = true;
  options.AddEHEdges = false;
  options.AddInitializers = true;
  options.AddImplicitDtors = true;
  options.AddTemporaryDtors = true;
  options.AddCXXNewAllocator = false;
  options.AddCXXDefaultInitExprInCtors = true;
  options.setAlwaysAdd(clang::Stmt::BinaryOperatorClass)
      .setAlwaysAdd(clang::Stmt::CompoundAssignOperatorClass)
      .setAlwaysAdd(clang::Stmt::BlockExprClass)
      .setAlwaysAdd(clang::Stmt::CStyleCastExprClass)
      .setAlwaysAdd(clang::Stmt::DeclRefExprClass)
      .setAlwaysAdd(clang::Stmt::ImplicitCastExprClass)
      .setAlwaysAdd(clang::Stmt::UnaryOperatorClass);
}

} // namespace

void find_unwritten_locals(
    UnitLowering& unit,
    const clang::FunctionDecl& declaration,
    Function& function
) {
  // With errors the tree has holes, and Clang does not warn either.
  if (!function.is_device || function.in_system || function.is_pattern ||
      declaration.isDependentContext() ||
      unit.context.getDiagnostics().hasUncompilableErrorOccurred()) {
    return;
  }
  clang::AnalysisDeclContextManager manager(unit.context);
  clang::AnalysisDeclContext analysis(&manager, &declaration);
  set_options(analysis.getCFGBuildOptions());
  const clang::CFG* graph = analysis.getCFG();
  if (graph == nullptr) {
    return;
  }
  Uses uses(analysis.getParentMap(), !may_end_thread(*graph));
  clang::UninitVariablesAnalysisStats statistics{};
  clang::runUninitializedVariablesAnalysis(declaration, *graph, analysis, uses, statistics);
  for (const Uses::Found& one : uses.all()) {
    function.unwritten.push_back(
        {.name = one.variable->getNameAsString(),
         .declared = unit.spot(one.variable->getLocation()),
         .use = unit.spot(one.use->getSourceRange()),
         .branch = one.branch != nullptr ? unit.spot(one.branch->getSourceRange()) : Spot()}
    );
  }
}

} // namespace heddle::lint
