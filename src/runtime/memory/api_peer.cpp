// Peer access between virtual devices, and copies between them.
//
// Every device can reach every other one, once it has enabled that [MEM-PEER].
#include "runtime/memory/copy.h"

using namespace heddle::runtime;

namespace {

/// A peer copy takes its place among the work of both devices: it waits for what was put on either
/// and what is put on either later waits for it.
cudaError_t copy_between(Runtime& rt, ThreadState& thread, Copy copy, int to, int from) {
  auto command = make_command(rt, Operation{std::move(copy), "cudaMemcpyPeer", thread.device});
  if (!command) {
    return command.error();
  }
  for (const int device : {to, from}) {
    const auto pending = rt.streams().pending_on_device(device);
    (*command)->after.insert((*command)->after.end(), pending.begin(), pending.end());
  }
  rt.streams().submit(*rt.streams().legacy(thread.device), *command);
  for (const int device : {to, from}) {
    if (device == thread.device) {
      continue;
    }
    auto after = make_command(rt, Operation{Nothing{}, "cudaMemcpyPeer", device});
    if (!after) {
      return after.error();
    }
    (*after)->after.push_back(*command);
    rt.streams().submit(*rt.streams().legacy(device), *after);
  }
  return cudaSuccess;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* result, int device, int peer) {
  return api_plain([&](Runtime& rt, ThreadState&) {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (!rt.valid_device(device) || !rt.valid_device(peer)) {
      return cudaErrorInvalidDevice;
    }
    *result = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return api("cudaDeviceEnablePeerAccess", [&](Runtime& rt, ThreadState& thread) {
    if (!rt.valid_device(peer)) {
      return cudaErrorInvalidDevice;
    }
    if (flags != 0) {
      return cudaErrorInvalidValue;
    }
    if (peer == thread.device) {
      return cudaErrorPeerAccessUnsupported;
    }
    const unsigned bit = 1U << peer;
    rt.space().set_peer_access(thread.device, peer, true);
    return (rt.device(thread.device).peers.fetch_or(bit) & bit) != 0
               ? cudaErrorPeerAccessAlreadyEnabled
               : cudaSuccess;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api("cudaDeviceDisablePeerAccess", [&](Runtime& rt, ThreadState& thread) {
    if (!rt.valid_device(peer)) {
      return cudaErrorInvalidDevice;
    }
    const unsigned bit = 1U << peer;
    rt.space().set_peer_access(thread.device, peer, false);
    return (rt.device(thread.device).peers.fetch_and(~bit) & bit) != 0
               ? cudaSuccess
               : cudaErrorPeerAccessNotEnabled;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return api_plain([&](Runtime& rt, ThreadState&) {
    if (value == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (!rt.valid_device(from) || !rt.valid_device(to) || from == to) {
      return cudaErrorInvalidDevice;
    }
    switch (attribute) {
    case cudaDevP2PAttrPerformanceRank:
    case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
      *value = 0;
      return cudaSuccess;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
    case cudaDevP2PAttrCudaArrayAccessSupported:
      *value = 1;
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t
cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return api("cudaMemcpyPeer", [&](Runtime& rt, ThreadState& thread) {
    if (!rt.valid_device(to_device) || !rt.valid_device(from_device)) {
      return cudaErrorInvalidDevice;
    }
    Copy copy = linear_copy(to, from, bytes);
    const cudaError_t error = check_copy(rt, copy, cudaMemcpyDeviceToDevice);
    return error != cudaSuccess || bytes == 0
               ? error
               : copy_between(rt, thread, copy, to_device, from_device);
  });
}

cudaError_t cudaMemcpyPeerAsync(
    void* to,
    int to_device,
    const void* from,
    int from_device,
    std::size_t bytes,
    cudaStream_t handle
) {
  return api("cudaMemcpyPeerAsync", [&](Runtime& rt, ThreadState&) {
    if (!rt.valid_device(to_device) || !rt.valid_device(from_device)) {
      return cudaErrorInvalidDevice;
    }
    const auto stream = rt.stream(handle);
    return stream ? submit_copy(
                        rt,
                        **stream,
                        linear_copy(to, from, bytes),
                        cudaMemcpyDeviceToDevice,
                        Completion::Asynchronous,
                        "cudaMemcpyPeerAsync"
                    )
                  : stream.error();
  });
}

} // extern "C"
#pragma GCC visibility pop
