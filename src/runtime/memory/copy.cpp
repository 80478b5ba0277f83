// Implements copy.h.
#include "runtime/memory/copy.h"

#include "machine/unawaited.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_accesses.h"
#include "runtime/diagnostics/unseen_error.h"
#include "runtime/memory/implicit_wait.h"

#include <fmt/format.h>

#include <cstring>

namespace heddle::runtime {
namespace {

enum class Where : std::uint8_t {
  Nowhere,
  Device,
  Pinned,
  Managed,
  Pageable
};

std::uint64_t extent(
    std::uint64_t width,
    std::uint64_t height,
    std::uint64_t depth,
    std::uint64_t pitch,
    std::uint64_t slice
) {
  return width == 0 || height == 0 || depth == 0
             ? 0
             : (depth - 1) * slice + (height - 1) * pitch + width;
}

Where locate(const memory::AddressSpace& space, memory::Address at, std::uint64_t bytes) {
  if (at == 0) {
    return Where::Nowhere;
  }
  const auto allocation = space.find(at);
  if (!allocation) {
    return memory::AddressSpace::in_device_range(at) ? Where::Nowhere : Where::Pageable;
  }
  if (memory::AddressSpace::in_device_range(at)) {
    return allocation->contains(at, bytes) ? Where::Device : Where::Nowhere;
  }
  if (!allocation->contains(at, bytes)) {
    return Where::Pageable; // runs past what is registered: for the host it is memory all the same
  }
  return allocation->kind == memory::AllocationKind::Managed ? Where::Managed : Where::Pinned;
}

struct Ends {
  Where to = Where::Nowhere;
  Where from = Where::Nowhere;
  std::uint64_t bytes = 0; // from the first to the last that is written
};

Ends locate(const memory::AddressSpace& space, const Copy& copy) {
  const std::uint64_t to =
      extent(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_slice);
  const std::uint64_t from =
      extent(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_slice);
  return {locate(space, copy.to, to), locate(space, copy.from, from), to};
}

bool device_reaches(Where where) {
  return where == Where::Device || where == Where::Pinned || where == Where::Managed;
}

bool host_side(Where where) {
  return where == Where::Pinned || where == Where::Pageable;
}

bool kind_allows(cudaMemcpyKind kind, Where to, Where from) {
  switch (kind) {
  case cudaMemcpyHostToDevice:
    return device_reaches(to);
  case cudaMemcpyDeviceToHost:
    return device_reaches(from);
  case cudaMemcpyDeviceToDevice:
    return device_reaches(to) && device_reaches(from);
  case cudaMemcpyHostToHost:
  case cudaMemcpyDefault:
    return true;
  }
  return false;
}

/// Why kind_allows() says no.
std::string wrong_direction(cudaMemcpyKind kind, Where to) {
  const bool target = !device_reaches(to) && kind != cudaMemcpyDeviceToHost;
  return fmt::format(
      "the direction is {}, but the {} is host memory that no device reaches",
      kind == cudaMemcpyHostToDevice   ? "cudaMemcpyHostToDevice"
      : kind == cudaMemcpyDeviceToHost ? "cudaMemcpyDeviceToHost"
                                       : "cudaMemcpyDeviceToDevice",
      target ? "destination" : "source"
  );
}

/// The source's bytes as they are now, tightly packed.
std::shared_ptr<const std::vector<std::byte>> stage(const Copy& copy) {
  auto bytes = std::make_shared<std::vector<std::byte>>(copy.width * copy.height * copy.depth);
  const auto* from = reinterpret_cast<const std::byte*>(copy.from);
  std::byte* to = bytes->data();
  for (std::uint64_t z = 0; z < copy.depth; ++z) {
    for (std::uint64_t y = 0; y < copy.height; ++y) {
      std::memcpy(to, from + z * copy.from_slice + y * copy.from_pitch, copy.width);
      to += copy.width;
    }
  }
  return bytes;
}

/// What a call does about its command [API-WAIT].
enum class Waits : std::uint8_t {
  No,
  May,    // it waits for it, and need not
  Before, // … has to wait for what comes before it in its stream, and for no more
  Must
};

/// May others see that a copy is not done when its call returns?
bool tells_staged_copies(Runtime& rt) {
  return rt.config().mode == Mode::Check || rt.world().monitor() != nullptr;
}

/// Nothing can keep it from being done, so a search that goes on without waiting for it sees what
/// one sees that waits, too.
bool only_waits_for_itself(const machine::Command& command) {
  return std::ranges::all_of(command.after, [](const auto& before) { return before->done.load(); });
}

cudaError_t put(Runtime& rt, Stream& stream, Operation operation, Waits waits, const char* what) {
  if (waits == Waits::Must || (waits == Waits::Before && stream.capture != nullptr)) {
    return rt.run(stream, std::move(operation), what);
  }
  if (waits == Waits::Before) {
    const auto error = rt.wait(rt.streams().pending(stream), stream.device, what);
    if (error != cudaSuccess) {
      return error;
    }
  }
  const auto command = rt.enqueue(stream, std::move(operation));
  if (command && *command != nullptr && waits == Waits::May &&
      !(rt.config().mode == Mode::Check && only_waits_for_itself(**command))) {
    return wait_implicitly(rt, {*command}, stream.device, what);
  }
  if (machine::Unawaited* unawaited = rt.world().unawaited();
      command && *command != nullptr && unawaited != nullptr && waits == Waits::Before) {
    unawaited->host_waited({&*command, 1}); // a program that ends need not care
  }
  return command ? cudaSuccess : command.error();
}

void stage_source(Copy& copy) {
  copy.staged = stage(copy);
  copy.from = 0;
  copy.from_pitch = copy.width;
  copy.from_slice = copy.width * copy.height;
}

} // namespace

cudaError_t check_copy(const Runtime& rt, const Copy& copy, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  const Ends ends = locate(rt.space(), copy);
  if (ends.bytes == 0) {
    return cudaSuccess;
  }
  if (ends.to == Where::Nowhere || ends.from == Where::Nowhere) {
    return cudaErrorInvalidValue;
  }
  return kind_allows(kind, ends.to, ends.from)
             ? cudaSuccess
             : because(cudaErrorInvalidValue, wrong_direction(kind, ends.to));
}

cudaError_t submit_copy(
    Runtime& rt,
    Stream& stream,
    Copy copy,
    cudaMemcpyKind kind,
    Completion completion,
    const char* what
) {
  if (const cudaError_t error = check_copy(rt, copy, kind); error != cudaSuccess) {
    const std::uint64_t to =
        extent(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_slice);
    const std::uint64_t from =
        extent(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_slice);
    warn_of_bad_range(rt.space(), copy.to, to, what);
    warn_of_bad_range(rt.space(), copy.from, from, what);
    return error;
  }
  const auto [to, from, bytes] = locate(rt.space(), copy);
  if (bytes == 0) {
    return cudaSuccess;
  }
  Waits waits = Waits::No;
  if (completion == Completion::Synchronous) {
    if (to == Where::Device && from == Where::Pageable && tells_staged_copies(rt)) {
      waits = Waits::Before;
      stage_source(copy);
    } else if (to != Where::Device || from != Where::Device) {
      waits = Waits::Must;
    }
  } else if (stream.capture == nullptr) {
    waits = host_side(to) && host_side(from) ? Waits::Must
            : to == Where::Pageable          ? Waits::May
                                             : Waits::No;
    if (waits == Waits::May) {
      note_result_of_host(copy.to, bytes);
    }
    if (waits == Waits::No && from == Where::Pageable) {
      stage_source(copy);
    }
  }
  return put(rt, stream, Operation{copy, what, stream.device}, waits, what);
}

cudaError_t
submit_set(Runtime& rt, Stream& stream, const Set& set, Completion completion, const char* what) {
  const std::uint64_t bytes = extent(set.width, set.height, set.depth, set.pitch, set.slice);
  if (bytes == 0) {
    return cudaSuccess;
  }
  const Where to = locate(rt.space(), set.to, bytes);
  if (!device_reaches(to)) {
    warn_of_bad_range(rt.space(), set.to, bytes, what);
    return cudaErrorInvalidValue;
  }
  // A set is asynchronous even where the call is not named so, unless it is of pinned memory.
  // Drivers wait where it is of managed memory, too.
  const Waits waits = completion == Completion::Asynchronous || to == Where::Device ? Waits::No
                      : to == Where::Pinned                                         ? Waits::Must
                                                                                    : Waits::May;
  return put(rt, stream, Operation{set, what, stream.device}, waits, what);
}

Copy linear_copy(void* to, const void* from, std::size_t bytes) {
  Copy copy;
  copy.to = reinterpret_cast<memory::Address>(to);
  copy.from = reinterpret_cast<memory::Address>(from);
  copy.width = bytes;
  return copy;
}

Set linear_set(void* to, int value, std::size_t bytes) {
  Set set;
  set.to = reinterpret_cast<memory::Address>(to);
  set.value = static_cast<std::uint8_t>(value);
  set.width = bytes;
  return set;
}

tl::expected<memory::Address, cudaError_t>
in_variable(Runtime& rt, int device, const void* symbol, std::size_t bytes, std::size_t offset) {
  const Variable* variable = rt.modules().variable(symbol);
  if (variable == nullptr) {
    return tl::unexpected(cudaErrorInvalidSymbol);
  }
  const auto place = rt.modules().place(*variable, device);
  if (!place) {
    return tl::unexpected(place.error());
  }
  if (offset > place->bytes || bytes > place->bytes - offset) {
    return tl::unexpected(because(
        cudaErrorInvalidValue,
        fmt::format(
            "the variable has {} bytes, and the call goes from byte {} to byte {}",
            place->bytes,
            offset,
            offset + bytes
        )
    ));
  }
  return place->address + offset;
}

tl::expected<Copy, cudaError_t> copy_to_variable(
    Runtime& rt,
    int device,
    const void* symbol,
    const void* from,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault) {
    return tl::unexpected(because(
        cudaErrorInvalidMemcpyDirection,
        "the direction (cudaMemcpyKind) does not go to a device"
    ));
  }
  return in_variable(rt, device, symbol, bytes, offset).map([&](memory::Address to) {
    return linear_copy(reinterpret_cast<void*>(to), from, bytes);
  });
}

tl::expected<Copy, cudaError_t> copy_from_variable(
    Runtime& rt,
    int device,
    void* to,
    const void* symbol,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
) {
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault) {
    return tl::unexpected(because(
        cudaErrorInvalidMemcpyDirection,
        "the direction (cudaMemcpyKind) does not come from a device"
    ));
  }
  return in_variable(rt, device, symbol, bytes, offset).map([&](memory::Address from) {
    return linear_copy(to, reinterpret_cast<const void*>(from), bytes);
  });
}

} // namespace heddle::runtime
