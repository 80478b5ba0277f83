// What device code may ask of the CUDA device runtime: launches by device threads, and streams,
// events, copies of the same grid (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", the
// second version, which all architectures from sm_90 on have).
//
// An Environment that can serve it is a DeviceRuntime as well; lower_device_runtime.cpp finds out
// by a cast, since calls are rare.
#pragma once

#include "isa/exec.h"

#include <cstdint>
#include <span>

namespace heddle::isa {

class DeviceRuntime {
public:
  /// Codes as the program sees them.
  enum Error : std::uint32_t {
    Success = 0,
    InvalidValue = 1,
    MemoryAllocation = 2,
    InvalidConfiguration = 9,
    DevicesUnavailable = 46,
    LaunchPendingCountExceeded = 69,
    InvalidDeviceFunction = 98,
    InvalidDevice = 101,
    InvalidResourceHandle = 400
  };
  struct Thread {
    const Warp* warp = nullptr;
    int lane = 0;
  };
  struct Launch {
    memory::Address function = 0;
    std::uint32_t grid[3] = {};
    std::uint32_t block[3] = {};
    std::uint32_t shared = 0;
  };
  struct Copy {
    memory::Address to = 0;
    std::uint64_t to_pitch = 0;
    memory::Address from = 0; // none: `value` is set
    std::uint64_t from_pitch = 0;
    std::uint64_t width = 0; // bytes
    std::uint64_t height = 1;
    bool set = false;
    std::uint8_t value = 0;
  };

  virtual ~DeviceRuntime() = default;
  /// nullptr: it can be served; else what stands in the way.
  virtual const char* missing() const = 0;
  /// Where the arguments of a launch are written to; 0: the launch is not possible, and the
  /// thread's last error says why.
  virtual memory::Address parameter_buffer(Thread, const Launch&) = 0;
  virtual Error launch(Thread, memory::Address buffer, std::uint64_t stream) = 0;
  virtual Error copy(Thread, const Copy&, std::uint64_t stream) = 0;
  virtual std::uint64_t create_stream(Thread) = 0;
  virtual Error destroy_stream(Thread, std::uint64_t stream) = 0;
  virtual std::uint64_t create_event(Thread) = 0;
  virtual Error destroy_event(Thread, std::uint64_t event) = 0;
  virtual Error record(Thread, std::uint64_t event, std::uint64_t stream) = 0;
  virtual Error wait(Thread, std::uint64_t stream, std::uint64_t event) = 0;
  virtual Error last_error(Thread, bool clear) = 0;
  virtual Error fail(Thread, Error) = 0; // becomes the thread's last error; returned
  virtual int device() const = 0;
  virtual int devices() const = 0;
  /// Of cudaDeviceGetAttribute; false: not known here.
  virtual bool attribute(int which, std::int32_t* value) const = 0;
  /// Blocks of a kernel that fit on a multiprocessor; negative: no such kernel.
  virtual int resident_blocks(memory::Address kernel, int threads, std::uint64_t shared) = 0;
};

} // namespace heddle::isa
