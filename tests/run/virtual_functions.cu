// Objects with virtual functions created on the device: dispatch per lane, multiple inheritance, virtual destructors, placement new.
//@ exercises: vtables in device memory, indirect calls, device new/delete, thunks, dynamic types differing within a warp
//@ also-flags: -G
#include "support.h"

#include <new>

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int sides() const { return -1; }
};

struct Named {
  int name;
  __device__ explicit Named(int name) : name(name) {}
  __device__ virtual ~Named() {}
  __device__ virtual int label() const { return name; }
};

__device__ int destroyed;

struct Rectangle : Shape, Named {
  float width, height;
  __device__ Rectangle(float w, float h, int name) : Named(name), width(w), height(h) {}
  __device__ ~Rectangle() override { atomicAdd(&destroyed, 1); }
  __device__ float area() const override { return width * height; }
  __device__ int sides() const override { return 4; }
  __device__ int label() const override { return name * 2; }
};

struct Square final : Rectangle {
  __device__ explicit Square(float w) : Rectangle(w, w, 1000) {}
  __device__ ~Square() override { atomicAdd(&destroyed, 100); }
  __device__ int label() const override { return Rectangle::label() + 1; }
};

struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};

__global__ void create(Shape** shapes, Named** names) {
  int i = threadIdx.x;
  names[i] = nullptr;
  switch (i % 3) {
  case 0: {
    auto rectangle = new Rectangle(i + 1.0f, 2.0f, i);
    shapes[i] = rectangle;
    names[i] = rectangle; // a base at another address
    break;
  }
  case 1: {
    auto square = new Square(i * 0.5f);
    shapes[i] = square;
    names[i] = square;
    break;
  }
  default: shapes[i] = new Circle(static_cast<float>(i));
  }
}

__global__ void use(Shape* const* shapes, Named* const* names, float* areas, int* facts) {
  int i = threadIdx.x;
  areas[i] = shapes[i]->area();
  facts[i] = shapes[i]->sides() * 10000 + (names[i] ? names[i]->label() : 0);
}

__global__ void destroy(Shape** shapes, Named** names) {
  int i = threadIdx.x;
  if (names[i]) {
    delete names[i]; // through the second base
  } else {
    delete shapes[i];
  }
}

__global__ void in_buffer(int* out) {
  __shared__ alignas(16) unsigned char storage[sizeof(Square)];
  if (threadIdx.x == 0) {
    new (storage) Square(3.0f);
  }
  __syncthreads();
  auto shape = reinterpret_cast<Square*>(storage);
  Shape* base = shape;
  out[threadIdx.x] = static_cast<int>(base->area()) * 10 + base->sides();
  __syncthreads();
  if (threadIdx.x == 0) {
    shape->~Square();
  }
}

int main() {
  constexpr int n = 70;
  Buffer<Shape*> shapes(n);
  Buffer<Named*> names(n);
  Buffer<float> areas(n);
  Buffer<int> facts(n);
  create<<<1, n>>>(shapes, names);
  use<<<1, n>>>(shapes, names, areas, facts);
  destroy<<<1, n>>>(shapes, names);
  SYNC_OK();
  auto area = areas.get();
  auto fact = facts.get();
  for (int i : {0, 1, 2, 33, 34, 35, 69}) {
    std::printf("%d: %g %d\n", i, area[i], fact[i]);
  }
  int count = 0;
  CUDA_OK(cudaMemcpyFromSymbol(&count, destroyed, sizeof count));
  std::printf("destroyed %d, digests %016llx %016llx\n", count, static_cast<unsigned long long>(digest(area)),
              static_cast<unsigned long long>(digest(fact)));
  in_buffer<<<1, 8>>>(facts);
  SYNC_OK();
  CUDA_OK(cudaMemcpyFromSymbol(&count, destroyed, sizeof count));
  std::printf("in buffer %d, destroyed %d\n", facts.get()[5], count);
}
