// The driver API: user objects of graphs.
#include "runtime/driver/driver.h"

using namespace heddle::runtime;

namespace {

cudaUserObject_t object_of(CUuserObject object) {
  return reinterpret_cast<cudaUserObject_t>(object);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER(cuUserObjectCreate,
    cudaUserObjectCreate(reinterpret_cast<cudaUserObject_t*>(object), data, destroy, references, flags),
    CUuserObject* object, void* data, CUhostFn destroy, unsigned references, unsigned flags)
HEDDLE_DRIVER(cuUserObjectRetain, cudaUserObjectRetain(object_of(object), count), CUuserObject object, unsigned count)
HEDDLE_DRIVER(cuUserObjectRelease, cudaUserObjectRelease(object_of(object), count), CUuserObject object, unsigned count)
HEDDLE_DRIVER(cuGraphRetainUserObject, cudaGraphRetainUserObject(graph, object_of(object), count, flags),
    CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
HEDDLE_DRIVER(cuGraphReleaseUserObject, cudaGraphReleaseUserObject(graph, object_of(object), count),
    CUgraph graph, CUuserObject object, unsigned count)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
