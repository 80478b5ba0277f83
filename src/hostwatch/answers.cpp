// What the system answers, and could as well answer otherwise: random numbers, what memory holds
// and where it lies (numbers of processes: processes.cpp). Under the explorer each has one value in
// every execution and every process of a search, so that executions can be repeated, and another
// one where HEDDLE_ANSWERS (base/outside.h) asks for it (spec/answers.md).
//
// May miss: system calls by inline assembly, and libraries that ask on their own.
#include "hostwatch/answers.h"

#include "hostwatch/hooks_internal.h"

#include <malloc.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* p);
}

namespace heddle::hostwatch {

bool is_other(HeddleAnswer answer) {
  // As in base/outside.h.
  static constexpr const char* words[] =
      {"host-addresses ", "heap ", "process ", "random ", "load "};
  static const unsigned others = [] {
    static decltype(&std::getenv) real = nullptr; // ours tells who asks
    const char* const text = real_function(real, "getenv")("HEDDLE_ANSWERS");
    unsigned bits = 0;
    for (unsigned n = 0; n < sizeof words / sizeof words[0]; ++n) {
      bits |= text != nullptr && std::strstr(text, words[n]) != nullptr ? 1U << n : 0;
    }
    return bits;
  }();
  return (others >> answer & 1) != 0;
}

bool asks(HeddleAnswer answer, const void* pc) {
  return hooks != nullptr && hooks->asks != nullptr && hooks->asks(answer, pc);
}

namespace {

// --- The heap ------------------------------------------------------------------------------------

/// Not more: the pages of a large piece that nobody writes must not be there.
constexpr std::size_t most_filled = 1 << 20;

void* filled(void* p, std::size_t bytes) {
  if (p != nullptr && is_other(HeddleAnswerHeap)) {
    constexpr int fill = 0xa5;
    std::memset(p, fill, bytes < most_filled ? bytes : most_filled);
  }
  return p;
}

/// Pieces of one size, which are given out from the last one to the first one.
struct Batch {
  static constexpr std::size_t most_bytes = 1 << 16;
  static constexpr unsigned count = 8;
  std::size_t bytes;
  void* pieces[count];
  unsigned left;
};

void* take_backwards(std::size_t bytes) {
  constexpr std::size_t sizes = 61;
  static Batch batches[sizes];
  Batch& batch = batches[bytes % sizes];
  while (batch.left != 0 && batch.bytes != bytes) {
    __libc_free(batch.pieces[--batch.left]);
  }
  if (batch.left == 0) {
    batch.bytes = bytes;
    for (; batch.left < Batch::count; ++batch.left) {
      batch.pieces[batch.left] = __libc_malloc(bytes);
    }
  }
  return batch.pieces[--batch.left];
}

} // namespace

void* fresh_memory(std::size_t bytes, const void* pc) {
  if (hooks == nullptr) {
    return __libc_malloc(bytes);
  }
  const bool backwards = bytes <= Batch::most_bytes && is_other(HeddleAnswerHostAddresses) &&
                         asks(HeddleAnswerHostAddresses, pc);
  return filled(backwards ? take_backwards(bytes) : __libc_malloc(bytes), bytes);
}

void* fresh_memory(std::size_t alignment, std::size_t bytes) {
  void* const p = __libc_memalign(alignment, bytes);
  return hooks == nullptr ? p : filled(p, bytes);
}

namespace {

// --- Random numbers ------------------------------------------------------------------------------

/// The n-th word that a host thread asks for; threads do not see how often others have asked.
std::uint64_t random_word() {
  static std::uint64_t asked[HeddleMaxThreads];
  const unsigned thread = threads() != nullptr ? threads()->self() : 0;
  // SplitMix64.
  constexpr std::uint64_t step = 0x9e37'79b9'7f4a'7c15;
  constexpr std::uint64_t start = 0x5eed;
  std::uint64_t word = start + thread + (asked[thread]++ * HeddleMaxThreads + 1) * step;
  word = (word ^ word >> 30) * 0xbf58'476d'1ce4'e5b9;
  word = (word ^ word >> 27) * 0x94d0'49bb'1331'11eb;
  word ^= word >> 31;
  return is_other(HeddleAnswerRandom) ? ~word : word; // each bit is another one
}

void random_bytes(void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const std::uint64_t word = random_word();
    const std::size_t part = bytes < sizeof word ? bytes : sizeof word;
    std::memcpy(at, &word, part);
    at += part;
    bytes -= part;
  }
}

} // namespace

bool give_random(void* to, std::size_t bytes, const void* pc) {
  const bool ours = asks(HeddleAnswerRandom, pc);
  if (ours) {
    wrote(to, bytes, pc);
    random_bytes(to, bytes);
  }
  return ours;
}

namespace {

bool is_random_device(int file) {
  constexpr unsigned memory_devices = 1, random_device = 8, urandom_device = 9;
  struct stat status;
  return ::fstat(file, &status) == 0 && S_ISCHR(status.st_mode) &&
         major(status.st_rdev) == memory_devices &&
         (minor(status.st_rdev) == random_device || minor(status.st_rdev) == urandom_device);
}

} // namespace

bool read_random(int file, void* to, std::size_t bytes, const void* pc) {
  return hooks != nullptr && is_random_device(file) && give_random(to, bytes, pc);
}

bool names_random_device(const char* path) {
  return std::strcmp(path, "/dev/urandom") == 0 || std::strcmp(path, "/dev/random") == 0;
}

FILE* open_random(const void* pc) {
  if (!asks(HeddleAnswerRandom, pc)) {
    return nullptr;
  }
  return ::fopencookie(
      nullptr,
      "r",
      {.read = [](void*, char* to, std::size_t bytes) -> ssize_t {
         random_bytes(to, bytes);
         return static_cast<ssize_t>(bytes);
       },
       .write = nullptr,
       .seek = nullptr,
       .close = nullptr}
  );
}

} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

HEDDLE_EXPORT ssize_t getrandom(void* to, std::size_t bytes, unsigned flags) {
  if (give_random(to, bytes, __builtin_return_address(0))) {
    return static_cast<ssize_t>(bytes);
  }
  static decltype(&getrandom) real = nullptr;
  return real_function(real, "getrandom")(to, bytes, flags);
}

HEDDLE_EXPORT int getentropy(void* to, std::size_t bytes) {
  constexpr std::size_t most = 256; // POSIX
  if (bytes <= most && give_random(to, bytes, __builtin_return_address(0))) {
    return 0;
  }
  static decltype(&getentropy) real = nullptr;
  return real_function(real, "getentropy")(to, bytes);
}

HEDDLE_EXPORT std::uint32_t arc4random() {
  if (asks(HeddleAnswerRandom, __builtin_return_address(0))) {
    return static_cast<std::uint32_t>(random_word());
  }
  using Random = std::uint32_t();
  static Random* real = nullptr;
  return real_function(real, "arc4random")();
}

/// std::random_device::_M_getval(): libstdc++ asks the processor.
HEDDLE_EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
  if (asks(HeddleAnswerRandom, __builtin_return_address(0))) {
    return static_cast<unsigned>(random_word());
  }
  static decltype(&_ZNSt13random_device9_M_getvalEv) real = nullptr;
  return real_function(real, "_ZNSt13random_device9_M_getvalEv")(device);
}

/// The 16 random bytes that the system gives to each process.
HEDDLE_EXPORT unsigned long getauxval(unsigned long type) noexcept {
  static std::uint64_t bytes[2];
  if (type == AT_RANDOM && asks(HeddleAnswerRandom, __builtin_return_address(0))) {
    if (bytes[0] == 0) { // a second call gets the same bytes
      random_bytes(bytes, sizeof bytes);
    }
    return reinterpret_cast<unsigned long>(bytes);
  }
  static decltype(&getauxval) real = nullptr;
  return real_function(real, "getauxval")(type);
}
