// How the stand-ins for NVIDIA's libraries reach Heddle's libcudart: by name, in the process that
// they are loaded into, because they are libraries of their own that a program may load without
// one.
#pragma once

#include "runtime/streams/library_reach.h"
#include "runtime/streams/library_work.h"

namespace heddle::libraries {

struct Cudart {
  HeddleLibraryWork* work = nullptr;
  HeddleLibraryReach* reach = nullptr;
  HeddleLibraryUnsupported* unsupported = nullptr;
  int (*synchronize)(void* stream) = nullptr; // cudaStreamSynchronize
  int (*copy_2d)(
      void*,
      std::size_t,
      const void*,
      std::size_t,
      std::size_t,
      std::size_t,
      int,
      void*
  ) = nullptr; // cudaMemcpy2DAsync
};

/// The one of this process; loads the one beside this library if there is none. Ends the process,
/// with a word, if that is not Heddle's.
const Cudart& cudart();

} // namespace heddle::libraries
