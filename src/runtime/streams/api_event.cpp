// Events: marks in streams, and the time between them.
//
// Times are those of the host's clock when the mark was reached: they say how long Heddle took and
// nothing about a GPU.
#include "runtime/ipc/ipc.h"
#include "runtime/runtime.h"

using namespace heddle::runtime;

namespace {

cudaError_t create(cudaEvent_t* event, unsigned flags, const char* what) {
  return api(what, [&](Runtime& rt, ThreadState& thread) {
    constexpr unsigned known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    const bool interprocess = (flags & cudaEventInterprocess) != 0;
    if (event == nullptr || (flags & ~known) != 0 ||
        (interprocess && (flags & cudaEventDisableTiming) == 0)) {
      return cudaErrorInvalidValue;
    }
    *event = rt.streams().create_event(thread.device, flags)->handle;
    return cudaSuccess;
  });
}

cudaError_t
record(cudaEvent_t event_handle, cudaStream_t handle, const char* what, unsigned flags = 0) {
  return api(what, [&](Runtime& rt, ThreadState&) {
    const auto event = rt.event(event_handle);
    if (!event) {
      return event.error();
    }
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (flags == cudaEventRecordExternal && (*stream)->capture != nullptr) {
      const auto node = rt.enqueue(**stream, Operation{EventRecord{*event}, what, 0});
      return node ? cudaSuccess : node.error();
    }
    return rt.record(**stream, *event);
  });
}

/// Of an event that a capture recorded there is nothing to know yet; asking spoils the capture.
cudaError_t refuse(Runtime& rt, const Event& event) {
  if (const auto capture = event.captured_by.lock()) {
    capture->invalidate();
    return cudaErrorCapturedEvent;
  }
  return event.stale() ? cudaErrorInvalidValue : rt.refuse_during_capture();
}

std::vector<heddle::machine::CommandPtr> work_before(const Event& event) {
  std::vector<heddle::machine::CommandPtr> work;
  if (event.command != nullptr) {
    work.push_back(event.command);
  }
  return work;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return create(event, cudaEventDefault, "cudaEventCreate");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return create(event, flags, "cudaEventCreateWithFlags");
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return api("cudaEventDestroy", [&](Runtime& rt, ThreadState&) {
    const auto event = rt.event(handle);
    if (!event) {
      return event.error();
    }
    rt.streams().destroy_event(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return record(event, stream, "cudaEventRecord");
}
cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, per_thread(stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  if (flags != cudaEventRecordDefault && flags != cudaEventRecordExternal) {
    return record_error(thread_state(), cudaErrorInvalidValue);
  }
  return record(event, stream, "cudaEventRecordWithFlags", flags);
}
cudaError_t
cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return cudaEventRecordWithFlags(event, per_thread(stream), flags);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return api("cudaEventQuery", [&](Runtime& rt, ThreadState&) {
    const auto event = rt.event(handle);
    if (!event) {
      return event.error();
    }
    const cudaError_t refused = refuse(rt, **event);
    if (refused == cudaSuccess && (*event)->ipc != nullptr) {
      const IpcEvent& ipc = *(*event)->ipc;
      return ipc.reached(ipc.last_record()) ? cudaSuccess : cudaErrorNotReady;
    }
    return refused != cudaSuccess
               ? refused
               : rt.query(work_before(**event), (*event)->device, Runtime::Awaited::Events);
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return api("cudaEventSynchronize", [&](Runtime& rt, ThreadState&) {
    const auto event = rt.event(handle);
    if (!event) {
      return event.error();
    }
    const cudaError_t refused = refuse(rt, **event);
    if (refused == cudaSuccess && (*event)->ipc != nullptr) {
      // Recorded here or elsewhere: first what is known to be under way here.
      const cudaError_t error =
          rt.wait(work_before(**event), (*event)->device, "cudaEventSynchronize");
      if (error == cudaSuccess) {
        (*event)->ipc->wait_for((*event)->ipc->last_record());
      }
      return error;
    }
    return refused != cudaSuccess ? refused
                                  : rt.wait(
                                        work_before(**event),
                                        (*event)->device,
                                        "cudaEventSynchronize",
                                        Runtime::Awaited::Events
                                    );
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api("cudaEventElapsedTime", [&](Runtime& rt, ThreadState&) {
    if (milliseconds == nullptr) {
      return cudaErrorInvalidValue;
    }
    const auto from = rt.event(start);
    const auto to = rt.event(end);
    if (!from || !to || !(*from)->timed() || !(*to)->timed() || (*from)->command == nullptr ||
        (*to)->command == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    std::vector<heddle::machine::CommandPtr> work = work_before(**from);
    work.push_back((*to)->command);
    if (const cudaError_t error = rt.query(work, (*to)->device, Runtime::Awaited::Events);
        error != cudaSuccess) {
      return error;
    }
    const auto nanoseconds =
        static_cast<std::int64_t>((*to)->command->completed_at - (*from)->command->completed_at);
    *milliseconds = static_cast<float>(static_cast<double>(nanoseconds) * 1e-6);
    return cudaSuccess;
  });
}

} // extern "C"
#pragma GCC visibility pop
