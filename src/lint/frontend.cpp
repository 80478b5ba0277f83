#include "lint/frontend.h"

#include "lint/lower.h"

#include <clang/Basic/Cuda.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Tooling/Tooling.h>
#include <fmt/format.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace heddle::lint {
namespace {

constexpr const char* stub_folder = "/heddle/include";

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
  Action(Unit& unit, const LowerOptions& options) : unit_(unit), options_(options) {}

protected:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<MissingIncludes>(unit_));
    return true;
  }
  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Lower>(unit_, options_);
  }

private:
  Unit& unit_;
  const LowerOptions& options_;
};

class CountErrors : public clang::DiagnosticConsumer {
public:
  explicit CountErrors(Unit& unit) : unit_(unit) {}
  void
  HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    if (level < clang::DiagnosticsEngine::Error) {
      return;
    }
    ++unit_.errors;
    if (unit_.first_error.empty()) {
      llvm::SmallString<256> text;
      info.FormatDiagnostic(text);
      unit_.first_error = text.str().str();
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
};

/// Clang's own headers: those that a package has brought along, else those of the LLVM that this
/// was built with.
std::string clang_resources() {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  const fs::path packaged = program.parent_path().parent_path() / "lib" / "heddle" / "clang";
  return fs::is_directory(packaged / "include", failure) ? packaged.string()
                                                         : HEDDLE_CLANG_RESOURCES;
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
  line.insert(line.end(), request.flags.begin(), request.flags.end());
  if (std::ranges::none_of(request.flags, [](const std::string& flag) {
        return flag.starts_with("-std=");
      })) {
    line.push_back("-std=c++17");
  }
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

bool is_toolkit(const std::filesystem::path& folder) {
  std::error_code failure;
  return std::filesystem::exists(folder / "include" / "cuda_runtime.h", failure);
}

/// The macros by which programs ask for nvcc and for its version: that of the toolkit, whose
/// runtime says it.
std::string compiler_macros(const std::string& toolkit) {
  constexpr std::string_view key = "#define CUDART_VERSION";
  std::ifstream header(toolkit + "/include/cuda_runtime_api.h");
  for (std::string line; std::getline(header, line);) {
    if (line.starts_with(key)) {
      const int version = std::atoi(line.c_str() + key.size());
      return fmt::format(
          "#define __NVCC__ 1\n"
          "#define __CUDACC_VER_MAJOR__ {0}\n#define __CUDACC_VER_MINOR__ {1}\n"
          "#define __CUDACC_VER_BUILD__ 0\n#define __CUDA_API_VER_MAJOR__ {0}\n"
          "#define __CUDA_API_VER_MINOR__ {1}\n",
          version / 1000,
          version % 1000 / 10
      );
    }
  }
  return "";
}

/// What nvcc declares and Clang does not.
constexpr const char* prelude = R"cuda(
#pragma once
#if defined(__CUDACC__) && defined(__cplusplus)
#define HEDDLE_ORDER(A, B, R) __attribute__((host)) R min(A, B); __attribute__((host)) R max(A, B);
#define HEDDLE_ORDER_BOTH(A, B, R) HEDDLE_ORDER(A, B, R) HEDDLE_ORDER(B, A, R)
HEDDLE_ORDER(int, int, int)
HEDDLE_ORDER(unsigned, unsigned, unsigned)
HEDDLE_ORDER(long, long, long)
HEDDLE_ORDER(unsigned long, unsigned long, unsigned long)
HEDDLE_ORDER(long long, long long, long long)
HEDDLE_ORDER(unsigned long long, unsigned long long, unsigned long long)
HEDDLE_ORDER(float, float, float)
HEDDLE_ORDER(double, double, double)
HEDDLE_ORDER_BOTH(unsigned, int, unsigned)
HEDDLE_ORDER_BOTH(unsigned long, long, unsigned long)
HEDDLE_ORDER_BOTH(unsigned long long, long long, unsigned long long)
HEDDLE_ORDER_BOTH(float, double, double)
#undef HEDDLE_ORDER_BOTH
#undef HEDDLE_ORDER
__attribute__((device)) unsigned short atomicCAS(unsigned short*, unsigned short, unsigned short);
#endif
)cuda";

/// A barrier in shared memory has a destructor, which Clang refuses there and nvcc does not. The
/// header that says so is read without it; lines stay where they are.
void patch_barriers(
    const std::string& toolkit,
    llvm::vfs::FileSystem& disk,
    llvm::vfs::InMemoryFileSystem& memory
) {
  constexpr std::string_view destructor = "~barrier()";
  for (const char* folder : {"/include/cccl/", "/include/"}) {
    for (const char* name :
         {"cuda/__barrier/barrier_block_scope.h",
          "cuda/barrier",
          "cuda/std/detail/__barrier",
          "cuda/std/barrier"}) {
      const std::string path = toolkit + folder + name;
      const auto buffer = disk.getBufferForFile(path);
      if (!buffer) {
        continue;
      }
      std::string text = (*buffer)->getBuffer().str();
      const std::size_t at = text.find(destructor);
      const std::size_t body = text.find_first_not_of(" \t\r\n", at + destructor.size());
      if (at == std::string::npos || body == std::string::npos || text[body] != '{') {
        continue;
      }
      text.insert(
          at + destructor.size(),
          " = default; __attribute__((device)) void heddle_invalidate()"
      );
      memory.addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
    }
  }
}

/// Before the program Clang reads headers that nvcc does not read, and whose parameters have the
/// names that programs like for macros (-DN=1024, -DX=1). Macros of one letter begin behind them.
void hide_macros(
    const std::vector<std::string>& flags,
    llvm::vfs::FileSystem& disk,
    llvm::vfs::InMemoryFileSystem& memory
) {
  const std::string path = clang_resources() + "/include/__clang_cuda_runtime_wrapper.h";
  const auto buffer = disk.getBufferForFile(path);
  std::string before;
  std::string behind;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const bool apart = flags[i] == "-D" && i + 1 < flags.size();
    const std::string macro = apart                        ? flags[i + 1]
                              : flags[i].starts_with("-D") ? flags[i].substr(2)
                                                           : "";
    if (macro.size() == 1 || (macro.size() > 1 && macro[1] == '=')) {
      before += fmt::format("#pragma push_macro(\"{0}\")\n#undef {0}\n", macro[0]);
      behind += fmt::format("#pragma pop_macro(\"{}\")\n", macro[0]);
    }
  }
  if (buffer && !before.empty()) {
    const std::string text = before + (*buffer)->getBuffer().str() + behind;
    memory.addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  }
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

Result<Unit> read_unit(const FrontEnd& request) {
  Unit unit;
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
    memory->addFile(
        fmt::format("{}/heddle_prelude.h", stub_folder),
        0,
        llvm::MemoryBuffer::getMemBufferCopy(prelude + compiler_macros(request.toolkit))
    );
    patch_barriers(request.toolkit, *overlay, *memory);
    hide_macros(request.flags, *overlay, *memory);
    // Before 22 Clang's own headers include this one of old toolkits, which CUDA 13 does not have.
    constexpr const char* textures = "texture_fetch_functions.h";
    if (!overlay->exists(fmt::format("{}/include/{}", request.toolkit, textures))) {
      memory->addFile(
          fmt::format("{}/{}", stub_folder, textures),
          0,
          llvm::MemoryBuffer::getMemBuffer("")
      );
    }
  }
  const auto status = overlay->status(request.file);
  if (!status) {
    return input_error(fmt::format("no such file: {}", request.file));
  }
  if (status->isDirectory()) {
    return input_error(
        fmt::format("{} is a folder; name files, or a database by -p", request.file)
    );
  }
  auto files = llvm::makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions{}, overlay);
  clang::tooling::ToolInvocation invocation(
      command_line(request),
      std::make_unique<Action>(unit, options),
      files.get(),
      std::make_shared<clang::PCHContainerOperations>()
  );
  CountErrors errors(unit);
  invocation.setDiagnosticConsumer(&errors);
  invocation.run(); // false where there were errors: they are counted
  if (unit.files.empty()) {
    return input_error(
        fmt::format("{}: clang could not read it: {}", request.file, unit.first_error)
    );
  }
  return unit;
}

} // namespace heddle::lint
