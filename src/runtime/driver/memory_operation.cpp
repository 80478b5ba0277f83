// The driver API: reads and writes of single words by a stream (cuStreamWaitValue32 & co.).
//
// A write is a copy from the call's own argument. A wait is a command that completes while memory
// holds what it waits for (machine/value_wait.h), and that reports of hangs name.
#include "runtime/driver/driver.h"

#include <cstring>
#include <string>

using namespace heddle;
using namespace heddle::runtime;

namespace {

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

// The lowest flags name the condition, in the order of machine::ValueWait::Condition.
cudaError_t
wait_value(CUstream handle, CUdeviceptr p, std::uint64_t value, unsigned flags, Width width) {
  using Condition = machine::ValueWait::Condition;
  constexpr unsigned conditions = 3;
  static_assert(
      CU_STREAM_WAIT_VALUE_GEQ == static_cast<int>(Condition::AtLeast) &&
      CU_STREAM_WAIT_VALUE_EQ == static_cast<int>(Condition::Equal) &&
      CU_STREAM_WAIT_VALUE_AND == static_cast<int>(Condition::And) &&
      CU_STREAM_WAIT_VALUE_NOR == static_cast<int>(Condition::Nor)
  );
  return api(wait_name(width), [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    // Flushing makes writes of other devices visible that here are so anyway.
    if (!reachable(rt, p, width) || (flags & ~(conditions | CU_STREAM_WAIT_VALUE_FLUSH)) != 0) {
      return cudaErrorInvalidValue;
    }
    const machine::ValueWait wait{
        &rt.space(),
        p,
        static_cast<std::uint32_t>(width),
        value,
        static_cast<Condition>(flags & conditions)
    };
    const auto command = rt.enqueue(**stream, Operation{WaitForValue{wait}, wait_name(width), 0});
    return command ? cudaSuccess : command.error();
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
