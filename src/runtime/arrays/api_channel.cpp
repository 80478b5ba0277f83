// Channel descriptors: the one part of textures that is plain data. (It returns a structure, so it
// could not stand in unsupported.def.)
#include "runtime/cudart.h"

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return cudaChannelFormatDesc{x, y, z, w, f};
}

} // extern "C"
