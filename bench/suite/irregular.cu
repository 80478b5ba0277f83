// Programs in which the lanes of a warp part: searches, graphs, tables, games, numbers.
#include "kinds.h"

namespace {

__global__ void bfs_level(const int* first, const int* edges, int* level, int depth, int n, int* more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || level[i] != depth) return;
  for (int e = first[i]; e < first[i + 1]; ++e) {
    const int to = edges[e];
    if (level[to] < 0) {
      level[to] = depth + 1;
      *more = 1;
    }
  }
}
__global__ void make_graph(int* first, int* edges, int* level, int n) { // degrees 0 to 7
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto degrees = [](int k) { return k / 8 * 28 + (k % 8) * (k % 8 - 1) / 2; };
  first[i] = degrees(i);
  first[i + 1] = degrees(i + 1);
  for (int e = first[i]; e < first[i + 1]; ++e) edges[e] = (i * 13u + e * 7919u) % n;
  level[i] = i == 7 ? 0 : -1;
}
void bfs(float* out, float*, int n) {
  int *first, *edges, *more;
  cudaMalloc(&first, (n + 1) * sizeof(int));
  cudaMalloc(&edges, n * 8 * sizeof(int));
  cudaMalloc(&more, sizeof(int));
  int* level = reinterpret_cast<int*>(out);
  make_graph<<<n / threads, threads>>>(first, edges, level, n);
  int host = 1;
  for (int depth = 0; host != 0; ++depth) {
    cudaMemset(more, 0, sizeof(int));
    bfs_level<<<n / threads, threads>>>(first, edges, level, depth, n, more);
    cudaMemcpy(&host, more, sizeof(int), cudaMemcpyDeviceToHost);
  }
}

__global__ void lower_bound(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float key = in[i] * n;
  for (int round = 0; round < 4; ++round) {
    int low = 0, high = n - round * 100;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (middle * 0.99f < key) low = middle + 1; else high = middle;
    }
    out[i] += low;
  }
}

__global__ void hash_insert(uint32_t* table, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t key = __float_as_uint(in[i % (n / 2)]) | 1;
  for (uint32_t slot = key * 2654435761u >> 8;; ++slot) {
    const uint32_t old = atomicCAS(&table[slot % n], 0u, key);
    if (old == 0 || old == key) break;
  }
}
__global__ void hash_count(uint32_t* table, const float* in, uint32_t* found, int n) { // the order of a chain may vary
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t key = __float_as_uint(in[i]) | 1;
  uint32_t slot = key * 2654435761u >> 8;
  while (table[slot % n] != 0 && table[slot % n] != key) ++slot;
  found[i] = table[slot % n] == key;
}
void hash_table(float* out, float* in, int n) {
  uint32_t* table;
  cudaMalloc(&table, n * 4);
  cudaMemset(table, 0, n * 4);
  hash_insert<<<n / threads, threads>>>(table, in, n);
  hash_count<<<n / threads, threads>>>(table, in, reinterpret_cast<uint32_t*>(out), n);
}

__global__ void find_pattern(uint32_t* out, const uint8_t* text, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t matches = 0;
  for (int k = 0; k < 16; ++k) {
    const int at = i * 4 + k;
    int length = 0;
    while (length < 12 && at + length < n * 4 && (text[at + length] & 3) == (length * 7 + k) % 4) ++length;
    matches = matches * 3 + length;
  }
  out[i] = matches;
}

__global__ void collatz(uint32_t* out, int n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t v = i + 1;
  uint32_t steps = 0;
  while (v != 1) {
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    ++steps;
  }
  out[i] = steps;
}

__global__ void gcds(uint32_t* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t a = in[i] * 1e9f, b = in[(i + 17) % n] * 1e9f;
  while (b != 0) {
    const uint32_t rest = a % b;
    a = b;
    b = rest;
  }
  out[i] = a;
}

__global__ void primes(uint32_t* out, int n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t v = 2 * i + 100001;
  uint32_t d = 3;
  while (d * d <= v && v % d != 0) d += 2;
  out[i] = d * d > v;
}

__global__ void mod_power(uint32_t* out, int n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t m = 1000003 + 2 * (i % 1000);
  uint64_t base = i + 2, result = 1;
  for (uint32_t e = i * 2654435761u; e != 0; e >>= 1) {
    if (e & 1) result = result * base % m;
    base = base * base % m;
  }
  out[i] = result;
}

__global__ void queens(uint32_t* out, int n) { // 9 queens, the first three rows by the thread
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int size = 9;
  int place[size];
  uint32_t found = 0;
  const auto fits = [&](int row) {
    for (int r = 0; r < row; ++r) {
      const int d = place[row] - place[r];
      if (d == 0 || d == row - r || -d == row - r) return false;
    }
    return true;
  };
  place[0] = i % size;
  place[1] = i / size % size;
  place[2] = i / size / size % size;
  if (fits(1) && fits(2)) {
    int row = 3;
    place[3] = -1;
    while (row >= 3) {
      if (++place[row] >= size) {
        --row;
      } else if (fits(row)) {
        if (row == size - 1) ++found; else place[++row] = -1;
      }
    }
  }
  out[i] = found;
}

__global__ void spheres(float* out, int n) { // a ray that is reflected up to 4 times
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float ox = 0, oy = 0, oz = -3, dx = (i % 512) / 256.0f - 1, dy = (i / 512) / 256.0f - 1, dz = 1.5f;
  float light = 1;
  for (int bounce = 0; bounce < 4; ++bounce) {
    const float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= scale, dy *= scale, dz *= scale;
    float nearest = 1e30f;
    int hit = -1;
    for (int s = 0; s < 6; ++s) {
      const float cx = (s % 3 - 1) * 1.1f, cy = (s / 3) * 1.2f - 0.6f, cz = s * 0.3f;
      const float x = ox - cx, y = oy - cy, z = oz - cz;
      const float b = x * dx + y * dy + z * dz, c = x * x + y * y + z * z - 0.25f, d = b * b - c;
      if (d > 0) {
        const float t = -b - sqrtf(d);
        if (t > 1e-3f && t < nearest) nearest = t, hit = s;
      }
    }
    if (hit < 0) {
      light *= 0.5f * (dy + 1);
      break;
    }
    ox += nearest * dx, oy += nearest * dy, oz += nearest * dz;
    const float nx = (ox - (hit % 3 - 1) * 1.1f) * 2, ny = (oy - (hit / 3) * 1.2f + 0.6f) * 2, nz = (oz - hit * 0.3f) * 2;
    const float k = 2 * (dx * nx + dy * ny + dz * nz);
    dx -= k * nx, dy -= k * ny, dz -= k * nz;
    light *= 0.8f;
  }
  out[i] = light;
}

__global__ void nearest_five(float* out, const float* in, int n) { // insertion into a local array
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float best[5];
  for (float& b : best) b = 1e30f;
  for (int k = 0; k < 128; ++k) {
    float d = fabsf(in[i] - in[(k * 37 + i % 64) % n]);
    for (int p = 0; p < 5; ++p) {
      if (d < best[p]) {
        const float other = best[p];
        best[p] = d;
        d = other;
      }
    }
  }
  out[i] = best[0] + best[4];
}

__global__ void merge_step(float* out, const float* in, int width, int n) { // each element finds its rank
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int pair = i / (2 * width) * 2 * width, left = i < pair + width;
  const float v = in[i];
  int low = left ? pair + width : pair, high = low + width;
  const int first = low;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (left ? in[middle] < v : in[middle] <= v) low = middle + 1; else high = middle;
  }
  out[pair + (i - (left ? pair : pair + width)) + low - first] = v;
}
void merge_sort(float* out, float* in, int n) {
  float *from = in, *to = out;
  for (int width = 1; width < n; width *= 2) {
    merge_step<<<n / threads, threads>>>(to, from, width, n);
    float* other = from;
    from = to;
    to = other;
  }
  if (from != out) cudaMemcpy(out, from, n * 4, cudaMemcpyDeviceToDevice);
}

__device__ __noinline__ float newton(float x, float start) {
  float r = start;
  for (int k = 0; k < 8 && fabsf(r * r - x) > 1e-6f * x; ++k) r = 0.5f * (r + x / r);
  return r;
}
__global__ void calls(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 6; ++k) sum += newton(in[(i + k * 5) % n] + 0.1f, 1 + k);
  out[i] = sum;
}

__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__global__ void recursion(uint32_t* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = ackermann(2, i % 4);
}

struct Shape {
  __device__ virtual float area(float x) const = 0;
};
struct Square : Shape {
  __device__ float area(float x) const override { return x * x; }
};
struct Disc : Shape {
  __device__ float area(float x) const override { return 3.14159f * x * x; }
};
__global__ void virtual_calls(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Square square;
  Disc disc;
  float sum = 0;
  for (int k = 0; k < 8; ++k) {
    const Shape* shape = (i / 32 + k) % 2 == 0 ? static_cast<const Shape*>(&square) : &disc;
    sum += shape->area(in[(i + k) % n]);
  }
  out[i] = sum;
}

__global__ void bit_tricks(uint32_t* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = __float_as_uint(in[i]), sum = 0;
  for (int k = 0; k < 32; ++k) {
    sum += __popc(v) * __clz(v | 1) + __ffs(v) + __brev(v) % 7;
    v = __funnelshift_l(v, v * 5, k) ^ __byte_perm(v, sum, 0x2301);
  }
  out[i] = sum;
}

__global__ void big_numbers(uint64_t* out, int n) { // 256 bits times 64, with carries
  const uint64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t limb[4] = {i + 1, i * 3, ~i, i << 40};
  for (int k = 0; k < 16; ++k) {
    const uint64_t factor = 0x9e3779b97f4a7c15ull * (k + 1);
    uint64_t carry = k;
    for (uint64_t& l : limb) {
      const uint64_t low = l * factor, sum = low + carry;
      carry = __umul64hi(l, factor) + (sum < low);
      l = sum;
    }
  }
  out[i] = limb[0] ^ limb[1] ^ limb[2] ^ limb[3];
}

__global__ void levenshtein(uint32_t* out, const uint8_t* text, int n) { // words of 12 bytes
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint8_t row[13];
  for (int c = 0; c <= 12; ++c) row[c] = c;
  for (int r = 1; r <= 12; ++r) {
    uint8_t diagonal = row[0];
    row[0] = r;
    const uint8_t letter = text[(i * 4 + r) % (n * 4)] & 7;
    for (int c = 1; c <= 12; ++c) {
      const uint8_t above = row[c];
      const uint8_t change = diagonal + (letter != (text[(i * 4 + 50 + c) % (n * 4)] & 7));
      row[c] = min(min(row[c] + 1, row[c - 1] + 1), change);
      diagonal = above;
    }
  }
  out[i] = row[12];
}

struct Closest {
  float distance[8];
  int index[8];
};
__noinline__ __device__ void insert(Closest* c, float distance, int index) {
  if (distance >= c->distance[7]) return;
  int at = 7;
  for (; at > 0 && c->distance[at - 1] > distance; --at) {
    c->distance[at] = c->distance[at - 1];
    c->index[at] = c->index[at - 1];
  }
  c->distance[at] = distance;
  c->index[at] = index;
}
__global__ void eight_closest(float* out, const float* in, int n) { // a function that gets a pointer to local memory
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Closest c;
  for (int k = 0; k < 8; ++k) c.distance[k] = 1e30f, c.index[k] = -1;
  for (int k = 0; k < 48; ++k) {
    const float d = in[(i * 7 + k * 31) % n] - in[i];
    insert(&c, d * d, k);
  }
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += c.distance[k] + c.index[k];
  out[i] = sum;
}

__global__ void powers(float* out, const float* in, int n) { // nvcc makes functions of pow
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int k = 1; k <= 8; ++k) sum += pow(in[i] + 0.5, 0.3 * k) / (1 + k);
  out[i] = static_cast<float>(sum);
}

__global__ void byte_table(uint32_t* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto* table = reinterpret_cast<const uint8_t*>(in);
  uint32_t sum = 0, word = __float_as_uint(in[i]);
  for (int k = 0; k < 32; ++k) {
    word = word * 1664525u + 1013904223u;
    sum += table[word >> 8 & 65535];
  }
  out[i] = sum;
}

__global__ void shuffled_bytes(uint32_t* out, const float* in, int n) { // a permutation for each thread
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint8_t v[64];
  uint32_t word = __float_as_uint(in[i]), sum = 0;
  for (int k = 0; k < 64; ++k) v[k] = k;
  for (int k = 0; k < 64; ++k) {
    word = word * 1664525u + 1013904223u;
    const uint8_t old = v[k];
    v[k] = v[word >> 10 & 63];
    v[word >> 10 & 63] = old;
  }
  for (int k = 0; k < 64; ++k) sum = sum * 3 + v[k];
  out[i] = sum;
}

template <auto kernel> void over(float* out, float* in, int n) { kernel<<<n / threads, threads>>>(out, in, n); }
template <auto kernel> void words(float* out, float* in, int n) {
  kernel<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), in, n);
}
template <auto kernel> void bytes(float* out, float* in, int n) {
  kernel<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), reinterpret_cast<uint8_t*>(in), n);
}
template <auto kernel> void numbers(float* out, float*, int n) {
  kernel<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), n);
}

const Kind kinds[] = {
    {"bfs", 1 << 17, bfs},
    {"lower_bound", 1 << 17, over<lower_bound>},
    {"hash_table", 1 << 18, hash_table},
    {"find_pattern", 1 << 17, [](float* out, float* in, int n) { bytes<find_pattern>(out, in, n); }},
    {"collatz", 1 << 15, numbers<collatz>},
    {"gcds", 1 << 17, words<gcds>},
    {"primes", 1 << 15, numbers<primes>},
    {"mod_power", 1 << 15, numbers<mod_power>},
    {"queens", 768, numbers<queens>},
    {"spheres", 1 << 16, [](float* out, float*, int n) { spheres<<<n / threads, threads>>>(out, n); }},
    {"nearest_five", 1 << 15, over<nearest_five>},
    {"merge_sort", 1 << 17, merge_sort},
    {"calls", 1 << 17, over<calls>},
    {"recursion", 1 << 14, numbers<recursion>},
    {"virtual_calls", 1 << 17, over<virtual_calls>},
    {"bit_tricks", 1 << 17, words<bit_tricks>},
    {"big_numbers", 1 << 18, [](float* out, float*, int n) {
       big_numbers<<<n / 2 / threads, threads>>>(reinterpret_cast<uint64_t*>(out), n);
     }},
    {"levenshtein", 1 << 15, bytes<levenshtein>},
    {"eight_closest", 1 << 14, over<eight_closest>},
    {"powers", 1 << 15, over<powers>},
    {"byte_table", 1 << 16, words<byte_table>},
    {"shuffled_bytes", 1 << 14, words<shuffled_bytes>},
};

} // namespace

int main(int argc, char** argv) { return run_kinds(kinds, argc, argv); }
