// Implements loader.h.
#include "jit/loader.h"

#include "isa/region.h"
#include "jit/code_hash.h"
#include "jit/image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace heddle::jit {
namespace {

/// Reads elements of an image, which may be cut short.
class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T> bool read(T& value) {
    if (bytes_.size() - at_ < sizeof value) {
      return false;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return true;
  }

private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

} // namespace

Result<int> load_image(const isa::Kernel& kernel, const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  return install_image(kernel, std::as_bytes(std::span(bytes)));
}

Result<int> install_image(const isa::Kernel& kernel, std::span<const std::byte> bytes) {
  Reader reader(bytes);
  ImageHeader header;
  const auto refuse = [&] { return input_error("no image of compiled code"); };
  if (!reader.read(header) || header.magic != image_magic || !(header.build == build_hash()) ||
      header.code_offset > bytes.size() || header.code_bytes != bytes.size() - header.code_offset ||
      header.code_bytes == 0) {
    return refuse();
  }
  std::vector<ImageFunction> functions(header.functions);
  for (ImageFunction& function : functions) {
    if (!reader.read(function)) {
      return refuse();
    }
  }
  std::vector<std::uint32_t> entries(header.entries);
  for (std::uint32_t& entry : entries) {
    if (!reader.read(entry)) {
      return refuse();
    }
  }
  void* code =
      mmap(nullptr, header.code_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) {
    return input_error("no memory for compiled code");
  }
  std::memcpy(code, bytes.data() + header.code_offset, header.code_bytes);
  if (mprotect(code, header.code_bytes, PROT_READ | PROT_EXEC) != 0) {
    return input_error("compiled code may not be executed here");
  }
  int installed = 0;
  for (const auto& [address, c] : kernel.functions) {
    if (c->ops.empty()) {
      continue;
    }
    const Hash128 hash = hash_code(*c);
    for (const ImageFunction& function : functions) {
      if (!(function.code == hash) || function.offset >= header.code_bytes ||
          function.first_entry > entries.size() ||
          function.entries > entries.size() - function.first_entry) {
        continue;
      }
      isa::install_region(
          *c,
          reinterpret_cast<isa::Region>(static_cast<std::byte*>(code) + function.offset),
          std::span(entries).subspan(function.first_entry, function.entries)
      );
      ++installed;
      break;
    }
  }
  return installed;
}

} // namespace heddle::jit
