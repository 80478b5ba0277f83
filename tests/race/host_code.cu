// Host code against work of devices (spec/races.md: [RACE-HOST]), and idioms that look alike and are right.
#include "cases.h"

#include <cuda/atomic>

#include <atomic>
#include <thread>
#include <vector>

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }
__global__ void twice(int* data) { data[threadIdx.x] *= 2; }
__global__ void add(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }
using Flag = cuda::atomic<int, cuda::thread_scope_system>;
__global__ void fill_and_tell(int* data, Flag* flag) {
  data[0] = 7;
  flag->store(1, cuda::memory_order_release);
}
__global__ void wait_and_read(const int* data, int* out, Flag* flag) {
  while (flag->load(cuda::memory_order_acquire) == 0) {
  }
  *out = *data;
}

constexpr int count = 64;
int* managed() {
  int* p = nullptr;
  must(cudaMallocManaged(&p, count * sizeof(int)));
  for (int i = 0; i < count; ++i) {
    p[i] = i;
  }
  return p;
}
int* pinned() {
  int* p = nullptr;
  must(cudaMallocHost(&p, count * sizeof(int)));
  std::memset(p, 0, count * sizeof(int));
  return p;
}
/// Set, and waited for.
template <class T> T* device_memory_now(size_t size) {
  T* p = device_memory<T>(size);
  must(cudaDeviceSynchronize());
  return p;
}
cudaStream_t stream() {
  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
void use(int value) { static volatile int sink; sink = value; }

CASE(read_before_the_wait, "RACE-HOST") {
  int* data = managed();
  twice<<<1, count>>>(data);
  if (right) {
    must(cudaDeviceSynchronize());
  }
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += data[i];
  }
  use(sum);
}

CASE(read_after_a_wait_for_another_stream, "RACE-HOST") {
  int* data = managed();
  cudaStream_t a = stream(), b = stream();
  fill<<<1, count, 0, a>>>(data, 1);
  must(cudaStreamSynchronize(right ? a : b));
  use(data[3]);
}

CASE(written_while_a_kernel_reads, "RACE-HOST") {
  int* data = managed();
  int* out = device_memory_now<int>(count);
  add<<<1, count>>>(data, out);
  if (right) {
    must(cudaDeviceSynchronize());
  }
  data[5] = 9;
}

CASE(written_before_the_launch_or_after, "RACE-HOST") {
  int* data = managed();
  int* out = device_memory_now<int>(count);
  if (right) {
    data[5] = 9;
  }
  add<<<1, count>>>(data, out);
  if (!right) {
    data[5] = 9;
  }
}

CASE(both_read, "RACE-HOST") {
  int* data = managed();
  int* out = device_memory_now<int>(count);
  add<<<1, count>>>(data, out);
  if (right) {
    use(data[5]);
  } else {
    ++data[5];
  }
}

CASE(pinned_buffer_filled_again, "RACE-HOST") {
  int* host = pinned();
  int* data = device_memory_now<int>(count);
  must(cudaMemcpyAsync(data, host, count * sizeof(int), cudaMemcpyHostToDevice, 0));
  if (right) {
    must(cudaStreamSynchronize(0));
  }
  std::memset(host, 1, count * sizeof(int));
}

CASE(pinned_buffer_read_too_early, "RACE-HOST") {
  int* host = pinned();
  int* data = device_memory_now<int>(count);
  must(cudaMemcpyAsync(host, data, count * sizeof(int), cudaMemcpyDeviceToHost, 0));
  if (right) {
    must(cudaStreamSynchronize(0));
  }
  use(host[1]);
}

CASE(registered_memory, "RACE-HOST") {
  static std::vector<int> host(count);
  must(cudaHostRegister(host.data(), count * sizeof(int), cudaHostRegisterDefault));
  fill<<<1, count>>>(host.data(), 3);
  if (right) {
    must(cudaDeviceSynchronize());
  }
  use(host[1]);
  must(cudaDeviceSynchronize());
  must(cudaHostUnregister(host.data()));
}

CASE(event_recorded_before_the_kernel, "RACE-HOST") {
  int* data = managed();
  cudaEvent_t done;
  must(cudaEventCreate(&done));
  if (!right) {
    must(cudaEventRecord(done));
  }
  fill<<<1, count>>>(data, 1);
  if (right) {
    must(cudaEventRecord(done));
  }
  must(cudaEventSynchronize(done));
  use(data[1]);
}

CASE(query_until_ready, "RACE-HOST") {
  int* data = managed();
  fill<<<1, count>>>(data, 1);
  while (right && cudaStreamQuery(0) == cudaErrorNotReady) {
  }
  use(data[1]);
}

CASE(synchronous_copy_behind_it, "RACE-HOST") {
  int* data = managed();
  int* more = device_memory_now<int>(count);
  int value = 0;
  cudaStream_t a = stream();
  fill<<<1, count, 0, right ? 0 : a>>>(data, 1);
  must(cudaMemcpy(&value, more, sizeof value, cudaMemcpyDeviceToHost));
  use(data[1]);
}

CASE(host_function, "RACE-HOST") {
  static int* data;
  data = managed();
  cudaStream_t a = stream(), b = stream();
  fill<<<1, count, 0, a>>>(data, 1);
  must(cudaLaunchHostFunc(right ? a : b, [](void*) { use(data[1]); }, nullptr));
}

// One buffer is filled by the host while the device works on the other one.
CASE(double_buffering, "RACE-HOST") {
  int* host[2] = {pinned(), pinned()};
  int* data = device_memory_now<int>(count);
  cudaStream_t s = stream();
  cudaEvent_t read[2];
  for (cudaEvent_t& event : read) {
    must(cudaEventCreate(&event));
  }
  for (int round = 0; round < 4; ++round) {
    const int which = round % 2;
    if (right) {
      must(cudaEventSynchronize(read[which]));
    }
    for (int i = 0; i < count; ++i) {
      host[which][i] = round;
    }
    must(cudaMemcpyAsync(data, host[which], count * sizeof(int), cudaMemcpyHostToDevice, s));
    must(cudaEventRecord(read[which], s));
  }
}

CASE(flag_of_system_scope, "RACE-HOST") {
  int* data = managed();
  Flag* flag = nullptr;
  must(cudaMallocManaged(&flag, sizeof *flag));
  flag->store(0);
  fill_and_tell<<<1, 1>>>(data, flag);
  while (right && flag->load(cuda::memory_order_acquire) == 0) {
  }
  use(data[0]);
}

// What a kernel reads after the host's release counts as known to it.
CASE(host_tells_a_running_kernel, "RACE-HOST") {
  int* data = managed();
  int* out = device_memory_now<int>(count);
  Flag* flag = nullptr;
  must(cudaMallocManaged(&flag, sizeof *flag));
  flag->store(0);
  if (right) {
    wait_and_read<<<1, 1>>>(data, out, flag);
  } else {
    add<<<1, count>>>(data, out);
  }
  data[0] = 7;
  flag->store(1, cuda::memory_order_release);
}

CASE(volatile_poll, "RACE-HOST") {
  int* data = managed();
  volatile int* done = pinned();
  fill<<<1, 1>>>(const_cast<int*>(done), 1);
  if (right) {
    while (*done == 0) {
    }
  } else {
    use(*const_cast<int*>(done));
  }
  use(data[0]);
}

CASE(pageable_memory_is_staged, "RACE-HOST") {
  int local[count] = {};
  int* data = device_memory_now<int>(count);
  int* page_locked = pinned();
  must(cudaMemcpyAsync(data, right ? local : page_locked, sizeof local, cudaMemcpyHostToDevice, 0));
  (right ? local : page_locked)[0] = 1;
}

CASE(prefetched, "RACE-HOST") {
  int* data = managed();
  fill<<<1, count>>>(data, 1);
  cudaMemLocation host{};
  host.type = cudaMemLocationTypeHost;
  must(cudaMemPrefetchAsync(data, count * sizeof(int), host, 0, 0));
  if (right) {
    must(cudaStreamSynchronize(0));
  }
  use(data[1]);
}

CASE(another_thread_of_the_host, "RACE-HOST") {
  int* data = managed();
  fill<<<1, count>>>(data, 1);
  std::thread reader([&] {
    if (right) {
      must(cudaDeviceSynchronize());
    }
    use(data[1]);
  });
  reader.join();
}

// --- What calls wait for ([API-WAIT]) ------------------------------------------------------------------------------

// The call returns when pageable memory is staged. The rest of it is ordered with blocking streams only.
CASE(staged_copy_and_a_non_blocking_stream, "RACE-COMMAND") {
  int local[count] = {};
  int* data = device_memory_now<int>(count);
  int* out = device_memory_now<int>(count);
  cudaStream_t blocking = nullptr, s = stream();
  must(cudaStreamCreate(&blocking));
  must(cudaMemcpy(data, local, sizeof local, cudaMemcpyHostToDevice));
  add<<<1, count, 0, right ? blocking : s>>>(data, out);
}

CASE(copy_from_page_locked_memory, "RACE-COMMAND") {
  int* data = device_memory_now<int>(count);
  int* out = device_memory_now<int>(count);
  int* host = pinned();
  cudaStream_t s = stream();
  if (right) {
    must(cudaMemcpy(data, host, count * sizeof(int), cudaMemcpyHostToDevice));
  } else {
    must(cudaMemcpyAsync(data, host, count * sizeof(int), cudaMemcpyHostToDevice, 0));
  }
  add<<<1, count, 0, s>>>(data, out);
}

CASE(set_of_page_locked_memory, "RACE-HOST") {
  int* data = pinned();
  if (right) {
    must(cudaMemset(data, 0, count * sizeof(int)));
  } else {
    must(cudaMemsetAsync(data, 0, count * sizeof(int)));
  }
  use(data[1]);
}

CASE(copy_between_devices_memory, "RACE-COMMAND") {
  int* data = device_memory_now<int>(count);
  int* out = device_memory_now<int>(count);
  cudaStream_t s = stream();
  must(cudaMemcpy(data, out, count * sizeof(int), cudaMemcpyDeviceToDevice));
  if (right) {
    must(cudaStreamSynchronize(0));
  }
  add<<<1, count, 0, s>>>(data, out);
}

// --- Words of a copy come in no order ------------------------------------------------------------------------------

using Word = cuda::atomic<int>;
__global__ void look(Word* words, int* out) {
  if (words[1].load() == 1 && words[0].load() == 0) {
    *out = 1;
  }
}
__global__ void poll(Word* words, int* out) {
  while (words[1].load() == 0) {
  }
  while (words[0].load() == 0) {
  }
  *out = 1;
}
CASE(words_of_one_copy, "RACE-COMMAND") {
  Word* words = device_memory_now<Word>(2);
  int* out = device_memory_now<int>(1);
  int* host = pinned();
  host[0] = host[1] = 1;
  cudaStream_t s = stream(), t = stream();
  if (right) { // the first one has come when the second does
    must(cudaMemcpyAsync(words, host, sizeof(int), cudaMemcpyHostToDevice, s));
    must(cudaMemcpyAsync(words + 1, host + 1, sizeof(int), cudaMemcpyHostToDevice, s));
  } else {
    must(cudaMemcpyAsync(words, host, 2 * sizeof(int), cudaMemcpyHostToDevice, s));
  }
  look<<<1, 1, 0, t>>>(words, out);
}

// Who waits for each of them does not care about their order.
CASE(words_that_are_waited_for, "RACE-COMMAND") {
  Word* words = device_memory_now<Word>(2);
  int* out = device_memory_now<int>(1);
  int* host = pinned();
  host[0] = host[1] = 1;
  cudaStream_t s = stream(), t = stream();
  must(cudaMemcpyAsync(words, host, 2 * sizeof(int), cudaMemcpyHostToDevice, s));
  if (right) {
    poll<<<1, 1, 0, t>>>(words, out);
  } else {
    look<<<1, 1, 0, t>>>(words, out);
  }
}
