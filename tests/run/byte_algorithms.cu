// Byte and bit twiddling: CRC-32, SHA-256, AES-like tables in constant memory, base64, run-length and string search, big-number multiplication.
//@ exercises: 8-bit loads, rotations, constant tables indexed by data, local state arrays, carries, shared-memory strings, switch machines
//@ also-flags: -G
#include "support.h"

#include <cstring>

__constant__ unsigned round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned rotate(unsigned x, int n) { return __funnelshift_r(x, x, n); }

__device__ void sha256_block(unsigned* state, const unsigned char* block) {
  unsigned w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = block[4 * i] << 24 | block[4 * i + 1] << 16 | block[4 * i + 2] << 8 | block[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    unsigned s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
    unsigned s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  unsigned v[8];
  for (int i = 0; i < 8; ++i) {
    v[i] = state[i];
  }
  for (int i = 0; i < 64; ++i) {
    unsigned t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + round_constants[i] + w[i];
    unsigned t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    for (int k = 7; k > 0; --k) {
      v[k] = v[k - 1];
    }
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i) {
    state[i] += v[i];
  }
}

__global__ void sha256(const unsigned char* text, const int* lengths, unsigned* out) {
  // One message per thread; all begin with the same text.
  int length = lengths[threadIdx.x];
  unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char block[64];
  int blocks = (length + 9 + 63) / 64;
  for (int b = 0; b < blocks; ++b) {
    for (int i = 0; i < 64; ++i) {
      int at = b * 64 + i;
      block[i] = at < length ? text[at] : at == length ? 0x80 : 0;
    }
    if (b == blocks - 1) {
      for (int i = 0; i < 8; ++i) {
        block[63 - i] = static_cast<unsigned char>(static_cast<unsigned long long>(length) * 8 >> (8 * i));
      }
    }
    sha256_block(state, block);
  }
  for (int i = 0; i < 8; ++i) {
    out[threadIdx.x * 8 + i] = state[i];
  }
}

__device__ unsigned crc_table[256];
__global__ void make_crc_table() {
  unsigned value = threadIdx.x;
  for (int i = 0; i < 8; ++i) {
    value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
  }
  crc_table[threadIdx.x] = value;
}
__global__ void crc32(const unsigned char* text, const int* lengths, unsigned* out) {
  unsigned crc = ~0u;
  for (int i = 0; i < lengths[threadIdx.x]; ++i) {
    crc = crc >> 8 ^ crc_table[(crc ^ text[i]) & 0xff];
  }
  out[threadIdx.x] = ~crc;
}

__global__ void base64(const unsigned char* in, int n, char* out) {
  const char* alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * 3 < n) {
    unsigned word = in[i * 3] << 16 | (i * 3 + 1 < n ? in[i * 3 + 1] << 8 : 0) | (i * 3 + 2 < n ? in[i * 3 + 2] : 0);
    for (int k = 0; k < 4; ++k) {
      out[i * 4 + k] = i * 3 + k > n ? '=' : alphabet[word >> (18 - 6 * k) & 63];
    }
  }
}

__global__ void search(const char* text, int n, const char* pattern, int m, int* first, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + m > n) {
    return;
  }
  for (int k = 0; k < m; ++k) {
    if (pattern[k] != '?' && text[i + k] != pattern[k]) {
      return;
    }
  }
  atomicMin(first, i);
  atomicAdd(count, 1);
}

__global__ void tokens(const char* text, int n, int* kinds) {
  // A small state machine; one thread.
  enum { Space, Word, Number, Other } state = Space;
  for (int i = 0; i < n; ++i) {
    char c = text[i];
    auto next = c == ' ' ? Space : (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? Word : c >= '0' && c <= '9' ? Number : Other;
    switch (state) {
    case Word:
      if (next == Number) {
        next = Word;
      }
      [[fallthrough]];
    default:
      if (next != state && next != Space) {
        ++kinds[next];
      }
    }
    state = static_cast<decltype(state)>(next);
  }
}

__global__ void big_multiply(const unsigned* a, const unsigned* b, unsigned* product, int words) {
  // Schoolbook: one thread per result word, then carries by one thread with add-with-carry.
  __shared__ unsigned long long low[64];
  __shared__ unsigned high[64];
  int t = threadIdx.x;
  unsigned long long sum = 0;
  unsigned carry = 0;
  for (int i = 0; i < words; ++i) {
    int j = t - i;
    if (j >= 0 && j < words) {
      unsigned long long term = static_cast<unsigned long long>(a[i]) * b[j];
      sum += term;
      carry += sum < term;
    }
  }
  low[t] = sum;
  high[t] = carry;
  __syncthreads();
  if (t == 0) {
    unsigned __int128 running = 0;
    for (int i = 0; i < 2 * words; ++i) {
      running += low[i];
      running += static_cast<unsigned __int128>(high[i]) << 64;
      product[i] = static_cast<unsigned>(running);
      running >>= 32;
    }
  }
}

int main() {
  const char* source = "The heddle lifts one thread of the warp at a time, so that each of 12345 threads can pass on its own. "
                       "abc the weft and the warp, 42 times; the loom stops for nobody and the thread goes on and on.";
  int n = static_cast<int>(std::strlen(source));
  std::vector<unsigned char> text(source, source + n);
  std::vector<int> lengths = {0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 150, n};
  Buffer<unsigned char> dtext(text);
  Buffer<int> dlengths(lengths);
  Buffer<unsigned> hashes(12 * 8), crcs(12);
  sha256<<<1, 12>>>(dtext, dlengths, hashes);
  make_crc_table<<<1, 256>>>();
  crc32<<<1, 12>>>(dtext, dlengths, crcs);
  SYNC_OK();
  for (int i : {0, 2, 11}) {
    std::printf("sha256 ");
    for (int k = 0; k < 8; ++k) {
      std::printf("%08x", hashes.get()[i * 8 + k]);
    }
    std::printf(" crc %08x\n", crcs.get()[i]);
  }
  std::printf("%016llx %016llx\n", static_cast<unsigned long long>(digest(hashes.get())), static_cast<unsigned long long>(digest(crcs.get())));

  Buffer<char> encoded(64);
  base64<<<1, 16>>>(dtext, 40, encoded);
  SYNC_OK();
  std::printf("base64 %.56s\n", encoded.get().data());

  Buffer<char> pattern(std::vector<char>{'t', 'h', '?', ' '});
  Buffer<int> first(std::vector<int>{1 << 30}), count(1), kinds(4);
  search<<<4, 64>>>(reinterpret_cast<char*>(dtext.data()), n, pattern, 4, first, count);
  tokens<<<1, 1>>>(reinterpret_cast<char*>(dtext.data()), n, kinds);
  SYNC_OK();
  std::printf("search %d %d tokens %d %d %d\n", first.get()[0], count.get()[0], kinds.get()[1], kinds.get()[2], kinds.get()[3]);

  std::vector<unsigned> a(32), b(32);
  for (int i = 0; i < 32; ++i) {
    a[i] = 0xffffffffu - i * 12345;
    b[i] = i * 0x9E3779B9u | 0x80000000u;
  }
  Buffer<unsigned> da(a), db(b), product(64);
  big_multiply<<<1, 64>>>(da, db, product, 32);
  SYNC_OK();
  std::printf("product %08x %08x %016llx\n", product.get()[0], product.get()[63], static_cast<unsigned long long>(digest(product.get())));
}
