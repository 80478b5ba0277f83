// Implements fatbin.h. Robust against any bytes: all reads go through Reader or are checked against
// the span; decompressors are given exact bounds.
#include "runtime/registration/fatbin.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace heddle::runtime {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t header_magic = 0xba55ed50;
constexpr std::size_t header_bytes = 16;
constexpr std::size_t entry_bytes = 64;
/// PTX of a big template library has some 100 MB; a length beyond this is a corrupt field.
constexpr std::uint64_t max_text_bytes = 2ULL << 30;

template <class T> T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

tl::unexpected<Error> corrupt(const std::string& what) {
  return input_error("corrupt fat binary: " + what);
}

Result<std::string> decode_zstd(const FatbinEntry& entry) {
  // Before memory is taken: the frame states its size too, and both must agree.
  if (ZSTD_getFrameContentSize(entry.payload.data(), entry.payload.size()) !=
      entry.uncompressed_size) {
    return corrupt("the zstd frame does not state the size that the entry states");
  }
  constexpr std::uint64_t block = 128 << 10, least_for_block = 4; // of the format
  if (entry.uncompressed_size / block > entry.payload.size() / least_for_block) {
    return corrupt(
        fmt::format(
            "a zstd frame of {} bytes that claims to hold {}",
            entry.payload.size(),
            entry.uncompressed_size
        )
    );
  }
  std::string text(entry.uncompressed_size, '\0');
  const std::size_t n =
      ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
  if (ZSTD_isError(n) != 0U) {
    return corrupt(fmt::format("zstd: {}", ZSTD_getErrorName(n)));
  }
  if (n != text.size()) {
    return corrupt(fmt::format("{} bytes after decompression instead of {}", n, text.size()));
  }
  return text;
}

Result<std::string> decode_lz4(const FatbinEntry& entry) {
  constexpr std::uint64_t limit = std::numeric_limits<int>::max();
  constexpr std::uint64_t best_ratio = 256; // of the format: one length byte stands for 255 bytes
  if (entry.payload.size() > limit || entry.uncompressed_size > limit ||
      entry.uncompressed_size / best_ratio > entry.payload.size()) {
    return corrupt(
        fmt::format(
            "an LZ4 block of {} bytes that claims to hold {}",
            entry.payload.size(),
            entry.uncompressed_size
        )
    );
  }
  std::string text(entry.uncompressed_size, '\0');
  const int n = LZ4_decompress_safe(
      reinterpret_cast<const char*>(entry.payload.data()),
      text.data(),
      static_cast<int>(entry.payload.size()),
      static_cast<int>(text.size())
  );
  if (n < 0 || static_cast<std::size_t>(n) != text.size()) {
    return corrupt("the LZ4 block does not decompress to the size it states");
  }
  return text;
}

/// Does a device of architecture `arch` execute this machine code? Minor versions are compatible
/// upwards.
bool executes(std::uint32_t arch, const FatbinEntry& cubin) {
  const bool specific = (cubin.flags & FatbinEntry::flag_specific) != 0;
  return cubin.arch == arch || (!specific && cubin.arch / 10 == arch / 10 && cubin.arch < arch);
}

} // namespace

Result<std::uint64_t> fatbin_size(const void* data) {
  const auto* at = static_cast<const std::byte*>(data);
  if (read<std::uint32_t>(at) != header_magic) {
    return corrupt(
        fmt::format("magic number {:#x} instead of {:#x}", read<std::uint32_t>(at), header_magic)
    );
  }
  const auto header = read<std::uint16_t>(at + 6);
  const auto size = read<std::uint64_t>(at + 8);
  if (header < header_bytes || size > max_text_bytes) {
    return corrupt(fmt::format("header of {} bytes, contents of {} bytes", header, size));
  }
  return header + size;
}

Result<std::vector<FatbinEntry>> parse_fatbin(std::span<const std::byte> bytes) {
  if (bytes.size() < header_bytes) {
    return corrupt(fmt::format("{} bytes, too short for a header", bytes.size()));
  }
  TRY(const std::uint64_t size, fatbin_size(bytes.data()));
  if (size > bytes.size()) {
    return corrupt(fmt::format("{} bytes announced, {} there", size, bytes.size()));
  }
  std::vector<FatbinEntry> entries;
  std::uint64_t at = read<std::uint16_t>(bytes.data() + 6);
  while (at < size) {
    const std::uint64_t left = size - at;
    if (left < entry_bytes) {
      // Alignment padding at the end is all there can be.
      const auto rest = bytes.subspan(at, left);
      if (std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; })) {
        break;
      }
      return corrupt(fmt::format("{} stray bytes at offset {}", left, at));
    }
    const std::byte* p = bytes.data() + at;
    const auto header = read<std::uint32_t>(p + 4);
    const auto payload = read<std::uint64_t>(p + 8);
    const auto compressed = read<std::uint32_t>(p + 16);
    if (header < entry_bytes || header > left || payload > left - header) {
      return corrupt(
          fmt::format(
              "entry at offset {} claims a header of {} and a payload of {} bytes, {} are left",
              at,
              header,
              payload,
              left
          )
      );
    }
    FatbinEntry entry;
    entry.kind = read<std::uint16_t>(p);
    entry.arch = read<std::uint32_t>(p + 28);
    entry.flags = read<std::uint64_t>(p + 40);
    entry.uncompressed_size = read<std::uint64_t>(p + 56);
    if (compressed > payload) {
      return corrupt(
          fmt::format(
              "entry at offset {}: {} compressed bytes in a payload of {}",
              at,
              compressed,
              payload
          )
      );
    }
    entry.payload = bytes.subspan(at + header, compressed != 0 ? compressed : payload);
    entries.push_back(entry);
    at += header + payload;
  }
  return entries;
}

Result<std::string> decode(const FatbinEntry& entry) {
  std::string text;
  if ((entry.flags & (FatbinEntry::flag_zstd | FatbinEntry::flag_lz4)) != 0) {
    if (entry.uncompressed_size > max_text_bytes) {
      return corrupt(fmt::format("an entry of {} bytes uncompressed", entry.uncompressed_size));
    }
    if ((entry.flags & FatbinEntry::flag_zstd) != 0) {
      TRY(text, decode_zstd(entry));
    } else {
      TRY(text, decode_lz4(entry));
    }
  } else {
    text.assign(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
  }
  if (entry.kind == static_cast<std::uint16_t>(FatbinKind::Ptx)) {
    text.resize(std::min(text.find('\0'), text.size())); // padding
  }
  return text;
}

Result<std::string> select_ptx(const std::vector<FatbinEntry>& entries, int arch) {
  const FatbinEntry* best = nullptr;
  const FatbinEntry* newer = nullptr; // the oldest of those
  bool sass = false;
  bool has_machine_code = false; // that the device would execute
  // Of one architecture what was made for it alone, on the device that is that, else the other.
  const auto preferred = [arch](const FatbinEntry& entry) {
    const bool specific = (entry.flags & FatbinEntry::flag_specific) != 0;
    const bool same = entry.arch == static_cast<std::uint32_t>(arch);
    return entry.arch * 2 + (specific == same ? 1 : 0);
  };
  for (const FatbinEntry& entry : entries) {
    if (entry.kind == static_cast<std::uint16_t>(FatbinKind::Cubin)) {
      sass = true;
      has_machine_code = has_machine_code || executes(static_cast<std::uint32_t>(arch), entry);
    }
    if (entry.kind != static_cast<std::uint16_t>(FatbinKind::Ptx)) {
      continue;
    }
    if (entry.arch > static_cast<std::uint32_t>(arch)) {
      newer = newer == nullptr || entry.arch < newer->arch ? &entry : newer;
    } else if (best == nullptr || preferred(entry) > preferred(*best)) {
      best = &entry;
    }
  }
  if (best != nullptr) {
    return decode(*best);
  }
  if (newer != nullptr && has_machine_code) {
    return decode(*newer);
  }
  if (newer != nullptr) {
    return input_error(
        fmt::format(
            "this program contains PTX for sm_{0} and later only, but the virtual device is "
            "sm_{1}; run "
            "with --device sm_{0} or build with -gencode arch=compute_{1},code=compute_{1}",
            newer->arch,
            arch
        )
    );
  }
  if (sass) {
    return input_error(
        fmt::format(
            "this program contains only SASS (machine code of one GPU) and no PTX; build with "
            "-arch=sm_{0} or -gencode arch=compute_{0},code=compute_{0}, or put heddle-cc in front "
            "of "
            "nvcc",
            arch
        )
    );
  }
  return input_error("this program contains no device code that Heddle can read (no PTX)");
}

Result<std::vector<std::span<const std::byte>>> fatbins_of_wrapper(const void* wrapper) {
  const auto* at = static_cast<const std::byte*>(wrapper);
  if (at == nullptr || read<std::uint32_t>(at) != wrapper_magic) {
    return corrupt("what was registered is no fat binary wrapper");
  }
  const auto version = read<std::uint32_t>(at + 4);
  std::vector<const void*> fatbins;
  if (version == 1) {
    fatbins.push_back(read<const void*>(at + 8));
  } else if (version == 2) {
    // `data` holds the linked SASS (and PTX only with -dlto); the units' PTX comes from the list.
    const auto* list = read<const void* const*>(at + 16);
    for (; list != nullptr && *list != nullptr; ++list) {
      fatbins.push_back(*list);
    }
    if (fatbins.empty()) {
      fatbins.push_back(read<const void*>(at + 8));
    }
  } else {
    return corrupt(fmt::format("wrapper version {}; Heddle knows 1 and 2", version));
  }
  std::vector<std::span<const std::byte>> result;
  for (const void* data : fatbins) {
    if (data == nullptr) {
      return corrupt("a wrapper without data");
    }
    TRY(const std::uint64_t size, fatbin_size(data));
    result.emplace_back(static_cast<const std::byte*>(data), size);
  }
  return result;
}

} // namespace heddle::runtime
