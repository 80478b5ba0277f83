// Texture and surface objects.
#include "runtime/arrays/array.h"
#include "runtime/memory/stream_ordered.h"
#include "runtime/runtime.h"

using namespace heddle::runtime;

namespace {

template <class Handle>
cudaError_t create(Runtime& rt, Handle* result, const TextureObject& object) {
  const auto made = rt.arrays().add(object);
  if (!made) {
    return made.error();
  }
  *result = *made;
  if (StreamOrdered* lives = rt.stream_ordered()) {
    lives->made_by_host(
        *made,
        1,
        object.surface ? StreamOrdered::Kind::Surface : StreamOrdered::Kind::Texture
    );
  }
  return cudaSuccess;
}

/// Today's drivers do not wait for work that is under way and may still use it.
cudaError_t destroy(const char* what, unsigned long long object, bool surface) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    if (object == 0) {
      return cudaSuccess;
    }
    const cudaError_t error = rt.arrays().remove(object, surface);
    if (StreamOrdered* lives = rt.stream_ordered(); lives != nullptr && error == cudaSuccess) {
      lives->ended_by_host(object, what);
    }
    return error;
  });
}

/// Hands out one part of what an object was made of.
template <class Part, class Pick>
cudaError_t
tell(const char* what, Part* result, unsigned long long handle, bool surface, Pick&& pick) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    const auto object = rt.arrays().find_object(handle, surface);
    if (!object || result == nullptr) {
      return cudaErrorInvalidValue;
    }
    *result = pick(*object);
    return cudaSuccess;
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaCreateTextureObject(
    cudaTextureObject_t* result,
    const cudaResourceDesc* resource,
    const cudaTextureDesc* texture,
    const cudaResourceViewDesc* view
) {
  return api("cudaCreateTextureObject", [&](Runtime& rt, ThreadState& thread) {
    if (result == nullptr || resource == nullptr || texture == nullptr) {
      return cudaErrorInvalidValue;
    }
    TextureObject object{thread.device, /*surface=*/false, *resource, *texture, {}};
    if (view != nullptr) {
      object.view = *view;
    }
    return create(rt, result, object);
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* result, const cudaResourceDesc* resource) {
  return api("cudaCreateSurfaceObject", [&](Runtime& rt, ThreadState& thread) {
    if (result == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray) {
      return cudaErrorInvalidValue;
    }
    return create(rt, result, TextureObject{thread.device, /*surface=*/true, *resource, {}, {}});
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return destroy("cudaDestroyTextureObject", object, /*surface=*/false);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return destroy("cudaDestroySurfaceObject", object, /*surface=*/true);
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* result, cudaTextureObject_t object) {
  return tell(
      "cudaGetTextureObjectResourceDesc",
      result,
      object,
      false,
      [](const TextureObject& o) { return o.resource; }
  );
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* result, cudaTextureObject_t object) {
  return tell("cudaGetTextureObjectTextureDesc", result, object, false, [](const TextureObject& o) {
    return o.texture;
  });
}
cudaError_t
cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* result, cudaTextureObject_t object) {
  return tell(
      "cudaGetTextureObjectResourceViewDesc",
      result,
      object,
      false,
      [](const TextureObject& o) { return o.view.value_or(cudaResourceViewDesc{}); }
  );
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* result, cudaSurfaceObject_t object) {
  return tell("cudaGetSurfaceObjectResourceDesc", result, object, true, [](const TextureObject& o) {
    return o.resource;
  });
}

} // extern "C"
#pragma GCC visibility pop
