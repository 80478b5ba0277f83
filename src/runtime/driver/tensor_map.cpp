// The driver API: descriptions of tensors for bulk copies (CUtensorMap). What is encoded is
// Heddle's own TensorMap, for the same library reads it.
//
// Interleaved layouts, packed types (4 and 6 bits), im2col and swizzles in units larger than 16
// bytes are unsupported.
#include "isa/tensor_map.h"

#include "runtime/diagnostics/outcome.h"
#include "runtime/driver/driver.h"

#include <cstring>

using namespace heddle::runtime;
using heddle::isa::TensorMap;

static_assert(sizeof(CUtensorMap) == sizeof(TensorMap));

namespace {

struct Request {
  CUtensorMapDataType type;
  cuuint32_t rank;
  const void* address;
  const cuuint64_t* size;
  const cuuint64_t* stride;
  const cuuint32_t* box;
  const cuuint32_t* step;
  CUtensorMapSwizzle swizzle;
};

/// "Parameters" of cuTensorMapEncodeTiled.
bool valid(const Request& r) {
  constexpr std::uintptr_t unit = 16;
  const std::uint32_t bytes = TensorMap::element_bytes(static_cast<std::uint8_t>(r.type));
  if (r.rank < 1 || r.rank > TensorMap::max_rank || r.address == nullptr || r.size == nullptr ||
      (r.rank > 1 && r.stride == nullptr) || r.box == nullptr || r.step == nullptr ||
      reinterpret_cast<std::uintptr_t>(r.address) % unit != 0) {
    return false;
  }
  for (cuuint32_t i = 0; i < r.rank; ++i) {
    if (r.size[i] == 0 || r.size[i] > (1ULL << 32) || r.box[i] == 0 || r.box[i] > 256 ||
        r.step[i] == 0 || r.step[i] > 8 ||
        (i > 0 && (r.stride[i - 1] % unit != 0 || r.stride[i - 1] >= (1ULL << 40)))) {
      return false;
    }
  }
  const std::uint32_t inner = r.box[0] * bytes;
  const std::uint32_t most = r.swizzle == CU_TENSOR_MAP_SWIZZLE_32B    ? 32
                             : r.swizzle == CU_TENSOR_MAP_SWIZZLE_64B  ? 64
                             : r.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ? 128
                                                                       : inner;
  return inner % unit == 0 && inner <= most;
}

} // namespace

CUresult cuTensorMapEncodeTiled(
    CUtensorMap* tensorMap,
    CUtensorMapDataType tensorDataType,
    cuuint32_t tensorRank,
    void* globalAddress,
    const cuuint64_t* globalDim,
    const cuuint64_t* globalStrides,
    const cuuint32_t* boxDim,
    const cuuint32_t* elementStrides,
    CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill
) {
  if (tensorMap == nullptr ||
      reinterpret_cast<std::uintptr_t>(tensorMap) % alignof(TensorMap) != 0 ||
      l2Promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
      TensorMap::element_bytes(static_cast<std::uint8_t>(tensorDataType)) == 0) {
    complain_unsupported("this layout of cuTensorMapEncodeTiled");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const Request request{
      tensorDataType,
      tensorRank,
      globalAddress,
      globalDim,
      globalStrides,
      boxDim,
      elementStrides,
      swizzle
  };
  if (!valid(request)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  TensorMap map;
  map.magic = TensorMap::known;
  map.type = static_cast<std::uint8_t>(tensorDataType);
  map.rank = static_cast<std::uint8_t>(tensorRank);
  map.swizzle = static_cast<std::uint8_t>(swizzle);
  map.fill_with_nan = oobFill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA ? 1 : 0;
  map.address = reinterpret_cast<std::uintptr_t>(globalAddress);
  for (cuuint32_t i = 0; i < tensorRank; ++i) {
    map.last[i] = static_cast<std::uint32_t>(globalDim[i] - 1);
    map.box[i] = static_cast<std::uint16_t>(boxDim[i]);
    // Without interleaving the first dimension has no steps.
    map.step[i] = static_cast<std::uint8_t>(i == 0 ? 1 : elementStrides[i]);
    if (i > 0) {
      map.stride[i - 1] = globalStrides[i - 1];
    }
  }
  std::memcpy(tensorMap, &map, sizeof map);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) {
  if (tensorMap == nullptr || globalAddress == nullptr ||
      reinterpret_cast<std::uintptr_t>(globalAddress) % 16 != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  TensorMap map;
  std::memcpy(static_cast<void*>(&map), tensorMap, sizeof map);
  if (map.magic != TensorMap::known) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  map.address = reinterpret_cast<std::uintptr_t>(globalAddress);
  std::memcpy(tensorMap, &map, sizeof map);
  return CUDA_SUCCESS;
}
