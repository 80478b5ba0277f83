#include "lint/frontend.h"

#include "lint/clang_version.h"
#include "lint/lower.h"
#include "lint/prelude.h"

#include <clang/Basic/Cuda.h>
#include <clang/Basic/DiagnosticAST.h>
#include <clang/Basic/DiagnosticParse.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/Stack.h>
#include <clang/Basic/Version.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Tooling/Tooling.h>
#include <fmt/format.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace heddle::lint {
namespace {

class MissingIncludes : public clang::PPCallbacks {
public:
  explicit MissingIncludes(Unit& unit) : unit_(unit) {}
  bool FileNotFound(llvm::StringRef name) override {
    ++unit_.errors;
    if (unit_.first_error.empty()) {
      unit_.first_error = fmt::format("'{}' file not found", name.str());
    }
    return true; // go on without it
  }

private:
  Unit& unit_;
};

/// With nvcc a macro may stand for a directive (`#define UNROLL #pragma unroll`); Clang meets the
/// number sign as it is. What such a directive says to the compiler changes no finding.
class PragmaMacros : public clang::PPCallbacks {
public:
  explicit PragmaMacros(clang::Preprocessor& preprocessor) : preprocessor_(preprocessor) {}
  void MacroDefined(const clang::Token& name, const clang::MacroDirective* directive) override {
    const clang::MacroInfo& macro = *directive->getMacroInfo();
    if (macro.isFunctionLike() || macro.getNumTokens() < 2 ||
        !macro.getReplacementToken(0).is(clang::tok::hash)) {
      return;
    }
    const clang::IdentifierInfo* word = macro.getReplacementToken(1).getIdentifierInfo();
    if (word != nullptr && word->isStr("pragma")) {
      preprocessor_.appendDefMacroDirective(
          name.getIdentifierInfo(),
          preprocessor_.AllocateMacroInfo(name.getLocation())
      );
    }
  }

private:
  clang::Preprocessor& preprocessor_;
};

/// Does a file of the program ask whether Clang reads it?
class AsksForClang : public clang::PPCallbacks {
public:
  AsksForClang(const clang::SourceManager& sources, bool& asks) : sources_(sources), asks_(asks) {}
  void Ifdef(
      clang::SourceLocation at,
      const clang::Token& name,
      const clang::MacroDefinition&
  ) override {
    look(name, at);
  }
  void Ifndef(
      clang::SourceLocation at,
      const clang::Token& name,
      const clang::MacroDefinition&
  ) override {
    look(name, at);
  }
  void
  Defined(const clang::Token& name, const clang::MacroDefinition&, clang::SourceRange at) override {
    look(name, at.getBegin());
  }

private:
  void look(const clang::Token& name, clang::SourceLocation at) {
    const clang::IdentifierInfo* word = name.getIdentifierInfo();
    asks_ |= word != nullptr && word->isStr("__clang__") && !sources_.isInSystemHeader(at);
  }
  const clang::SourceManager& sources_;
  bool& asks_;
};

class Lower : public clang::ASTConsumer {
public:
  Lower(Unit& unit, const LowerOptions& options) : unit_(unit), options_(options) {}
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (const clang::Decl* declaration : group) {
      const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
      if (options_.system_kernels && function != nullptr &&
          function->hasAttr<clang::CUDAGlobalAttr>() && !function->isDependentContext()) {
        kernels_.push_back(function); // instantiations come one by one
      }
    }
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext& context) override {
    UnitLowering lowering(context, options_, unit_);
    for (const clang::FunctionDecl* kernel : kernels_) {
      lowering.function_id(kernel);
    }
    lowering.lower_all();
  }

private:
  std::vector<const clang::FunctionDecl*> kernels_;
  Unit& unit_;
  const LowerOptions& options_;
};

class Action : public clang::ASTFrontendAction {
public:
  Action(
      Unit& unit,
      std::vector<std::string>& marked,
      bool& asks_for_clang,
      const LowerOptions& options
  )
      : unit_(unit),
        marked_(marked),
        asks_for_clang_(asks_for_clang),
        options_(options) {}

protected:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    clang::Preprocessor& preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(std::make_unique<MissingIncludes>(unit_));
    preprocessor.addPPCallbacks(std::make_unique<PragmaMacros>(preprocessor));
    preprocessor.addPPCallbacks(
        std::make_unique<AsksForClang>(compiler.getSourceManager(), asks_for_clang_)
    );
    return true;
  }
  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Lower>(unit_, options_);
  }
  void EndSourceFileAction() override {
    clang::SourceManager& sources = getCompilerInstance().getSourceManager();
    // SourceManager::translateFile looks through all files for each.
    llvm::DenseSet<const clang::FileEntry*> own;
    for (unsigned i = 1; i < sources.local_sloc_entry_size(); ++i) {
      const clang::SrcMgr::SLocEntry& entry = sources.getLocalSLocEntry(i);
      if (entry.isFile() && entry.getFile().getContentCache().OrigEntry &&
          !clang::SrcMgr::isSystem(entry.getFile().getFileCharacteristic())) {
        own.insert(&entry.getFile().getContentCache().OrigEntry->getFileEntry());
      }
    }
    const auto main = sources.getFileEntryRefForID(sources.getMainFileID());
    for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
      const std::string name = file->first.getName().str();
      if (name.starts_with(stub_folder)) {
        continue;
      }
      unit_.read.push_back(name);
      const bool is_main = main && &main->getFileEntry() == &file->first.getFileEntry();
      if (is_main || !own.contains(&file->first.getFileEntry())) {
        continue;
      }
      const auto text = sources.getMemoryBufferForFileOrNone(file->first);
      if (text && text->getBuffer().contains("NOLINT")) {
        marked_.push_back(name);
      }
    }
  }

private:
  Unit& unit_;
  std::vector<std::string>& marked_;
  bool& asks_for_clang_;
  const LowerOptions& options_;
};

/// The list in braces at the right of an assignment has no type of its own: void.
bool assigns_empty_braces(const clang::Diagnostic& info) {
  if (info.getArgKind(2) != clang::DiagnosticsEngine::ak_qualtype) {
    return false;
  }
  void* type = reinterpret_cast<void*>(info.getRawArg(2));
  return clang::QualType::getFromOpaquePtr(type)->isVoidType();
}

bool is_size_of_cluster(const clang::Diagnostic& info) {
  constexpr std::uint64_t bits_that_clang_keeps = 4;
  return info.getRawArg(1) == bits_that_clang_keeps;
}

/// Between two operands of inline assembly nvcc does not miss a comma: `"r"(a) "l"(b)`.
bool is_comma_of_assembly(const clang::Diagnostic& info) {
  if (info.getArgKind(0) != clang::DiagnosticsEngine::ak_tokenkind ||
      info.getRawArg(0) != clang::tok::r_paren || !info.hasSourceManager()) {
    return false;
  }
  const clang::SourceManager& sources = info.getSourceManager();
  const auto [file, offset] = sources.getDecomposedSpellingLoc(info.getLocation());
  const llvm::StringRef text = sources.getBufferData(file);
  return text.substr(offset).starts_with("\"") && text.take_front(offset).rtrim().ends_with(")");
}

/// What Clang refuses and nvcc does not, where the rest is read all the same.
bool is_right_for_nvcc(const clang::Diagnostic& info) {
  switch (info.getID()) {
  // nvcc hands the text of inline assembly on as it is: "%px" is a register there, and for Clang
  // half of an escape.
  case clang::diag::err_asm_invalid_escape:
  // It adds to a pointer to void as to one to char; of the sum nothing is known.
  case clang::diag::err_typecheck_pointer_arith_void_type:
  // A function that was declared for both sides stays so where it is declared again for one, as
  // headers of PyTorch declare the C library's __assert_fail.
  case clang::diag::err_cuda_ovl_target:
  // A program's own function beside one that the C++ library has brought into the same namespace.
  case clang::diag::err_using_decl_conflict:
  case clang::diag::err_using_decl_conflict_reverse:
  // Members of bases that depend on a parameter without `this->`; `typename` and `template` left
  // out.
  case clang::diag::err_found_in_dependent_base:
  case clang::diag::err_typename_missing:
  case clang::diag::err_typename_missing_template:
  case clang::diag::err_ovl_unresolvable:
  case clang::diag::err_alignas_underaligned:
  case clang::diag::err_pragma_loop_precedes_nonloop:
  // A method that is a template, called with arguments in angle brackets and without `template`.
  case clang::diag::err_bound_member_function:
  // `template <class U> void A<T>::f<U>()` defines the member template f.
  case clang::diag::err_function_template_partial_spec:
  // nvcc warns (802): the second declaration of a function template adds a default argument.
  case clang::diag::err_param_default_argument_template_redecl:
#if CLANG_VERSION_MAJOR >= 22
  // libcu++ marks its deduction guides for one side.
  case clang::diag::err_deduction_guide_target_attr:
#endif
    return true;
  // A function of both sides may call one of the host, as long as the device does not come there:
  // the library's `constexpr` functions throw in this way. nvcc warns.
  case clang::diag::err_ref_bad_target:
    return info.getRawArg(0) == static_cast<std::uint64_t>(clang::CUDAFunctionTarget::Host) &&
           info.getRawArg(3) == static_cast<std::uint64_t>(clang::CUDAFunctionTarget::HostDevice);
  // nvcc leaves out the constructor of a __shared__ variable, and warns; what is refused is an
  // initialiser that the program has written.
  case clang::diag::err_shared_var_init:
    return info.getNumRanges() > 0 && info.getRange(0).getBegin() == info.getLocation();
  // `a = {}` where several types could be assigned: nvcc takes that of `a`.
  case clang::diag::err_ovl_ambiguous_oper_binary:
    return assigns_empty_braces(info);
  // A cluster may have 16 blocks where the launch asks for it; Clang knows eight.
  case clang::diag::err_ice_too_large:
    return is_size_of_cluster(info);
  case clang::diag::err_expected:
    return is_comma_of_assembly(info);
  // A member that a template does not have, in a function that nothing instantiates.
  case clang::diag::err_no_member:
    return info.getArgKind(1) == clang::DiagnosticsEngine::ak_declcontext &&
           reinterpret_cast<const clang::DeclContext*>(info.getRawArg(1))->isDependentContext();
  default:
    return false;
  }
}

/// A parameter of type `auto` that is not one of a lambda expression.
bool is_parameter_without_type(const clang::Diagnostic& info) {
  constexpr std::uint64_t in_function_prototype = 0;
  return info.getID() == clang::diag::err_auto_not_allowed &&
         info.getRawArg(1) == in_function_prototype;
}

class CountErrors : public clang::DiagnosticConsumer {
public:
  explicit CountErrors(Unit& unit) : unit_(unit) {}
  /// Is something of C++20 used that nvcc takes in C++17, too?
  bool needs_newer_language() const { return needs_newer_language_; }
  void
  HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    if (level < clang::DiagnosticsEngine::Error || is_right_for_nvcc(info)) {
      return;
    }
    needs_newer_language_ |= is_parameter_without_type(info);
    ++unit_.errors;
    if (unit_.first_error.empty()) {
      llvm::SmallString<256> text;
      info.FormatDiagnostic(text);
      unit_.first_error = is_launch_without_flag(info)
                              ? "a kernel is launched by device code: nvcc needs -rdc=true for that"
                              : text.str().str();
      if (info.hasSourceManager() && info.getLocation().isValid()) {
        const auto place = info.getSourceManager().getPresumedLoc(info.getLocation());
        if (place.isValid()) {
          unit_.first_error =
              fmt::format("{}:{}: {}", place.getFilename(), place.getLine(), unit_.first_error);
        }
      }
    }
  }

private:
  Unit& unit_;
  bool needs_newer_language_ = false;
};

/// What nvcc says to device code for an architecture with a letter: sm_120a, sm_100f.
void add_special_features(const std::string& architecture, std::vector<std::string>& line) {
  const char kind = architecture.empty() ? ' ' : architecture.back();
  if (kind != 'a' && kind != 'f') {
    return;
  }
  const std::string number = architecture.substr(3, architecture.size() - 4) + "0";
  line.push_back("-D__CUDA_ARCH_FAMILY_SPECIFIC__=" + number);
  if (kind == 'a') {
    line.push_back("-D__CUDA_ARCH_SPECIFIC__=" + number);
  }
}

std::vector<std::string> command_line(const FrontEnd& request) {
  std::vector<std::string> line = {
      "clang++",
      "-xcuda",
      "-fsyntax-only",
      "--cuda-device-only",
      "--cuda-gpu-arch=" + request.architecture,
      "-nocudalib",
      "-w",
      "-ferror-limit=0",
      "-Wno-unknown-cuda-version",
      "-Wno-register",
      "-Wno-c++11-narrowing",
      "-Wno-missing-template-arg-list-after-template-kw",
      // Of a toolkit newer than itself Clang believes that it launches in the old way: one that
      // every Clang knows.
      "-Xclang",
      "-target-sdk-version=12.3",
      // Cooperative groups ask for nvcc before they declare clusters.
      "-D_CG_CLUSTER_INTRINSICS_AVAILABLE",
      "-resource-dir=" + clang_resources(),
  };
  if (request.toolkit.empty()) {
    line.insert(
        line.end(),
        {"-nocudainc",
         "-isystem",
         stub_folder,
         "-include",
         std::string(stub_folder) + "/cuda_runtime.h"}
    );
  } else {
    line.push_back("--cuda-path=" + request.toolkit);
  }
  add_special_features(request.architecture, line);
  // With -std=c++17, too, nvcc knows the extensions of GNU (typeof); what -std says to headers
  // stays.
  constexpr std::string_view strict = "-std=c++";
  std::string language = "-std=c++17";
  for (const std::string& flag : request.flags) {
    if (flag.starts_with("-std=")) {
      language = flag;
    } else {
      line.push_back(flag);
    }
  }
  if (language.starts_with(strict)) {
    line.insert(
        line.end(),
        {"-D__STRICT_ANSI__=1",
         "-Ulinux",
         "-Uunix",
         "-U__GLIBCXX_TYPE_INT_N_0", // for the library __int128 is no integer then
         "-U__GLIBCXX_BITSIZE_INT_N_0"}
    );
    language = "-std=gnu++" + language.substr(strict.size());
  }
  line.push_back(language);
  if (!request.toolkit.empty()) {
    // After the user's folders, as nvcc has it.
    line.insert(
        line.end(),
        {"-include",
         std::string(stub_folder) + "/heddle_prelude.h",
         "-isystem",
         request.toolkit + "/include/cccl",
         "-isystem",
         request.toolkit + "/include",
         "-isystem",
         stub_folder}
    );
  }
  line.push_back(request.file);
  return line;
}

/// Where Clang fails within itself that is an error of this file, and other files are read all the
/// same.
void run_guarded(clang::tooling::ToolInvocation& invocation, Unit& unit) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::CrashRecoveryContext::Enable(); });
  llvm::CrashRecoveryContext guard;
  const bool survived = guard.RunSafely([&] {
    clang::noteBottomOfStack();
    invocation.run(); // false where there were errors: they are counted
  });
  if (!survived) {
    Unit empty;
    empty.files = {"", unit.files.size() > 1 ? unit.files[1] : ""};
    empty.errors = 1;
    empty.first_error =
        "Clang, which reads the file for Heddle, has crashed; nothing of it is judged";
    unit = std::move(empty);
  }
}

bool is_toolkit(const std::filesystem::path& folder) {
  std::error_code failure;
  return std::filesystem::exists(folder / "include" / "cuda_runtime.h", failure);
}

} // namespace

std::string find_toolkit(const std::string& asked) {
  if (asked == "none") {
    return "";
  }
  if (!asked.empty()) {
    return asked;
  }
  std::vector<std::filesystem::path> candidates;
  if (const char* path = std::getenv("PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      const std::filesystem::path folder(rest.substr(0, colon));
      rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
      std::error_code failure;
      const auto nvcc = std::filesystem::canonical(folder / "nvcc", failure);
      if (!failure) {
        candidates.push_back(nvcc.parent_path().parent_path());
      }
    }
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) {
      candidates.emplace_back(value);
    }
  }
  candidates.emplace_back("/usr/local/cuda");
  if (const std::filesystem::path built_with = HEDDLE_BUILT_WITH_NVCC; !built_with.empty()) {
    candidates.push_back(built_with.parent_path().parent_path());
  }
  for (const auto& candidate : candidates) {
    if (is_toolkit(candidate)) {
      return candidate.string();
    }
  }
  return "";
}

bool knows_architecture(const std::string& name) {
  return !name.empty() && name == clang::OffloadArchToString(clang::StringToOffloadArch(name));
}

std::string nearest_architecture(const std::string& asked) {
  if (knows_architecture(asked)) {
    return asked;
  }
  if (!asked.starts_with("sm_")) {
    return "";
  }
  const bool special = asked.ends_with('a') || asked.ends_with('f');
  constexpr int oldest = 30;
  for (int number = std::atoi(asked.c_str() + 3); number >= oldest; --number) {
    const std::string name = fmt::format("sm_{}", number);
    for (const char* suffix : {"a", "f"}) {
      if (special && knows_architecture(name + suffix)) {
        return name + suffix;
      }
    }
    if (knows_architecture(name)) {
      return name;
    }
  }
  return "";
}

Result<Unit> read_unit(const FrontEnd& request, std::vector<std::string>* marked) {
  Unit unit;
  std::vector<std::string> headers;
  LowerOptions options{request.synchronization_functions, request.system_kernels};
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::vfs::createPhysicalFileSystem()
  );
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  overlay->pushOverlay(memory);
  if (!request.folder.empty()) {
    overlay->setCurrentWorkingDirectory(request.folder);
  }
  if (request.toolkit.empty()) {
    for (const StubHeader& header : stub_headers()) {
      memory->addFile(
          fmt::format("{}/{}", stub_folder, header.path),
          0,
          llvm::MemoryBuffer::getMemBuffer(header.text)
      );
      // A toolkit on the compiler's own path: its headers find each other without looking at ours.
      for (const char* folder : {"/usr/local/include", "/usr/include"}) {
        const std::string path = fmt::format("{}/{}", folder, header.path);
        if (overlay->exists(path)) {
          memory->addFile(
              path,
              0,
              llvm::MemoryBuffer::getMemBufferCopy(
                  fmt::format("#pragma once\n#include <{}/{}>\n", stub_folder, header.path)
              )
          );
        }
      }
    }
  } else {
    add_prelude(request, *overlay, *memory);
  }
  patch_launch_variables(*overlay, *memory);
  add_openmp(*overlay, *memory);
  const auto status = overlay->status(request.file);
  if (!status) {
    return input_error(fmt::format("no such file: {}", request.file));
  }
  if (status->isDirectory()) {
    return input_error(
        fmt::format("{} is a folder; name files, or a database by -p", request.file)
    );
  }
  bool asks_for_clang = false;
  const auto read = [&](const FrontEnd& with, Unit& into) {
    auto files = llvm::makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions{}, overlay);
    clang::tooling::ToolInvocation invocation(
        command_line(with),
        std::make_unique<Action>(into, headers, asks_for_clang, options),
        files.get(),
        std::make_shared<clang::PCHContainerOperations>()
    );
    CountErrors errors(into);
    invocation.setDiagnosticConsumer(&errors);
    run_guarded(invocation, into);
    return errors.needs_newer_language();
  };
  const auto read_again = [&](const std::vector<std::string>& flags) {
    FrontEnd otherwise = request;
    otherwise.flags.insert(otherwise.flags.end(), flags.begin(), flags.end());
    Unit again;
    read(otherwise, again);
    if (again.errors < unit.errors) {
      unit = std::move(again);
    }
  };
  if (read(request, unit)) {
    read_again({"-std=c++20"});
  }
  if (unit.errors > 0 && asks_for_clang && !request.toolkit.empty()) {
    read_again({"-fgnuc-version=12.2", "-include", hides_clang});
  }
  if (marked != nullptr) {
    *marked = std::move(headers);
  }
  if (unit.files.empty()) {
    return input_error(
        fmt::format("{}: clang could not read it: {}", request.file, unit.first_error)
    );
  }
  return unit;
}

} // namespace heddle::lint
