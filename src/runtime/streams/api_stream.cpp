// Streams: creation, queries, synchronisation, host functions. The order of work is stream.h's.
//
// Priorities are kept and answered; they order nothing, which CUDA allows (they are hints).
#include "runtime/diagnostics/host_accesses.h"
#include "runtime/runtime.h"

#include <algorithm>
#include <cstring>

using namespace heddle::runtime;

namespace {

constexpr int highest_priority = -5; // as an H200
constexpr int lowest_priority = 0;

cudaError_t create(cudaStream_t* stream, unsigned flags, int priority, const char* what) {
  return api(what, [&](Runtime& rt, ThreadState& thread) {
    if (stream == nullptr || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)) {
      return cudaErrorInvalidValue;
    }
    const int kept = std::clamp(priority, highest_priority, lowest_priority);
    *stream = rt.streams().create(thread.device, flags, kept)->handle;
    return cudaSuccess;
  });
}

/// What synchronising with the stream waits for. Measured: the legacy default stream answers for
/// the blocking streams too; any other stream only for itself.
std::vector<heddle::machine::CommandPtr> own_work(Runtime& rt, const Stream& stream) {
  if (stream.legacy) {
    return rt.streams().pending(stream);
  }
  std::vector<heddle::machine::CommandPtr> work;
  if (stream.tail != nullptr) {
    work.push_back(stream.tail);
  }
  return work;
}

/// The entry points that only look at a stream.
template <class Body>
cudaError_t look_at(const char* what, cudaStream_t handle, const void* result, Body&& body) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    body(**stream);
    return cudaSuccess;
  });
}

bool is_stream_attribute(cudaLaunchAttributeID attribute) {
  switch (attribute) {
  case cudaLaunchAttributeAccessPolicyWindow:
  case cudaLaunchAttributeSynchronizationPolicy:
  case cudaLaunchAttributePriority:
  case cudaLaunchAttributeMemSyncDomainMap:
  case cudaLaunchAttributeMemSyncDomain:
    return true;
  default:
    return false;
  }
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create(stream, cudaStreamDefault, 0, "cudaStreamCreate");
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return create(stream, flags, 0, "cudaStreamCreateWithFlags");
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return create(stream, flags, priority, "cudaStreamCreateWithPriority");
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return api("cudaStreamDestroy", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if ((*stream)->legacy || (*stream)->per_thread) {
      return cudaErrorInvalidResourceHandle;
    }
    if ((*stream)->capture != nullptr) {
      (*stream)->capture->leave(**stream);
    }
    rt.streams().destroy(*stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return api("cudaStreamSynchronize", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (const cudaError_t error = rt.refuse_during_capture(**stream); error != cudaSuccess) {
      return error;
    }
    return rt.wait(own_work(rt, **stream), (*stream)->device, "cudaStreamSynchronize");
  });
}
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(per_thread(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return api("cudaStreamQuery", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (const cudaError_t error = rt.refuse_during_capture(**stream); error != cudaSuccess) {
      return error;
    }
    return rt.query(own_work(rt, **stream), (*stream)->device);
  });
}
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) {
  return cudaStreamQuery(per_thread(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned int flags) {
  return api("cudaStreamWaitEvent", [&](Runtime& rt, ThreadState&) {
    if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal) {
      return cudaErrorInvalidValue;
    }
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    const auto event = rt.event(event_handle);
    if (!event) {
      return event.error();
    }
    if (flags == cudaEventWaitExternal && (*stream)->capture != nullptr) {
      const auto node =
          rt.enqueue(**stream, Operation{EventWait{*event}, "cudaStreamWaitEvent", 0});
      return node ? cudaSuccess : node.error();
    }
    return rt.wait_event(**stream, *event);
  });
}
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return cudaStreamWaitEvent(per_thread(stream), event, flags);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return api("cudaLaunchHostFunc", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (function == nullptr) {
      return cudaErrorInvalidValue;
    }
    note_argument_of_function(data);
    const auto command = rt.enqueue(
        **stream,
        Operation{
            HostCall{[function, data] { function(data); }, function, data},
            "cudaLaunchHostFunc",
            0
        }
    );
    return command ? cudaSuccess : command.error();
  });
}
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return cudaLaunchHostFunc(per_thread(stream), function, data);
}

cudaError_t cudaStreamAddCallback(
    cudaStream_t handle,
    cudaStreamCallback_t function,
    void* data,
    unsigned int flags
) {
  return api("cudaStreamAddCallback", [&](Runtime& rt, ThreadState& thread) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (function == nullptr || flags != 0) {
      return cudaErrorInvalidValue;
    }
    if ((*stream)->capture != nullptr) {
      (*stream)->capture->invalidate();
      return cudaErrorStreamCaptureUnsupported;
    }
    const int device = thread.device;
    HostCall call;
    call.call = [&rt, handle, function, data, device] {
      function(handle, rt.health(device), data);
    };
    call.function = reinterpret_cast<cudaHostFn_t>(
        reinterpret_cast<void*>(function)
    ); // which it is, apart from its type
    call.data = data;
    note_argument_of_function(data);
    const auto command =
        rt.enqueue(**stream, Operation{std::move(call), "cudaStreamAddCallback", 0});
    return command ? cudaSuccess : command.error();
  });
}
cudaError_t cudaStreamAddCallback_ptsz(
    cudaStream_t stream,
    cudaStreamCallback_t function,
    void* data,
    unsigned int flags
) {
  return cudaStreamAddCallback(per_thread(stream), function, data, flags);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return look_at("cudaStreamGetFlags", stream, flags, [&](const Stream& s) { *flags = s.flags; });
}
cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int* flags) {
  return cudaStreamGetFlags(per_thread(stream), flags);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return look_at("cudaStreamGetPriority", stream, priority, [&](const Stream& s) {
    *priority = s.priority;
  });
}
cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return cudaStreamGetPriority(per_thread(stream), priority);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return look_at("cudaStreamGetId", stream, id, [&](const Stream& s) { *id = s.id; });
}
cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) {
  return cudaStreamGetId(per_thread(stream), id);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return look_at("cudaStreamGetDevice", stream, device, [&](const Stream& s) {
    *device = s.device;
  });
}
cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(per_thread(stream), device);
}

// Managed memory is coherent with the host at all times, so attaching only orders.
cudaError_t
cudaStreamAttachMemAsync(cudaStream_t handle, void* p, std::size_t /*bytes*/, unsigned int flags) {
  return api("cudaStreamAttachMemAsync", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (p == nullptr || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
                         flags != cudaMemAttachSingle)) {
      return cudaErrorInvalidValue;
    }
    const auto command = rt.enqueue(**stream, Operation{Nothing{}, "cudaStreamAttachMemAsync", 0});
    return command ? cudaSuccess : command.error();
  });
}
cudaError_t
cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* p, std::size_t bytes, unsigned int flags) {
  return cudaStreamAttachMemAsync(per_thread(stream), p, bytes, flags);
}

// Attributes of streams tune (cache policy, how to wait, memory domains); only the priority is
// more, and it orders nothing here.
cudaError_t cudaStreamSetAttribute(
    cudaStream_t handle,
    cudaLaunchAttributeID attribute,
    const cudaLaunchAttributeValue* value
) {
  return api("cudaStreamSetAttribute", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (value == nullptr || !is_stream_attribute(attribute)) {
      return cudaErrorInvalidValue;
    }
    (*stream)->attributes[attribute] = *value;
    if (attribute == cudaLaunchAttributePriority) {
      (*stream)->priority = value->priority;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSetAttribute_ptsz(
    cudaStream_t stream,
    cudaLaunchAttributeID attribute,
    const cudaLaunchAttributeValue* value
) {
  return cudaStreamSetAttribute(per_thread(stream), attribute, value);
}

cudaError_t cudaStreamGetAttribute(
    cudaStream_t handle,
    cudaLaunchAttributeID attribute,
    cudaLaunchAttributeValue* value
) {
  return api("cudaStreamGetAttribute", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (value == nullptr || !is_stream_attribute(attribute)) {
      return cudaErrorInvalidValue;
    }
    const auto it = (*stream)->attributes.find(attribute);
    std::memset(static_cast<void*>(value), 0, sizeof *value);
    if (it != (*stream)->attributes.end()) {
      *value = it->second;
    } else if (attribute == cudaLaunchAttributePriority) {
      value->priority = (*stream)->priority;
    } else if (attribute == cudaLaunchAttributeSynchronizationPolicy) {
      value->syncPolicy = cudaSyncPolicyAuto;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetAttribute_ptsz(
    cudaStream_t stream,
    cudaLaunchAttributeID attribute,
    cudaLaunchAttributeValue* value
) {
  return cudaStreamGetAttribute(per_thread(stream), attribute, value);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to_handle, cudaStream_t from_handle) {
  return api("cudaStreamCopyAttributes", [&](Runtime& rt, ThreadState&) {
    const auto to = rt.stream(to_handle);
    const auto from = rt.stream(from_handle);
    if (!to || !from) {
      return !to ? to.error() : from.error();
    }
    (*to)->attributes = (*from)->attributes;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from) {
  return cudaStreamCopyAttributes(per_thread(to), per_thread(from));
}

} // extern "C"
#pragma GCC visibility pop
