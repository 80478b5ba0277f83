// Implements fresh_memory.h: the pages that a mapping has are copied into a new one, which is then
// moved into its place by one system call.
//
// Between the copy and the move nothing may write to the mapping. So everything that is needed here
// lies on the caller's stack, which is left out, and system calls are made without the C library,
// which would write to its own memory and may be watched.
#include "explore/process/fresh_memory.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace heddle::explore {

namespace {

// Copying more than that at once costs more than a longer chain does.
constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20;
// What is larger is a range of addresses that is reserved; it is not for core dumps.
constexpr std::uint64_t reserved_range = std::uint64_t{1} << 30;

// A sanitizer's code writes to its shadow memory at any time.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool shadowed = true;
#elif defined(__has_feature)
constexpr bool shadowed = __has_feature(address_sanitizer);
#else
constexpr bool shadowed = false;
#endif

long system_call(
    long number,
    std::uint64_t a = 0,
    std::uint64_t b = 0,
    std::uint64_t c = 0,
    std::uint64_t d = 0,
    std::uint64_t e = 0,
    std::uint64_t f = 0
) {
  long result = 0;
  register std::uint64_t fourth asm("r10") = d;
  register std::uint64_t fifth asm("r8") = e;
  register std::uint64_t sixth asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

std::uint64_t address(const void* p) {
  return reinterpret_cast<std::uint64_t>(p);
}

/// std::memcpy() may be one that tells what it does.
void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

class File {
public:
  explicit File(const char* path)
      : number_(system_call(SYS_open, address(path), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (number_ >= 0) {
      system_call(SYS_close, static_cast<std::uint64_t>(number_));
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) = delete;
  File& operator=(File&&) = delete;
  bool is_open() const { return number_ >= 0; }
  std::uint64_t number() const { return static_cast<std::uint64_t>(number_); }

private:
  long number_;
};

// ioctl PAGEMAP_SCAN of Linux 6.7 (Documentation/admin-guide/mm/pagemap.rst): which pages of a
// range there are. Older headers do not have it.
struct PageRegion {
  std::uint64_t start, end, categories;
};
struct PageScan {
  std::uint64_t size = sizeof(PageScan), flags = 0, start = 0, end = 0, walk_end = 0, regions = 0,
                regions_size = 0, most_pages = 0, inverted = 0, all_of = 0, any_of = 0,
                returned = 0;
};
constexpr std::uint64_t scan_request = _IOWR('f', 16, PageScan);
constexpr std::uint64_t is_of_file = 1 << 2, is_present = 1 << 3, is_swapped = 1 << 4;

struct Mapping {
  std::uint64_t start = 0, end = 0;
  int protection = 0;
};

std::uint64_t hexadecimal(std::string_view& text) {
  std::uint64_t value = 0;
  while (!text.empty()) {
    const char c = text.front();
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<std::uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<std::uint64_t>(c - 'a' + 10);
    } else {
      break;
    }
    text.remove_prefix(1);
  }
  return value;
}

/// A line of /proc/self/maps, if it is about a private mapping that may have pages of its own.
std::optional<Mapping> parse(std::string_view line) {
  Mapping mapping;
  mapping.start = hexadecimal(line);
  if (line.empty()) {
    return std::nullopt;
  }
  line.remove_prefix(1); // '-'
  mapping.end = hexadecimal(line);
  if (line.size() < 5 || line[1] != 'r' || line[3] != '-' || line[4] != 'p') {
    return std::nullopt;
  }
  mapping.protection = PROT_READ | (line[2] == 'w' ? PROT_WRITE : 0);
  const std::size_t name = line.find('[');
  if (name != std::string_view::npos && line.substr(name) != "[heap]") {
    return std::nullopt; // the stack, which grows, and what the kernel provides
  }
  return mapping;
}

class Renewal {
public:
  explicit Renewal(const File& pages) : pages_(pages) {}

  void renew(const Mapping& old) {
    if (!find_pages(old)) {
      return;
    }
    const std::uint64_t bytes = old.end - old.start;
    const long made = system_call(
        SYS_mmap,
        0,
        bytes,
        PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
        ~std::uint64_t{0}
    );
    if (made < 0) {
      return;
    }
    const auto fresh = static_cast<std::uint64_t>(made);
    if (bytes >= reserved_range) {
      system_call(SYS_madvise, fresh, bytes, MADV_DONTDUMP);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const PageRegion& region = regions_[i];
      copy(fresh + (region.start - old.start), region.start, region.end - region.start);
    }
    const bool same =
        old.protection == (PROT_READ | PROT_WRITE) ||
        system_call(SYS_mprotect, fresh, bytes, static_cast<std::uint64_t>(old.protection)) == 0;
    if (!same ||
        system_call(SYS_mremap, fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, old.start) <
            0) {
      system_call(SYS_munmap, fresh, bytes);
    }
  }

private:
  /// The pages that have to be copied; false if there are none of its own, or too many.
  bool find_pages(const Mapping& mapping) {
    PageScan scan;
    scan.start = mapping.start;
    scan.end = mapping.end;
    scan.regions = address(regions_.data());
    scan.regions_size = regions_.size();
    scan.any_of = is_present | is_swapped;
    scan.returned = is_of_file;
    const long found = system_call(SYS_ioctl, pages_.number(), scan_request, address(&scan));
    if (found <= 0 || scan.walk_end != mapping.end) {
      return false;
    }
    count_ = static_cast<std::size_t>(found);
    std::uint64_t bytes = 0;
    bool own = false;
    for (std::size_t i = 0; i < count_; ++i) {
      bytes += regions_[i].end - regions_[i].start;
      own |= (regions_[i].categories & is_of_file) == 0;
    }
    return own && bytes <= most_bytes;
  }

  const File& pages_;
  std::array<PageRegion, 512> regions_;
  std::size_t count_ = 0;
};

} // namespace

void make_memory_fresh() {
  if (shadowed) {
    return;
  }
  const File pages("/proc/self/pagemap");
  const File maps("/proc/self/maps");
  if (!pages.is_open() || !maps.is_open()) {
    return;
  }
  // First all mappings are read, then they are renewed: the list changes on the way.
  std::array<Mapping, 512> mappings;
  std::size_t count = 0;
  std::array<char, 8192> text;
  std::size_t held = 0;
  const std::uint64_t stack = address(__builtin_frame_address(0));
  for (;;) {
    const long got =
        system_call(SYS_read, maps.number(), address(text.data() + held), text.size() - held);
    if (got <= 0) {
      break;
    }
    held += static_cast<std::size_t>(got);
    std::string_view left(text.data(), held);
    for (std::size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
      const std::optional<Mapping> mapping = parse(left.substr(0, end));
      left.remove_prefix(end + 1);
      if (mapping && count < mappings.size() && (stack < mapping->start || stack >= mapping->end)) {
        mappings[count++] = *mapping;
      }
    }
    std::memmove(text.data(), left.data(), left.size());
    held = left.size();
  }
  Renewal renewal(pages);
  for (std::size_t i = 0; i < count; ++i) {
    renewal.renew(mappings[i]);
  }
}

} // namespace heddle::explore
