// Implements image.h.
#include "runtime/registration/image.h"

#include "runtime/registration/built_in.h"
#include "runtime/registration/fatbin.h"
#include "runtime/registration/host_object.h"
#include "runtime/registration/linked_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

namespace heddle::runtime {
namespace {

constexpr std::string_view fatbin_magic = "\x50\xed\x55\xba";
constexpr std::string_view wrapper_magic = "\xb1\x43\x62\x46";
constexpr std::string_view elf_magic = "\x7f"
                                       "ELF";

/// Compares byte by byte: a short text need not have more of them.
bool begins_with(const void* data, std::optional<std::size_t> bytes, std::string_view magic) {
  const char* at = static_cast<const char*>(data);
  for (std::size_t i = 0; i < magic.size(); ++i) {
    if ((bytes && i >= *bytes) || at[i] != magic[i]) {
      return false;
    }
  }
  return true;
}

Result<std::string> text_of_fatbin(std::span<const std::byte> bytes, int arch) {
  TRY(const auto entries, parse_fatbin(bytes));
  const bool has_ptx = std::ranges::any_of(entries, [](const FatbinEntry& entry) {
    return entry.kind == static_cast<std::uint16_t>(FatbinKind::Ptx);
  });
  if (!has_ptx && !entries.empty()) {
    return unsupported(
        "the fat binary that the program loads has machine code of a GPU only; make it with PTX "
        "(nvcc -fatbin -gencode arch=compute_XX,code=compute_XX)"
    );
  }
  return select_ptx(entries, arch);
}

/// All PTX of an object that a host compiler has made.
Result<std::vector<std::string>> texts_of_object(Bytes object, int arch) {
  std::vector<std::string> texts;
  TRY(const auto fatbins, fatbins_of_object(object));
  for (const Bytes fatbin : fatbins) {
    const auto entries = parse_fatbin(fatbin);
    if (entries && is_device_runtime(*entries)) {
      continue;
    }
    TRY(std::string text, text_of_fatbin(fatbin, arch));
    texts.push_back(std::move(text));
  }
  return texts;
}

/// All PTX of a static library. Members that have none for this architecture are passed over: what
/// refers to them is not found later.
Result<std::vector<std::string>> texts_of_archive(Bytes archive, int arch) {
  std::vector<std::string> texts;
  TRY(const auto members, members_of_archive(archive));
  for (const Bytes member : members) {
    if (!is_host_object(member)) {
      continue;
    }
    if (const auto found = texts_of_object(member, arch)) {
      texts.insert(texts.end(), found->begin(), found->end());
    }
  }
  return texts;
}

Result<std::vector<std::string>> texts_of_linked(const void* data, int arch) {
  const auto* at = static_cast<const char*>(data) + linked_magic.size();
  std::uint64_t count = 0;
  std::memcpy(&count, at, sizeof count);
  at += sizeof count;
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    at += sizeof bytes;
    TRY(const auto input, read_link_input(at, bytes, arch));
    texts.insert(texts.end(), input.begin(), input.end());
    at += bytes;
  }
  return texts;
}

/// Copies what fits, with a NUL behind it, and answers how much that is.
std::size_t write_log(char* buffer, std::size_t bytes, const std::string& text) {
  if (buffer == nullptr || bytes == 0) {
    return 0;
  }
  const std::size_t n = std::min(text.size(), bytes - 1);
  std::memcpy(buffer, text.data(), n);
  buffer[n] = '\0';
  return n;
}

} // namespace

Result<std::vector<std::string>>
read_image(const void* data, std::optional<std::size_t> bytes, int arch) {
  if (begins_with(data, bytes, elf_magic)) {
    return unsupported(
        "the program loads a cubin, which is machine code of one GPU; give it PTX or a fat binary "
        "with PTX (nvcc -ptx or -fatbin, nvrtcGetPTX)"
    );
  }
  if (begins_with(data, bytes, linked_magic)) {
    return texts_of_linked(data, arch);
  }
  std::vector<std::string> texts;
  if (begins_with(data, bytes, wrapper_magic)) {
    TRY(const auto fatbins, fatbins_of_wrapper(data));
    for (const auto& fatbin : fatbins) {
      TRY(std::string text, text_of_fatbin(fatbin, arch));
      texts.push_back(std::move(text));
    }
    return texts;
  }
  if (begins_with(data, bytes, fatbin_magic)) {
    std::size_t size = 0;
    if (bytes) {
      size = *bytes;
    } else {
      TRY(size, fatbin_size(data));
    }
    TRY(std::string text, text_of_fatbin({static_cast<const std::byte*>(data), size}, arch));
    texts.push_back(std::move(text));
    return texts;
  }
  const char* text = static_cast<const char*>(data);
  texts.emplace_back(text, bytes ? ::strnlen(text, *bytes) : std::strlen(text));
  return texts;
}

Result<std::vector<std::string>> read_link_input(const void* data, std::size_t bytes, int arch) {
  const Bytes whole(static_cast<const std::byte*>(data), bytes);
  if (is_host_object(whole)) {
    return texts_of_object(whole, arch);
  }
  if (is_archive(whole)) {
    return texts_of_archive(whole, arch);
  }
  return read_image(data, bytes, arch);
}

Result<std::vector<std::string>> read_image_file(const char* path, int arch, ImageUse use) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return input_error(fmt::format("cannot read '{}'", path));
  }
  const std::string contents{std::istreambuf_iterator<char>(file), {}};
  if (begins_with(contents.data(), contents.size(), linked_magic) ||
      begins_with(contents.data(), contents.size(), wrapper_magic)) {
    return input_error(fmt::format("'{}' is no file of device code", path));
  }
  return use == ImageUse::Link ? read_link_input(contents.data(), contents.size(), arch)
                               : read_image(contents.data(), contents.size(), arch);
}

std::vector<std::byte> link_image(const std::vector<std::string>& texts) {
  const std::string image = join_inputs(texts);
  const auto* begin = reinterpret_cast<const std::byte*>(image.data());
  return {begin, begin + image.size()};
}

LoadLog::LoadLog(const int* options, void** values, unsigned count) {
  if (options == nullptr || values == nullptr) {
    return;
  }
  // A value is a pointer, or a number in a pointer's place.
  for (unsigned i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(values[i]));
    switch (options[i]) {
    case cudaJitInfoLogBuffer:
      info = static_cast<char*>(values[i]);
      break;
    case cudaJitInfoLogBufferSizeBytes:
      info_bytes = number;
      info_bytes_used = &values[i];
      break;
    case cudaJitErrorLogBuffer:
      errors = static_cast<char*>(values[i]);
      break;
    case cudaJitErrorLogBufferSizeBytes:
      error_bytes = number;
      error_bytes_used = &values[i];
      break;
    case cudaJitWallTime: { // milliseconds, as a float
      const float none = 0;
      values[i] = nullptr;
      std::memcpy(&values[i], &none, sizeof none);
      break;
    }
    default:
      break;
    }
  }
}

void LoadLog::finish(const std::string& error_text) const {
  const auto tell = [](char* buffer, std::size_t bytes, void** used, const std::string& text) {
    const std::size_t n = write_log(buffer, bytes, text);
    if (used != nullptr) {
      *used = reinterpret_cast<void*>(n);
    }
  };
  tell(errors, error_bytes, error_bytes_used, error_text);
  tell(info, info_bytes, info_bytes_used, {});
}

} // namespace heddle::runtime
