// The rules as checks of clang-tidy, one for each rule: heddle-cuda-1.14, heddle-cuda-2.1,
// heddle-cuda-progress-loop, …
//
//   clang-tidy-22 --load=heddle_clang_tidy.so --checks=-*,heddle-* k.cu -- -xcuda
//       --cuda-device-only --cuda-gpu-arch=sm_90 -nocudalib
//
// The file must be parsed for the device (`--cuda-device-only`): on the host side code under
// __CUDA_ARCH__ is missing. Options, suppressions with reasons and fingerprints are heddle lint's;
// here clang-tidy's own NOLINT and configuration hold, and heddle lint's comments, too.
#include "lint/check.h"
#include "lint/lint.h"
#include "lint/lower.h"
#include "lint/settings.h"
#include "lint/suppress.h"

#include <clang-tidy/ClangTidy.h>
#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang/Basic/Version.h>
#if CLANG_VERSION_MAJOR < 22
#include <clang-tidy/ClangTidyModuleRegistry.h>
#endif
#include <clang/ASTMatchers/ASTMatchFinder.h>

#include <algorithm>
#include <memory>

namespace heddle::lint {
namespace {

using clang::tidy::ClangTidyCheck;
using clang::tidy::ClangTidyContext;

/// One analysis of a translation unit, for all checks.
struct Analysed {
  const clang::ASTContext* context = nullptr;
  Unit unit;
  Checked checked;
};

std::string check_name(const std::string& rule) {
  std::string name = rule;
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return "heddle-" + name;
}

class RuleCheck : public ClangTidyCheck {
public:
  RuleCheck(
      llvm::StringRef name,
      ClangTidyContext* context,
      std::string rule,
      std::shared_ptr<Analysed> shared
  )
      : ClangTidyCheck(name, context),
        rule_(std::move(rule)),
        shared_(std::move(shared)) {}

  bool isLanguageVersionSupported(const clang::LangOptions& options) const override {
    return options.CUDA;
  }

  void registerMatchers(clang::ast_matchers::MatchFinder* finder) override {
    finder->addMatcher(clang::ast_matchers::translationUnitDecl().bind("unit"), this);
  }

  void check(const clang::ast_matchers::MatchFinder::MatchResult& result) override {
    clang::ASTContext& context = *result.Context;
    if (shared_->context != &context) {
      shared_->context = &context;
      shared_->unit = Unit();
      const LowerOptions options;
      UnitLowering(context, options, shared_->unit).lower_all();
      shared_->checked = check_unit(shared_->unit, CheckOptions());
    }
    for (const Found& found : shared_->checked.findings) {
      const auto rule = std::ranges::find(all_rules(), found.key, &report::StaticRule::key);
      if (rule == all_rules().end() || rule->rule != rule_ || found.place.in_system) {
        continue;
      }
      if (is_suppressed(found)) {
        continue;
      }
      const clang::SourceManager& sources = context.getSourceManager();
      diag(location(sources, found.place), "%0 [%1]") << found.message << found.key;
      for (const Note& note : found.steps) {
        if (const auto where = location(sources, note.where); where.isValid()) {
          diag(where, note.text, clang::DiagnosticIDs::Note);
        }
      }
    }
  }

private:
  /// By a comment that names a rule or a key of heddle lint, which clang-tidy does not know.
  bool is_suppressed(const Found& found) const {
    report::StaticFinding one;
    one.key = found.key;
    one.rule = rule_;
    one.place.file = shared_->unit.files[found.place.file];
    one.place.line = found.place.line;
    std::vector<report::StaticFinding> all = {one};
    const auto settings = make_settings({});
    if (settings) {
      apply_suppressions(one.place.file, *settings, all);
    }
    return !all.front().suppressed.empty();
  }

  clang::SourceLocation location(const clang::SourceManager& sources, const Spot& spot) const {
    const std::string& name = shared_->unit.files[spot.file];
    const auto file = sources.getFileManager().getOptionalFileRef(name);
    const clang::FileID id = file ? sources.translateFile(*file) : clang::FileID();
    return id.isValid() ? sources.getLocForStartOfFile(id).getLocWithOffset(
                              static_cast<clang::SourceLocation::IntTy>(spot.begin)
                          )
                        : clang::SourceLocation();
  }

  std::string rule_;
  std::shared_ptr<Analysed> shared_;
};

class Module : public clang::tidy::ClangTidyModule {
public:
  void addCheckFactories(clang::tidy::ClangTidyCheckFactories& factories) override {
    const auto shared = std::make_shared<Analysed>();
    std::vector<std::string> seen;
    for (const report::StaticRule& rule : all_rules()) {
      if (rule.rule == "suppression" || std::ranges::find(seen, rule.rule) != seen.end()) {
        continue;
      }
      seen.push_back(rule.rule);
      factories.registerCheckFactory(
          check_name(rule.rule),
          [name = rule.rule, shared](llvm::StringRef check, ClangTidyContext* context) {
            return std::make_unique<RuleCheck>(check, context, name, shared);
          }
      );
    }
  }
};

const clang::tidy::ClangTidyModuleRegistry::Add<Module>
    registration("heddle-module", "Heddle's rules for CUDA");

} // namespace
} // namespace heddle::lint
