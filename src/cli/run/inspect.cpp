// Messages for programs that cannot run with Heddle as they were built.
#include "cli/run/inspect.h"

#include "base/closed_libraries.h"
#include "cli/file.h"
#include "cli/run/elf.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <span>

namespace heddle::cli {
namespace {

constexpr std::string_view how_to_link =
    "  with nvcc:   add -cudart shared to the command that links\n"
    "  with CMake:  set CMAKE_CUDA_RUNTIME_LIBRARY to Shared\n"
    "  with make:   make NVCC=\"heddle-cc nvcc\" CXX=\"heddle-cc g++\", which changes nothing "
    "else\n"
    "  or give heddle the source file: heddle run app.cu";

std::string_view extension(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash)
             ? std::string_view()
             : path.substr(dot);
}

/// Why a file that is no ELF file cannot be run, in words.
std::string why_not_a_program(std::string_view path) {
  const std::string_view suffix = extension(path);
  for (std::string_view source : {".cpp", ".cc", ".cxx", ".c", ".cuh", ".h", ".hpp"}) {
    if (suffix == source) {
      return fmt::format(
          "'{}' is a source file that nvcc does not treat as CUDA; give heddle a .cu file or a "
          "program",
          path
      );
    }
  }
  if (suffix == ".ptx" || suffix == ".cubin" || suffix == ".fatbin") {
    return fmt::format("'{}' holds device code only; heddle runs whole programs", path);
  }
  return fmt::format("'{}' is not a program (neither an ELF file nor a script)", path);
}

bool shows_cuda(const Elf& elf) {
  return elf.needs("libcudart.so") || elf.static_runtime || elf.launched ||
         elf.needs("libcuda.so.1");
}

/// Where the dynamic linker looks before the folders of the system, which hold no program's
/// kernels.
std::vector<std::string> library_folders(const std::string& path, const Elf& elf) {
  const std::string origin = std::filesystem::path(path).parent_path().string();
  std::vector<std::string> folders;
  const char* set = std::getenv("LD_LIBRARY_PATH");
  for (std::string list : {elf.rpath, elf.runpath, std::string(set == nullptr ? "" : set)}) {
    list += ':';
    for (std::size_t end = list.find(':'); end != std::string::npos; end = list.find(':')) {
      std::string folder = list.substr(0, end);
      list.erase(0, end + 1);
      for (const std::string_view name : {"$ORIGIN", "${ORIGIN}"}) {
        if (folder.starts_with(name)) {
          folder.replace(0, name.size(), origin.empty() ? "." : origin);
        }
      }
      if (!folder.empty()) {
        folders.push_back(std::move(folder));
      }
    }
  }
  return folders;
}

/// Does a library that the file is linked with, or one of theirs, show that it uses CUDA?
bool libraries_show_cuda(const std::string& path, const Elf& elf, std::set<std::string>& seen) {
  const std::vector<std::string> folders = library_folders(path, elf);
  for (const std::string& library : elf.needed) {
    std::vector<std::string> places;
    if (library.find('/') != std::string::npos) {
      places.push_back(library);
    }
    for (const std::string& folder : folders) {
      places.push_back(folder + "/" + library);
    }
    for (const std::string& place : places) {
      if (access(place.c_str(), R_OK) != 0) {
        continue;
      }
      if (!seen.insert(place).second) {
        break;
      }
      const Result<std::string> contents = read_named_file(place);
      if (!contents || !is_elf(std::as_bytes(std::span(*contents)))) {
        continue;
      }
      const Result<Elf> found = parse_elf(std::as_bytes(std::span(*contents)));
      if (found && (shows_cuda(*found) || libraries_show_cuda(place, *found, seen))) {
        return true;
      }
      break;
    }
  }
  return false;
}

Result<void> check_runtime_library(const std::string& path, const Elf& elf) {
  for (const std::string& library : elf.needed) {
    if (library.starts_with("libcudart.so.") && library != "libcudart.so.12" &&
        library != "libcudart.so.13") {
      return unsupported(
          fmt::format(
              "'{}' is linked with {}; heddle stands in for libcudart.so.12 and libcudart.so.13",
              path,
              library
          )
      );
    }
  }
  if (elf.static_runtime && elf.static_runtime_major < 12) {
    return unsupported(
        fmt::format(
            "'{}' contains NVIDIA's runtime library of CUDA 11 or older; heddle stands in for "
            "those "
            "of CUDA 12 and 13",
            path
        )
    );
  }
  // Who is linked with the driver loads its kernels by that: a runtime library that is linked
  // statically loads the driver itself.
  const bool has_runtime = elf.needs("libcudart.so") || elf.static_runtime;
  if (elf.has_kernels && !elf.launched && !has_runtime && !elf.needs("libcuda.so")) {
    return input_error(
        fmt::format(
            "'{}' contains kernels, but no symbol table that shows where NVIDIA's runtime library "
            "is: it was stripped\n"
            "  do not strip it (no strip, no -s), or strip it with strip -g, which keeps the "
            "names\n"
            "  or link it with a shared runtime library:\n{}",
            path,
            how_to_link
        )
    );
  }
  return {};
}

} // namespace

Result<Inspection> inspect(const std::string& path) {
  TRY(const std::string contents, read_named_file(path));
  const auto bytes = std::as_bytes(std::span(contents));
  Inspection result;
  if (contents.starts_with("#!")) {
    result.script = true;
    result.may_compile = true;
  } else if (!is_elf(bytes)) {
    return input_error(why_not_a_program(path));
  } else {
    auto elf = parse_elf(bytes);
    if (!elf) {
      return input_error(fmt::format("'{}': {}", path, elf.error().message));
    }
    if (!elf->x86_64) {
      return unsupported(fmt::format("'{}' is not an x86-64 program", path));
    }
    if (!elf->executable) {
      return input_error(fmt::format("'{}' is an object file or a library, not a program", path));
    }
    TRY_VOID(check_runtime_library(path, *elf));
    result.launched = elf->launched;
    result.starts_programs = elf->starts_programs;
    result.launched_12 = elf->launched_12;
    result.driver = elf->needs("libcuda.so.1");
    result.static_runtime = elf->static_runtime ? elf->static_runtime_major : 0;
    result.cuda = shows_cuda(*elf);
    // A program that shows no sign of CUDA (Python) may have libraries that load others.
    result.may_compile =
        elf->needs("libnvrtc.so") || elf->needs("libnvJitLink.so") || elf->loads || !result.cuda;
    if (!elf->dynamic) {
      return input_error(
          fmt::format(
              "'{}' is linked statically as a whole (-static), so heddle cannot take the place of "
              "libcudart\n{}",
              path,
              how_to_link
          )
      );
    }
    result.instrumented = elf->instrumented || elf->launched;
    result.rpath_wins = !elf->rpath.empty() && elf->runpath.empty();
    for (const std::string& library : elf->needed) {
      if (is_closed_library(library) && !has_stand_in(library)) {
        result.warnings.push_back(
            fmt::format(
                "'{}' needs {}, whose kernels exist only as machine code of NVIDIA's GPUs; calls "
                "into it will fail",
                path,
                library
            )
        );
      }
    }
    // A program that may load libraries (an interpreter) need not show that it uses CUDA.
    std::set<std::string> seen;
    if (!result.cuda && !elf->loads && !elf->needs("libpython") &&
        !libraries_show_cuda(path, *elf, seen)) {
      result.warnings.push_back(
          fmt::format(
              "'{}' shows no sign of CUDA (no kernels, not linked with libcudart); running it as "
              "it is",
              path
          )
      );
    }
  }
  if (access(path.c_str(), X_OK) != 0) {
    return input_error(fmt::format("'{}' is not executable (chmod +x)", path));
  }
  return result;
}

} // namespace heddle::cli
