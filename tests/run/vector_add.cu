// Vector addition for every arithmetic type and for sizes around the block size.
//@ exercises: launch, bounds guard, grid-stride loop, cudaMemcpy, all plain arithmetic types
#include "support.h"

template <class T> __global__ void add(const T* a, const T* b, T* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}

template <class T> __global__ void add_strided(const T* a, const T* b, T* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    c[i] = a[i] + b[i];
  }
}

template <class T> void test(const char* name) {
  std::printf("%s:", name);
  for (int n : {1, 31, 32, 33, 127, 128, 129, 1000, 4096, 10007}) {
    std::vector<T> a(n), b(n), expected(n);
    Lcg random{static_cast<std::uint64_t>(n)};
    for (int i = 0; i < n; ++i) {
      a[i] = static_cast<T>(random.next() % 1000);
      b[i] = static_cast<T>(random.next() % 1000) / static_cast<T>(8);
      expected[i] = a[i] + b[i];
    }
    Buffer<T> da(a), db(b), dc(n);
    add<<<(n + 127) / 128, 128>>>(da.data(), db.data(), dc.data(), n);
    SYNC_OK();
    auto first = dc.get();
    dc.clear();
    add_strided<<<3, 64>>>(da.data(), db.data(), dc.data(), n);
    SYNC_OK();
    EXPECT(first == expected && dc.get() == expected);
    std::printf(" %d:%016llx", n, static_cast<unsigned long long>(digest(first)));
  }
  std::printf("\n");
}

int main() {
  test<signed char>("char");
  test<unsigned short>("unsigned short");
  test<int>("int");
  test<unsigned>("unsigned");
  test<long long>("long long");
  test<float>("float");
  test<double>("double");
}
