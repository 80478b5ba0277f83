// Inline PTX of the kinds people write: scopes with registers of their own, predicates, labels, vectors, address conversion, special registers.
//@ exercises: { } scopes, .reg/.pred, @p and @!p, bra with local labels, ld/st vectors and cache operators, cvta, isspacep, mad.wide, vote in asm, setp with bool ops, selp, slct, prmt modes, mov of vectors, %special registers
//@ also-flags: -G
#include "support.h"

__device__ int branchy(int x) {
  int result;
  asm("{\n"
      " .reg .pred p, q;\n"
      " .reg .s32 t<3>;\n"
      " setp.gt.s32 p, %1, 10;\n"
      " setp.eq.and.s32 q, %1, 20, p;\n"
      " @q bra SPECIAL_%=;\n"
      " @p add.s32 t0, %1, 100;\n"
      " @!p sub.s32 t0, %1, 100;\n"
      " mov.s32 %0, t0;\n"
      " bra.uni DONE_%=;\n"
      "SPECIAL_%=:\n"
      " mov.s32 %0, -1;\n"
      "DONE_%=:\n"
      "}"
      : "=r"(result)
      : "r"(x));
  return result;
}

__device__ int loop(int n) {
  int sum;
  asm volatile("{\n"
               " .reg .pred p;\n"
               " .reg .u32 i;\n"
               " mov.u32 %0, 0;\n"
               " mov.u32 i, 0;\n"
               "$again_%=:\n"
               " setp.ge.u32 p, i, %1;\n"
               " @p bra $end_%=;\n"
               " mad.lo.s32 %0, i, i, %0;\n"
               " add.u32 i, i, 1;\n"
               " bra $again_%=;\n"
               "$end_%=:\n"
               "}"
               : "=&r"(sum)
               : "r"(n));
  return sum;
}

__global__ void scopes(int* out) {
  int t = threadIdx.x;
  out[t] = branchy(t) * 1000 + loop(t % 9);
  // The same names again in another scope.
  int a, b;
  asm("{ .reg .u32 t; mul.lo.u32 t, %1, 3; { .reg .u32 t; add.u32 t, %1, 1; mov.u32 %0, t; } add.u32 %0, %0, t; }" : "=r"(a) : "r"(t));
  asm("{ .reg .b64 wide; .reg .b32 low, high; mul.wide.s32 wide, %1, %2; mov.b64 {low, high}, wide; xor.b32 %0, low, high; }"
      : "=r"(b)
      : "r"(t * 1000003), "r"(-77777));
  out[t] ^= a * 7 + b;
}

__global__ void memory(const int4* in, int4* out, int* spaces) {
  __shared__ int4 staged[32];
  __shared__ int flag;
  int local_value = 5, *local = &local_value;
  int t = threadIdx.x;
  int x, y, z, w;
  asm volatile("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(in + t));
  unsigned shared_address = static_cast<unsigned>(__cvta_generic_to_shared(&staged[t]));
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared_address), "r"(w), "r"(z), "r"(y), "r"(x) : "memory");
  __syncthreads();
  unsigned other = static_cast<unsigned>(__cvta_generic_to_shared(&staged[31 - t]));
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(other));
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2+8];" : "=r"(z), "=r"(w) : "r"(other));
  asm volatile("st.global.cs.v4.s32 [%0], {%1, %2, %3, %4};" ::"l"(out + t), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
  int space = 0, is;
  asm("{ .reg .pred p; isspacep.global p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(is) : "l"(in));
  space = is;
  asm("{ .reg .pred p; isspacep.shared p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(is) : "l"(&flag));
  space = space * 10 + is;
  asm("{ .reg .pred p; isspacep.local p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(is) : "l"(local));
  space = space * 10 + is;
  asm("{ .reg .pred p; isspacep.shared p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(is) : "l"(in));
  space = space * 10 + is;
  space = space * 10 + (__isGlobal(in) != 0) + (__isShared(&flag) != 0) + (__isLocal(local) != 0) + (__isConstant(in) != 0);
  // Through a generic pointer that may be shared or global.
  const int* generic = t % 2 ? reinterpret_cast<const int*>(in) : reinterpret_cast<const int*>(&staged[0]);
  int picked;
  asm volatile("ld.s32 %0, [%1+4];" : "=r"(picked) : "l"(generic));
  spaces[t] = space * 1000 + picked;
}

__global__ void widths(long long* out) {
  __shared__ alignas(8) signed char bytes[16];
  if (threadIdx.x < 16) {
    bytes[threadIdx.x] = static_cast<signed char>(threadIdx.x * 17 - 100);
  }
  __syncthreads();
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(bytes));
  long long result = 0;
  int value;
  long long wide;
  short half;
  asm volatile("ld.shared.s8 %0, [%1+1];" : "=r"(value) : "r"(address));
  result = result * 31 + value;
  asm volatile("ld.shared.u8 %0, [%1+1];" : "=r"(value) : "r"(address));
  result = result * 31 + value;
  asm volatile("ld.shared.s16 %0, [%1+2];" : "=h"(half) : "r"(address));
  result = result * 31 + half;
  asm volatile("ld.shared.s16 %0, [%1+6];" : "=r"(value) : "r"(address));
  result = result * 31 + value;
  asm volatile("ld.shared.s32 %0, [%1+8];" : "=l"(wide) : "r"(address));
  result = result * 31 + wide;
  asm volatile("ld.shared.u64 %0, [%1];" : "=l"(wide) : "r"(address));
  result = result * 31 + wide;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("st.shared.u8 [%0+3], %1;" ::"r"(address), "r"(0x1ff) : "memory");
  }
  __syncthreads();
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address));
  out[threadIdx.x] = result * 31 + value;
}

__global__ void selections(float* out) {
  float x = threadIdx.x * 0.5f - 3.0f, result;
  asm("slct.f32.s32 %0, %1, %2, %3;" : "=f"(result) : "f"(x), "f"(-x), "r"(static_cast<int>(threadIdx.x) - 4));
  int flag;
  asm("{ .reg .pred p, q, r; setp.eq.s32 r, %2, 3; setp.lt.or.f32 p|q, %1, 0f00000000, r; selp.s32 %0, 1, 2, p; @q add.s32 %0, %0, 4; }"
      : "=r"(flag)
      : "f"(x), "r"(static_cast<int>(threadIdx.x % 4)));
  out[threadIdx.x] = result * 10 + flag;
}

__global__ void special(unsigned* out) {
  if (threadIdx.x != 0 || blockIdx.x != 0 || blockIdx.y != 1) {
    return;
  }
  unsigned value;
#define READ(k, name) asm volatile("mov.u32 %0, " name ";" : "=r"(value)); out[k] = value;
  READ(0, "%%ntid.x")
  READ(1, "%%ntid.y")
  READ(2, "%%nctaid.x")
  READ(3, "%%ctaid.y")
  READ(4, "%%tid.y")
  READ(5, "%%total_smem_size")
  READ(6, "%%dynamic_smem_size")
  asm volatile("mov.u32 %0, WARP_SZ;" : "=r"(value));
  out[7] = value;
  READ(8, "%%cluster_nctarank")
  unsigned long long a, b;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(a));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(b));
  out[9] = b >= a;
  unsigned smid, nsmid;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(smid));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(nsmid));
  out[10] = smid < nsmid;
}

int main() {
  Buffer<int> out(64);
  scopes<<<1, 64>>>(out);
  SYNC_OK();
  std::printf("scopes %d %d %d %016llx\n", out.get()[5], out.get()[20], out.get()[63], static_cast<unsigned long long>(digest(out.get())));
  std::vector<int4> values(32);
  for (int i = 0; i < 32; ++i) {
    values[i] = {i, i * 2, i * 3, i * 4};
  }
  Buffer<int4> in(values), copied(32);
  Buffer<int> spaces(32);
  memory<<<1, 32>>>(in, copied, spaces);
  SYNC_OK();
  std::printf("memory %d %d %016llx\n", copied.get()[0].x, copied.get()[31].w, static_cast<unsigned long long>(digest(copied.get())));
  std::printf("spaces %d %d\n", spaces.get()[0], spaces.get()[1]);
  Buffer<long long> wide(32);
  widths<<<1, 32>>>(wide);
  SYNC_OK();
  std::printf("widths %lld\n", wide.get()[0]);
  Buffer<float> selected(16);
  selections<<<1, 16>>>(selected);
  SYNC_OK();
  for (float value : selected.get()) {
    std::printf("%g ", value);
  }
  std::printf("\n");
  Buffer<unsigned> words(11);
  special<<<dim3(3, 2), dim3(8, 1), 100>>>(words);
  SYNC_OK();
  for (int k : {0, 1, 2, 4, 6, 7, 8, 9, 10}) {
    std::printf("%u ", words.get()[k]);
  }
  std::printf("\n");
}
