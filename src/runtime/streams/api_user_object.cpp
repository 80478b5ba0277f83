// User objects: what a graph needs for as long as it may run ("Graph User Objects" in the CUDA
// Programming Guide).
//
// An object's references are the program's and those of graphs, their copies and launches under
// way; its destructor is called when the last of them is given up.
#include "runtime/streams/graph.h"

using namespace heddle::runtime;

namespace {

/// `body(Runtime&, Graphs::OwnedObject&)` for an object of which the program has a reference.
template <class Body> cudaError_t about(const char* what, cudaUserObject_t handle, Body&& body) {
  return api(what, [&](Runtime& rt, ThreadState&) -> cudaError_t {
    const auto lock = rt.graphs().lock();
    const auto it = rt.graphs().user_objects().find(handle);
    return it == rt.graphs().user_objects().end() ? cudaErrorInvalidValue : body(rt, it->second);
  });
}

cudaError_t
give_up(Runtime& rt, cudaUserObject_t handle, Graphs::OwnedObject& object, unsigned count) {
  if (count == 0 || count > object.references) {
    return cudaErrorInvalidValue;
  }
  object.references -= count;
  if (object.references == 0) {
    rt.graphs().user_objects().erase(handle);
  }
  return cudaSuccess;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaUserObjectCreate(
    cudaUserObject_t* result,
    void* data,
    cudaHostFn_t destroy,
    unsigned int references,
    unsigned int flags
) {
  return api("cudaUserObjectCreate", [&](Runtime& rt, ThreadState&) {
    if (result == nullptr || destroy == nullptr || references == 0 ||
        flags != cudaUserObjectNoDestructorSync) {
      return cudaErrorInvalidValue;
    }
    const auto lock = rt.graphs().lock();
    auto object = std::make_shared<UserObject>(destroy, data);
    *result = reinterpret_cast<cudaUserObject_t>(object.get());
    rt.graphs().user_objects()[*result] = {std::move(object), references};
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned int count) {
  return about("cudaUserObjectRetain", handle, [&](Runtime&, Graphs::OwnedObject& object) {
    if (count == 0) {
      return cudaErrorInvalidValue;
    }
    object.references += count;
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned int count) {
  return about("cudaUserObjectRelease", handle, [&](Runtime& rt, Graphs::OwnedObject& object) {
    return give_up(rt, handle, object, count);
  });
}

cudaError_t cudaGraphRetainUserObject(
    cudaGraph_t graph_handle,
    cudaUserObject_t handle,
    unsigned int count,
    unsigned int flags
) {
  return about("cudaGraphRetainUserObject", handle, [&](Runtime& rt, Graphs::OwnedObject& object) {
    const GraphPtr graph = rt.graphs().find(graph_handle);
    if (graph == nullptr || count == 0 || (flags & ~unsigned{cudaGraphUserObjectMove}) != 0) {
      return cudaErrorInvalidValue;
    }
    if (flags == cudaGraphUserObjectMove && count > object.references) {
      return cudaErrorInvalidValue;
    }
    graph->user_objects.insert(graph->user_objects.end(), count, object.object);
    return flags == cudaGraphUserObjectMove ? give_up(rt, handle, object, count) : cudaSuccess;
  });
}

cudaError_t
cudaGraphReleaseUserObject(cudaGraph_t graph_handle, cudaUserObject_t handle, unsigned int count) {
  return api("cudaGraphReleaseUserObject", [&](Runtime& rt, ThreadState&) {
    const auto lock = rt.graphs().lock();
    const GraphPtr graph = rt.graphs().find(graph_handle);
    if (graph == nullptr || count == 0) {
      return cudaErrorInvalidValue;
    }
    auto& all = graph->user_objects;
    unsigned found = 0;
    const auto is_it = [&](const UserObjectPtr& object) {
      return reinterpret_cast<cudaUserObject_t>(object.get()) == handle;
    };
    for (const UserObjectPtr& object : all) {
      found += is_it(object) ? 1 : 0;
    }
    if (found < count) {
      return cudaErrorInvalidValue;
    }
    unsigned left = count;
    std::erase_if(all, [&](const UserObjectPtr& object) {
      return is_it(object) && left != 0 && left-- != 0;
    });
    return cudaSuccess;
  });
}

} // extern "C"
#pragma GCC visibility pop
