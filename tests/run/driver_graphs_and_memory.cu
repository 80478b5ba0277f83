// The driver API beyond launches: mapped address ranges, words that streams write and wait for, graphs, arrays and textures, linking of PTX.
//@ exercises: cuMemAddressReserve, cuMemCreate, cuMemMap, cuMemUnmap, cuStreamWriteValue32, cuStreamWaitValue32, cuGraphAdd…Node, cuGraphLaunch, cuArrayCreate, cuTexObjectCreate, cuMemcpy2D with arrays, cuLinkAddData, cuGetErrorString
//@ flags: -lcuda
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const CUresult result = (call);                                                                \
    if (result != CUDA_SUCCESS) {                                                                  \
      const char* text = "?";                                                                      \
      cuGetErrorString(result, &text);                                                             \
      std::printf("line %d: %s: %s\n", __LINE__, #call, text);                                     \
      return 1;                                                                                    \
    }                                                                                              \
  } while (false)

static const char* const caller = R"ptx(
.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b32 result) square(.param .b32 x);
.visible .entry squares(.param .u64 p, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p, %r2, %r1;
  @%p bra done;
  {
    .param .b32 x;
    .param .b32 result;
    st.param.b32 [x], %r2;
    call.uni (result), square, (x);
    ld.param.b32 %r3, [result];
  }
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
done:
  ret;
}
.visible .entry fetch(.param .u64 texture, .param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [texture];
  ld.param.u64 %rd2, [p];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  add.f32 %f1, %f1, 0f3F000000;
  mov.f32 %f2, 0f3FC00000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f3;
  ret;
}
)ptx";
static const char* const callee = R"ptx(
.version 8.0
.target sm_70
.address_size 64
.visible .func (.param .b32 result) square(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  mul.lo.s32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
)ptx";

static void note(void* data) {
  ++*static_cast<int*>(data);
}

int main() {
  CHECK(cuInit(0));
  CUcontext context;
  CHECK(cuCtxCreate(&context, nullptr, 0, 0));

  // Two units, linked.
  CUlinkState link;
  CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(caller), std::strlen(caller) + 1, "caller", 0, nullptr, nullptr));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(callee), std::strlen(callee) + 1, "callee", 0, nullptr, nullptr));
  void* image;
  std::size_t image_bytes;
  CHECK(cuLinkComplete(link, &image, &image_bytes));
  CUmodule module;
  CHECK(cuModuleLoadData(&module, image));
  CHECK(cuLinkDestroy(link));
  CUfunction squares, fetch;
  CHECK(cuModuleGetFunction(&squares, module, "squares"));
  CHECK(cuModuleGetFunction(&fetch, module, "fetch"));

  // A range that grows: one piece of memory behind the other.
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 0;
  std::size_t piece = 0;
  CHECK(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr range;
  CHECK(cuMemAddressReserve(&range, 4 * piece, 0, 0, 0));
  CUmemGenericAllocationHandle pieces[2];
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  for (int i = 0; i < 2; ++i) {
    CHECK(cuMemCreate(&pieces[i], piece, &properties, 0));
    CHECK(cuMemMap(range + i * piece, piece, 0, pieces[i], 0));
    CHECK(cuMemSetAccess(range + i * piece, piece, &access, 1));
  }
  CHECK(cuMemRelease(pieces[0]));
  std::printf("mapped twice: %d\n", cuMemMap(range, piece, 0, pieces[1], 0));
  unsigned n = 32;
  CUdeviceptr across = range + piece - 16 * sizeof(int); // half of it in each piece
  void* arguments[] = {&across, &n};
  CHECK(cuLaunchKernel(squares, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  std::vector<int> values(n);
  CHECK(cuMemcpyDtoH(values.data(), across, n * sizeof(int)));
  std::printf("squares: %d %d %d\n", values[3], values[16], values[31]);
  // The second piece keeps its contents when it goes elsewhere.
  CHECK(cuMemUnmap(range + piece, piece));
  CHECK(cuMemMap(range + 3 * piece, piece, 0, pieces[1], 0));
  CHECK(cuMemSetAccess(range + 3 * piece, piece, &access, 1));
  int moved = 0;
  CHECK(cuMemcpyDtoH(&moved, range + 3 * piece, sizeof moved));
  std::printf("moved: %d\n", moved); // 16 * 16
  CHECK(cuMemRelease(pieces[1]));
  CHECK(cuMemUnmap(range, piece));
  CHECK(cuMemUnmap(range + 3 * piece, piece));
  CHECK(cuMemAddressFree(range, 4 * piece));

  // One stream waits for what the other one writes.
  CUstream first, second;
  CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUdeviceptr flag, data;
  CHECK(cuMemAlloc(&flag, 16));
  CHECK(cuMemsetD32(flag, 0, 4));
  CHECK(cuMemAlloc(&data, 64 * sizeof(int)));
  CHECK(cuMemsetD32(data, 0, 64));
  CHECK(cuCtxSynchronize()); // the host does not wait for it, and neither do these streams
  CHECK(cuStreamWaitValue32(second, flag, 5, CU_STREAM_WAIT_VALUE_GEQ));
  CUdeviceptr seen;
  CHECK(cuMemAlloc(&seen, 64 * sizeof(int)));
  CHECK(cuMemcpyDtoDAsync(seen, data, 64 * sizeof(int), second));
  void* data_arguments[] = {&data, &n};
  CHECK(cuLaunchKernel(squares, 1, 1, 1, 64, 1, 1, 0, first, data_arguments, nullptr));
  CHECK(cuStreamWriteValue32(first, flag, 7, 0));
  CHECK(cuStreamSynchronize(second));
  CHECK(cuMemcpyDtoH(values.data(), seen, n * sizeof(int)));
  std::printf("behind the wait: %d\n", values[9]);

  // A graph: set, kernel, copy, host function.
  CUgraph graph;
  CHECK(cuGraphCreate(&graph, 0));
  CUgraphNode set, kernel, copy, host;
  CUDA_MEMSET_NODE_PARAMS set_parameters{};
  set_parameters.dst = data;
  set_parameters.value = 0xffffffff;
  set_parameters.elementSize = 4;
  set_parameters.width = 64;
  set_parameters.height = 1;
  CHECK(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &set_parameters, context));
  n = 8;
  CUDA_KERNEL_NODE_PARAMS kernel_parameters{};
  kernel_parameters.func = squares;
  kernel_parameters.gridDimX = kernel_parameters.gridDimY = kernel_parameters.gridDimZ = 1;
  kernel_parameters.blockDimX = 32;
  kernel_parameters.blockDimY = kernel_parameters.blockDimZ = 1;
  kernel_parameters.kernelParams = data_arguments;
  CHECK(cuGraphAddKernelNode(&kernel, graph, &set, 1, &kernel_parameters));
  CUDA_MEMCPY3D copy_parameters{};
  copy_parameters.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy_parameters.srcDevice = data;
  copy_parameters.srcPitch = copy_parameters.dstPitch = 16 * sizeof(int);
  copy_parameters.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy_parameters.dstHost = values.data();
  copy_parameters.WidthInBytes = 16 * sizeof(int);
  copy_parameters.Height = copy_parameters.Depth = 1;
  CHECK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &copy_parameters, context));
  int calls = 0;
  CUDA_HOST_NODE_PARAMS host_parameters{};
  host_parameters.fn = note;
  host_parameters.userData = &calls;
  CHECK(cuGraphAddHostNode(&host, graph, &copy, 1, &host_parameters));
  CUgraphExec exec;
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, first));
  CHECK(cuGraphLaunch(exec, first));
  CHECK(cuStreamSynchronize(first));
  std::size_t nodes = 0;
  CHECK(cuGraphGetNodes(graph, nullptr, &nodes));
  CUgraphNodeType type;
  CHECK(cuGraphNodeGetType(kernel, &type));
  std::printf("graph: %d %d, %d calls, %zu nodes, a kernel: %d\n", values[7], values[8], calls, nodes, type == CU_GRAPH_NODE_TYPE_KERNEL);
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));

  // A texture of 8 by 2 bytes, read as fractions.
  CUDA_ARRAY_DESCRIPTOR shape{};
  shape.Width = 8;
  shape.Height = 2;
  shape.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  shape.NumChannels = 1;
  CUarray array;
  CHECK(cuArrayCreate(&array, &shape));
  unsigned char texels[2][8];
  for (int i = 0; i < 16; ++i)
    texels[i / 8][i % 8] = static_cast<unsigned char>(i % 8 * 51 / (i / 8 + 1));
  CUDA_MEMCPY2D upload{};
  upload.srcMemoryType = CU_MEMORYTYPE_HOST;
  upload.srcHost = texels;
  upload.srcPitch = 8;
  upload.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  upload.dstArray = array;
  upload.WidthInBytes = 8;
  upload.Height = 2;
  CHECK(cuMemcpy2D(&upload));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC how{};
  how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  how.filterMode = CU_TR_FILTER_MODE_POINT;
  CUtexObject texture;
  CHECK(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  void* fetch_arguments[] = {&texture, &data};
  CHECK(cuLaunchKernel(fetch, 1, 1, 1, 5, 1, 1, 0, nullptr, fetch_arguments, nullptr));
  float fetched[5];
  CHECK(cuMemcpyDtoH(fetched, data, sizeof fetched));
  std::printf("texels: %.3f %.3f %.3f %.3f %.3f\n", fetched[0], fetched[1], fetched[2], fetched[3], fetched[4]);
  CHECK(cuTexObjectDestroy(texture));
  CHECK(cuArrayDestroy(array));
  CHECK(cuCtxDestroy(context));
  return 0;
}
