// record: runs the forms of golden families on a GPU and writes their results.
//
//   c++ -std=c++20 -O2 -I/usr/local/cuda/include record.cpp form_file.cpp inputs.cpp -ldl -o record
//   ./record IN OUT "header text" family…     # IN/<family>.ptx and .cubin → OUT/<family>.bits,
//   .full
//
// .bits is what the repository keeps (form_file.h). .full holds every result of the first 4096
// tuples, for hunting a mismatch: per form and result the values at their width. A form that the
// device faults on ends the process (the context is lost): its name is printed, remove it from the
// table and record again.
#include "form_file.h"
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

using namespace heddle::golden;

void* library() {
  static void* handle = dlopen("libcuda.so.1", RTLD_NOW);
  if (handle == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  return handle;
}

template <class F> F* entry(const char* name) {
  auto* f = reinterpret_cast<F*>(dlsym(library(), name));
  if (f == nullptr) {
    std::fprintf(stderr, "no %s in libcuda\n", name);
    std::exit(2);
  }
  return f;
}

void check(CUresult result, const std::string& what) {
  if (result != CUDA_SUCCESS) {
    const char* text = "?";
    entry<CUresult(CUresult, const char**)>("cuGetErrorString")(result, &text);
    std::fprintf(stderr, "%s: %s\n", what.c_str(), text);
    std::exit(1);
  }
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

constexpr unsigned threads = 256;
constexpr std::uint32_t full_tuples = 4096;

} // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: record IN OUT HEADER FAMILY…\n");
    return 2;
  }
  std::string in = argv[1], out = argv[2], header = argv[3];
  auto init = entry<CUresult(unsigned)>("cuInit");
  auto device_get = entry<CUresult(CUdevice*, int)>("cuDeviceGet");
  auto name_get = entry<CUresult(char*, int, CUdevice)>("cuDeviceGetName");
  auto version = entry<CUresult(int*)>("cuDriverGetVersion");
  auto retain = entry<CUresult(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain");
  auto set_current = entry<CUresult(CUcontext)>("cuCtxSetCurrent");
  auto load = entry<CUresult(CUmodule*, const void*)>("cuModuleLoadData");
  auto function = entry<CUresult(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction");
  auto alloc = entry<CUresult(CUdeviceptr*, size_t)>("cuMemAlloc_v2");
  auto upload = entry<CUresult(CUdeviceptr, const void*, size_t)>("cuMemcpyHtoD_v2");
  auto download = entry<CUresult(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH_v2");
  auto clear = entry<CUresult(CUdeviceptr, unsigned char, size_t)>("cuMemsetD8_v2");
  auto launch = entry<CUresult(
      CUfunction,
      unsigned,
      unsigned,
      unsigned,
      unsigned,
      unsigned,
      unsigned,
      unsigned,
      CUstream,
      void**,
      void**
  )>("cuLaunchKernel");
  auto synchronize = entry<CUresult()>("cuCtxSynchronize");

  check(init(0), "cuInit");
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(device_get(&device, 0), "cuDeviceGet");
  check(retain(&context, device), "context");
  check(set_current(context), "context");
  char name[256] = {};
  int driver = 0;
  check(name_get(name, sizeof name, device), "name");
  check(version(&driver), "version");
  header = "device: " + std::string(name) + "\nCUDA driver API: " + std::to_string(driver) + "\n" +
           header;

  constexpr std::size_t buffer_bytes = std::size_t{8} * 8 * exhaustive_tuples;
  CUdeviceptr input = 0, output = 0;
  check(alloc(&input, buffer_bytes), "alloc");
  check(alloc(&output, buffer_bytes), "alloc");
  std::size_t total = 0;
  for (int a = 4; a < argc; ++a) {
    std::string family = argv[a], error;
    std::string ptx = read_file(in + "/" + family + ".ptx");
    std::string cubin = read_file(in + "/" + family + ".cubin");
    auto forms = read_forms(ptx, error);
    if (!error.empty()) {
      std::fprintf(stderr, "%s: %s\n", family.c_str(), error.c_str());
      return 2;
    }
    CUmodule module = nullptr;
    check(load(&module, cubin.data()), family);
    Recorded recorded;
    recorded.header = header;
    std::string full;
    for (const Form& form : forms) {
      CUfunction kernel = nullptr;
      check(function(&kernel, module, form.name.c_str()), form.name);
      auto inputs = make_inputs(form.inputs, form.tuples);
      std::vector<std::uint64_t> results(form.out_bytes.size() * form.tuples);
      check(upload(input, inputs.data(), inputs.size() * 8), "upload");
      check(clear(output, 0, results.size() * 8), "clear");
      void* arguments[] = {&input, &output};
      check(
          launch(
              kernel,
              form.tuples / threads,
              1,
              1,
              threads,
              1,
              1,
              0,
              nullptr,
              arguments,
              nullptr
          ),
          form.name
      );
      check(synchronize(), form.name);
      check(download(results.data(), output, results.size() * 8), form.name);
      recorded.digests.push_back(digest(form, inputs, results));
      auto& stored = recorded.results.emplace_back();
      for (std::size_t j = 0; j < form.out_bytes.size(); ++j) {
        auto begin = results.begin() + static_cast<std::ptrdiff_t>(j * form.tuples);
        stored.insert(stored.end(), begin, begin + stored_tuples);
        for (std::uint32_t t = 0; t < full_tuples; ++t) {
          full.append(reinterpret_cast<const char*>(&begin[t]), form.out_bytes[j]);
        }
      }
    }
    std::ofstream(out + "/" + family + ".bits", std::ios::binary)
        << write_recorded(forms, recorded);
    std::ofstream(out + "/" + family + ".full", std::ios::binary) << full;
    std::printf("%s: %zu forms\n", family.c_str(), forms.size());
    std::fflush(stdout);
    total += forms.size();
  }
  std::printf("total: %zu forms on %s, driver API %d\n", total, name, driver);
  return 0;
}
