// Work on images and grids: Mandelbrot, game of life, convolution with clamped borders, Sobel, flood fill, dynamic programming along wavefronts, n-queens.
//@ exercises: data-dependent loops, byte images, constant kernels, host loops over launches, anti-diagonal parallelism, backtracking with local stacks
#include "support.h"

__global__ void mandelbrot(unsigned char* image, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) {
    return;
  }
  // Separately rounded operations: the same on every implementation.
  float cx = __fmul_rn(x, 3.0f / 64) - 2.0f, cy = __fmul_rn(y, 2.0f / 32) - 1.0f, zx = 0, zy = 0;
  int i = 0;
  while (i < limit && __fadd_rn(__fmul_rn(zx, zx), __fmul_rn(zy, zy)) < 4.0f) {
    float next = __fadd_rn(__fsub_rn(__fmul_rn(zx, zx), __fmul_rn(zy, zy)), cx);
    zy = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, zx), zy), cy);
    zx = next;
    ++i;
  }
  image[y * width + x] = static_cast<unsigned char>(i);
}

__global__ void life(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    int neighbours = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (dx || dy) {
          neighbours += in[(y + dy + height) % height * width + (x + dx + width) % width];
        }
      }
    }
    out[y * width + x] = neighbours == 3 || (neighbours == 2 && in[y * width + x]);
  }
}

__constant__ int kernel_5x5[25] = {1, 4, 7, 4, 1, 4, 16, 26, 16, 4, 7, 26, 41, 26, 7, 4, 16, 26, 16, 4, 1, 4, 7, 4, 1};

__global__ void blur(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) {
    return;
  }
  int sum = 0;
#pragma unroll
  for (int dy = -2; dy <= 2; ++dy) {
#pragma unroll
    for (int dx = -2; dx <= 2; ++dx) {
      int px = min(max(x + dx, 0), width - 1), py = min(max(y + dy, 0), height - 1);
      sum += in[py * width + px] * kernel_5x5[(dy + 2) * 5 + dx + 2];
    }
  }
  out[y * width + x] = static_cast<unsigned char>(sum / 273);
}

__global__ void sobel(const unsigned char* in, short2* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x < width - 1 && y < height - 1) {
    auto at = [&](int dx, int dy) { return static_cast<int>(in[(y + dy) * width + x + dx]); };
    int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
    int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
    out[y * width + x] = make_short2(static_cast<short>(gx), static_cast<short>(gy));
  }
}

// Whether a neighbour is seen filled in this round or the next makes no difference at the end.
__global__ void flood(const unsigned char* image, volatile int* region, int width, int height, volatile int* changed) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height || region[y * width + x]) {
    return;
  }
  auto filled = [&](int px, int py) {
    return px >= 0 && py >= 0 && px < width && py < height && region[py * width + px] && image[py * width + px] == image[y * width + x];
  };
  if (filled(x - 1, y) || filled(x + 1, y) || filled(x, y - 1) || filled(x, y + 1)) {
    region[y * width + x] = 1;
    *changed = 1;
  }
}

__global__ void common_subsequence(const char* a, const char* b, int n, int* table) {
  // One block walks the anti-diagonals.
  for (int diagonal = 2; diagonal <= 2 * n; ++diagonal) {
    for (int i = 1 + threadIdx.x; i <= n; i += blockDim.x) {
      int j = diagonal - i;
      if (j >= 1 && j <= n) {
        table[i * (n + 1) + j] = a[i - 1] == b[j - 1] ? table[(i - 1) * (n + 1) + j - 1] + 1
                                                      : max(table[(i - 1) * (n + 1) + j], table[i * (n + 1) + j - 1]);
      }
    }
    __syncthreads();
  }
}

__global__ void queens(int n, int* total) {
  // A thread per placement of the first two queens; the rest by backtracking.
  int first = threadIdx.x / n, second = threadIdx.x % n;
  if (first >= n || first == second || abs(first - second) == 1) {
    return;
  }
  int columns[12] = {first, second}, row = 2, count = 0;
  columns[2] = -1;
  while (row >= 2) {
    bool placed = false;
    while (++columns[row] < n) {
      bool safe = true;
      for (int k = 0; k < row; ++k) {
        int d = columns[row] - columns[k];
        if (d == 0 || d == row - k || d == k - row) {
          safe = false;
          break;
        }
      }
      if (safe) {
        placed = true;
        break;
      }
    }
    if (!placed) {
      --row;
    } else if (row == n - 1) {
      ++count;
    } else {
      columns[++row] = -1;
    }
  }
  atomicAdd(total, count);
}

int main() {
  constexpr int width = 64, height = 32;
  dim3 block(16, 8), grid(width / 16, height / 8);
  Buffer<unsigned char> image(width * height), other(width * height);
  mandelbrot<<<grid, block>>>(image, width, height, 60);
  SYNC_OK();
  auto picture = image.get();
  for (int y = 0; y < height; y += 4) {
    for (int x = 0; x < width; ++x) {
      std::putchar(" .:-=+*#%@"[picture[y * width + x] * 9 / 60]);
    }
    std::putchar('\n');
  }
  std::printf("mandelbrot %016llx\n", static_cast<unsigned long long>(digest(picture)));

  Buffer<short2> gradient(width * height);
  blur<<<grid, block>>>(image, other, width, height);
  sobel<<<grid, block>>>(other, gradient, width, height);
  SYNC_OK();
  std::printf("blur %016llx sobel %016llx\n", static_cast<unsigned long long>(digest(other.get())),
              static_cast<unsigned long long>(digest(gradient.get())));

  std::vector<int> seed(width * height);
  seed[16 * width + 10] = 1;
  Buffer<int> region(seed), changed(1);
  int rounds = 0;
  do {
    changed.clear();
    flood<<<grid, block>>>(image, region, width, height, changed);
    SYNC_OK();
    ++rounds;
  } while (changed.get()[0] && rounds < 1000);
  int size = 0;
  for (int mark : region.get()) {
    size += mark;
  }
  std::printf("flood %d\n", size);

  std::vector<unsigned char> cells(width * height);
  Lcg random{12};
  for (auto& cell : cells) {
    cell = random.next() % 3 == 0;
  }
  image.put(cells);
  for (int i = 0; i < 10; ++i) {
    life<<<grid, block>>>(image, other, width, height);
    life<<<grid, block>>>(other, image, width, height);
  }
  SYNC_OK();
  int alive = 0;
  for (auto cell : image.get()) {
    alive += cell;
  }
  std::printf("life %d %016llx\n", alive, static_cast<unsigned long long>(digest(image.get())));

  constexpr int n = 100;
  std::vector<char> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = "ACGT"[random.next() % 4];
    b[i] = "ACGT"[random.next() % 4];
  }
  Buffer<char> da(a), db(b);
  Buffer<int> table((n + 1) * (n + 1)), total(1);
  common_subsequence<<<1, 64>>>(da, db, n, table);
  queens<<<1, 64>>>(8, total);
  SYNC_OK();
  std::printf("common subsequence %d, queens %d\n", table.get().back(), total.get()[0]);
}
