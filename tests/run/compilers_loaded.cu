// A program that is not linked with NVIDIA's compiler and linker but loads them, as interpreters
// do, and asks both for machine code.
//@ exercises: nvrtcGetCUBIN, nvJitLinkGetLinkedCubin, cuModuleLoadData
//@ flags: -lcuda -ldl
//@ needs: nvJitLink.h
//@ hardware: the cubin is PTX here
#include <cstdio>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

static const char* const source = R"cuda(
extern "C" __global__ void add(int* p) { p[threadIdx.x] += 3; }
)cuda";

struct Library {
  void* handle;

  template <class... Arguments> int call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle, name));
    return function != nullptr ? function(arguments...) : -1;
  }
};

/// What the library has under `name` and `name`Size.
template <class Handle>
static std::string output(const Library& library, std::string name, Handle of) {
  std::size_t bytes = 0;
  library.call((name + "Size").c_str(), of, &bytes);
  std::string text(bytes, '\0');
  library.call(name.c_str(), of, text.data());
  return text;
}

static void run(const char* name, const std::string& image) {
  CUmodule module;
  CUfunction add;
  if (cuModuleLoadData(&module, image.data()) != CUDA_SUCCESS ||
      cuModuleGetFunction(&add, module, "add") != CUDA_SUCCESS) {
    std::printf("%s: not loaded\n", name);
    return;
  }
  int* p;
  cudaMallocManaged(&p, 32 * sizeof *p);
  void* arguments[] = {&p};
  cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
  cudaDeviceSynchronize();
  std::printf("%s: %d %d\n", name, p[0], p[31]);
}

int main() {
  cudaFree(nullptr);
  const Library compiler{dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL)};
  const Library linker{dlopen("libnvJitLink.so.13", RTLD_NOW | RTLD_LOCAL)};
  if (compiler.handle == nullptr || linker.handle == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  void* program = nullptr;
  const char* const options[] = {"-arch=sm_90"};
  const char* const none = nullptr;
  compiler.call("nvrtcCreateProgram", &program, source, "add.cu", 0, none, none);
  std::printf("compiled: %d\n", compiler.call("nvrtcCompileProgram", program, 1, &options[0]));
  run("compiler", output(compiler, "nvrtcGetCUBIN", program));

  const std::string ptx = output(compiler, "nvrtcGetPTX", program);
  void* link = nullptr;
  constexpr int is_ptx = 2; // NVJITLINK_INPUT_PTX
  linker.call("nvJitLinkCreate", &link, 1U, &options[0]);
  linker.call("nvJitLinkAddData", link, is_ptx, ptx.data(), ptx.size(), "add");
  std::printf("linked: %d\n", linker.call("nvJitLinkComplete", link));
  run("linker", output(linker, "nvJitLinkGetLinkedCubin", link));

  // What Heddle has nothing to do with is found as ever, also by those who say "the next one".
  std::printf("%d\n", dlsym(RTLD_DEFAULT, "printf") != nullptr && dlsym(RTLD_NEXT, "main") == nullptr);
}
