#include "lint/prelude.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace heddle::lint {

/// nvcc's built-in atomic functions (12.8 and later) with their constants.
const char* const nvcc_atomics = R"cuda(
#pragma once
#if defined(__CUDA__) && defined(__cplusplus)
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
#define HEDDLE_NVCC template <class T> __attribute__((device))
template <class T> struct __heddle_plain { typedef T type; };
template <class T> struct __heddle_plain<const T> { typedef T type; };
template <class T> struct __heddle_plain<volatile T> { typedef T type; };
template <class T> struct __heddle_plain<const volatile T> { typedef T type; };
#define HEDDLE_PLAIN typename __heddle_plain<T>::type
HEDDLE_NVCC void __nv_atomic_load(T*, HEDDLE_PLAIN*, int, int = __NV_THREAD_SCOPE_SYSTEM);
HEDDLE_NVCC HEDDLE_PLAIN __nv_atomic_load_n(T*, int, int = __NV_THREAD_SCOPE_SYSTEM);
HEDDLE_NVCC void __nv_atomic_store(T*, HEDDLE_PLAIN*, int, int = __NV_THREAD_SCOPE_SYSTEM);
HEDDLE_NVCC void __nv_atomic_store_n(T*, HEDDLE_PLAIN, int, int = __NV_THREAD_SCOPE_SYSTEM);
HEDDLE_NVCC void __nv_atomic_exchange(T*, HEDDLE_PLAIN*, HEDDLE_PLAIN*, int, int = __NV_THREAD_SCOPE_SYSTEM);
HEDDLE_NVCC HEDDLE_PLAIN __nv_atomic_exchange_n(T*, HEDDLE_PLAIN, int, int = __NV_THREAD_SCOPE_SYSTEM);
HEDDLE_NVCC bool __nv_atomic_compare_exchange(T*, HEDDLE_PLAIN*, HEDDLE_PLAIN*, bool, int, int, int = __NV_THREAD_SCOPE_SYSTEM);
HEDDLE_NVCC bool __nv_atomic_compare_exchange_n(T*, HEDDLE_PLAIN*, HEDDLE_PLAIN, bool, int, int, int = __NV_THREAD_SCOPE_SYSTEM);
#define HEDDLE_UPDATE(N) \
  HEDDLE_NVCC HEDDLE_PLAIN __nv_atomic_fetch_##N(T*, HEDDLE_PLAIN, int, int = __NV_THREAD_SCOPE_SYSTEM); \
  HEDDLE_NVCC void __nv_atomic_##N(T*, HEDDLE_PLAIN, int, int = __NV_THREAD_SCOPE_SYSTEM);
HEDDLE_UPDATE(add) HEDDLE_UPDATE(sub) HEDDLE_UPDATE(and) HEDDLE_UPDATE(or) HEDDLE_UPDATE(xor)
HEDDLE_UPDATE(min) HEDDLE_UPDATE(max)
__attribute__((device)) void __nv_atomic_thread_fence(int, int = __NV_THREAD_SCOPE_SYSTEM);
#undef HEDDLE_UPDATE
#undef HEDDLE_PLAIN
#undef HEDDLE_NVCC
#endif
)cuda";

namespace {

/// The version of the toolkit, which its runtime says: 13000 is 13.0.
int toolkit_version(const std::string& toolkit) {
  constexpr std::string_view key = "#define CUDART_VERSION";
  std::ifstream header(toolkit + "/include/cuda_runtime_api.h");
  for (std::string line; std::getline(header, line);) {
    if (line.starts_with(key)) {
      return std::atoi(line.c_str() + key.size());
    }
  }
  return 0;
}

/// The macros by which programs ask for nvcc and for its version.
std::string compiler_macros(int version) {
  if (version == 0) {
    return "";
  }
  constexpr int first_with_atomics = 12080;
  return fmt::format(
             "#define __NVCC__ 1\n"
             "#undef __CUDA__\n" // by which programs ask for Clang
             "#define __CUDACC_VER_MAJOR__ {0}\n#define __CUDACC_VER_MINOR__ {1}\n"
             "#define __CUDACC_VER_BUILD__ 0\n#define __CUDA_API_VER_MAJOR__ {0}\n"
             "#define __CUDA_API_VER_MINOR__ {1}\n"
             "#define __NVCC_DIAG_PRAGMA_SUPPORT__ 1\n",
             version / 1000,
             version % 1000 / 10
         ) +
         (version >= first_with_atomics ? "#define __CUDACC_DEVICE_ATOMIC_BUILTINS__ 1\n" : "");
}

/// Functions that nvcc declares and Clang does not. Signatures only: functions.def says what they
/// mean, where it matters.
constexpr const char* nvcc_functions = R"cuda(
#pragma once
#if defined(__CUDACC__) && defined(__cplusplus)
// Clang defines it without a value.
#undef __CUDACC__
#define __CUDACC__ 1
// Clang ignores nvcc's attribute, and takes the variable for one of the host.
#undef __managed__
#define __managed__ __attribute__((device)) __attribute__((annotate("heddle_managed")))
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
#define HEDDLE_NVCC __attribute__((device))
HEDDLE_NVCC unsigned short atomicCAS(unsigned short*, unsigned short, unsigned short);
HEDDLE_NVCC float __tanhf(float);
extern "C" HEDDLE_NVCC void* __nv_associate_access_property_impl(const void*, unsigned long long);
extern "C" HEDDLE_NVCC unsigned __nvvm_get_smem_pointer(void*);
// sm_32_intrinsics.h, which Clang does not read.
#define HEDDLE_LOAD(N) template <class T> HEDDLE_NVCC T N(const T*);
#define HEDDLE_STORE(N) template <class T> HEDDLE_NVCC void N(T*, T);
HEDDLE_LOAD(__ldg) HEDDLE_LOAD(__ldca) HEDDLE_LOAD(__ldcg) HEDDLE_LOAD(__ldcs) HEDDLE_LOAD(__ldcv) HEDDLE_LOAD(__ldlu)
HEDDLE_STORE(__stcg) HEDDLE_STORE(__stcs) HEDDLE_STORE(__stwb) HEDDLE_STORE(__stwt)
#undef HEDDLE_LOAD
#undef HEDDLE_STORE
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define HEDDLE_PAIRS(R) \
  HEDDLE_NVCC float2 __ffma2_##R(float2, float2, float2); HEDDLE_NVCC float2 __fadd2_##R(float2, float2); \
  HEDDLE_NVCC float2 __fmul2_##R(float2, float2);
HEDDLE_PAIRS(rn) HEDDLE_PAIRS(rz) HEDDLE_PAIRS(rd) HEDDLE_PAIRS(ru)
#undef HEDDLE_PAIRS
#endif
#undef HEDDLE_NVCC
#ifdef __CUDACC_EXTENDED_LAMBDA__
// A closure is taken to be one for both sides: Clang does not say for which it is.
#define __nv_is_extended_device_lambda_closure_type(T) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(T) false
#define __nv_is_extended_host_device_lambda_closure_type(T) (__is_class(T) && !__is_aggregate(T))
#endif
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
constexpr std::string_view extended_lambda = "__CUDACC_EXTENDED_LAMBDA__";
struct HiddenMacros {
  std::string before, behind;
};
HiddenMacros hidden_macros(const std::vector<std::string>& flags) {
  HiddenMacros result;
  const auto hide = [&](std::string_view name) {
    result.before += fmt::format("#pragma push_macro(\"{0}\")\n#undef {0}\n", name);
    result.behind += fmt::format("#pragma pop_macro(\"{}\")\n", name);
  };
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const bool apart = flags[i] == "-D" && i + 1 < flags.size();
    const std::string macro = apart                        ? flags[i + 1]
                              : flags[i].starts_with("-D") ? flags[i].substr(2)
                                                           : "";
    if (macro.size() == 1 || (macro.size() > 1 && macro[1] == '=')) {
      hide(macro.substr(0, 1));
    } else if (macro == extended_lambda) { // cuda_runtime.h would include <functional> before
      hide(macro);                         // Clang has declared the device's malloc
    }
  }
  return result;
}

/// nvcc makes the C library's __assert_fail a function of both sides. So do headers (libcu++ with
/// NDEBUG), which Clang then refuses: it has one for each side.
constexpr const char* assertions = R"cuda(
#if defined(__has_include)
#if __has_include(<features.h>)
#include <features.h>
#endif
#endif
#if defined(__GLIBC__) && !defined(_ASSERT_H_DECLS)
#define _ASSERT_H_DECLS
extern "C" {
__attribute__((host)) __attribute__((device)) void __assert_fail(const char*, const char*, unsigned, const char*) noexcept(true) __attribute__((noreturn));
void __assert_perror_fail(int, const char*, unsigned, const char*) noexcept(true) __attribute__((noreturn));
void __assert(const char*, const char*, int) noexcept(true) __attribute__((noreturn));
}
#define __assert_fail __heddle_assert_fail
#define HEDDLE_ASSERT_FAIL
#endif
)cuda";
constexpr const char* behind_assertions = R"cuda(
#ifdef HEDDLE_ASSERT_FAIL
#undef __assert_fail
#undef HEDDLE_ASSERT_FAIL
#endif
)cuda";

/// Clang's wrapper around cuda_runtime.h reads cuda.h for its version alone. nvcc does not read it,
/// so programs may define what it defines (uint64_t).
void patch_wrapper(
    const FrontEnd& request,
    int version,
    llvm::vfs::FileSystem& disk,
    llvm::vfs::InMemoryFileSystem& memory
) {
  const std::string path = clang_resources() + "/include/__clang_cuda_runtime_wrapper.h";
  const auto buffer = disk.getBufferForFile(path);
  if (!buffer) {
    return;
  }
  std::string text = (*buffer)->getBuffer().str();
  constexpr std::string_view driver = "#include \"cuda.h\"";
  if (const std::size_t at = text.find(driver); at != std::string::npos && version != 0) {
    text.replace(
        at,
        driver.size(),
        fmt::format("typedef unsigned cuuint32_t;\n#define CUDA_VERSION {}", version)
    );
    text += "\n#undef CUDA_VERSION\n";
  }
  const HiddenMacros macros = hidden_macros(request.flags);
  memory.addFile(
      path,
      0,
      llvm::MemoryBuffer::getMemBufferCopy(
          macros.before + assertions + text + behind_assertions + macros.behind,
          path
      )
  );
}

} // namespace

std::string clang_resources() {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  const fs::path packaged = program.parent_path().parent_path() / "lib" / "heddle" / "clang";
  return fs::is_directory(packaged / "include", failure) ? packaged.string()
                                                         : HEDDLE_CLANG_RESOURCES;
}

void patch_launch_variables(llvm::vfs::FileSystem& disk, llvm::vfs::InMemoryFileSystem& memory) {
  const std::string path = clang_resources() + "/include/__clang_cuda_builtin_vars.h";
  const auto buffer = disk.getBufferForFile(path);
  if (!buffer) {
    return;
  }
  std::string text = (*buffer)->getBuffer().str();
  constexpr std::pair<std::string_view, std::string_view> changes[] = {
      {"__declspec(property(get = __fetch_builtin_##FIELD)) unsigned int FIELD;",
       "unsigned int FIELD;"},
      {"__attribute__((device)) TypeName(const TypeName &) __DELETE;",
       "__attribute__((device)) TypeName(const TypeName &o) : x(o.x), y(o.y), z(o.z) {}"},
      {"__attribute__((device)) void operator=(const TypeName &) const __DELETE;", ""},
  };
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) {
      return;
    }
    text.replace(at, from.size(), to);
  }
  constexpr std::string_view hidden = "private:";
  for (std::size_t at = text.find(hidden); at != std::string::npos; at = text.find(hidden, at)) {
    text.replace(at, hidden.size(), "public:");
  }
  memory.addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
}

void add_prelude(
    const FrontEnd& request,
    llvm::vfs::FileSystem& disk,
    llvm::vfs::InMemoryFileSystem& memory
) {
  const int version = toolkit_version(request.toolkit);
  memory.addFile(
      fmt::format("{}/heddle_prelude.h", stub_folder),
      0,
      llvm::MemoryBuffer::getMemBufferCopy(
          std::string(nvcc_functions) + nvcc_atomics + compiler_macros(version)
      )
  );
  memory.addFile(hides_clang, 0, llvm::MemoryBuffer::getMemBuffer("#undef __clang__\n"));
  patch_barriers(request.toolkit, disk, memory);
  patch_wrapper(request, version, disk, memory);
  // Before 22 Clang's own headers include this one of old toolkits, which CUDA 13 does not have.
  constexpr const char* textures = "texture_fetch_functions.h";
  if (!disk.exists(fmt::format("{}/include/{}", request.toolkit, textures))) {
    memory.addFile(
        fmt::format("{}/{}", stub_folder, textures),
        0,
        llvm::MemoryBuffer::getMemBuffer("")
    );
  }
}

void add_openmp(llvm::vfs::FileSystem& disk, llvm::vfs::InMemoryFileSystem& memory) {
  namespace fs = std::filesystem;
  std::error_code failure;
  fs::path newest;
  int newest_version = 0;
  for (const fs::directory_entry& target : fs::directory_iterator("/usr/lib/gcc", failure)) {
    for (const fs::directory_entry& version : fs::directory_iterator(target.path(), failure)) {
      const int number = std::atoi(version.path().filename().c_str());
      const fs::path header = version.path() / "include" / "omp.h";
      if (number > newest_version && fs::exists(header, failure)) {
        newest = header;
        newest_version = number;
      }
    }
  }
  if (const auto text = disk.getBufferForFile(newest.string()); !newest.empty() && text) {
    memory.addFile(
        fmt::format("{}/omp.h", stub_folder),
        0,
        llvm::MemoryBuffer::getMemBufferCopy((*text)->getBuffer(), newest.string())
    );
  }
}

} // namespace heddle::lint
