// Implements built_in.h. Missing: the device runtime's functions on groups of several grids.
#include "runtime/registration/built_in.h"

#include "ptx/parse.h"

#include <string>
#include <string_view>

namespace heddle::runtime {
namespace {

struct BuiltIn {
  std::string_view name;
  const char* definition; // without the module's head
};

constexpr const char* head = ".version 8.0\n.target sm_70\n.address_size 64\n";

constexpr BuiltIn built_ins[] = {
    // A value's handle is its address (graph.h).
    {"cudaGraphSetConditional", R"ptx(
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.b64 %rd1, [handle];
  ld.param.b32 %r1, [value];
  st.relaxed.sys.b32 [%rd1], %r1;
  ret;
}
)ptx"},
    // cuda_device_runtime_api.h: the handle of the grid (cudaCGScopeGrid, 1) is the workspace that
    // cooperative groups find in %envreg1 and %envreg2: none (0) unless the launch is cooperative.
    {"cudaCGGetIntrinsicHandle", R"ptx(
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.b32 %r1, [scope];
  mov.u32 %r2, %envreg2;
  mov.u32 %r3, %envreg1;
  mov.b64 %rd1, {%r2, %r3};
  setp.eq.u32 %p1, %r1, 1;
  selp.b64 %rd1, %rd1, 0, %p1;
  st.param.b64 [handle], %rd1;
  ret;
}
)ptx"},
    // One thread of each block adds to the word behind the workspace's size, which makes its
    // highest
    // bit flip when all blocks have arrived. Without a cooperative launch the kernel fails.
    {"cudaCGSynchronize", R"ptx(
.visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<5>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<2>;
  ld.param.b64 %rd1, [handle];
  setp.eq.u64 %p1, %rd1, 0;
  @%p1 trap;
  barrier.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra all;
  mov.u32 %r4, %nctaid.x;
  mov.u32 %r5, %nctaid.y;
  mov.u32 %r6, %nctaid.z;
  mul.lo.u32 %r4, %r4, %r5;
  mul.lo.u32 %r4, %r4, %r6;
  sub.u32 %r4, 0x80000001, %r4;
  mov.u32 %r7, %ctaid.x;
  mov.u32 %r8, %ctaid.y;
  mov.u32 %r9, %ctaid.z;
  or.b32 %r7, %r7, %r8;
  or.b32 %r7, %r7, %r9;
  setp.eq.u32 %p3, %r7, 0;
  selp.b32 %r4, %r4, 1, %p3;
  atom.add.release.gpu.u32 %r10, [%rd1+4], %r4;
wait:
  ld.acquire.gpu.u32 %r11, [%rd1+4];
  xor.b32 %r11, %r11, %r10;
  setp.ge.s32 %p4, %r11, 0;
  @%p4 bra wait;
all:
  barrier.sync 0;
  st.param.b32 [result], 0;
  ret;
}
)ptx"},
};

} // namespace

bool is_device_runtime(const std::vector<FatbinEntry>& entries) {
  for (const FatbinEntry& entry : entries) {
    if (entry.kind == static_cast<std::uint16_t>(FatbinKind::Ptx)) {
      const Result<std::string> text = decode(entry);
      return text &&
             text->find("cuda_device_runtime_cu") != std::string::npos; // of its file's name
    }
  }
  return false;
}

Result<void> add_built_in(std::vector<std::shared_ptr<const ptx::Module>>& units) {
  std::string text;
  for (const BuiltIn& built_in : built_ins) {
    bool declared = false;
    bool defined = false;
    for (const auto& unit : units) {
      const ptx::Function* function = unit->find_function(built_in.name);
      declared = declared || function != nullptr;
      defined = defined || (function != nullptr && function->defined);
    }
    if (declared && !defined) {
      text += built_in.definition;
    }
  }
  if (!text.empty()) {
    TRY(std::unique_ptr<ptx::Module> module, ptx::parse(head + text, "built-in.ptx"));
    units.push_back(std::move(module));
  }
  return {};
}

} // namespace heddle::runtime
