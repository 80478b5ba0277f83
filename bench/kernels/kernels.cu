// The kernels that the interpreter is measured on; kernels.ptx is what nvcc makes of them:
//   nvcc -ptx -arch=sm_90 kernels.cu -o kernels.ptx
// Each is one kind of work that programs spend their time with.

/// Integer and floating-point arithmetic in registers, no memory: the interpreter's best case.
extern "C" __global__ void arithmetic(float* out, unsigned rounds) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  float f = static_cast<float>(x);
  for (unsigned i = 0; i < rounds; ++i) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    f = f * 0.999F + static_cast<float>(x & 1023U);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = f;
}

/// Streams through global memory.
extern "C" __global__ void stream(const float* a, const float* b, float* c, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    c[i] = a[i] + b[i];
  }
}

/// Shared memory and a barrier per halving.
extern "C" __global__ void reduce(const float* in, float* out) {
  __shared__ float part[256];
  const unsigned t = threadIdx.x;
  part[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) {
      part[t] += part[t + half];
    }
    __syncthreads();
  }
  if (t == 0) {
    out[blockIdx.x] = part[0];
  }
}

/// Every lane goes its own way: loops of different lengths, branches on data.
extern "C" __global__ void diverge(unsigned* out, unsigned rounds) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  unsigned steps = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    unsigned y = x + i;
    while (y != 1) {
      y = (y & 1U) != 0 ? 3 * y + 1 : y / 2;
      ++steps;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = steps;
}

/// All threads on a few counters.
extern "C" __global__ void contend(unsigned* counters, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    atomicAdd(&counters[(threadIdx.x + i) & 15U], 1U);
  }
}

/// A baton through all threads of a grid: what waiting costs.
extern "C" __global__ void relay(unsigned* baton) {
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  while (*static_cast<volatile unsigned*>(baton) != me) {
  }
  atomicAdd(baton, 1U);
}

/// Holds all threads until every block has arrived: for measuring what a resident thread costs.
extern "C" __global__ void hold(unsigned* arrived, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1U);
    while (*static_cast<volatile unsigned*>(arrived) < blocks) {
    }
  }
  __syncthreads();
}
