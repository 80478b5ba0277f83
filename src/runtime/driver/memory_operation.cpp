// The driver API: reads and writes of single words by a stream (cuStreamWaitValue32 & co.).
//
// A write is a copy from the call's own argument. A wait is a kernel of one thread that polls: what
// waits in the stream behind it waits for the kernel, and a report of a hang names it.
#include "runtime/driver/driver.h"
#include "runtime/launch.h"
#include "runtime/library.h"
#include "runtime/outcome.h"

#include <cstring>
#include <string>
#include <string_view>

using namespace heddle::runtime;

namespace {

// One kernel for each width #; the condition is 0: at least, 1: equal, 2: a bit of both, 3: a bit
// of neither.
constexpr std::string_view polling_module = R"ptx(
.version 8.0
.target sm_70
.address_size 64
)ptx";
constexpr std::string_view polling_kernel_of_width = R"ptx(
.visible .entry cuStreamWaitValue#(.param .u64 place, .param .u# wanted, .param .u32 condition)
{
  .reg .pred %p<3>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  .reg .b# %v<4>;
  ld.param.u64 %rd1, [place];
  ld.param.u# %v1, [wanted];
  ld.param.u32 %r1, [condition];
again:
  ld.acquire.sys.global.u# %v2, [%rd1];
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra equal;
  setp.eq.u32 %p1, %r1, 2;
  @%p1 bra both;
  setp.eq.u32 %p1, %r1, 3;
  @%p1 bra nor;
  sub.s# %v3, %v2, %v1;
  setp.lt.s# %p2, %v3, 0;
  @%p2 bra again;
  ret;
equal:
  setp.ne.u# %p2, %v2, %v1;
  @%p2 bra again;
  ret;
both:
  and.b# %v3, %v2, %v1;
  setp.eq.u# %p2, %v3, 0;
  @%p2 bra again;
  ret;
nor:
  or.b# %v3, %v2, %v1;
  setp.eq.u# %p2, %v3, -1;
  @%p2 bra again;
  ret;
}
)ptx";

std::string polling_kernels() {
  std::string text(polling_module);
  for (const char* width : {"32", "64"}) {
    for (const char c : polling_kernel_of_width) {
      c == '#' ? text += width : text += c;
    }
  }
  return text;
}

enum class Width : unsigned {
  Four = 4,
  Eight = 8
};

const char* wait_name(Width width) {
  return width == Width::Four ? "cuStreamWaitValue32" : "cuStreamWaitValue64";
}
const char* write_name(Width width) {
  return width == Width::Four ? "cuStreamWriteValue32" : "cuStreamWriteValue64";
}

/// Loaded by the first wait; a library, so that it is there for every device.
tl::expected<Function*, cudaError_t> polling_kernel(Runtime& rt, Width width) {
  Contexts::Polling& polling = rt.contexts().polling;
  const std::lock_guard lock(polling.mutex);
  if (polling.kernels == nullptr) {
    const auto loaded = load_texts(
        rt,
        std::vector<std::string>{polling_kernels()},
        std::nullopt,
        LoadLog(nullptr, nullptr, 0)
    );
    if (!loaded) {
      return tl::unexpected(loaded.error());
    }
    polling.kernels = *loaded;
  }
  return rt.modules().function_named(*polling.kernels, wait_name(width));
}

bool reachable(Runtime& rt, CUdeviceptr p, Width width) {
  const auto allocation = rt.space().find(p);
  const auto bytes = static_cast<std::uint64_t>(width);
  return p % bytes == 0 && allocation && allocation->contains(p, bytes);
}

cudaError_t write_value(CUstream handle, CUdeviceptr p, std::uint64_t value, Width width) {
  return api(write_name(width), [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (!reachable(rt, p, width)) {
      return cudaErrorInvalidValue;
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(width));
    std::memcpy(bytes->data(), &value, bytes->size());
    Copy copy;
    copy.to = p;
    copy.width = bytes->size();
    copy.staged = std::move(bytes);
    const auto command = rt.enqueue(**stream, Operation{copy, write_name(width), 0});
    return command ? cudaSuccess : command.error();
  });
}

cudaError_t
wait_value(CUstream stream, CUdeviceptr p, std::uint64_t value, unsigned flags, Width width) {
  return api(wait_name(width), [&](Runtime& rt, ThreadState&) {
    constexpr unsigned conditions = 3;
    if (!reachable(rt, p, width) || (flags & ~(conditions | CU_STREAM_WAIT_VALUE_FLUSH)) != 0) {
      return cudaErrorInvalidValue;
    }
    if (rt.config().mode == Mode::Check) {
      // A thread that polls would excuse calls that do not return; a waiting stream does not.
      complain_unsupported(wait_name(width));
      return cudaErrorNotSupported;
    }
    const auto kernel = polling_kernel(rt, width);
    if (!kernel) {
      return kernel.error();
    }
    auto narrow = static_cast<std::uint32_t>(value);
    unsigned condition = flags & conditions;
    void* const wanted =
        width == Width::Four ? static_cast<void*>(&narrow) : static_cast<void*>(&value);
    void* arguments[] = {&p, wanted, &condition};
    LaunchRequest request;
    request.function = *kernel;
    request.arguments = arguments;
    return launch(rt, request, stream, wait_name(width));
  });
}

cudaError_t
batch(CUstream stream, unsigned count, const CUstreamBatchMemOpParams* list, unsigned flags) {
  if ((list == nullptr && count != 0) || flags != 0) {
    return cudaErrorInvalidValue;
  }
  for (unsigned i = 0; i < count; ++i) {
    const auto& write = list[i].writeValue;
    const auto& wait = list[i].waitValue;
    cudaError_t error = cudaSuccess;
    switch (list[i].operation) {
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      error = write_value(stream, write.address, write.value, Width::Four);
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      error = write_value(stream, write.address, write.value64, Width::Eight);
      break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      error = wait_value(stream, wait.address, wait.value, wait.flags, Width::Four);
      break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      error = wait_value(stream, wait.address, wait.value64, wait.flags, Width::Eight);
      break;
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      break; // operations of a stream follow each other
    default:
      error = cudaErrorInvalidValue;
    }
    if (error != cudaSuccess) {
      return error;
    }
  }
  return cudaSuccess;
}

} // namespace

#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamBatchMemOp

// Since CUDA 11.7 the names end in _v2; before, the same calls had to be switched on in the driver.
#define HEDDLE_DRIVER_WORD(name, call, ...)                                                        \
  HEDDLE_DRIVER_STREAM(name, call, __VA_ARGS__)                                                    \
  HEDDLE_DRIVER_STREAM(name##_v2, call, __VA_ARGS__)

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER_WORD(cuStreamWriteValue32, write_value(stream, p, value, Width::Four),
    CUstream stream, CUdeviceptr p, cuuint32_t value, unsigned /*flags*/)
HEDDLE_DRIVER_WORD(cuStreamWriteValue64, write_value(stream, p, value, Width::Eight),
    CUstream stream, CUdeviceptr p, cuuint64_t value, unsigned /*flags*/)
HEDDLE_DRIVER_WORD(cuStreamWaitValue32, wait_value(stream, p, value, flags, Width::Four),
    CUstream stream, CUdeviceptr p, cuuint32_t value, unsigned flags)
HEDDLE_DRIVER_WORD(cuStreamWaitValue64, wait_value(stream, p, value, flags, Width::Eight),
    CUstream stream, CUdeviceptr p, cuuint64_t value, unsigned flags)
HEDDLE_DRIVER_WORD(cuStreamBatchMemOp, batch(stream, count, list, flags),
    CUstream stream, unsigned count, CUstreamBatchMemOpParams* list, unsigned flags)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
