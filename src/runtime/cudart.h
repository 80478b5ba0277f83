// NVIDIA's declarations of the runtime API, plus those entry points that no public header declares.
// What is declared here, and only that, is visible outside the shared library.
#pragma once

#include <cstddef>

#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#include <driver_types.h>

// Called by the code nvcc generates for the host (its host_runtime.h has the same declarations).
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterVar(
    void** handle,
    char* host,
    char* device_address,
    const char* name,
    int is_extern,
    std::size_t bytes,
    int constant,
    int global
);
void __cudaRegisterManagedVar(
    void** handle,
    void** host,
    char* device_address,
    const char* name,
    int is_extern,
    std::size_t bytes,
    int constant,
    int global
);
void __cudaRegisterHostVar(void** handle, const char* name, char* host, std::size_t bytes);
void __cudaRegisterFunction(
    void** handle,
    const char* host,
    char* device_function,
    const char* name,
    int thread_limit,
    uint3* thread,
    uint3* block,
    dim3* block_dim,
    dim3* grid_dim,
    int* warp_size
);
char __cudaInitModule(void** handle);
unsigned
__cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, struct CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaLaunchKernel(
    cudaKernel_t kernel,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared,
    cudaStream_t stream
);
cudaError_t __cudaLaunchKernel_ptsz(
    cudaKernel_t kernel,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared,
    cudaStream_t stream
);
}
#pragma GCC visibility pop
