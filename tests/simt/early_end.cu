// Lanes that part may meet again at E, although one way there ends. With the default reading of
// post-dominators ends do not count, so the lanes meet at E and go on together. With a common exit in the
// place of all ends they meet at the end only: the side of lane 0 goes on alone behind E, and waits there for
// what the other lane does behind E.
//
//@ exercises: --reconvergence=common-exit: a hang that the default reading of early ends hides
//@ heddle: --warps=lockstep --reconvergence=common-exit
//@ exit: 1
//@ expect: error\[livelock\]
//@ hardware: it may hang on a GPU of that time
#include <cstdio>

__device__ int c, flag;

__global__ void meet() {
  asm volatile("{\n"
               "  .reg .pred p, q, s; .reg .u32 g, r; .reg .u64 at, to;\n"
               "  mov.u64 at, c;\n"
               "  mov.u64 to, flag;\n"
               "  mov.u32 g, %tid.x;\n"
               "  setp.eq.u32 p, g, 0;\n"
               "  @p bra X;\n"
               "  st.volatile.global.u32 [at], 2;\n"
               "  bra.uni E;\n"
               "X:\n"
               "  atom.global.exch.b32 r, [at], 1;\n"
               "  setp.ne.u32 q, r, 77;\n"
               "  @q bra E;\n"
               "  exit;\n"
               "E:\n"
               "  setp.eq.u32 s, g, 1;\n"
               "  @s st.volatile.global.u32 [to], 1;\n"
               "WAIT:\n"
               "  ld.volatile.global.u32 r, [to];\n"
               "  setp.eq.u32 q, r, 0;\n"
               "  @q bra WAIT;\n"
               "}" ::: "memory");
}

int main() {
  meet<<<1, 2>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
