// Graphs whose nodes decide while they run: what a body depends on, and loops that need not end.
//@ nvcc: -rdc=true
#include "cases.h"

#include <cuda_runtime.h>

struct Mail {
  SystemAtomic<int> stop;
  int left, sum;
};

__global__ void decide(cudaGraphConditionalHandle handle, int value) { cudaGraphSetConditional(handle, value); }
__global__ void set_and_take_back(cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, 1);
  cudaGraphSetConditional(handle, 0);
}
__global__ void stop(Mail* mail) { mail->stop.store(1, memory_order_release); }
__global__ void spin(Mail* mail) {
  while (mail->stop.load(memory_order_acquire) == 0) {
  }
}
__global__ void take_one(Mail* mail, cudaGraphConditionalHandle again) {
  mail->sum += mail->left;
  cudaGraphSetConditional(again, --mail->left != 0);
}
__global__ void take_none(Mail* mail, cudaGraphConditionalHandle again) {
  cudaGraphSetConditional(again, mail->left != 0);
}
__global__ void race_to_stop(Mail* mail, cudaGraphConditionalHandle again) {
  cudaGraphSetConditional(again, mail->stop.load(memory_order_acquire) == 0);
}

static Mail* make_mail(int left = 0) {
  void* memory = nullptr;
  cudaMallocManaged(&memory, sizeof(Mail));
  Mail* mail = new (memory) Mail{};
  mail->left = left;
  return mail;
}

template <class... P> static cudaGraphNode_t
add(cudaGraph_t graph, cudaGraphNode_t after, void (*kernel)(P...), P... arguments) {
  void* pointers[] = {&arguments...};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(kernel);
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = pointers;
  cudaGraphNode_t node;
  cudaGraphAddKernelNode(&node, graph, &after, after == nullptr ? 0 : 1, &p);
  return node;
}

static cudaGraphNode_t choice(
    cudaGraph_t graph, cudaGraphNode_t after, cudaGraphConditionalHandle handle,
    cudaGraphConditionalNodeType type, unsigned bodies, cudaGraph_t* out
) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = bodies;
  cudaGraphNode_t node;
  cudaGraphAddNode(&node, graph, &after, nullptr, after == nullptr ? 0 : 1, &p);
  for (unsigned i = 0; i < bodies; ++i) {
    out[i] = p.conditional.phGraph_out[i];
  }
  return node;
}

static int run(cudaGraph_t graph, cudaStream_t stream = nullptr) {
  cudaGraphExec_t exec;
  return static_cast<int>(cudaGraphInstantiate(&exec, graph, 0)) +
         static_cast<int>(cudaGraphLaunch(exec, stream)) + static_cast<int>(cudaDeviceSynchronize());
}

// One branch releases a kernel of the same graph that waits, the other one does not.
//@ case: body-that-is-chosen
//@ verdict: may-hang
//@ finding: starvation API
//@ case: body-that-is-not
//@ verdict: may-hang
//@ finding: livelock
//@ case: released-before
//@ verdict: terminates
template <int Value, bool Before> static int branch(Setup) {
  Mail* mail = make_mail();
  cudaGraph_t graph, bodies[2];
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault);
  const cudaGraphNode_t first = add(graph, nullptr, decide, handle, Value);
  const cudaGraphNode_t node = choice(graph, first, handle, cudaGraphCondTypeIf, 2, bodies);
  add(bodies[0], nullptr, stop, mail);
  add(graph, Before ? node : nullptr, spin, mail);
  return run(graph);
}

//@ case: third-of-three
//@ verdict: terminates
//@ case: none-of-three
//@ verdict: may-hang
//@ finding: livelock
template <int Value> static int one_of(Setup) {
  Mail* mail = make_mail();
  cudaGraph_t graph, bodies[3];
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalHandleCreate(&handle, graph, Value, cudaGraphCondAssignDefault);
  const cudaGraphNode_t node = choice(graph, nullptr, handle, cudaGraphCondTypeSwitch, 3, bodies);
  add(bodies[2], nullptr, stop, mail);
  add(graph, node, spin, mail);
  return run(graph);
}

//@ case: counts-down
//@ verdict: terminates
//@ case: never-counts
//@ verdict: may-hang
//@ finding: livelock
template <bool Counts> static int loop(Setup) {
  Mail* mail = make_mail(3);
  cudaGraph_t graph, body;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
  choice(graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
  add(body, nullptr, Counts ? take_one : take_none, mail, handle);
  const int result = run(graph);
  return result + (mail->sum == 6 ? 0 : 1);
}

// The value is set and taken back. A node that no edge puts behind the kernel may look in between.
//@ case: looks-in-between
//@ verdict: may-hang
//@ finding: livelock
//@ case: looks-afterwards
//@ verdict: terminates
template <bool After> static int in_between(Setup) {
  Mail* mail = make_mail();
  cudaGraph_t graph, body;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault);
  const cudaGraphNode_t kernel = add(graph, nullptr, set_and_take_back, handle);
  choice(graph, After ? kernel : nullptr, handle, cudaGraphCondTypeIf, 1, &body);
  add(body, nullptr, spin, mail);
  return run(graph);
}

// The loop asks a flag. A host that sets it after a call may do so never: the call may stay blocked as
// long as the loop's kernels make progress.
//@ case: asks-a-flag
//@ verdict: terminates
//@ case: asks-a-flag-set-too-late
//@ verdict: may-hang
//@ finding: livelock
template <bool InTime> static int asks_a_flag(Setup) {
  Mail* mail = make_mail();
  cudaGraph_t graph, body;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
  choice(graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
  add(body, nullptr, race_to_stop, mail, handle);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (InTime) {
    stop<<<1, 1, 0, stream>>>(mail);
    cudaStreamSynchronize(stream);
  }
  return run(graph);
}

int main(int argc, char** argv) {
  const int result = run_case(argc, argv, {
      {"body-that-is-chosen", branch<1, false>},
      {"body-that-is-not", branch<0, false>},
      {"released-before", branch<1, true>},
      {"third-of-three", one_of<2>},
      {"none-of-three", one_of<3>},
      {"looks-in-between", in_between<false>},
      {"looks-afterwards", in_between<true>},
      {"counts-down", loop<true>},
      {"never-counts", loop<false>},
      {"asks-a-flag", asks_a_flag<true>},
      {"asks-a-flag-set-too-late", asks_a_flag<false>},
  });
  if (result != 0) {
    std::abort(); // the search would not look at the exit code
  }
}
