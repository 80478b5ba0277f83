// Kernels of which no line is known: the copies of an unrolled loop are one place.
//@ nvcc: -lcuda
#include "cases.h"

#include <string>

#include <cuda.h>

// Each of 64 threads stores a word, and reads four by instructions of their own.
static std::string unrolled(bool right) {
  std::string text = R"ptx(
.version 8.0
.target sm_75
.address_size 64
.visible .entry unrolled(.param .u64 result)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<3>;
  .shared .align 4 .b8 words[256];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, words;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
)ptx";
  if (right) {
    text += "bar.sync 0;\n";
  }
  text += "mov.u32 %r5, 0;\n";
  for (const char* word : {"0", "64", "128", "192"}) {
    text += std::string("ld.shared.u32 %r6, [words+") + word + "];\nadd.u32 %r5, %r5, %r6;\n";
  }
  return text + R"ptx(
  ld.param.u64 %rd1, [result];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r5;
  ret;
}
)ptx";
}

CASE(copies_are_one_place, "^(?!(.|\\n)*data-race(.|\\n)*data-race)(.|\\n)*4 bytes races with a (read|write)") {
  auto result = reinterpret_cast<CUdeviceptr>(device_memory<int>(64));
  CUmodule module;
  CUfunction function;
  cuModuleLoadData(&module, unrolled(right).c_str());
  cuModuleGetFunction(&function, module, "unrolled");
  void* arguments[] = {&result};
  cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
}
