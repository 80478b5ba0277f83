// Virtual memory management: addresses and memory apart from each other ("Virtual Memory
// Management" in the CUDA Programming Guide).
//
// A reserved range is one allocation for device code from the start; mapping gives a part of it the
// contents of an allocation handle, unmapping takes them back. Misses: accesses to reserved
// addresses with nothing mapped, or without access granted. An allocation is mapped in one place at
// a time; a second mapping is unsupported, unless it can be shared with other processes: then it is
// a file (shared_file.h), with a page at its end that says what it is.
#pragma once

#include "memory/address_space.h"
#include "runtime/cudart.h"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace heddle::runtime {

class Runtime;

/// Thread safe.
class VirtualMemory {
public:
  static constexpr std::uint64_t granularity = 2ULL << 20; // as on a real device

  cudaError_t reserve(Runtime& rt, CUdeviceptr* p, std::size_t bytes, std::size_t align);
  cudaError_t free_range(Runtime& rt, CUdeviceptr p, std::size_t bytes);

  cudaError_t create(
      Runtime& rt,
      CUmemGenericAllocationHandle* handle,
      std::size_t bytes,
      const CUmemAllocationProp* properties
  );
  cudaError_t release(CUmemGenericAllocationHandle handle);
  cudaError_t retain(CUmemGenericAllocationHandle* handle, CUdeviceptr p);
  cudaError_t properties(CUmemAllocationProp* result, CUmemGenericAllocationHandle handle) const;

  /// A descriptor, which belongs to the caller, for an allocation that was made to be shared.
  cudaError_t
  share(int* file, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type) const;
  /// What another process, or this one, has shared.
  cudaError_t
  open(Runtime& rt, CUmemGenericAllocationHandle* handle, int file, CUmemAllocationHandleType type);

  cudaError_t
  map(Runtime& rt, CUdeviceptr p, std::size_t bytes, CUmemGenericAllocationHandle handle);
  cudaError_t unmap(Runtime& rt, CUdeviceptr p, std::size_t bytes);
  cudaError_t
  set_access(CUdeviceptr p, std::size_t bytes, const CUmemAccessDesc* list, std::size_t n);
  cudaError_t
  get_access(unsigned long long* flags, const CUmemLocation* where, CUdeviceptr p) const;

private:
  struct Allocation {
    std::uint64_t bytes = 0;
    CUmemAllocationProp properties{};
    int references = 1;
    int mapped = 0;                  // times
    std::vector<std::byte> contents; // while it is not mapped; empty: zero
    int file = -1;                   // that has them, if it can be shared
    bool counted = true;             // in in_use_
  };
  struct Mapping {
    std::uint64_t bytes = 0;
    CUmemGenericAllocationHandle handle = 0;
    std::map<int, CUmemAccess_flags> access; // by device
  };

  const std::pair<const CUdeviceptr, std::uint64_t>* range_of(CUdeviceptr p) const;
  void forget(CUmemGenericAllocationHandle handle);

  mutable std::mutex mutex_;
  CUmemGenericAllocationHandle next_ = 1;
  std::map<CUmemGenericAllocationHandle, Allocation> allocations_;
  std::map<int, std::uint64_t> in_use_;         // by device
  std::map<CUdeviceptr, std::uint64_t> ranges_; // reserved
  std::map<CUdeviceptr, Mapping> mappings_;
};

} // namespace heddle::runtime
