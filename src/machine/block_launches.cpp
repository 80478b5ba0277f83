// What threads of a block ask of the device runtime: passed on to the DeviceLaunches of the grid.
#include "machine/block.h"
#include "machine/device_launches.h"

namespace heddle::machine {
namespace {

DeviceLaunches::Caller caller(Block& block, const isa::DeviceRuntime::Thread& thread) {
  const Dim3& grid = block.grid().config().grid;
  const Dim3 at = block.index();
  return {
      (std::uint64_t{at.z} * grid.y + at.y) * grid.x + at.x,
      block.index_of(*thread.warp) * isa::warp_size + static_cast<std::uint64_t>(thread.lane),
      block.monitor()
  };
}

} // namespace

const char* Block::missing() const {
  return grid_.launches() != nullptr ? nullptr : "here";
}

memory::Address Block::parameter_buffer(Thread thread, const Launch& launch) {
  return grid_.launches()->parameter_buffer(caller(*this, thread), launch);
}

Block::Error Block::launch(Thread thread, memory::Address buffer, std::uint64_t stream) {
  return grid_.launches()->launch(caller(*this, thread), buffer, stream);
}

Block::Error Block::copy(Thread thread, const Copy& copy, std::uint64_t stream) {
  return grid_.launches()->copy(caller(*this, thread), copy, stream);
}

std::uint64_t Block::create_stream(Thread /*thread*/) {
  return grid_.launches()->create_stream();
}

Block::Error Block::destroy_stream(Thread thread, std::uint64_t stream) {
  return grid_.launches()->destroy_stream(caller(*this, thread), stream);
}

std::uint64_t Block::create_event(Thread /*thread*/) {
  return grid_.launches()->create_event();
}

Block::Error Block::destroy_event(Thread thread, std::uint64_t event) {
  return grid_.launches()->destroy_event(caller(*this, thread), event);
}

Block::Error Block::record(Thread thread, std::uint64_t event, std::uint64_t stream) {
  return grid_.launches()->record(caller(*this, thread), event, stream);
}

Block::Error Block::wait(Thread thread, std::uint64_t stream, std::uint64_t event) {
  return grid_.launches()->wait(caller(*this, thread), stream, event);
}

Block::Error Block::last_error(Thread thread, bool clear) {
  return grid_.launches()->last_error(caller(*this, thread), clear);
}

Block::Error Block::fail(Thread thread, Error error) {
  return grid_.launches()->fail(caller(*this, thread), error);
}

int Block::device() const {
  return grid_.device();
}

int Block::devices() const {
  return grid_.launches()->world().devices();
}

bool Block::attribute(int which, std::int32_t* value) const {
  const DeviceModel& model = grid_.services().model();
  const auto answer = [value](std::uint32_t figure) {
    *value = static_cast<std::int32_t>(figure);
    return true;
  };
  // Numbers of enum cudaDeviceAttr.
  switch (which) {
  case 1: // cudaDevAttrMaxThreadsPerBlock
    return answer(model.max_threads_per_block);
  case 8: // cudaDevAttrMaxSharedMemoryPerBlock
    return answer(model.shared_per_block);
  case 10: // cudaDevAttrWarpSize
    return answer(isa::warp_size);
  case 12: // cudaDevAttrMaxRegistersPerBlock
  case 82: // cudaDevAttrMaxRegistersPerMultiprocessor
    return answer(model.registers_per_multiprocessor);
  case 16: // cudaDevAttrMultiProcessorCount
    return answer(model.multiprocessors);
  case 39: // cudaDevAttrMaxThreadsPerMultiProcessor
    return answer(model.threads_per_multiprocessor);
  case 75: // cudaDevAttrComputeCapabilityMajor
    return answer(static_cast<std::uint32_t>(model.major));
  case 76: // cudaDevAttrComputeCapabilityMinor
    return answer(static_cast<std::uint32_t>(model.minor));
  case 81: // cudaDevAttrMaxSharedMemoryPerMultiprocessor
    return answer(model.shared_per_multiprocessor);
  case 97: // cudaDevAttrMaxSharedMemoryPerBlockOptin
    return answer(model.shared_per_block_optin);
  case 106: // cudaDevAttrMaxBlocksPerMultiprocessor
    return answer(model.blocks_per_multiprocessor);
  default:
    return false;
  }
}

int Block::resident_blocks(memory::Address kernel, int threads, std::uint64_t shared) {
  return grid_.launches()->resident_blocks(kernel, threads, shared);
}

} // namespace heddle::machine
