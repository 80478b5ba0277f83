// What libcudart offers to the stand-ins for NVIDIA's libraries (src/libraries), which are
// libraries of their own: work on a stream that the host computes on device memory.
//
//   const LibraryMemory used[] = {{"A", a, m * 4, k, lda * 4, LibraryAccess::Read}, …};
//   heddle_library_work(stream, "cublasSgemm", used, 3, compute, data, destroy);
//
// The work is a command like a copy: it begins when the stream comes to it, a race monitor sees its
// accesses, and memory that does not hold what it needs is a finding with the caller's line.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::runtime {

enum class LibraryAccess : std::uint8_t {
  Read,
  Write,
  ReadWrite
};

/// `count` stretches of `width` bytes, `pitch` bytes apart.
struct LibraryMemory {
  const char* name; // as the library's documentation calls it: "A"
  const void* at;
  std::uint64_t width, count, pitch;
  LibraryAccess access;
  bool on_host; // the program's own memory, which is used as it is
};

/// `at`: where the host reaches each stretch of memory, in the order in which they were given.
using LibraryCompute = void (*)(void* data, std::byte* const* at);

} // namespace heddle::runtime

extern "C" {

/// A cudaError_t. `destroy(data)` is called in any case, when the work is over or did not begin.
int heddle_library_work(
    void* stream,
    const char* call,
    const heddle::runtime::LibraryMemory* memory,
    std::size_t count,
    heddle::runtime::LibraryCompute compute,
    void* data,
    void (*destroy)(void*)
);
using HeddleLibraryWork = decltype(heddle_library_work);

/// The stand-in does not have this call: exit code 3, with the caller's line.
void heddle_library_unsupported(const char* call);
using HeddleLibraryUnsupported = decltype(heddle_library_unsupported);

/// Work that is being computed cannot go on, where a device's kernel would end in an assertion (an
/// index that is out of range): a finding.
void heddle_library_failed(const char* call, const char* reason);

} // extern "C"
