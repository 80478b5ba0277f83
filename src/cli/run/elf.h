// What an ELF file says about itself, as far as running it with another libcudart is concerned.
//
// Reads the 64-bit little-endian format of the ELF specification (gABI) and nothing of the loader's
// environment. Every offset is checked against the file: a damaged file is an Input error, never a
// crash.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

struct Elf {
  bool executable = false; // ET_EXEC, or ET_DYN with an interpreter
  bool dynamic = false;    // has an interpreter: ld.so loads its libraries
  bool x86_64 = false;
  std::vector<std::string> needed; // DT_NEEDED
  std::string rpath;               // DT_RPATH
  std::string runpath;             // DT_RUNPATH; where it is set, DT_RPATH is ignored
  bool static_runtime = false;   // NVIDIA's runtime library is in the file itself (nvcc's default)
  int static_runtime_major = 13; // of which version; 11 stands for all before 12
  bool loads = false;            // refers to dlopen: may load libraries itself
  bool starts_programs = false;  // refers to exec and its kind
  bool instrumented = false;     // refers to __tsan_func_entry: -fsanitize=thread
  bool launched = false;         // has a section .heddle_cc: compiled with heddle-cc
  bool launched_12 = false;      // … and .heddle_cc_12: by an nvcc of CUDA 12
  bool has_kernels = false;      // has a section .nv_fatbin or __nv_relfatbin

  bool needs(std::string_view prefix) const;
};

/// True if `bytes` begins like an ELF file.
bool is_elf(std::span<const std::byte> bytes);

/// `bytes` must outlive the result.
Result<Elf> parse_elf(std::span<const std::byte> bytes);

} // namespace heddle::cli
