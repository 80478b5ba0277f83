// The host and memory that the device works on: cuda-unsynchronized-read, cuda-stream-ordered-memory. With twins.
#include <vector>
__global__ void work(int* p) { p[0] = 1; }
struct Pair { int a, b; };
__global__ void work_on(Pair* p) { p->b = 1; }
void elsewhere();

int managed_bad() {
  int* p;
  cudaMallocManaged(&p, 4);
  work<<<1, 1>>>(p);
  return p[0]; // expect: cuda_unsynchronized_read
}
int managed_member_bad() {
  Pair* p;
  cudaMallocManaged(&p, sizeof *p);
  work_on<<<1, 1>>>(p);
  cudaGetLastError();
  return p->b; // expect: cuda_unsynchronized_read
}
int managed() {
  int* p;
  cudaMallocManaged(&p, 4);
  p[0] = 3;
  int before = p[0];
  work<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  return p[0] + before;
}
int managed_and_elsewhere() {
  int* p;
  cudaMallocManaged(&p, 4);
  work<<<1, 1>>>(p);
  elsewhere();
  return p[0];
}
int of_the_host() {
  int* p = new int[3];
  int* d;
  cudaMalloc(&d, 4);
  work<<<1, 1>>>(d);
  return p[0];
}
int copied_bad(int* d, cudaStream_t s) {
  std::vector<int> v(4);
  cudaMemcpyAsync(v.data(), d, 16, cudaMemcpyDeviceToHost, s);
  return v[0]; // expect: cuda_unsynchronized_read
}
int copied(int* d, cudaStream_t s) {
  std::vector<int> v(4);
  cudaMemcpyAsync(v.data(), d, 16, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
  return v[0];
}
int address_bad(int* d, cudaStream_t s) {
  std::vector<int> v(4);
  cudaMemcpyAsync(&v[0], d, 16, cudaMemcpyDeviceToHost, s);
  return v[0]; // expect: cuda_unsynchronized_read
}
int address_of_front_bad(int* d, cudaStream_t s) {
  std::vector<int> v(4);
  cudaMemcpyAsync(&v.front(), d, 16, cudaMemcpyDeviceToHost, s);
  return v.back(); // expect: cuda_unsynchronized_read
}
int address(int* d, cudaStream_t s) {
  std::vector<int> v(4), w(4);
  cudaMemcpyAsync(&v[0], d, 16, cudaMemcpyDeviceToHost, s);
  int before = w[0];
  cudaStreamSynchronize(s);
  return v[0] + before;
}
int range_bad(int* d, cudaStream_t s) {
  std::vector<int> v(4);
  int sum = 0;
  cudaMemcpyAsync(v.data(), d, 16, cudaMemcpyDeviceToHost, s);
  for (int x : v) { // expect: cuda_unsynchronized_read
    sum += x;
  }
  return sum;
}
int range_by_reference_bad(int* d, cudaStream_t s) {
  std::vector<int> v(4);
  int sum = 0;
  cudaMemcpyAsync(&v[0], d, 16, cudaMemcpyDeviceToHost, s);
  for (const auto& x : v) { // expect: cuda_unsynchronized_read
    sum += x;
  }
  return sum;
}
int range(int* d, cudaStream_t s) {
  std::vector<int> v(4), w(4);
  int sum = 0;
  cudaMemcpyAsync(v.data(), d, 16, cudaMemcpyDeviceToHost, s);
  for (int x : w) {
    sum += x;
  }
  cudaStreamSynchronize(s);
  for (int x : v) {
    sum += x;
  }
  return sum;
}
int range_to_the_device(int* d, cudaStream_t s) {
  std::vector<int> v(4);
  int sum = 0;
  cudaMemcpyAsync(d, v.data(), 16, cudaMemcpyHostToDevice, s);
  for (int x : v) {
    sum += x;
  }
  return sum;
}
void allocated_bad(cudaStream_t s, cudaStream_t t) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  work<<<1, 1, 0, t>>>(p); // expect: cuda_stream_ordered_memory
  cudaFreeAsync(p, t);
}
void freed_bad(cudaStream_t s, cudaStream_t t) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  work<<<1, 1, 0, s>>>(p);
  cudaFreeAsync(p, t); // expect: cuda_stream_ordered_memory
}
void in_order(cudaStream_t s, cudaStream_t t, cudaEvent_t e) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  work<<<1, 1, 0, s>>>(p);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e);
  work<<<1, 1, 0, t>>>(p);
  cudaFreeAsync(p, t);
}

// A variable of both sides.
__managed__ int total;
__managed__ int table[4];
__managed__ int limit = 3;
__device__ int of_the_device;
__device__ void add_to_total(int v) { atomicAdd(&total, v); }
__global__ void count(int* p) { add_to_total(p[0] < limit); }
__global__ void fill_table() { table[threadIdx.x] = threadIdx.x; }
__global__ void only_reads(int* p) { p[0] = total + limit; }

int managed_variable_bad(int* p) {
  total = 0;
  count<<<1, 32>>>(p);
  return total; // expect: cuda_unsynchronized_read
}
int managed_array_bad() {
  fill_table<<<1, 4>>>();
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += table[i]; // expect: cuda_unsynchronized_read
  }
  return sum;
}
int managed_variable(int* p) {
  total = 0;
  count<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  return total;
}
int managed_variable_that_is_only_read(int* p) {
  total = 0;
  only_reads<<<1, 1>>>(p);
  count<<<1, 32>>>(p);
  return limit;
}
// --- Memory that was freed in the order of a stream
void used_after_free_bad(cudaStream_t s) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  cudaFreeAsync(p, s);
  work<<<1, 1, 0, s>>>(p); // expect: cuda_stream_ordered_memory
}
void used_after_free_and_wait_bad(cudaStream_t s) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  cudaFreeAsync(p, s);
  cudaStreamSynchronize(s);
  work<<<1, 1>>>(p); // expect: cuda_stream_ordered_memory
}
void freed_after_use(cudaStream_t s, int n) {
  for (int i = 0; i < n; ++i) {
    int* p;
    cudaMallocAsync(&p, 4, s);
    work<<<1, 1, 0, s>>>(p);
    cudaFreeAsync(p, s);
  }
}
void freed_and_set_again(cudaStream_t s, int* other) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  cudaFreeAsync(p, s);
  p = other;
  work<<<1, 1, 0, s>>>(p);
}
// --- Filled, copied and freed in the order of another stream
void filled_bad(cudaStream_t s, cudaStream_t t) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  cudaMemsetAsync(p, 0, 4, t); // expect: cuda_stream_ordered_memory
  work<<<1, 1, 0, s>>>(p);
  cudaFreeAsync(p, s); // expect: cuda_stream_ordered_memory
}
void filled(cudaStream_t s) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  cudaMemsetAsync(p, 0, 4, s);
  work<<<1, 1, 0, s>>>(p);
  cudaFreeAsync(p, s);
}
void copied_into_bad(int* from, cudaStream_t s, cudaStream_t t) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  cudaMemcpyAsync(p, from, 4, cudaMemcpyDeviceToDevice, t); // expect: cuda_stream_ordered_memory
  cudaFreeAsync(p, t);
}
void freed_unused_bad(cudaStream_t s, cudaStream_t t) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  cudaFreeAsync(p, t); // expect: cuda_stream_ordered_memory
}
void freed_unused(cudaStream_t s, cudaStream_t t) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  cudaStreamSynchronize(s);
  cudaFreeAsync(p, t);
}
void two_names_of_one_stream(cudaStream_t s) {
  cudaStream_t same = s;
  int* p;
  cudaMallocAsync(&p, 4, s);
  work<<<1, 1, 0, same>>>(p);
  cudaFreeAsync(p, same);
}
void two_streams_bad() {
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  int* p;
  cudaMallocAsync(&p, 4, s);
  work<<<1, 1, 0, t>>>(p); // expect: cuda_stream_ordered_memory
}

// --- Through functions, by reference, as objects, and with a kernel that a pointer names
void run_in(int* p, cudaStream_t stream) { work<<<1, 1, 0, stream>>>(p); } // expect: cuda_stream_ordered_memory
void passed_bad(cudaStream_t s, cudaStream_t t) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  run_in(p, t);
}
void run_in_the_same(int* p, cudaStream_t stream) { work<<<1, 1, 0, stream>>>(p); }
void passed(cudaStream_t s) {
  int* p;
  cudaMallocAsync(&p, 4, s);
  run_in_the_same(p, s);
  cudaFreeAsync(p, s);
}
int first_of(const int* p) { return p[0]; } // expect: cuda_unsynchronized_read
int read_in_another_function_bad() {
  int* p;
  cudaMallocManaged(&p, 4);
  work<<<1, 1>>>(p);
  return first_of(p);
}
int second_of(const int* p) { return p[1]; }
int by_reference(const int& of) { return of; }
int read_in_another_function() {
  int* p;
  cudaMallocManaged(&p, 8);
  int before = second_of(p) + by_reference(p[0]);
  work<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  return before + second_of(p) + by_reference(p[0]);
}
int sum_of(Pair pair) { return pair.a + pair.b; }
int object_bad() {
  Pair* p;
  cudaMallocManaged(&p, sizeof *p);
  work_on<<<1, 1>>>(p);
  return sum_of(*p); // expect: cuda_unsynchronized_read
}
int object() {
  Pair* p;
  cudaMallocManaged(&p, sizeof *p);
  work_on<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  return sum_of(*p);
}
int object_of_a_vector_bad(Pair* d, cudaStream_t s) {
  std::vector<Pair> v(4);
  cudaMemcpyAsync(v.data(), d, 32, cudaMemcpyDeviceToHost, s);
  Pair first = v[0]; // expect: cuda_unsynchronized_read
  return first.a;
}
int kernel_of_a_pointer_bad(void (*kernel)(int*)) {
  int* p;
  cudaMallocManaged(&p, 4);
  kernel<<<1, 1>>>(p);
  return p[0]; // expect: cuda_unsynchronized_read
}
int kernel_of_a_pointer(void (*kernel)(int*)) {
  int* p;
  cudaMallocManaged(&p, 4);
  kernel<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  return p[0];
}
