// prelude.h: what nvcc declares, defines or hides and Clang does not, for sources that are read
// with a toolkit.
//
//   add_prelude(request, disk, memory);      // files below stub_folder, and patched headers
//
// Two parts. A header that is included before the source (`heddle_prelude.h`) declares functions
// and macros of nvcc. Patched copies of a few headers take the place of those on the disk: Clang's
// own wrapper around cuda_runtime.h, its threadIdx, and the barriers of libcu++. Lines of patched
// headers stay where they are, as far as a finding can point there.
#pragma once

#include "lint/frontend.h"

#include <llvm/Support/VirtualFileSystem.h>

#include <string>

namespace heddle::lint {

/// Where Heddle's own headers lie. No such folder exists on a disk.
inline constexpr const char* stub_folder = "/heddle/include";

/// A header behind which `__clang__` is not defined, as with nvcc. Most programs that ask for Clang
/// are better read as they are for it: it knows what it has. This is for those that are not.
inline constexpr const char* hides_clang = "/heddle/include/heddle_hides_clang.h";

/// Clang's own headers: those that a package has brought along, else those of the LLVM that this
/// was built with.
std::string clang_resources();

/// The text of a header with nvcc's __nv_atomic_ functions.
extern const char* const nvcc_atomics;

void add_prelude(
    const FrontEnd& request,
    llvm::vfs::FileSystem& disk,
    llvm::vfs::InMemoryFileSystem& memory
);

/// `threadIdx` and its relatives. Clang's have properties instead of members and cannot be copied:
/// `auto t = threadIdx` is an error, and `__builtin_bit_cast(int, threadIdx.x)` crashes Clang. For
/// nvcc they are objects, and so they are in the copy that takes the header's place.
void patch_launch_variables(llvm::vfs::FileSystem& disk, llvm::vfs::InMemoryFileSystem& memory);

/// omp.h lies in the folder of gcc's own headers, which Clang does not look into: most others there
/// are for gcc alone.
void add_openmp(llvm::vfs::FileSystem& disk, llvm::vfs::InMemoryFileSystem& memory);

} // namespace heddle::lint
