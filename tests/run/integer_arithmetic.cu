// Integer arithmetic of 8 to 128 bits, signed and unsigned, with the corner cases of division, shifts and high products.
//@ exercises: add/sub/mul/div/rem of every width, carries, mul.hi, mul.wide, mad, __int128, shifts by the width and more, narrowing
//@ also-flags: -G
#include "support.h"

__device__ unsigned long long fold(unsigned long long hash, unsigned long long value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ull + (hash >> 29);
}

template <class T> __device__ unsigned long long all(T a, T b, int shift) {
  unsigned long long h = 1;
  using U = T;
  h = fold(h, static_cast<unsigned long long>(static_cast<U>(a + b)));
  h = fold(h, static_cast<unsigned long long>(static_cast<U>(a - b)));
  h = fold(h, static_cast<unsigned long long>(static_cast<U>(a * b)));
  if (b != 0 && !(b == static_cast<T>(-1))) {
    h = fold(h, static_cast<unsigned long long>(static_cast<U>(a / b)));
    h = fold(h, static_cast<unsigned long long>(static_cast<U>(a % b)));
  }
  h = fold(h, static_cast<unsigned long long>(static_cast<U>(a & b)));
  h = fold(h, static_cast<unsigned long long>(static_cast<U>(a | ~b)));
  h = fold(h, static_cast<unsigned long long>(static_cast<U>(a ^ b)));
  h = fold(h, static_cast<unsigned long long>(static_cast<U>(a << (shift % (sizeof(T) * 8)))));
  h = fold(h, static_cast<unsigned long long>(static_cast<U>(a >> (shift % (sizeof(T) * 8)))));
  h = fold(h, (a < b) | (a <= b) << 1 | (a == b) << 2 | (a > b) << 3);
  h = fold(h, static_cast<unsigned long long>(a < b ? a : b));
  h = fold(h, static_cast<unsigned long long>(-a));
  return h;
}

template <class T> __device__ unsigned long long all_wide(T a, T b, int shift) {
  unsigned long long h = 2;
  auto add = [&](T value) {
    h = fold(h, static_cast<unsigned long long>(value));
    h = fold(h, static_cast<unsigned long long>(value >> 64));
  };
  add(a + b);
  add(a - b);
  add(a * b);
  if (b != 0) {
    add(a / b);
    add(a % b);
  }
  add(a << (shift % 128));
  add(a >> (shift % 128));
  add(a ^ ~b);
  h = fold(h, (a < b) | (a == b) << 1);
  return h;
}

__global__ void arithmetic(const long long* values, int n, unsigned long long* out) {
  int i = blockIdx.x, j = threadIdx.x;
  long long a = values[i], b = values[j];
  unsigned long long h = 0;
  h = fold(h, all<signed char>(a, b, j));
  h = fold(h, all<unsigned char>(a, b, j));
  h = fold(h, all<short>(a, b, j));
  h = fold(h, all<unsigned short>(a, b, j));
  h = fold(h, all<int>(a, b, j));
  h = fold(h, all<unsigned>(a, b, j));
  h = fold(h, all<long long>(a, b, j * 3));
  h = fold(h, all<unsigned long long>(a, b, j * 3));
  __int128 wide_a = (static_cast<__int128>(a) << 61) + b, wide_b = static_cast<__int128>(b) * 12345677 + a;
  h = fold(h, all_wide<__int128>(wide_a, wide_b, j * 5));
  h = fold(h, all_wide<unsigned __int128>(wide_a, wide_b, j * 5));
  h = fold(h, __mulhi(static_cast<int>(a), static_cast<int>(b)));
  h = fold(h, __umulhi(static_cast<unsigned>(a), static_cast<unsigned>(b)));
  h = fold(h, __mul64hi(a, b));
  h = fold(h, __umul64hi(a, b));
  out[i * n + j] = h;
}

__global__ void ptx_shifts(unsigned* out) {
  // PTX clamps shift amounts; C++ leaves them undefined.
  unsigned value = 0xdeadbeef, amount = threadIdx.x, left, right;
  int arithmetic;
  unsigned long long wide;
  asm("shl.b32 %0, %1, %2;" : "=r"(left) : "r"(value), "r"(amount));
  asm("shr.u32 %0, %1, %2;" : "=r"(right) : "r"(value), "r"(amount));
  asm("shr.s32 %0, %1, %2;" : "=r"(arithmetic) : "r"(value), "r"(amount));
  asm("shl.b64 %0, %1, %2;" : "=l"(wide) : "l"(0x123456789abcdef0ull), "r"(amount));
  out[threadIdx.x] = left ^ right * 3 ^ arithmetic * 7 ^ static_cast<unsigned>(wide >> 32) * 11;
}

__global__ void constants(long long* out) {
  volatile int zero = 0, minus_one = -1;
  volatile int lowest = static_cast<int>(0x80000000);
  out[0] = lowest / (minus_one + zero + zero * 2 - 1); // INT_MIN / -2
  out[1] = -7 / (2 + zero);
  out[2] = -7 % (2 + zero);
  out[3] = 7 % (-3 + zero);
  out[4] = static_cast<signed char>(200 + zero);
  out[5] = static_cast<unsigned short>(-1 + zero);
  out[6] = static_cast<long long>(static_cast<unsigned>(-1 + zero));
  out[7] = abs(-5 + zero) + llabs(-6ll + zero);
  out[8] = min(3 + zero, -4) + max(3u + zero, 4u);
}

int main() {
  std::vector<long long> values = {0, 1, -1, 2, -2, 3, 7, 10, 127, 128, -128, 255, 256, 32767, -32768, 65535, 0x7fffffff,
                                   -0x80000000ll, 0xffffffffll, 0x100000000ll, 0x7fffffffffffffffll,
                                   static_cast<long long>(0x8000000000000000ull), 1000000007, -123456789012345ll,
                                   0x0123456789abcdefll, 0x5555555555555555ll};
  int n = static_cast<int>(values.size());
  Buffer<long long> input(values);
  Buffer<unsigned long long> out(n * n);
  arithmetic<<<n, n>>>(input, n, out);
  SYNC_OK();
  auto result = out.get();
  for (int i = 0; i < n; ++i) {
    std::printf("%lld %016llx\n", values[i], static_cast<unsigned long long>(digest(&result[i * n], n * 8)));
  }
  Buffer<unsigned> shifts(80);
  ptx_shifts<<<1, 80>>>(shifts);
  SYNC_OK();
  std::printf("shifts %016llx %x %x\n", static_cast<unsigned long long>(digest(shifts.get())), shifts.get()[31],
              shifts.get()[40]);
  Buffer<long long> some(9);
  constants<<<1, 1>>>(some);
  SYNC_OK();
  for (long long value : some.get()) {
    std::printf("%lld ", value);
  }
  std::printf("\n");
}
