// Implements micro_launches.h, as nvcc -rdc=true writes it.
#include "reduce/micro_launches.h"

#include <fmt/format.h>

namespace heddle::enumeration {

std::string children_as_ptx() {
  return fmt::format(
      ".extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(.param .b64 a, .param .b64 b,\n"
      " .param .b64 c, .param .b32 d, .param .b64 e);\n"
      ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 a,\n"
      " .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);\n"
      ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
      ".visible .entry child(.param .u64 p, .param .u32 v) {{\n"
      ".reg .b64 %m; .reg .b32 %v; ld.param.u64 %m, [p]; ld.param.u32 %v, [v];\n"
      "red.relaxed.gpu.add.u32 [%m], 1; st.relaxed.gpu.u32 [%m+{}], %v; ret;\n}}\n",
      place_q
  );
}

std::string launch_as_ptx(Kind kind, const std::string& value) {
  if (kind == Kind::CopyToQ || kind == Kind::CopyToP) {
    constexpr int device_to_device = 3; // cudaMemcpyKind
    const bool to_q = kind == Kind::CopyToQ;
    return fmt::format(
        "add.u64 %x#, %memory, {};\n"
        "{{ .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 d; .param .b64 e;\n"
        ".param .b32 r; st.param.b64 [a], {}; st.param.b64 [b], {}; st.param.b64 [c], 4;\n"
        "st.param.b32 [d], {}; st.param.b64 [e], 0;\n"
        "call.uni (r), __cudaCDP2MemcpyAsync, (a, b, c, d, e); }}\n",
        place_q,
        to_q ? "%x#" : "%memory",
        to_q ? "%memory" : "%x#",
        device_to_device
    );
  }
  // cudaStreamTailLaunch and cudaStreamFireAndForget; 0: the stream of the block.
  const int stream = kind == Kind::LaunchTail ? 3 : kind == Kind::LaunchFree ? 4 : 0;
  return fmt::format(
      "mov.u64 %y#, child; mov.u32 %b#, {};\n"
      "{{ .param .b64 a; .param .align 4 .b8 b[12]; .param .align 4 .b8 c[12]; .param .b32 d;\n"
      ".param .b64 r; st.param.b64 [a], %y#;\n"
      "st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;\n"
      "st.param.b32 [c], 1; st.param.b32 [c+4], 1; st.param.b32 [c+8], 1;\n"
      "st.param.b32 [d], 0;\n"
      "call.uni (r), __cudaCDP2GetParameterBufferV2, (a, b, c, d); ld.param.b64 %x#, [r]; }}\n"
      "st.u64 [%x#], %memory; st.u32 [%x#+8], %b#;\n"
      "{{ .param .b64 a; .param .b64 b; .param .b32 r;\n"
      "st.param.b64 [a], %x#; st.param.b64 [b], {};\n"
      "call.uni (r), __cudaCDP2LaunchDeviceV2, (a, b); }}\n",
      value,
      stream
  );
}

} // namespace heddle::enumeration
