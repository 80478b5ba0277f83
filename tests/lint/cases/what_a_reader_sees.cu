// What a reader sees: pointers to functions that are set again, bytes that move, barriers through pointers to
// members, data that lanes exchange through references, arguments that decide. With twins.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
typedef void (*Step)(int*);
__device__ void step_waits(int* p) { __syncthreads(); p[1] = 1; } // expect: thread_synchronization_in_divergent_region
__device__ void step_works(int* p) { p[2] = 1; }
// --- Pointers to functions that are set again
__global__ void set_again_bad(int* p) {
  Step step = step_works;
  step(p);
  step = step_waits;
  if (threadIdx.x < 5) step(p);
  p[0] = 1;
}
__device__ void again_waits(int* p) { __syncthreads(); p[1] = 1; }
__device__ void again_works(int* p) { p[2] = 1; }
__global__ void set_again(int* p) {
  Step step = again_waits;
  step(p);
  step = again_works;
  if (threadIdx.x < 5) step(p);
  p[0] = 1;
}
__device__ void chosen_waits(int* p) { __syncthreads(); p[1] = 1; } // expect: thread_synchronization_in_divergent_region
__device__ void chosen_works(int* p) { p[2] = 1; }
__global__ void chosen_by_thread_bad(int* p) {
  Step step = chosen_works;
  if (threadIdx.x & 1) step = chosen_waits;
  step(p);
  p[0] = 1;
}
__device__ void argued_waits(int* p) { __syncthreads(); p[1] = 1; }
__device__ void argued_works(int* p) { p[2] = 1; }
__global__ void chosen_by_argument(int* p, bool waits) {
  Step step = argued_works;
  if (waits) step = argued_waits;
  step(p);
  p[0] = 1;
}
__device__ void table_waits(int* p) { __syncthreads(); p[1] = 1; } // expect: thread_synchronization_in_divergent_region
__device__ void table_works(int* p) { p[2] = 1; }
__global__ void table_by_thread_bad(int* p) {
  Step steps[2] = {table_works, table_waits};
  steps[threadIdx.x & 1](p);
  p[0] = 1;
}
__device__ void entry_waits(int* p) { __syncthreads(); p[1] = 1; }
__device__ void entry_works(int* p) { p[2] = 1; }
__global__ void table_by_block(int* p) {
  Step steps[2] = {entry_works, entry_waits};
  steps[blockIdx.x & 1](p);
  if (threadIdx.x < 3) steps[0](p);
  p[0] = 1;
}
struct Holder { Step step; int* p; __device__ void run() { step(p); } };
__device__ void held_waits(int* p) { __syncthreads(); p[1] = 1; } // expect: thread_synchronization_in_divergent_region
__global__ void held_bad(int* p) {
  Holder h{step_works, p};
  h.run();
  h.step = held_waits;
  if (threadIdx.x == 0) h.run();
  p[0] = 1;
}
// --- Values through bytes
struct Pair { short low, high; };
union Word { unsigned whole; Pair halves; unsigned char bytes[4]; };
__global__ void half_of_a_word_bad(int* p) {
  Word w;
  w.whole = threadIdx.x << 16;
  if (w.halves.high) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void half_of_a_word(int* p) {
  Word w;
  w.whole = threadIdx.x;
  w.whole = blockIdx.x << 16;
  if (w.halves.high) __syncthreads();
  p[0] = 1;
}
__global__ void byte_of_a_word_bad(int* p) {
  Word w;
  w.whole = 0;
  w.bytes[1] = threadIdx.x;
  if (w.whole) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void reinterpreted_bad(float* p) {
  float f = threadIdx.x;
  if (*reinterpret_cast<int*>(&f) > 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = f;
}
__global__ void reinterpreted(float* p) {
  float f = blockIdx.x;
  if (*reinterpret_cast<int*>(&f) > 3) __syncthreads();
  p[0] = f;
}
template <class To, class From> __device__ To cast_bits(const From& from) {
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
__global__ void through_own_cast_bad(float* p) {
  if (cast_bits<int>((float)threadIdx.x) > 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void through_own_cast(float* p) {
  if (cast_bits<int>((float)blockIdx.x) > 3) __syncthreads();
  p[0] = 1;
}
struct Message { int kind; int lane; };
__global__ void copied_struct_bad(int* p) {
  Message from{1, (int)threadIdx.x}, to;
  memcpy(&to, &from, sizeof to);
  if (to.lane) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void copied_struct(int* p) {
  Message from{(int)blockIdx.x, (int)threadIdx.x}, to;
  memcpy(&to, &from, sizeof to);
  if (to.kind) __syncthreads();
  p[to.lane] = 1;
}
// --- Barriers through pointers to members
struct Worker {
  int* p;
  __device__ void wait() { __syncthreads(); p[1] = 1; } // expect: thread_synchronization_in_divergent_region
  __device__ void work() { p[2] = 1; }
  __device__ void run(void (Worker::*what)()) { (this->*what)(); }
};
__global__ void member_as_argument_bad(int* p) {
  Worker w{p};
  w.run(&Worker::work);
  if (threadIdx.x < 5) w.run(&Worker::wait);
  p[0] = 1;
}
struct Quiet {
  int* p;
  __device__ void wait() { __syncthreads(); p[1] = 1; }
  __device__ void work() { p[2] = 1; }
  __device__ void run(void (Quiet::*what)()) { (this->*what)(); }
};
__global__ void member_as_argument(int* p) {
  Quiet w{p};
  w.run(&Quiet::wait);
  if (threadIdx.x < 5) w.run(&Quiet::work);
  p[0] = 1;
}
struct Switched {
  int* p;
  __device__ void wait() { __syncthreads(); p[1] = 1; } // expect: thread_synchronization_in_divergent_region
  __device__ void work() { p[2] = 1; }
};
__global__ void member_set_again_bad(int* p) {
  Switched s{p};
  void (Switched::*what)() = &Switched::work;
  if (threadIdx.x < 5) what = &Switched::wait;
  (s.*what)();
  p[0] = 1;
}
struct Group { cg::thread_block block; int* p; };
__global__ void barrier_of_member_pointer_bad(int* p) {
  Group g{cg::this_thread_block(), p};
  cg::thread_block Group::*which = &Group::block;
  if (threadIdx.x < 5) (g.*which).sync(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void barrier_of_member_pointer(int* p) {
  Group g{cg::this_thread_block(), p};
  cg::thread_block Group::*which = &Group::block;
  if (blockIdx.x < 5) (g.*which).sync();
  p[0] = 1;
}
// --- Lanes that exchange data through references
__device__ void put(int& slot, int value) { slot = value; }
__device__ int get(const int& slot) { return slot; } // expect: cuda_syncwarp_missing
__global__ void exchanged_bad(int* out) {
  __shared__ int s[32];
  put(s[threadIdx.x], threadIdx.x * 3);
  out[threadIdx.x] = get(s[threadIdx.x ^ 1]);
}
__device__ void put_well(int& slot, int value) { slot = value; }
__device__ int get_well(const int& slot) { return slot; }
__global__ void exchanged(int* out) {
  __shared__ int s[32];
  put_well(s[threadIdx.x], threadIdx.x * 3);
  __syncwarp();
  out[threadIdx.x] = get_well(s[threadIdx.x ^ 1]);
}
struct Box { int (&s)[32]; __device__ void put(int v) { s[threadIdx.x] = v; } __device__ int next() { return s[(threadIdx.x + 1) % 32]; } }; // expect: cuda_syncwarp_missing
__global__ void boxed_bad(int* out) {
  __shared__ int s[32];
  Box box{s};
  box.put(threadIdx.x);
  out[threadIdx.x] = box.next();
}
struct Safe { int (&s)[32]; __device__ void put(int v) { s[threadIdx.x] = v; __syncwarp(); } __device__ int next() { return s[(threadIdx.x + 1) % 32]; } };
__global__ void boxed(int* out) {
  __shared__ int s[32];
  Safe box{s};
  box.put(threadIdx.x);
  out[threadIdx.x] = box.next();
}
// --- Arguments that decide
__device__ void finish(int* p, bool wait) {
  p[threadIdx.x] = 1;
  if (wait) __syncthreads();
}
__global__ void argument_decides(int* p) {
  if (threadIdx.x < 5) finish(p, false);
  finish(p, true);
  p[0] = 1;
}
__device__ void finish_two(int* p, int mode, bool last) {
  p[threadIdx.x] = 1;
  if (mode != 2 || !last) return;
  if (mode == 2 && last) __syncthreads(); // expect: thread_synchronization_in_divergent_region
}
__global__ void argument_decides_bad(int* p) {
  if (threadIdx.x < 5) finish_two(p, 2, true);
  finish_two(p, 1, true);
  p[0] = 1;
}
void launch_all(int* p) {
  exchanged_bad<<<1, 32>>>(p);
  exchanged<<<1, 32>>>(p);
  boxed_bad<<<1, 32>>>(p);
  boxed<<<1, 32>>>(p);
}
