// Rules other than barriers: each with its compliant twin.
#include <cuda/atomic>
__device__ cuda::atomic<int, cuda::thread_scope_device> ready;
__device__ int plain;
__device__ volatile int volatile_flag;

__global__ void endless() {
  while (true) { // the place is the loop, or the first statement in it
    ++plain; // expect: cuda_progress_loop
  }
}
__global__ void local_volatile() {
  volatile bool yes = true;
  while (yes); // expect: cuda_progress_loop
}
__global__ void polls_plain(int* flag) {
  while (*flag == 0); // expect: cuda_progress_loop
}
__global__ void ends(int* p, int n) {
  for (int i = 0; i < n; ++i) p[i] = i;
}
__global__ void waits() {
  ready.wait(0);
}
__global__ void polls() {
  while (ready.load(cuda::memory_order_acquire) == 0); // expect: cuda_naive_spin
}
__global__ void polls_volatile() {
  while (volatile_flag == 0); // expect: cuda_volatile_sync
}
__global__ void pauses() {
  while (ready.load(cuda::memory_order_acquire) == 0) __nanosleep(100);
}
__global__ void atomic_load(int* p, int* q) {
  q[0] = atomicAdd(p, 0); // expect: cuda_legacy_atomic
  q[1] = atomicAdd(p, 1);
}
__global__ void atomic_store(int* p, int* q) {
  atomicExch(p, 3); // expect: cuda_legacy_atomic
  q[0] = atomicExch(q + 1, 3);
}
__global__ void waits_for_time(int* p) {
  long long start = clock64();
  while (clock64() - start < 1000) ++p[0];
  p[1] = 1;
}
__global__ void waits_for_global_time(int* p) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < 1000);
  p[1] = 1;
}
__global__ void compresses(int* parent, int n) {
  int u = threadIdx.x;
  while (parent[u] != parent[parent[u]]) parent[u] = parent[parent[u]];
}
__device__ void partition(int* data, int low, int high) {
  if (low >= high) return;
  int pivot = data[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (data[i] < pivot) ++i;
    while (data[j] > pivot) --j;
    if (i <= j) { int t = data[i]; data[i++] = data[j]; data[j--] = t; }
  }
  partition(data, low, j);
  partition(data, i, high);
}
__global__ void sorts(int* data, int n) { partition(data, 0, n - 1); }
__global__ void reference_polls(int* f) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(*f);
  while (a.load(cuda::memory_order_relaxed) == 0) __nanosleep(5);
}
__global__ void local_atomic() {
  cuda::atomic<bool, cuda::thread_scope_thread> yes = true;
  while (yes.load()); // expect: cuda_progress_loop
}
__global__ void polls_into_variable(volatile int* flag, int* p) {
  int seen = 0;
  while (seen == 0) seen = *flag; // expect: cuda_volatile_sync
}
__global__ void list_walk(int* next, int* p) {
  int at = next[0];
  while (at != 0) at = next[at];
  p[0] = at;
}

// What comes round is another value than the one from before: a state machine reads its letter again.
__global__ void letter_again(const char* text, int n, int* words) {
  int state = 0, count = 0;
  for (int i = 0; i < n; i++) {
    char letter = text[i];
  again:
    if (state == 1) {
      if (letter != 'a') {
        count++;
        state = 0;
        goto again;
      }
    } else if (letter == 'a') {
      state = 1;
    }
  }
  *words = count;
}
__global__ void letter_again_bad(const char* text, int n, int* words) {
  int state = 1, count = 0;
  for (int i = 0; i < n; i++) {
    char letter = text[i];
  again:
    if (state == 1 && letter != 'a') { // expect: cuda_progress_loop
      count++;
      goto again;
    }
    *words = count;
  }
}

// Calls that go too deep to be followed may change what the loop asks for.
template <int N> struct Deep {
  static __device__ void add(int& i) { Deep<N - 1>::add(i); }
};
template <> struct Deep<0> {
  static __device__ void add(int& i) { ++i; }
};
__global__ void good_far_away(int* p, int n) {
  int i = 0;
  while (i < n) Deep<80>::add(i);
  p[0] = i;
}
__global__ void near(int* p, int n) {
  int i = 0, j = 0;
  while (i < n) Deep<3>::add(j); // expect: cuda_progress_loop
  p[0] = i + j;
}
// --- What its function returns somebody may read
__device__ int swap_in(int* p, int v) { return atomicExch(p, v); }
template <class T> __device__ T swapped(T* p, T v) {
  auto before = atomicExch(p, v);
  return static_cast<T>(before);
}
__global__ void swaps(int* p) {
  swap_in(p, 3);
  swapped(p + 1, 4);
}
template <class T> __device__ T stored_bad(T* p, T v) {
  atomicExch(p, v); // expect: cuda_legacy_atomic
  return v;
}
__global__ void stores(int* p) {
  p[2] = stored_bad(p, 4);
}
// --- Iterators of the library, whose operators are not read
#include <array>
#include <iterator>
__device__ float backwards(const std::array<float, 4>& numbers, float x) {
  float sum = 0;
  for (auto one = numbers.rbegin(); one != numbers.rend(); ++one) sum = sum * x + *one;
  return sum;
}
__device__ float backwards_bad(const std::array<float, 4>& numbers, float x) {
  float sum = 0;
  auto other = numbers.rbegin();
  for (auto one = numbers.rbegin(); one != numbers.rend(); ++other) sum = sum * x + *one; // expect: cuda_progress_loop
  return sum;
}
__global__ void backwards_all(std::array<float, 4> numbers, float* p) {
  p[0] = backwards(numbers, p[0]) + backwards_bad(numbers, p[1]);
}
