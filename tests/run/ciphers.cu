// SHA-256, MD5, AES-128, Keccak, CRC-32 and a stream cipher, with known answers.
//@ exercises: rotations (shf, prmt), constant tables indexed by data, 64-bit logic, byte accesses, unrolled rounds, __byte_perm, __funnelshift
#include "support.h"

#include <cstring>
#include <string>

__constant__ unsigned sha_k[64];
__constant__ unsigned md5_k[64];
__constant__ unsigned char sbox[256];

__device__ unsigned rotr(unsigned x, int n) { return x >> n | x << (32 - n); }

__global__ void sha256(const unsigned char* blocks, unsigned* out) {
  unsigned w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const unsigned char* in = blocks + 64 * threadIdx.x;
  for (int i = 0; i < 16; ++i) w[i] = __byte_perm(*reinterpret_cast<const unsigned*>(in + 4 * i), 0, 0x0123);
#pragma unroll
  for (int i = 16; i < 64; ++i)
    w[i] = w[i - 16] + (rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] + (rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
  unsigned s[8];
  for (int i = 0; i < 8; ++i) s[i] = h[i];
#pragma unroll 4
  for (int i = 0; i < 64; ++i) {
    unsigned t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + (s[4] & s[5] ^ ~s[4] & s[6]) + sha_k[i] + w[i];
    unsigned t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + (s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]);
    for (int j = 7; j > 0; --j) s[j] = s[j - 1];
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i) out[8 * threadIdx.x + i] = h[i] + s[i];
}

__global__ void md5(const unsigned* block, unsigned* out) {
  const int shift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  unsigned a0 = a, b0 = b, c0 = c, d0 = d;
  for (int i = 0; i < 64; ++i) {
    unsigned f, g;
    switch (i / 16) {
    case 0: f = b & c | ~b & d; g = i; break;
    case 1: f = d & b | ~d & c; g = (5 * i + 1) % 16; break;
    case 2: f = b ^ c ^ d; g = (3 * i + 5) % 16; break;
    default: f = c ^ (b | ~d); g = 7 * i % 16; break;
    }
    f += a + md5_k[i] + block[g];
    a = d;
    d = c;
    c = b;
    b += __funnelshift_l(f, f, shift[i / 16][i % 4]);
  }
  out[0] = a + a0, out[1] = b + b0, out[2] = c + c0, out[3] = d + d0;
}

__device__ unsigned char times2(unsigned char x) { return static_cast<unsigned char>(x << 1 ^ (x >> 7) * 0x1b); }

// One thread per byte of the state; the key schedule is done by thread 0.
__global__ void aes(const unsigned char* key, const unsigned char* text, unsigned char* out) {
  __shared__ unsigned char round_key[176], state[16], mixed[16];
  int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < 16; ++i) round_key[i] = key[i];
    unsigned char constant = 1;
    for (int i = 16; i < 176; i += 4) {
      unsigned char w[4];
      for (int j = 0; j < 4; ++j) w[j] = round_key[i - 4 + j];
      if (i % 16 == 0) {
        unsigned char first = w[0];
        w[0] = sbox[w[1]] ^ constant, w[1] = sbox[w[2]], w[2] = sbox[w[3]], w[3] = sbox[first];
        constant = times2(constant);
      }
      for (int j = 0; j < 4; ++j) round_key[i + j] = round_key[i - 16 + j] ^ w[j];
    }
  }
  __syncthreads();
  state[t] = text[t] ^ round_key[t];
  __syncthreads();
  for (int round = 1; round <= 10; ++round) {
    mixed[t] = sbox[state[(t + 4 * (t % 4)) % 16]];
    __syncthreads();
    unsigned char v = mixed[t];
    if (round < 10) {
      const unsigned char* c = mixed + t / 4 * 4;
      int r = t % 4;
      v = times2(c[r]) ^ times2(c[(r + 1) % 4]) ^ c[(r + 1) % 4] ^ c[(r + 2) % 4] ^ c[(r + 3) % 4];
    }
    state[t] = v ^ round_key[16 * round + t];
    __syncthreads();
  }
  out[t] = state[t];
}

__global__ void keccak(unsigned long long* a) {
  for (int round = 0; round < 24; ++round) {
    unsigned long long c[5], b[25];
    for (int x = 0; x < 5; ++x) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    for (int x = 0; x < 5; ++x) {
      unsigned long long d = c[(x + 4) % 5] ^ (c[(x + 1) % 5] << 1 | c[(x + 1) % 5] >> 63);
      for (int y = 0; y < 25; y += 5) a[y + x] ^= d;
    }
    int x = 1, y = 0;
    b[0] = a[0];
    for (int t = 0; t < 24; ++t) {
      int r = (t + 1) * (t + 2) / 2 % 64, nx = y, ny = (2 * x + 3 * y) % 5;
      b[ny * 5 + nx] = r == 0 ? a[y * 5 + x] : a[y * 5 + x] << r | a[y * 5 + x] >> (64 - r);
      x = nx, y = ny;
    }
    for (int j = 0; j < 25; j += 5)
      for (int i = 0; i < 5; ++i) a[j + i] = b[j + i] ^ ~b[j + (i + 1) % 5] & b[j + (i + 2) % 5];
    // The round constant from a shift register.
    unsigned long long rc = 0;
    unsigned lfsr = 1;
    for (int k = 0; k < 7 * round; ++k) lfsr = lfsr << 1 ^ (lfsr >> 7) * 0x171;
    for (int j = 0; j < 7; ++j) {
      if (lfsr & 1) rc ^= 1ull << ((1 << j) - 1);
      lfsr = lfsr << 1 ^ (lfsr >> 7) * 0x171;
    }
    a[0] ^= rc;
  }
}

__global__ void crc(const unsigned char* data, int n, unsigned* out) {
  unsigned value = ~0u;
  for (int i = 0; i < n; ++i) {
    value ^= data[i];
    for (int k = 0; k < 8; ++k) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
  }
  *out = ~value;
}

// Cube and square roots of primes, as the standards define the constants.
double fraction(double v) { return v - static_cast<long long>(v); }

int main() {
  unsigned k[64], m[64];
  int count = 0;
  for (int p = 2; count < 64; ++p) {
    bool prime = true;
    for (int q = 2; q * q <= p; ++q) prime &= p % q != 0;
    if (prime) {
      long double root = 1;
      for (int step = 0; step < 60; ++step) root -= (root * root * root - p) / (3 * root * root);
      k[count++] = static_cast<unsigned>(static_cast<unsigned long long>((root - static_cast<long long>(root)) * 4294967296.0L));
    }
  }
  for (int i = 0; i < 64; ++i) m[i] = static_cast<unsigned>(static_cast<long long>(__builtin_fabs(__builtin_sin(i + 1.0)) * 4294967296.0));
  unsigned char s[256];
  unsigned char p = 1, q = 1;
  do {
    p = static_cast<unsigned char>(p ^ p << 1 ^ (p & 0x80 ? 0x1b : 0));
    q ^= q << 1, q ^= q << 2, q ^= q << 4;
    if (q & 0x80) q ^= 0x09;
    auto rot = [&](int n) { return static_cast<unsigned char>(q << n | q >> (8 - n)); };
    s[p] = q ^ rot(1) ^ rot(2) ^ rot(3) ^ rot(4) ^ 0x63;
  } while (p != 1);
  s[0] = 0x63;
  CUDA_OK(cudaMemcpyToSymbol(sha_k, k, sizeof k));
  CUDA_OK(cudaMemcpyToSymbol(md5_k, m, sizeof m));
  CUDA_OK(cudaMemcpyToSymbol(sbox, s, sizeof s));

  std::vector<unsigned char> blocks(128);
  std::memcpy(&blocks[0], "abc\x80", 4);
  blocks[63] = 24;
  blocks[64] = 0x80;
  Buffer<unsigned char> in(blocks);
  Buffer<unsigned> hash(16);
  sha256<<<1, 2>>>(in, hash);
  SYNC_OK();
  auto h = hash.get();
  for (int i = 0; i < 2; ++i) std::printf("sha256 %08x %08x ... %08x\n", h[8 * i], h[8 * i + 1], h[8 * i + 7]);

  std::vector<unsigned> md(16);
  std::memcpy(md.data(), "abc\x80", 4);
  md[14] = 24;
  Buffer<unsigned> md_in(md);
  md5<<<1, 1>>>(md_in, hash);
  SYNC_OK();
  h = hash.get();
  std::printf("md5 %08x %08x %08x %08x\n", __builtin_bswap32(h[0]), __builtin_bswap32(h[1]), __builtin_bswap32(h[2]), __builtin_bswap32(h[3]));

  std::vector<unsigned char> key(16), text(16);
  for (int i = 0; i < 16; ++i) key[i] = static_cast<unsigned char>(i), text[i] = static_cast<unsigned char>(i * 17);
  Buffer<unsigned char> dk(key), dt(text), coded(16);
  aes<<<1, 16>>>(dk, dt, coded);
  SYNC_OK();
  std::printf("aes ");
  for (unsigned char c : coded.get()) std::printf("%02x", c);
  std::printf("\n");

  Buffer<unsigned long long> state(25);
  keccak<<<1, 1>>>(state);
  SYNC_OK();
  std::printf("keccak %016llx %016llx\n", state.get()[0], state.get()[1]);

  std::string digits = "123456789";
  Buffer<unsigned char> dd(std::vector<unsigned char>(digits.begin(), digits.end()));
  crc<<<1, 1>>>(dd, 9, hash);
  SYNC_OK();
  std::printf("crc %08x\n", hash.get()[0]);
}
