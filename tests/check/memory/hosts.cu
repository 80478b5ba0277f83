// The host, and commands, between device threads under PTX's memory consistency model: they know
// all that has been done, and so does what they have let begin, and whoever sees what they have
// written.
#include "../idioms/cases.h"
#include <cuda.h>

#include <new>

struct Mail {
  SystemAtomic<int> there, go, stop;
  int data, copy;
};
__host__ __device__ void look(Mail* mail) {
  mail->copy = mail->data;
}
/// Leaves data, says so, and does not end at once.
__device__ void leave(Mail* mail) {
  mail->data = 1;
  mail->there.store(1, memory_order_release);
  mail->stop.load(memory_order_relaxed);
}

Mail* make_mail() {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(Mail));
  return new (memory) Mail{};
}
void wait_for(SystemAtomic<int>& flag) {
  while (flag.load(memory_order_acquire) == 0) {
    cudaStreamQuery(nullptr); // the device goes on
  }
}
int finish(const Mail* mail) {
  return cudaDeviceSynchronize() == cudaSuccess && mail->copy == 1 ? 0 : 1;
}

// The host waits for one thread and lets another one go on, by an access or by a copy. (It has to
// return from the launch for that.)
//@ case: relayed cooperative
//@ flags: --memory=ptx --api=prompt
//@ verdict: terminates
//@ case: relayed-by-copy cooperative
//@ flags: --memory=ptx --api=prompt
//@ verdict: may-hang
//@ finding: starvation API
//@ case: relayed-unawaited cooperative
//@ flags: --memory=ptx --api=prompt
//@ verdict: defect
//@ finding: data-race RACE
template <bool Waits> __global__ void relayed(Mail* mail) {
  if (blockIdx.x == 0) {
    leave(mail);
    return;
  }
  while (Waits && mail->go.load(memory_order_acquire) == 0) {
  }
  look(mail);
}
template <bool Waits, bool Copies> int run_relayed(Setup setup) {
  Mail* const mail = make_mail();
  int* one = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&one), sizeof *one);
  *one = 1;
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  launch(setup, relayed<Waits>, mail);
  wait_for(mail->there);
  if (Copies) {
    cudaMemcpyAsync(&mail->go, one, sizeof *one, cudaMemcpyDefault, other);
  } else {
    mail->go.store(1, memory_order_release);
  }
  return finish(mail);
}

// A kernel in another stream begins when the host has seen that the data are there, when its stream
// has, or whenever it likes.
//@ case: launched-behind
//@ flags: --memory=ptx
//@ verdict: may-hang
//@ finding: starvation LAUNCH
//@ case: waited-for
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: launched-beside
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
__global__ void left(Mail* mail) {
  if (threadIdx.x == 0) {
    leave(mail);
  }
}
__global__ void looked_at(Mail* mail) {
  look(mail);
}
enum class Behind {
  Host,
  Stream,
  Nothing
};
template <Behind B> int run_two(Setup) {
  Mail* const mail = make_mail();
  cudaStream_t stream[2];
  for (cudaStream_t& s : stream) {
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  }
  left<<<1, 2, 0, stream[0]>>>(mail);
  if (B == Behind::Host) {
    wait_for(mail->there);
  } else if (B == Behind::Stream) {
    const auto there = reinterpret_cast<CUdeviceptr>(&mail->there);
    cuStreamWaitValue32(stream[1], there, 1, CU_STREAM_WAIT_VALUE_EQ);
  }
  looked_at<<<1, 1, 0, stream[1]>>>(mail);
  return cudaDeviceSynchronize() != cudaSuccess;
}

// That a grid was over when another one began orders nothing. It is over here: its last access is
// the flag, which a kernel of the other stream has seen, before a set or a copy and the reader.
//@ case: over-behind-nothing
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: over-behind-set
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: over-behind-copy
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: over-behind-event
//@ flags: --memory=ptx
//@ verdict: terminates
//@ case: over-acquired
//@ flags: --memory=ptx
//@ verdict: terminates
__device__ int left_data, seen, got, zero[2];
__device__ Atomic<int> over{0};
template <bool Orders> __global__ void leaves_and_ends() {
  left_data = 1;
  over.store(1, Orders ? memory_order_release : memory_order_relaxed);
}
template <bool Orders> __global__ void sees() {
  seen = over.load(Orders ? memory_order_acquire : memory_order_relaxed);
}
__global__ void reads_if_seen() {
  if (seen == 1) {
    got = left_data;
  }
}
enum class Between { Nothing, Set, Copy, Event };
template <Between B, bool Orders> int run_over(Setup) {
  cudaStream_t stream[2];
  for (cudaStream_t& s : stream) {
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  }
  void* at = nullptr;
  cudaGetSymbolAddress(&at, zero);
  leaves_and_ends<Orders><<<1, 1, 0, stream[0]>>>();
  sees<Orders><<<1, 1, 0, stream[1]>>>();
  if (B == Between::Set) {
    cudaMemsetAsync(at, 0, sizeof(int), stream[1]);
  } else if (B == Between::Copy) {
    cudaMemcpyAsync(at, static_cast<int*>(at) + 1, sizeof(int), cudaMemcpyDeviceToDevice, stream[1]);
  } else if (B == Between::Event) {
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventRecord(event, stream[0]);
    cudaStreamWaitEvent(stream[1], event, 0);
  }
  reads_if_seen<<<1, 1, 0, stream[1]>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}

// What a thread that is under way does not know stays unknown to it, whatever the host allocates,
// frees, sets or copies meanwhile.
//@ case: unknown-beside-allocation
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: unknown-beside-host-memory
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: unknown-beside-set
//@ flags: --memory=ptx
//@ verdict: defect
//@ finding: data-race RACE
//@ case: known-beside-allocation
//@ flags: --memory=ptx
//@ verdict: terminates
template <bool Orders> __global__ void reads_when_told() {
  if (over.load(Orders ? memory_order_acquire : memory_order_relaxed) == 1) {
    got = left_data;
  }
}
__global__ void leaves() {
  left_data = 1;
}
template <bool Orders> __global__ void tells() {
  over.store(1, Orders ? memory_order_release : memory_order_relaxed);
}
enum class Meanwhile { Allocates, Pins, Sets };
template <Meanwhile M, bool Orders> int run_beside(Setup) {
  cudaStream_t stream[2];
  for (cudaStream_t& s : stream) {
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  }
  void* at = nullptr;
  cudaGetSymbolAddress(&at, zero);
  reads_when_told<Orders><<<1, 1, 0, stream[1]>>>();
  leaves<<<1, 1, 0, stream[0]>>>();
  cudaStreamSynchronize(stream[0]);
  void* memory = nullptr;
  if (M == Meanwhile::Allocates) {
    cudaMalloc(&memory, 64);
  } else if (M == Meanwhile::Pins) {
    cudaMallocHost(&memory, 64);
  } else {
    cudaMemsetAsync(at, 0, sizeof(int), stream[0]);
  }
  tells<Orders><<<1, 1, 0, stream[0]>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}

int main(int argc, char** argv) {
  return run_case(
      argc,
      argv,
      {
          {"relayed", run_relayed<true, false>},
          {"relayed-by-copy", run_relayed<true, true>},
          {"relayed-unawaited", run_relayed<false, false>},
          {"launched-behind", run_two<Behind::Host>},
          {"waited-for", run_two<Behind::Stream>},
          {"launched-beside", run_two<Behind::Nothing>},
          {"over-behind-nothing", run_over<Between::Nothing, false>},
          {"over-behind-set", run_over<Between::Set, false>},
          {"over-behind-copy", run_over<Between::Copy, false>},
          {"over-behind-event", run_over<Between::Event, false>},
          {"over-acquired", run_over<Between::Set, true>},
          {"unknown-beside-allocation", run_beside<Meanwhile::Allocates, false>},
          {"unknown-beside-host-memory", run_beside<Meanwhile::Pins, false>},
          {"unknown-beside-set", run_beside<Meanwhile::Sets, false>},
          {"known-beside-allocation", run_beside<Meanwhile::Allocates, true>},
      }
  );
}
