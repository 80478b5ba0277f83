// Names and texts of error codes, and the codes of device faults (measured on an H200, CUDA 13.0).
#include "runtime/error.h"

#include <gtest/gtest.h>

namespace heddle::runtime {
namespace {

TEST(Error, NamesAndTexts) {
  EXPECT_STREQ(error_name(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(error_text(cudaSuccess), "no error");
  EXPECT_STREQ(error_name(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(error_text(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  EXPECT_STREQ(
      error_text(cudaErrorCooperativeLaunchTooLarge),
      "too many blocks in cooperative launch"
  );
  EXPECT_STREQ(error_name(static_cast<cudaError_t>(12345)), "unrecognized error code");
  EXPECT_STREQ(error_text(static_cast<cudaError_t>(-1)), "unrecognized error code");
}

machine::FaultReport fault(isa::FaultKind kind) {
  machine::FaultReport report;
  report.fault.kind = kind;
  return report;
}

TEST(Error, CodesOfFaults) {
  EXPECT_EQ(error_of(fault(isa::FaultKind::OutOfBounds)), cudaErrorIllegalAddress);
  EXPECT_EQ(error_of(fault(isa::FaultKind::Null)), cudaErrorIllegalAddress);
  EXPECT_EQ(error_of(fault(isa::FaultKind::StackOverflow)), cudaErrorIllegalAddress);
  EXPECT_EQ(error_of(fault(isa::FaultKind::Misaligned)), cudaErrorMisalignedAddress);
  EXPECT_EQ(error_of(fault(isa::FaultKind::Assert)), cudaErrorAssert);
  EXPECT_EQ(error_of(fault(isa::FaultKind::Trap)), cudaErrorLaunchFailure);
  machine::FaultReport gap;
  gap.kind = machine::FaultReport::Kind::Unsupported;
  EXPECT_EQ(error_of(gap), cudaErrorNotSupported);
}

} // namespace
} // namespace heddle::runtime
