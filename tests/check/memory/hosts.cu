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
      }
  );
}
