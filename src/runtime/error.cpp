// Implements error.h.
#include "runtime/error.h"

namespace heddle::runtime {

const char* error_name(cudaError_t code) {
  switch (static_cast<int>(code)) {
#define HEDDLE_CUDA_ERROR(number, name, text)                                                      \
  case number:                                                                                     \
    return #name;
#include "runtime/error.def"
#undef HEDDLE_CUDA_ERROR
  default:
    return "unrecognized error code";
  }
}

const char* error_text(cudaError_t code) {
  switch (static_cast<int>(code)) {
#define HEDDLE_CUDA_ERROR(number, name, text)                                                      \
  case number:                                                                                     \
    return text;
#include "runtime/error.def"
#undef HEDDLE_CUDA_ERROR
  default:
    return "unrecognized error code";
  }
}

cudaError_t error_of(const machine::FaultReport& fault) {
  switch (fault.kind) {
  case machine::FaultReport::Kind::Unsupported:
    return cudaErrorNotSupported;
  case machine::FaultReport::Kind::Deadlock:
  case machine::FaultReport::Kind::Starvation:
  case machine::FaultReport::Kind::Livelock:
    return cudaErrorLaunchTimeout;
  case machine::FaultReport::Kind::Fault:
    break;
  }
  switch (fault.fault.kind) {
  case isa::FaultKind::OutOfBounds:
  case isa::FaultKind::Null:
  case isa::FaultKind::UseAfterFree:
  case isa::FaultKind::ReadOnly:
  case isa::FaultKind::HostMemory:
  case isa::FaultKind::PeerMemory:
  case isa::FaultKind::StackOverflow: // measured: an H200 says illegal address
  case isa::FaultKind::HeapMisuse:    // measured likewise
    return cudaErrorIllegalAddress;
  case isa::FaultKind::Misaligned:
    return cudaErrorMisalignedAddress;
  case isa::FaultKind::BadSpace:
    return cudaErrorInvalidAddressSpace;
  case isa::FaultKind::Assert:
    return cudaErrorAssert;
  case isa::FaultKind::IllegalInstruction:
    return cudaErrorIllegalInstruction;
  case isa::FaultKind::BadCall:
    return cudaErrorInvalidPc;
  case isa::FaultKind::Trap:
  case isa::FaultKind::BarrierMisuse:
  case isa::FaultKind::BarrierReused:
  case isa::FaultKind::BarrierEnded:
  case isa::FaultKind::WarpgroupMisuse:
    return cudaErrorLaunchFailure;
  }
  return cudaErrorLaunchFailure;
}

} // namespace heddle::runtime
