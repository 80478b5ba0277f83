// Integer intrinsics: counting, reversing and selecting bits and bytes, funnel shifts, dot products, averages.
//@ exercises: popc clz bfind brev prmt shf.l/r.clamp/wrap sad dp4a dp2a mul24 vavrg bfe bfi lop3 fns szext
#include "support.h"

__global__ void bits(const unsigned* values, unsigned* out, int n) {
  int i = threadIdx.x;
  unsigned a = values[i], b = values[(i + 5) % n], c = values[(i * 3 + 1) % n];
  unsigned long long wide = (static_cast<unsigned long long>(a) << 32) | b;
  unsigned* row = out + i * 40;
  int k = 0;
  row[k++] = __popc(a);
  row[k++] = __popcll(wide);
  row[k++] = __clz(static_cast<int>(a));
  row[k++] = __clzll(static_cast<long long>(wide));
  row[k++] = __ffs(static_cast<int>(a));
  row[k++] = __ffsll(static_cast<long long>(wide));
  row[k++] = __brev(a);
  row[k++] = static_cast<unsigned>(__brevll(wide) >> 16);
  row[k++] = __byte_perm(a, b, c);
  row[k++] = __byte_perm(a, b, 0x7531);
  row[k++] = __byte_perm(a, b, 0x89ab & c); // sign replication modes too
  row[k++] = __funnelshift_l(a, b, c);
  row[k++] = __funnelshift_lc(a, b, c & 63);
  row[k++] = __funnelshift_r(a, b, c);
  row[k++] = __funnelshift_rc(a, b, c & 63);
  row[k++] = __sad(static_cast<int>(a), static_cast<int>(b), c);
  row[k++] = __usad(a, b, c);
  row[k++] = static_cast<unsigned>(__mul24(static_cast<int>(a), static_cast<int>(b)));
  row[k++] = __umul24(a, b);
  row[k++] = static_cast<unsigned>(__hadd(static_cast<int>(a), static_cast<int>(b)));
  row[k++] = static_cast<unsigned>(__rhadd(static_cast<int>(a), static_cast<int>(b)));
  row[k++] = __uhadd(a, b);
  row[k++] = __urhadd(a, b);
  row[k++] = static_cast<unsigned>(__dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)));
  row[k++] = __dp4a(a, b, c);
  row[k++] = static_cast<unsigned>(__dp2a_lo(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)));
  row[k++] = __dp2a_hi(a, b, c);
  row[k++] = __fns(a, c & 31, static_cast<int>(b & 7) - 3);
  unsigned result;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b & 63), "r"(c & 63));
  row[k++] = result;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b & 63), "r"(c & 63));
  row[k++] = result;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c & 63), "r"(a & 63));
  row[k++] = result;
  asm("bfind.u32 %0, %1;" : "=r"(result) : "r"(a));
  row[k++] = result;
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(result) : "r"(a));
  row[k++] = result;
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  row[k++] = result;
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(result) : "r"(a & 63), "r"(b & 63));
  row[k++] = result;
  asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  row[k++] = result;
  asm("szext.clamp.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b & 63));
  row[k++] = result;
  asm("szext.wrap.u32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  row[k++] = result;
  asm("{ .reg .pred p; .reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, %3, 0; }" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  row[k++] = result;
  asm("{ .reg .u32 t; sub.cc.u32 t, %1, %2; subc.u32 %0, %3, 0; }" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  row[k++] = result;
}

int main() {
  std::vector<unsigned> values = {0, 1, 2, 0x80000000u, 0xffffffffu, 0x7fffffffu, 0x12345678u, 0xdeadbeefu, 0x0f0f0f0fu,
                                  0x00ff00ffu, 31, 32, 33, 0x5410, 0x7fff8000u, 0x80018001u};
  Lcg random{77};
  while (values.size() < 64) {
    values.push_back(random.next() * 2654435761u ^ random.next());
  }
  int n = static_cast<int>(values.size());
  Buffer<unsigned> input(values), out(n * 40);
  bits<<<1, n>>>(input, out, n);
  SYNC_OK();
  auto result = out.get();
  for (int k = 0; k < 40; ++k) {
    std::vector<unsigned> column(n);
    for (int i = 0; i < n; ++i) {
      column[i] = result[i * 40 + k];
    }
    std::printf("%2d: %016llx  %08x %08x %08x %08x\n", k, static_cast<unsigned long long>(digest(column)), column[4],
                column[6], column[7], column[20]);
  }
}
