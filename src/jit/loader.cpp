// Implements loader.h.
#include "jit/loader.h"

#include "base/private_folder.h"
#include "isa/region.h"
#include "jit/code_hash.h"
#include "jit/image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace heddle::jit {
namespace {

/// Far more than heddle-jit makes of any kernel.
constexpr std::size_t largest_image = 256U << 20U;

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
  const int fd = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  struct stat about{};
  const bool is_ours = fd >= 0 && is_private_file(fd) && ::fstat(fd, &about) == 0;
  std::vector<std::byte> bytes;
  if (is_ours) {
    // An image is never changed: one that is shorter by now is none of ours.
    bytes.resize(std::min<std::size_t>(static_cast<std::size_t>(about.st_size), largest_image));
    if (::pread(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      bytes.clear();
    }
  }
  if (fd >= 0) {
    ::close(fd);
  }
  if (!is_ours) {
    return input_error(file + " is not mapped: somebody else may have written it");
  }
  return install_image(kernel, bytes);
}

Result<ReadImage> read_image(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  ImageHeader header;
  const auto refuse = [&] { return input_error("no image of compiled code"); };
  if (!reader.read(header) || header.magic != image_magic || !(header.build == build_hash()) ||
      header.code_offset > bytes.size() || header.code_bytes != bytes.size() - header.code_offset ||
      header.code_bytes == 0) {
    return refuse();
  }
  if (header.functions > bytes.size() / sizeof(ImageFunction) ||
      header.entries > bytes.size() / sizeof(std::uint32_t)) {
    return refuse();
  }
  ReadImage image;
  image.functions.resize(header.functions);
  for (ImageFunction& function : image.functions) {
    if (!reader.read(function) || function.offset >= header.code_bytes ||
        function.first_entry > header.entries ||
        function.entries > header.entries - function.first_entry) {
      return refuse();
    }
  }
  image.entries.resize(header.entries);
  for (std::uint32_t& entry : image.entries) {
    if (!reader.read(entry)) {
      return refuse();
    }
  }
  image.code = bytes.subspan(header.code_offset);
  return image;
}

Result<int> install_image(const isa::Kernel& kernel, std::span<const std::byte> bytes) {
  TRY(const ReadImage image, read_image(bytes));
  void* code =
      mmap(nullptr, image.code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) {
    return input_error("no memory for compiled code");
  }
  std::memcpy(code, image.code.data(), image.code.size());
  if (mprotect(code, image.code.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(code, image.code.size());
    return input_error("compiled code may not be executed here");
  }
  int installed = 0;
  for (const auto& [address, c] : kernel.functions) {
    if (c->ops.empty()) {
      continue;
    }
    const Hash128 hash = hash_code(*c);
    for (const ImageFunction& function : image.functions) {
      const std::span<const std::uint32_t> entries =
          std::span(image.entries).subspan(function.first_entry, function.entries);
      const bool all_there =
          std::ranges::all_of(entries, [&](std::uint32_t entry) { return entry < c->ops.size(); });
      if (!(function.code == hash) || !all_there) {
        continue;
      }
      isa::install_region(
          *c,
          reinterpret_cast<isa::Region>(static_cast<std::byte*>(code) + function.offset),
          entries
      );
      ++installed;
      break;
    }
  }
  if (installed == 0) {
    munmap(code, image.code.size());
  }
  return installed;
}

} // namespace heddle::jit
