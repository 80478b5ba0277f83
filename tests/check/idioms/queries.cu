// What a call answers may depend on what devices have done so far: "not ready", or how much memory is in use
// ([QUERY]). Each such call may come before and after every move of a device.
#include "cases.h"

#include <atomic>
#include <thread>

#include <cuda.h>

static volatile int nothing;

static void for_ever() {
  for (;;) {
    (void)nothing;
  }
}

__global__ void write(int* p) {
  *p = 1;
}

struct Work {
  cudaStream_t stream = nullptr;
  cudaEvent_t before = nullptr, behind = nullptr;
  int* p = nullptr;
};

static Work make_work() {
  Work work;
  cudaStreamCreate(&work.stream);
  cudaEventCreate(&work.before);
  cudaEventCreate(&work.behind);
  cudaMalloc(&work.p, sizeof(int));
  cudaEventRecord(work.before, work.stream);
  write<<<1, 1, 0, work.stream>>>(work.p);
  cudaEventRecord(work.behind, work.stream);
  return work;
}

// --- What may answer "not ready" ---------------------------------------------------------------------

// Ready or not: both happen, so whoever goes round for ever in either case may hang.
//@ case: elapsed-if-ready
//@ verdict: may-hang
//@ finding: livelock
//@ case: elapsed-if-not
//@ verdict: may-hang
//@ finding: livelock
//@ case: elapsed-driver-if-ready
//@ verdict: may-hang
//@ finding: livelock
//@ case: event-if-ready
//@ verdict: may-hang
//@ finding: livelock
//@ case: event-if-not
//@ verdict: may-hang
//@ finding: livelock
//@ case: stream-if-ready
//@ verdict: may-hang
//@ finding: livelock
//@ case: stream-if-not
//@ verdict: may-hang
//@ finding: livelock
enum class Ask { Elapsed, ElapsedDriver, Event, Stream };
template <Ask ask> static bool not_ready(const Work& work) {
  float milliseconds = 0;
  switch (ask) {
  case Ask::Elapsed:
    return cudaEventElapsedTime(&milliseconds, work.before, work.behind) == cudaErrorNotReady;
  case Ask::ElapsedDriver:
    return cuEventElapsedTime(&milliseconds, work.before, work.behind) == CUDA_ERROR_NOT_READY;
  case Ask::Event:
    return cudaEventQuery(work.behind) == cudaErrorNotReady;
  case Ask::Stream:
    return cudaStreamQuery(work.stream) == cudaErrorNotReady;
  }
  return false;
}
template <Ask ask, bool wanted> static int once(Setup) {
  const Work work = make_work();
  if (not_ready<ask>(work) == wanted) {
    for_ever();
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

// What has completed is never "not ready" again.
//@ case: elapsed-after-wait
//@ verdict: terminates
static int elapsed_after_wait(Setup) {
  const Work work = make_work();
  cudaEventSynchronize(work.behind);
  if (not_ready<Ask::Elapsed>(work)) {
    for_ever();
  }
  return 0;
}

// [QUERY]: such a loop obliges the kernel to start, also where it is assumed that other calls return promptly.
//@ case: elapsed-repeated
//@ verdict: terminates
//@ rests-on: QUERY
//@ case: elapsed-repeated
//@ flags: --api=prompt
//@ verdict: terminates
//@ rests-on: QUERY
//@ case: stream-repeated
//@ verdict: terminates
//@ rests-on: QUERY
//@ case: stream-repeated
//@ flags: --api=prompt
//@ verdict: terminates
//@ rests-on: QUERY
//@ case: event-repeated
//@ flags: --api=prompt
//@ verdict: terminates
//@ rests-on: QUERY
template <Ask ask> static int repeated(Setup) {
  const Work work = make_work();
  while (not_ready<ask>(work)) {
  }
  return 0;
}

// The kernel goes round for ever, and so does whoever asks whether it has ended: neither is owed anything by the other.
//@ case: polls-for-ever
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: livelock
//@ case: polls-for-ever
//@ verdict: may-hang
//@ finding: livelock
//@ finding: starvation
//@ case: polls-event-for-ever
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: livelock
//@ case: polls-elapsed-for-ever
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: livelock
//@ case: polls-until-set
//@ flags: --api=prompt
//@ verdict: terminates
__global__ void wait_until(SystemAtomic<int>* flag, int wanted) {
  while (flag->load(memory_order_relaxed) != wanted) {
  }
}
template <Ask ask, bool sets> static int polls(Setup) {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(SystemAtomic<int>));
  auto* flag = new (memory) SystemAtomic<int>{0};
  Work work;
  cudaStreamCreate(&work.stream);
  cudaEventCreate(&work.before);
  cudaEventCreate(&work.behind);
  cudaEventRecord(work.before, work.stream);
  wait_until<<<1, 1, 0, work.stream>>>(flag, 1);
  cudaEventRecord(work.behind, work.stream);
  if (sets) {
    flag->store(1);
  }
  while (not_ready<ask>(work)) {
  }
  return 0;
}

// One query proves nothing, promptly or not.
//@ case: one-query
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: starvation QUERY
__global__ void raise(SystemAtomic<int>* flag) {
  flag->store(1, memory_order_release);
}
static int one_query(Setup) {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(SystemAtomic<int>));
  auto* flag = new (memory) SystemAtomic<int>(0);
  raise<<<1, 1>>>(flag);
  (void)cudaStreamQuery(nullptr);
  while (flag->load(memory_order_acquire) == 0) {
  }
  return 0;
}

// --- How much memory is in use -----------------------------------------------------------------------

//@ case: memory-if-freed
//@ verdict: may-hang
//@ finding: livelock
//@ case: memory-if-in-use
//@ verdict: may-hang
//@ finding: livelock
//@ case: pool-if-freed
//@ verdict: may-hang
//@ finding: livelock
//@ case: pool-if-in-use
//@ verdict: may-hang
//@ finding: livelock
//@ case: pool-after-wait
//@ verdict: terminates
template <bool pool> static std::size_t in_use() {
  std::size_t free = 0, total = 0;
  if (!pool) {
    cudaMemGetInfo(&free, &total);
    return total - free;
  }
  cudaMemPool_t current = nullptr;
  cudaDeviceGetDefaultMemPool(&current, 0);
  cuuint64_t bytes = 0;
  cudaMemPoolGetAttribute(current, cudaMemPoolAttrUsedMemCurrent, &bytes);
  return bytes;
}
template <bool pool, bool wanted, bool waits> static int memory(Setup) {
  void* p = nullptr;
  const std::size_t before = in_use<pool>();
  cudaMallocAsync(&p, 1 << 20, nullptr);
  cudaFreeAsync(p, nullptr);
  if (waits) {
    cudaDeviceSynchronize();
  }
  if ((in_use<pool>() > before) == wanted) {
    for_ever();
  }
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- Two host threads --------------------------------------------------------------------------------

// The event is never recorded, so it is complete; the flag is set by a copy that nothing obliges to happen while
// main only joins ([LAUNCH]), and that happens if main waits for it first.
//@ case: copied-flag-joined
//@ verdict: may-hang
//@ finding: starvation LAUNCH
//@ polls: a round of the second thread
//@ case: copied-flag-waited
//@ verdict: terminates
//@ polls: a round of the second thread
__device__ int one = 1;

template <bool waits> static int copied_flag(Setup) {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(SystemAtomic<int>));
  auto* flag = new (memory) SystemAtomic<int>(0);
  void* address = nullptr;
  cudaGetSymbolAddress(&address, one);
  cudaStream_t streams[2];
  cudaEvent_t events[2];
  for (int i = 0; i < 2; ++i) {
    cudaStreamCreate(&streams[i]);
    cudaEventCreate(&events[i]);
  }
  std::thread second([=] {
    while (cudaEventQuery(events[1]) == cudaErrorNotReady) {
    }
    while (flag->load(memory_order_acquire) == 0) {
    }
  });
  cudaMemcpyAsync(memory, address, sizeof(int), cudaMemcpyDeviceToHost, streams[0]);
  if (waits) {
    cudaStreamSynchronize(streams[0]);
  }
  second.join();
  return 0;
}

// While main waits inside a copy that it has put on a stream, the other thread asks: what main's call has submitted is
// no reason for the other thread's call to stay blocked. (Once it was, on some ways to a state and not on others.)
//@ case: query-beside-copy
//@ verdict: terminates
//@ polls: a round of the second thread
__global__ void touch(SystemAtomic<int>* flag) {
  flag->fetch_add(0);
}
static int query_beside_copy(Setup) {
  void* memory = nullptr;
  cudaMallocHost(&memory, 2 * sizeof(SystemAtomic<int>));
  auto* flag = new (memory) SystemAtomic<int>[2];
  flag[1].store(1);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaEvent_t events[2];
  for (cudaEvent_t& event : events) {
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  std::thread second([=] {
    while (cudaEventQuery(events[1]) == cudaErrorNotReady) {
    }
    while (flag->load(memory_order_acquire) == 0) {
    }
  });
  cudaEventRecord(events[0], stream);
  cudaMemcpyAsync(flag, flag + 1, sizeof(int), cudaMemcpyDefault, stream);
  if (cudaEventQuery(events[1]) == cudaSuccess) {
    cudaDeviceSynchronize();
  }
  touch<<<1, 1, 0, stream>>>(flag);
  second.join();
  return static_cast<int>(cudaDeviceSynchronize());
}

// The record of an event is work of its stream, even if there is no other: a device need not have carried it out when the host asks.
// Once a call has told the host that it has, no query may say otherwise.
//@ case: recorded-if-not
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: recorded-stream-if-not
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: recorded-told
//@ verdict: terminates
//@ case: recorded-told-stream
//@ verdict: terminates
template <Ask ask, bool told> static int recorded(Setup) {
  const Work work = make_work();
  cudaEventRecord(work.before, work.stream);
  if (told && ask == Ask::Event) {
    while (cudaStreamQuery(work.stream) == cudaErrorNotReady) {
    }
  } else if (told) {
    cudaEventSynchronize(work.before);
  }
  if ((ask == Ask::Event ? cudaEventQuery(work.before) : cudaStreamQuery(work.stream)) == cudaErrorNotReady) {
    for_ever();
  }
  return 0;
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"elapsed-if-ready", once<Ask::Elapsed, false>},
      {"elapsed-if-not", once<Ask::Elapsed, true>},
      {"elapsed-driver-if-ready", once<Ask::ElapsedDriver, false>},
      {"event-if-ready", once<Ask::Event, false>},
      {"event-if-not", once<Ask::Event, true>},
      {"stream-if-ready", once<Ask::Stream, false>},
      {"stream-if-not", once<Ask::Stream, true>},
      {"elapsed-after-wait", elapsed_after_wait},
      {"elapsed-repeated", repeated<Ask::Elapsed>},
      {"stream-repeated", repeated<Ask::Stream>},
      {"event-repeated", repeated<Ask::Event>},
      {"polls-for-ever", polls<Ask::Stream, false>},
      {"polls-event-for-ever", polls<Ask::Event, false>},
      {"polls-elapsed-for-ever", polls<Ask::Elapsed, false>},
      {"polls-until-set", polls<Ask::Stream, true>},
      {"one-query", one_query},
      {"recorded-if-not", recorded<Ask::Event, false>},
      {"recorded-stream-if-not", recorded<Ask::Stream, false>},
      {"recorded-told", recorded<Ask::Event, true>},
      {"recorded-told-stream", recorded<Ask::Stream, true>},
      {"memory-if-freed", memory<false, false, false>},
      {"memory-if-in-use", memory<false, true, false>},
      {"pool-if-freed", memory<true, false, false>},
      {"pool-if-in-use", memory<true, true, false>},
      {"pool-after-wait", memory<true, true, true>},
      {"copied-flag-joined", copied_flag<false>},
      {"query-beside-copy", query_beside_copy},
      {"copied-flag-waited", copied_flag<true>},
  });
}
