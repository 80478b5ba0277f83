// Copies and sets: the checks and the waiting that all memcpy and memset entry points share.
//
// Whether a call returns before its copy is done follows "API synchronization behavior" of the CUDA
// Runtime API reference. Where it leaves a choice, the call waits for as little as possible:
// pageable sources are copied aside at the call, device-to-device copies never wait. Which
// addresses a kind accepts is as measured on an H200: the side called device must be reachable by
// the device (device memory, pinned, registered or managed), the side called host may be anything.
#pragma once

#include "runtime/runtime.h"

namespace heddle::runtime {

enum class Completion : std::uint8_t {
  Asynchronous,
  Synchronous
};

/// Whether the addresses are valid and the kind allows them.
cudaError_t check_copy(const Runtime& rt, const Copy& copy, cudaMemcpyKind kind);

/// `copy.staged` is for this function to fill.
cudaError_t submit_copy(
    Runtime& rt,
    Stream& stream,
    Copy copy,
    cudaMemcpyKind kind,
    Completion completion,
    const char* what
);
cudaError_t
submit_set(Runtime& rt, Stream& stream, const Set& set, Completion completion, const char* what);

/// One row of bytes.
Copy linear_copy(void* to, const void* from, std::size_t bytes);
Set linear_set(void* to, int value, std::size_t bytes);

/// Where `bytes` bytes at `offset` of a variable lie.
tl::expected<memory::Address, cudaError_t>
in_variable(Runtime& rt, int device, const void* symbol, std::size_t bytes, std::size_t offset);
tl::expected<Copy, cudaError_t> copy_to_variable(
    Runtime& rt,
    int device,
    const void* symbol,
    const void* from,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
);
tl::expected<Copy, cudaError_t> copy_from_variable(
    Runtime& rt,
    int device,
    void* to,
    const void* symbol,
    std::size_t bytes,
    std::size_t offset,
    cudaMemcpyKind kind
);

} // namespace heddle::runtime
