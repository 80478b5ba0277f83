// Who is owed progress: the model of spec/progress.md and those of the literature.
#pragma once

#include <cstdint>

namespace heddle::model {

/// Cuda is the model of spec/progress.md; the others are those of OOPSLA 2021, "Specifying and
/// Testing GPU Workgroup Progress Models", with a cluster (or a cooperative grid) in the place of
/// their workgroup.
enum class ProgressModel : std::uint8_t {
  Cuda, // [DEV] [CLUSTER] [COOP]
  Fair, // every thread of a grid that may start
  Obe,  // occupancy-bound: clusters that have taken a step; the same as Cuda
  Hsa,  // the cluster with the lowest index that has not ended
  Lobe  // Obe, and every cluster with a lower index than one that has taken a step
};

} // namespace heddle::model
