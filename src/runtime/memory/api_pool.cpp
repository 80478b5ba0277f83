// Memory pools: creation, choice, attributes, access. Sharing between processes: api_ipc.cpp.
#include "runtime/diagnostics/outcome.h"
#include "runtime/memory/pool.h"

using namespace heddle::runtime;

namespace {

/// The entry points about one pool, under the table's lock.
/// What a pool answers of its use depends on which frees devices have carried out: `observes`.
template <class Body>
cudaError_t about_pool(const char* what, cudaMemPool_t handle, Body&& body, bool observes = false) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    if (observes) {
      rt.world().driver().observe(what);
    }
    const auto held = rt.pools().lock();
    const PoolPtr pool = rt.pools().find(handle);
    return pool == nullptr ? cudaErrorInvalidValue : body(rt, *pool);
  });
}

bool is_use(cudaMemPoolAttr attribute) {
  switch (attribute) {
  case cudaMemPoolAttrReservedMemCurrent:
  case cudaMemPoolAttrReservedMemHigh:
  case cudaMemPoolAttrUsedMemCurrent:
  case cudaMemPoolAttrUsedMemHigh:
    return true;
  default:
    return false;
  }
}

template <class Choose>
cudaError_t pool_of_device(const char* what, cudaMemPool_t* pool, int device, Choose&& choose) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    if (pool == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    *pool = choose(rt)->handle;
    return cudaSuccess;
  });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return pool_of_device("cudaDeviceGetDefaultMemPool", pool, device, [&](Runtime& rt) {
    return rt.pools().default_pool(device);
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return pool_of_device("cudaDeviceGetMemPool", pool, device, [&](Runtime& rt) {
    return rt.pools().current(device);
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return about_pool("cudaDeviceSetMemPool", handle, [&](Runtime& rt, Pool& pool) {
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    if (pool.device != device) {
      return cudaErrorInvalidValue;
    }
    rt.pools().set_current(device, rt.pools().find(handle));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return api("cudaMemPoolCreate", [&](Runtime& rt, ThreadState&) {
    if (pool == nullptr || properties == nullptr ||
        properties->allocType != cudaMemAllocationTypePinned) {
      return cudaErrorInvalidValue;
    }
    if (properties->location.type != cudaMemLocationTypeDevice) {
      if (properties->location.type == cudaMemLocationTypeInvalid) {
        return cudaErrorInvalidValue;
      }
      complain_unsupported("a memory pool that is not on a device");
      return cudaErrorNotSupported;
    }
    if (!rt.valid_device(properties->location.id)) {
      return cudaErrorInvalidDevice;
    }
    const auto held = rt.pools().lock();
    const PoolPtr made = rt.pools().create(properties->location.id);
    made->max_bytes = properties->maxSize;
    made->shareable = (properties->handleTypes & cudaMemHandleTypePosixFileDescriptor) != 0;
    *pool = made->handle;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return about_pool("cudaMemPoolDestroy", handle, [&](Runtime& rt, Pool& pool) {
    if (rt.pools().is_default(pool)) {
      return cudaErrorInvalidValue;
    }
    rt.pools().destroy(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return about_pool(
      "cudaMemPoolGetAttribute",
      handle,
      [&](Runtime& rt, Pool& pool) {
        if (value == nullptr) {
          return cudaErrorInvalidValue;
        }
        const auto answer = [&](std::uint64_t bytes) {
          *static_cast<std::uint64_t*>(value) = bytes;
          return cudaSuccess;
        };
        switch (attribute) {
        case cudaMemPoolReuseFollowEventDependencies:
        case cudaMemPoolReuseAllowOpportunistic:
        case cudaMemPoolReuseAllowInternalDependencies:
          *static_cast<int*>(value) =
              pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
          return cudaSuccess;
        case cudaMemPoolAttrReleaseThreshold:
          return answer(pool.release_threshold);
        case cudaMemPoolAttrReservedMemCurrent:
          return answer(Pool::reserved(used_bytes(rt, pool)));
        case cudaMemPoolAttrReservedMemHigh:
          return answer(pool.reserved_high);
        case cudaMemPoolAttrUsedMemCurrent:
          return answer(used_bytes(rt, pool));
        case cudaMemPoolAttrUsedMemHigh:
          return answer(pool.used_high);
        default:
          return cudaErrorInvalidValue;
        }
      },
      is_use(attribute)
  );
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return about_pool(
      "cudaMemPoolSetAttribute",
      handle,
      [&](Runtime& rt, Pool& pool) {
        if (value == nullptr) {
          return cudaErrorInvalidValue;
        }
        switch (attribute) {
        case cudaMemPoolReuseFollowEventDependencies:
        case cudaMemPoolReuseAllowOpportunistic:
        case cudaMemPoolReuseAllowInternalDependencies:
          pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies] =
              *static_cast<int*>(value);
          return cudaSuccess;
        case cudaMemPoolAttrReleaseThreshold:
          pool.release_threshold = *static_cast<std::uint64_t*>(value);
          return cudaSuccess;
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemHigh: { // a mark can only be taken back to what is
          if (*static_cast<std::uint64_t*>(value) != 0) {
            return cudaErrorInvalidValue;
          }
          const std::uint64_t used = used_bytes(rt, pool);
          (attribute == cudaMemPoolAttrUsedMemHigh ? pool.used_high : pool.reserved_high) =
              attribute == cudaMemPoolAttrUsedMemHigh ? used : Pool::reserved(used);
          return cudaSuccess;
        }
        default:
          return cudaErrorInvalidValue;
        }
      },
      is_use(attribute)
  );
}

cudaError_t
cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list, std::size_t n) {
  return about_pool("cudaMemPoolSetAccess", handle, [&](Runtime& rt, Pool& pool) {
    if (list == nullptr && n != 0) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const bool own = list[i].location.id == pool.device;
      if (list[i].location.type != cudaMemLocationTypeDevice ||
          (own && list[i].flags != cudaMemAccessFlagsProtReadWrite)) {
        return cudaErrorInvalidValue;
      }
      if (!rt.valid_device(list[i].location.id)) {
        return cudaErrorInvalidDevice;
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      pool.access[list[i].location.id] = list[i].flags;
    }
    return cudaSuccess;
  });
}

cudaError_t
cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle, cudaMemLocation* location) {
  return about_pool("cudaMemPoolGetAccess", handle, [&](Runtime& rt, Pool& pool) {
    if (flags == nullptr || location == nullptr || location->type != cudaMemLocationTypeDevice) {
      return cudaErrorInvalidValue;
    }
    if (!rt.valid_device(location->id)) {
      return cudaErrorInvalidDevice;
    }
    const auto it = pool.access.find(location->id);
    *flags = location->id == pool.device ? cudaMemAccessFlagsProtReadWrite
             : it == pool.access.end()   ? cudaMemAccessFlagsProtNone
                                         : it->second;
    return cudaSuccess;
  });
}

// Nothing is kept that could be given back.
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, std::size_t /*keep*/) {
  return about_pool("cudaMemPoolTrimTo", handle, [](Runtime&, Pool&) { return cudaSuccess; });
}

cudaError_t
cudaMallocFromPoolAsync(void** p, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return api("cudaMallocFromPoolAsync", [&](Runtime& rt, ThreadState&) {
    return pool == nullptr
               ? cudaErrorInvalidValue
               : allocate_from_pool(rt, p, bytes, pool, stream, "cudaMallocFromPoolAsync");
  });
}
cudaError_t
cudaMallocFromPoolAsync_ptsz(void** p, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(p, bytes, pool, per_thread(stream));
}

} // extern "C"
#pragma GCC visibility pop
