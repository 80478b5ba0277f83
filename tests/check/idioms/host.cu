// Host and device wait for each other: persistent kernels, calls while a kernel spins, streams, events,
// host functions, queries.
//
// Two rules decide. A launch obliges nothing to start ([LAUNCH]); only a call that waits or queries that
// are repeated do ([API], [QUERY]), and they oblige *some* device thread. And any call, a launch as much as
// cudaFree, may stay blocked as long as some device thread makes progress ([API]): nothing that ends a
// kernel's spinning may come after a call.
#include "cases.h"

#include <cuda_runtime.h>

#include <atomic>
#include <thread>

struct Mail {
  SystemAtomic<int> request, answer, stop, done;
};

static Mail* make_mail() {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(Mail));
  return new (memory) Mail{};
}

__global__ void spin(Mail* mail) {
  while (mail->stop.load(memory_order_acquire) == 0) {
  }
}
__global__ void set_stop(Mail* mail) { mail->stop.store(1, memory_order_release); }
__global__ void set_answer(Mail* mail) { mail->answer.store(1, memory_order_release); }
__global__ void nothing() {}

static int finish() { return static_cast<int>(cudaDeviceSynchronize()); }

// --- What a launch may wait for, behind other work in its stream --------------------------------------

// The kernel that spins cannot start yet when its launch returns. It need not return before that.
//@ case: stop-after-launch-behind-kernel
//@ verdict: may-hang
//@ finding: starvation API
//@ case: stop-after-launch-behind-kernel
//@ flags: --api=prompt
//@ verdict: terminates
//@ case: stop-after-launch-behind-copy
//@ verdict: may-hang
//@ finding: starvation API
template <bool Kernel> static int stop_after_launch_behind(Setup) {
  Mail* mail = make_mail();
  if (Kernel) {
    set_answer<<<1, 1>>>(mail);
  } else {
    cudaMemsetAsync(&mail->answer, 0, sizeof mail->answer);
  }
  spin<<<1, 1>>>(mail);
  mail->stop.store(1, memory_order_release);
  return finish();
}

// --- Two commands that nothing orders --------------------------------------------------------------

// What is there in the end depends on which of the two sets is carried out last, also where one order of commands
// that commute stands for all.
//@ case: sets-in-two-streams
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ case: sets-in-two-streams
//@ flags: --straight-after=1 --one-order-after=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
static int sets_in_two_streams(Setup) {
  Mail* mail = make_mail();
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  }
  for (int n = 0; n < 2; ++n) {
    cudaMemsetAsync(&mail->answer, n, sizeof mail->answer, streams[n]);
  }
  cudaDeviceSynchronize();
  while (mail->answer.load() == 0) {
  }
  return 0;
}

// --- A persistent kernel, fed by the host -----------------------------------------------------------

// Takes a request, answers it, and again, until it is told to stop.
__global__ void serve(Mail* mail) {
  for (int round = 1;; ++round) {
    int request;
    while ((request = mail->request.load(memory_order_acquire)) < round) {
      if (mail->stop.load(memory_order_acquire) != 0) {
        return;
      }
    }
    mail->answer.store(request, memory_order_release);
  }
}

// By the thread that launched it: the launch need not return while its kernel spins, as it does not
// with CUDA_LAUNCH_BLOCKING=1.
//@ case: fed-by-launcher
//@ verdict: may-hang
//@ finding: starvation API
//@ case: fed-by-launcher
//@ flags: --api=prompt
//@ verdict: terminates
static int fed_by_launcher(Setup) {
  Mail* mail = make_mail();
  serve<<<1, 1>>>(mail);
  mail->request.store(1, memory_order_release);
  mail->stop.store(1, memory_order_release);
  return finish();
}

// By another host thread: it is guaranteed whatever the launch does.
//@ case: fed-by-thread
//@ verdict: terminates
//@ clause: host-threads host.threads.5
//@ case: fed-by-thread
//@ flags: --host-progress=none
//@ verdict: may-hang
//@ finding: starvation HOST
//@ clause: host-threads
static int fed_by_thread(Setup) {
  Mail* mail = make_mail();
  std::thread feeder([=] {
    mail->request.store(1, memory_order_release);
    mail->stop.store(1, memory_order_release);
  });
  serve<<<1, 1>>>(mail);
  const int result = finish();
  feeder.join();
  return result;
}

// The request is there before the launch. Then the host waits for the answer: with queries, or without.
//@ case: answer-queried
//@ verdict: terminates
//@ clause: query
//@ rests-on: QUERY
//@ case: answer-spun
//@ verdict: may-hang
//@ finding: starvation LAUNCH
//@ clause: host.threads.5
//@ case: answer-after-one-query
//@ verdict: may-hang
//@ finding: starvation QUERY
//@ clause: query
template <int queries> static int answer(Setup) {
  Mail* mail = make_mail();
  mail->request.store(1, memory_order_release);
  mail->stop.store(1, memory_order_release);
  set_answer<<<1, 1>>>(mail);
  if (queries == 1) {
    (void)cudaStreamQuery(nullptr);
  }
  while (mail->answer.load(memory_order_acquire) == 0) {
    if (queries == 2) {
      (void)cudaStreamQuery(nullptr);
    }
  }
  return finish();
}

// An event that is asked for instead of a flag: that is a query too.
//@ case: event-queried
//@ verdict: terminates
//@ clause: query events
//@ rests-on: QUERY
static int event_queried(Setup) {
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  nothing<<<1, 1>>>();
  cudaEventRecord(event);
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  return 0;
}

// Queries oblige some device thread, any one: a spinning kernel will do.
//@ case: queried-while-spinning
//@ verdict: may-hang
//@ finding: starvation
//@ clause: query
static int queried_while_spinning(Setup) {
  Mail* mail = make_mail();
  cudaStream_t s0, s1;
  cudaStreamCreate(&s0);
  cudaStreamCreate(&s1);
  spin<<<1, 1, 0, s0>>>(mail);
  set_answer<<<1, 1, 0, s1>>>(mail);
  while (mail->answer.load(memory_order_acquire) == 0) {
    (void)cudaStreamQuery(s1);
  }
  mail->stop.store(1, memory_order_release);
  return finish();
}

// --- Calls while a kernel spins ---------------------------------------------------------------------

template <class Call> static int while_spinning(Call call) {
  Mail* mail = make_mail();
  void* memory = nullptr;
  cudaMalloc(&memory, 4);
  spin<<<1, 1>>>(mail);
  call(memory);
  mail->stop.store(1, memory_order_release);
  return finish();
}
template <class Call> static int while_spinning_threaded(Call call) {
  Mail* mail = make_mail();
  void* memory = nullptr;
  cudaMalloc(&memory, 4);
  std::thread releaser([=] { mail->stop.store(1, memory_order_release); });
  spin<<<1, 1>>>(mail);
  call(memory);
  const int result = finish();
  releaser.join();
  return result;
}
static void free_it(void* memory) { cudaFree(memory); }
static void allocate(void*) {
  void* more = nullptr;
  cudaMalloc(&more, 4);
}
static void launch_first_time(void*) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  nothing<<<1, 1, 0, stream>>>();
}
static void synchronise(void*) { cudaDeviceSynchronize(); }

// cudaFree may wait for the kernel, which waits for what comes after cudaFree ([API-WAIT]).
//@ case: free-while-spinning
//@ verdict: may-hang
//@ finding: starvation API
//@ clause: api
//@ case: free-while-spinning
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: starvation API
//@ case: free-while-spinning-threaded
//@ verdict: terminates
//@ clause: api
static int free_while_spinning(Setup) { return while_spinning(free_it); }
static int free_while_spinning_threaded(Setup) { return while_spinning_threaded(free_it); }

//@ case: malloc-while-spinning
//@ verdict: may-hang
//@ finding: starvation API
//@ clause: api
//@ case: malloc-while-spinning
//@ flags: --api=prompt
//@ verdict: terminates
//@ clause: api
static int malloc_while_spinning(Setup) { return while_spinning(allocate); }

// A kernel that is launched for the first time has to be loaded, which may wait for the spinning one.
//@ case: launch-while-spinning
//@ verdict: may-hang
//@ finding: starvation API
//@ case: launch-while-spinning
//@ flags: --api=prompt
//@ verdict: terminates
//@ case: launch-while-spinning-threaded
//@ verdict: terminates
static int launch_while_spinning(Setup) { return while_spinning(launch_first_time); }
static int launch_while_spinning_threaded(Setup) { return while_spinning_threaded(launch_first_time); }

//@ case: synchronise-while-spinning
//@ verdict: may-hang
//@ finding: livelock
//@ case: synchronise-while-spinning
//@ flags: --api=prompt
//@ verdict: may-hang
//@ finding: livelock
static int synchronise_while_spinning(Setup) { return while_spinning(synchronise); }

// --- Two streams ------------------------------------------------------------------------------------

enum class Order { None, SameStream, Event, EventOfOther, Legacy, NonBlocking };

template <Order order> static int streams(Setup) {
  Mail* mail = make_mail();
  cudaStream_t s0, s1;
  cudaEvent_t event;
  const unsigned flags = order == Order::NonBlocking ? cudaStreamNonBlocking : cudaStreamDefault;
  cudaStreamCreateWithFlags(&s0, flags);
  cudaStreamCreateWithFlags(&s1, flags);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (order == Order::EventOfOther) {
    cudaEventRecord(event, s0);
  }
  set_stop<<<1, 1, 0, s0>>>(mail);
  if (order == Order::Event) {
    cudaEventRecord(event, s0);
  }
  if (order == Order::Event || order == Order::EventOfOther) {
    cudaStreamWaitEvent(s1, event);
  }
  spin<<<1, 1, 0, order == Order::SameStream ? s0
                  : order == Order::Legacy || order == Order::NonBlocking ? cudaStreamLegacy : s1>>>(mail);
  return finish();
}

//@ case: streams-independent
//@ verdict: may-hang
//@ finding: starvation API
//@ clause: dependencies
//@ case: streams-same
//@ verdict: terminates
//@ clause: dependencies
//@ rests-on: DEP
//@ case: streams-event
//@ verdict: terminates
//@ clause: events
//@ rests-on: DEP
//@ case: streams-event-too-early
//@ verdict: may-hang
//@ finding: starvation API
//@ clause: events
//@ case: streams-legacy
//@ verdict: terminates
//@ clause: dependencies
//@ rests-on: DEP
//@ case: streams-nonblocking
//@ verdict: may-hang
//@ finding: starvation API
//@ clause: dependencies

// What the documentation's simple test (environment variables that make launches wait) misses.
//@ case: streams-independent
//@ env: CUDA_LAUNCH_BLOCKING=1 CUDA_DEVICE_MAX_CONNECTIONS=1
//@ verdict: terminates
//@ case: answer-spun
//@ env: CUDA_LAUNCH_BLOCKING=1 CUDA_DEVICE_MAX_CONNECTIONS=1
//@ verdict: terminates

// What it catches: the kernel that waits is launched first, and its launch waits for it.
//@ case: streams-backwards
//@ verdict: may-hang
//@ finding: starvation API
//@ case: streams-backwards
//@ env: CUDA_LAUNCH_BLOCKING=1 CUDA_DEVICE_MAX_CONNECTIONS=1
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
static int streams_backwards(Setup) {
  Mail* mail = make_mail();
  cudaStream_t s0, s1;
  cudaStreamCreate(&s0);
  cudaStreamCreate(&s1);
  spin<<<1, 1, 0, s0>>>(mail);
  set_stop<<<1, 1, 0, s1>>>(mail);
  return finish();
}

// --- A cycle through an event -------------------------------------------------------------------------

// The kernel that would end the spinning waits for an event behind the spinning.
//@ case: event-cycle
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ clause: events
static int event_cycle(Setup) {
  Mail* mail = make_mail();
  cudaStream_t s0, s1;
  cudaEvent_t event;
  cudaStreamCreate(&s0);
  cudaStreamCreate(&s1);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  spin<<<1, 1, 0, s0>>>(mail);
  cudaEventRecord(event, s0);
  cudaStreamWaitEvent(s1, event);
  set_stop<<<1, 1, 0, s1>>>(mail);
  return finish();
}

// --- Graphs -------------------------------------------------------------------------------------------

template <bool edge> static int graph(Setup) {
  Mail* mail = make_mail();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t first, second;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraphCreate(&graph, 0);
  void* arguments[] = {&mail};
  cudaKernelNodeParams node{};
  node.gridDim = node.blockDim = dim3(1);
  node.kernelParams = arguments;
  node.func = reinterpret_cast<void*>(set_stop);
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &node);
  node.func = reinterpret_cast<void*>(spin);
  cudaGraphAddKernelNode(&second, graph, edge ? &first : nullptr, edge ? 1 : 0, &node);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  return finish();
}

//@ case: graph-edge
//@ verdict: terminates
//@ clause: graphs
//@ rests-on: DEP
//@ case: graph-no-edge
//@ verdict: may-hang
//@ finding: starvation API
//@ clause: graphs

// --- Host functions -------------------------------------------------------------------------------------

static void CUDART_CB await_answer(void* data) {
  while (static_cast<Mail*>(data)->answer.load(memory_order_acquire) == 0) {
  }
}
static void CUDART_CB await_done(void* data) {
  while (static_cast<Mail*>(data)->done.load(memory_order_acquire) == 0) {
  }
}
static void CUDART_CB set_done(void* data) {
  static_cast<Mail*>(data)->done.store(1, memory_order_release);
}

// Waits for a kernel of another stream. That one must start, if nothing else can move.
//@ case: host-function-awaits-other-stream
//@ verdict: terminates
static int host_function_awaits_other_stream(Setup) {
  Mail* mail = make_mail();
  cudaStream_t s0, s1;
  cudaStreamCreate(&s0);
  cudaStreamCreate(&s1);
  cudaLaunchHostFunc(s0, await_answer, mail);
  set_answer<<<1, 1, 0, s1>>>(mail);
  return finish();
}

// The same, but another kernel spins that would be released only afterwards.
//@ case: host-function-awaits-starved
//@ verdict: may-hang
//@ finding: starvation
static int host_function_awaits_starved(Setup) {
  Mail* mail = make_mail();
  cudaStream_t s0, s1, s2;
  cudaStreamCreate(&s0);
  cudaStreamCreate(&s1);
  cudaStreamCreate(&s2);
  cudaLaunchHostFunc(s0, await_answer, mail);
  set_stop<<<1, 1, 0, s0>>>(mail);
  set_answer<<<1, 1, 0, s1>>>(mail);
  spin<<<1, 1, 0, s2>>>(mail);
  return finish();
}

// Waits for a kernel behind itself.
//@ case: host-function-awaits-own-stream
//@ verdict: may-hang
//@ finding: livelock
static int host_function_awaits_own_stream(Setup) {
  Mail* mail = make_mail();
  cudaStream_t s0;
  cudaStreamCreate(&s0);
  cudaLaunchHostFunc(s0, await_answer, mail);
  set_answer<<<1, 1, 0, s0>>>(mail);
  return finish();
}

// Waits for what the host does after waiting for it.
//@ case: host-function-awaits-host
//@ verdict: may-hang
//@ finding: livelock
//@ case: host-function-awaited-by-host
//@ verdict: terminates
static int host_function_awaits_host(Setup) {
  Mail* mail = make_mail();
  cudaLaunchHostFunc(nullptr, await_done, mail);
  const int result = finish();
  mail->done.store(1, memory_order_release);
  return result;
}
static int host_function_awaited_by_host(Setup) {
  Mail* mail = make_mail();
  cudaLaunchHostFunc(nullptr, set_done, mail);
  const int result = finish();
  while (mail->done.load(memory_order_acquire) == 0) {
  }
  return result;
}

// --- Device threads of other programs ---------------------------------------------------------------

// API.1 again: with unrelated threads on the device that run for ever, [API] is kept by them.
//@ case: hello
//@ verdict: terminates
//@ clause: api
//@ rests-on: API
//@ case: hello
//@ flags: --other-processes
//@ verdict: may-hang
//@ finding: starvation API
//@ clause: api
static int hello(Setup) {
  nothing<<<1, 2>>>();
  return finish();
}
//@ case: answer-queried
//@ flags: --other-processes
//@ verdict: may-hang
//@ finding: starvation

// What host code does wrong goes on behind it, and is found again when it is repeated.
//@ case: freed-twice
//@ verdict: defect
//@ finding: double-free MEM-FREE
int freed_twice(Setup) {
  int* p = nullptr;
  cudaMalloc(&p, sizeof *p);
  cudaFree(p);
  cudaFree(p);
  return 0;
}

//@ case: copied-too-much
//@ verdict: defect
//@ finding: out-of-bounds MEM-BOUNDS
int copied_too_much(Setup) {
  static int from[8];
  int* p = nullptr;
  cudaMalloc(&p, 4 * sizeof *p);
  cudaMemcpy(p, from, sizeof from, cudaMemcpyHostToDevice);
  return 0;
}

// An address of the host's own in a parameter is another one in each execution.
//@ case: host-pointer
//@ verdict: defect
//@ finding: host-memory MEM-HOST
__global__ void write_through(int* p) { *p = 1; }
int host_pointer(Setup) {
  write_through<<<1, 1>>>(new int);
  return cudaDeviceSynchronize();
}

// A host function is host code: it may come before or between what other host threads do to variables that no
// device knows of, also if it waits for a kernel first.
//@ case: host-function-between
//@ verdict: may-hang
//@ finding: livelock
//@ flags: --api=prompt
//@ case: callback-between
//@ verdict: may-hang
//@ finding: livelock
//@ flags: --api=prompt
//@ case: host-node-between
//@ verdict: may-hang
//@ finding: livelock
//@ flags: --api=prompt
//@ case: host-function-behind
//@ verdict: terminates
//@ flags: --api=prompt
static std::atomic<bool> own_done{false};
static void CUDART_CB set_own_done(void*) {
  own_done.store(true);
}
static void CUDART_CB set_own_done_callback(cudaStream_t, cudaError_t, void*) {
  own_done.store(true);
}
enum class Call { HostFunction, Callback, Node };
template <Call call, bool waits> static int call_between(Setup) {
  Mail* mail = make_mail();
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  spin<<<1, 1, 0, stream>>>(mail);
  if (call == Call::HostFunction) {
    cudaLaunchHostFunc(stream, set_own_done, nullptr);
  } else if (call == Call::Callback) {
    cudaStreamAddCallback(stream, set_own_done_callback, nullptr, 0);
  } else {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaHostNodeParams parameters{set_own_done, nullptr};
    cudaGraphCreate(&graph, 0);
    cudaGraphAddHostNode(&node, graph, nullptr, 0, &parameters);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
  }
  if (waits) {
    // What it does behind a kernel that is still waiting, it cannot have done yet.
    if (own_done.load()) {
      while (own_done.load()) {
        std::this_thread::yield();
      }
    }
    mail->stop.store(1, memory_order_release);
    return finish();
  }
  mail->stop.store(1, memory_order_release);
  if (own_done.load()) {
    while (own_done.load()) {
      std::this_thread::yield();
    }
  }
  return finish();
}

// --- Computing ------------------------------------------------------------------------------------------

// For half a second and more, in which nothing changes but a vector register: no endless loop.
//@ case: computes-in-a-vector-register
//@ verdict: terminates
static int computes_in_a_vector_register(Setup) {
  nothing<<<1, 1>>>();
  double x = 0;
  const double one = 1, end = 1.2e9;
  asm volatile("1: addsd %1, %0\n\tucomisd %2, %0\n\tjb 1b" : "+x"(x) : "x"(one), "x"(end) : "cc");
  return x == end ? finish() : 1;
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"freed-twice", freed_twice},
      {"copied-too-much", copied_too_much},
      {"host-pointer", host_pointer},
      {"fed-by-launcher", fed_by_launcher},
      {"fed-by-thread", fed_by_thread},
      {"answer-spun", answer<0>},
      {"answer-after-one-query", answer<1>},
      {"answer-queried", answer<2>},
      {"event-queried", event_queried},
      {"queried-while-spinning", queried_while_spinning},
      {"free-while-spinning", free_while_spinning},
      {"free-while-spinning-threaded", free_while_spinning_threaded},
      {"malloc-while-spinning", malloc_while_spinning},
      {"launch-while-spinning", launch_while_spinning},
      {"launch-while-spinning-threaded", launch_while_spinning_threaded},
      {"synchronise-while-spinning", synchronise_while_spinning},
      {"streams-independent", streams<Order::None>},
      {"streams-same", streams<Order::SameStream>},
      {"streams-event", streams<Order::Event>},
      {"streams-event-too-early", streams<Order::EventOfOther>},
      {"streams-legacy", streams<Order::Legacy>},
      {"streams-nonblocking", streams<Order::NonBlocking>},
      {"streams-backwards", streams_backwards},
      {"event-cycle", event_cycle},
      {"graph-edge", graph<true>},
      {"graph-no-edge", graph<false>},
      {"host-function-awaits-other-stream", host_function_awaits_other_stream},
      {"host-function-awaits-starved", host_function_awaits_starved},
      {"host-function-awaits-own-stream", host_function_awaits_own_stream},
      {"host-function-awaits-host", host_function_awaits_host},
      {"host-function-awaited-by-host", host_function_awaited_by_host},
      {"host-function-between", call_between<Call::HostFunction, false>},
      {"callback-between", call_between<Call::Callback, false>},
      {"host-node-between", call_between<Call::Node, false>},
      {"host-function-behind", call_between<Call::HostFunction, true>},
      {"stop-after-launch-behind-kernel", stop_after_launch_behind<1>},
      {"stop-after-launch-behind-copy", stop_after_launch_behind<0>},
      {"sets-in-two-streams", sets_in_two_streams},
      {"computes-in-a-vector-register", computes_in_a_vector_register},
      {"hello", hello},
  });
}
