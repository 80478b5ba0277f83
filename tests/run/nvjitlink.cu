// Kernels in two units that the program compiles and links while it runs, from PTX, from code for
// link time optimisation, and with a link that is an input of the next one.
//@ exercises: nvJitLinkCreate, nvJitLinkAddData, nvJitLinkComplete, nvJitLinkGetLinkedCubin, nvrtcGetLTOIR, cuModuleLoadData
//@ flags: -lcuda -lnvrtc -lnvJitLink
//@ needs: nvJitLink.h
//@ hardware: the cubin is PTX here
#include <cstdio>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <nvJitLink.h>
#include <nvrtc.h>

static const char* const kernel = R"cuda(
extern __device__ float scale(float x);
__constant__ float offset = 1.0f;
extern "C" __global__ void apply(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = scale(p[i]) + offset;
}
)cuda";
static const char* const function = "__device__ float scale(float x) { return 3.0f * x; }";

enum class Form {
  Ptx,
  Intermediate
};

static std::string compile(const char* source, Form form) {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source, "unit.cu", 0, nullptr, nullptr);
  const char* options[] = {
      "-rdc=true",
      "-arch=compute_90",
      form == Form::Ptx ? "-std=c++17" : "-dlto",
  };
  if (nvrtcCompileProgram(program, 3, options) != NVRTC_SUCCESS) {
    std::printf("does not compile\n");
  }
  std::size_t bytes = 0;
  std::string code;
  if (form == Form::Ptx) {
    nvrtcGetPTXSize(program, &bytes);
    code.resize(bytes);
    nvrtcGetPTX(program, code.data());
  } else {
    nvrtcGetLTOIRSize(program, &bytes);
    code.resize(bytes);
    nvrtcGetLTOIR(program, code.data());
  }
  nvrtcDestroyProgram(&program);
  return code;
}

static std::vector<char> link(Form form, const std::vector<std::string>& inputs) {
  const char* options[] = {"-arch=sm_90", "-lto"};
  nvJitLinkHandle linker;
  nvJitLinkCreate(&linker, form == Form::Ptx ? 1 : 2, options);
  const auto type = form == Form::Ptx ? NVJITLINK_INPUT_PTX : NVJITLINK_INPUT_LTOIR;
  for (const std::string& input : inputs) {
    const auto added = nvJitLinkAddData(linker, type, input.data(), input.size(), "unit");
    if (added != NVJITLINK_SUCCESS) {
      std::printf("not added: %d\n", static_cast<int>(added));
    }
  }
  std::vector<char> image;
  if (nvJitLinkComplete(linker) != NVJITLINK_SUCCESS) {
    std::printf("does not link\n");
  } else {
    std::size_t bytes = 0;
    nvJitLinkGetLinkedCubinSize(linker, &bytes);
    image.resize(bytes);
    nvJitLinkGetLinkedCubin(linker, image.data());
  }
  nvJitLinkDestroy(&linker);
  return image;
}

static void run(const char* name, const std::vector<char>& image) {
  CUmodule module;
  CUfunction apply;
  if (image.empty() || cuModuleLoadData(&module, image.data()) != CUDA_SUCCESS ||
      cuModuleGetFunction(&apply, module, "apply") != CUDA_SUCCESS) {
    std::printf("%s: not loaded\n", name);
    return;
  }
  float* p;
  int n = 100;
  cudaMallocManaged(&p, n * sizeof *p);
  for (int i = 0; i < n; ++i) {
    p[i] = float(i);
  }
  void* arguments[] = {&p, &n};
  cuLaunchKernel(apply, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    wrong += p[i] != 3.0f * i + 1.0f;
  }
  std::printf("%s: %d wrong, last %g\n", name, wrong, p[n - 1]);
  cudaFree(p);
  cuModuleUnload(module);
}

int main() {
  cudaFree(nullptr);
  for (const auto& [name, form] : {std::pair("ptx", Form::Ptx), {"intermediate", Form::Intermediate}}) {
    run(name, link(form, {compile(kernel, form), compile(function, form)}));
  }
  // What has no definition is an error of the linker, not of the module.
  std::printf("alone: %zu bytes\n", link(Form::Ptx, {compile(kernel, Form::Ptx)}).size());
}
