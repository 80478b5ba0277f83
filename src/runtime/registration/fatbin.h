// Fat binaries: what nvcc leaves in the host object for the runtime library to find.
//
//   Result<std::vector<FatbinEntry>> entries = parse_fatbin(bytes);
//   Result<std::string> ptx = select_ptx(*entries, /*arch=*/90, "app.cu");
//
// Layout (little-endian, found by experiment with nvcc 11 to 13; NVIDIA does not document it):
//
//   wrapper  0  u32 magic 0x466243b1   4 u32 version (1 or 2)   8 const void* data   16 const void*
//   more header   0  u32 magic 0xba55ed50   4 u16 version 1   6 u16 header size   8 u64 size of
//   what follows entry    0  u16 kind   2 u16   4 u32 header size   8 u64 payload size   16 u32
//   compressed size
//            24 u16 minor  26 u16 major  28 u32 arch   40 u64 flags   56 u64 uncompressed size
//
// The next entry stands at header size + payload size. With -rdc=true the wrapper has version 2 and
// `more` points to a null-terminated list of the fat binaries of all units, whose PTX is to be
// linked. Wrong only in refusing: what does not follow this layout is an Input error, never a
// guess.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heddle::runtime {

enum class FatbinKind : std::uint16_t {
  Ptx = 1,
  Cubin = 2
};

struct FatbinEntry {
  std::uint16_t kind = 0; // FatbinKind, or something newer that we pass over
  std::uint32_t arch = 0; // 90
  std::uint64_t flags = 0;
  std::uint64_t uncompressed_size = 0;
  std::span<const std::byte> payload; // as stored

  static constexpr std::uint64_t flag_lz4 = 0x2000;
  static constexpr std::uint64_t flag_zstd = 0x8000;
  static constexpr std::uint64_t flag_specific = 0x10'0000; // sm_90a: for that architecture only
};

/// The number of bytes of the fat binary whose header stands at `data` (which must have 16 readable
/// bytes): the loader gave us only a pointer.
Result<std::uint64_t> fatbin_size(const void* data);

/// All entries. Every length is checked against `bytes`.
Result<std::vector<FatbinEntry>> parse_fatbin(std::span<const std::byte> bytes);

/// The payload, decompressed, without trailing NULs if it is PTX.
Result<std::string> decode(const FatbinEntry& entry);

/// The PTX for a device of architecture `arch`: the entry with the highest architecture not above
/// it; of two for the same one that is for this architecture alone (sm_90a). If the device would
/// execute machine code of the fat binary, and only newer architectures have PTX (as in wheels of
/// CuPy), the oldest of these stands for it: both were made of one source. Wrong where that source
/// asks for __CUDA_ARCH__. Input error, in words for the user, if there is none (only SASS, or only
/// PTX for newer devices).
Result<std::string> select_ptx(const std::vector<FatbinEntry>& entries, int arch);

/// What a wrapper registered by __cudaRegisterFatBinary refers to: one fat binary, or with
/// -rdc=true one for each unit.
Result<std::vector<std::span<const std::byte>>> fatbins_of_wrapper(const void* wrapper);

} // namespace heddle::runtime
