// Byte-wise and halfword-wise SIMD intrinsics on packed 32-bit words.
//@ exercises: __vadd2/4, __vsub, __vabs, __vavg, __vmax/min, __vset*, __vcmp*, saturating forms, __vsad, __vimax3 and relatives
#include "support.h"

// One row per intrinsic keeps names, results and their order together.
#define BINARY(X)                                                                                             \
  X(__vadd2) X(__vadd4) X(__vaddss2) X(__vaddss4) X(__vaddus2) X(__vaddus4) X(__vsub2) X(__vsub4) X(__vsubss2) \
  X(__vsubss4) X(__vsubus2) X(__vsubus4) X(__vabsdiffs2) X(__vabsdiffs4) X(__vabsdiffu2) X(__vabsdiffu4)       \
  X(__vavgs2) X(__vavgs4) X(__vavgu2) X(__vavgu4) X(__vhaddu2) X(__vhaddu4) X(__vmaxs2) X(__vmaxs4) X(__vmaxu2) \
  X(__vmaxu4) X(__vmins2) X(__vmins4) X(__vminu2) X(__vminu4) X(__vcmpeq2) X(__vcmpeq4) X(__vcmpges2)          \
  X(__vcmpges4) X(__vcmpgeu2) X(__vcmpgeu4) X(__vcmpgts2) X(__vcmpgts4) X(__vcmpgtu2) X(__vcmpgtu4)            \
  X(__vcmples2) X(__vcmples4) X(__vcmpleu2) X(__vcmpleu4) X(__vcmplts2) X(__vcmplts4) X(__vcmpltu2)            \
  X(__vcmpltu4) X(__vcmpne2) X(__vcmpne4) X(__vseteq2) X(__vseteq4) X(__vsetges2) X(__vsetgeu4) X(__vsetgts4)  \
  X(__vsetltu2) X(__vsetne4) X(__vsads2) X(__vsads4) X(__vsadu2) X(__vsadu4)
#define UNARY(X) X(__vabs2) X(__vabs4) X(__vabsss2) X(__vabsss4) X(__vneg2) X(__vneg4) X(__vnegss2) X(__vnegss4)
#define TERNARY(X)                                                                                           \
  X(__vimax3_s16x2) X(__vimax3_u16x2) X(__vimin3_s16x2) X(__vimin3_u16x2) X(__viaddmax_s16x2)                 \
  X(__viaddmin_u16x2) X(__viaddmax_s16x2_relu) X(__vimax3_s16x2_relu)

constexpr const char* names[] = {
#define NAME(x) #x,
    BINARY(NAME) UNARY(NAME) TERNARY(NAME)
#undef NAME
};
constexpr int count = sizeof names / sizeof *names;

__global__ void packed(const unsigned* values, unsigned* out, int n) {
  unsigned a = values[threadIdx.x], b = values[(threadIdx.x * 7 + 3) % n], c = values[(threadIdx.x * 5 + 2) % n];
  unsigned* cell = out + threadIdx.x;
#define STORE2(f) *cell = f(a, b); cell += n;
#define STORE1(f) *cell = f(a); cell += n;
#define STORE3(f) *cell = f(a, b, c); cell += n;
  BINARY(STORE2)
  UNARY(STORE1)
  TERNARY(STORE3)
}

__global__ void scalar_dpx(const unsigned* values, int* out, int n) {
  int a = static_cast<int>(values[threadIdx.x]), b = static_cast<int>(values[(threadIdx.x + 1) % n]),
      c = static_cast<int>(values[(threadIdx.x + 2) % n]);
  bool first = false;
  int total = __vimax3_s32(a, b, c) ^ __vimin3_s32(a, b, c) * 3 ^ __viaddmax_s32(a >> 2, b >> 2, c) * 5;
  total ^= __vibmax_s32(a, b, &first) * 7;
  out[threadIdx.x] = total + first;
}

int main() {
  std::vector<unsigned> values = {0,          0x80808080u, 0x7f7f7f7fu, 0xffffffffu, 0x80008000u, 0x7fff7fffu,
                                  0x01020304u, 0xfffefdfcu, 0x00ff7f80u, 0x8000007fu};
  Lcg random{5};
  while (values.size() < 64) {
    values.push_back(random.next() * 2654435761u ^ random.next());
  }
  int n = static_cast<int>(values.size());
  Buffer<unsigned> input(values), out(n * count);
  packed<<<1, n>>>(input, out, n);
  SYNC_OK();
  auto result = out.get();
  for (int k = 0; k < count; ++k) {
    std::printf("%s %016llx %08x %08x\n", names[k], static_cast<unsigned long long>(digest(&result[k * n], n * 4)),
                result[k * n + 6], result[k * n + 8]);
  }
  Buffer<int> scalars(n);
  scalar_dpx<<<1, n>>>(input, scalars, n);
  SYNC_OK();
  std::printf("scalar %016llx\n", static_cast<unsigned long long>(digest(scalars.get())));
}
