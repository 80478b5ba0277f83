// Streams that wait for values in memory, and write them (cuStreamWaitValue32 and its like). Such a wait
// is no device thread: while nothing but it is under way, calls return, and if nobody is left who could
// write, everyone is blocked.
#include "cases.h"

#include <cuda.h>

#include <thread>

struct Words {
  SystemAtomic<unsigned> flag, answer;
  unsigned long long wide;
};

__global__ void set(Words* words, unsigned value) { words->flag.store(value, memory_order_release); }
__global__ void count(Words* words) {
  words->flag.store(1, memory_order_release);
  words->flag.store(2, memory_order_release);
}
__global__ void add(Words* words) { words->flag.fetch_add(1, memory_order_release); }
__global__ void answer(Words* words) { words->answer.store(1, memory_order_release); }
__global__ void set_wide(Words* words, unsigned long long value) { words->wide = value; }
__global__ void set_then_spin(Words* words) {
  words->flag.store(1, memory_order_release);
  while (words->answer.load(memory_order_acquire) == 0) {
  }
}
__global__ void spin_then_set(Words* words) {
  while (words->answer.load(memory_order_acquire) == 0) {
  }
  words->flag.store(1, memory_order_release);
}

static Words* words;
static CUstream first, second;

static CUdeviceptr flag() { return reinterpret_cast<CUdeviceptr>(&words->flag); }

static void prepare() {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(Words));
  words = new (memory) Words{};
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
}

static int finish() { return static_cast<int>(cudaDeviceSynchronize()); }

//@ case: another-stream-sets
//@ verdict: terminates
static int another_stream_sets(Setup) {
  cuStreamWaitValue32(second, flag(), 1, CU_STREAM_WAIT_VALUE_EQ);
  answer<<<1, 1, 0, second>>>(words);
  set<<<1, 1, 0, first>>>(words, 1);
  return finish() + (words->answer.load() == 1 ? 0 : 1);
}

//@ case: nobody-sets
//@ verdict: may-hang
//@ finding: deadlock
//@ names: cuStreamWaitValue32(first, flag(), 5, CU_STREAM_WAIT_VALUE_GEQ); // nobody
//@ names: static int finish()
static int nobody_sets(Setup) {
  cuStreamWaitValue32(first, flag(), 5, CU_STREAM_WAIT_VALUE_GEQ); // nobody
  answer<<<1, 1, 0, first>>>(words);
  return finish();
}

// What would set it is behind the wait.
//@ case: behind-the-wait
//@ verdict: may-hang
//@ finding: deadlock
//@ case: before-the-wait
//@ verdict: terminates
template <bool Before> static int in_one_stream(Setup) {
  if (Before) {
    cuStreamWriteValue32(first, flag(), 1, 0);
  }
  cuStreamWaitValue32(first, flag(), 1, CU_STREAM_WAIT_VALUE_GEQ);
  if (!Before) {
    cuStreamWriteValue32(first, flag(), 1, 0);
  }
  return finish();
}

//@ case: another-stream-writes
//@ verdict: terminates
static int another_stream_writes(Setup) {
  cuStreamWaitValue32(second, flag(), 4, CU_STREAM_WAIT_VALUE_AND | CU_STREAM_WAIT_VALUE_FLUSH);
  cuStreamWriteValue32(first, flag(), 6, CU_STREAM_WRITE_VALUE_DEFAULT);
  return finish();
}

// A value that comes and goes need not be seen.
//@ case: gone-again
//@ verdict: may-hang
//@ finding: deadlock
//@ case: passed-and-stays
//@ verdict: terminates
template <unsigned Condition> static int counted(Setup) {
  cuStreamWaitValue32(second, flag(), 1, Condition);
  count<<<1, 1, 0, first>>>(words);
  return finish();
}

// Updates whose result nobody uses: the stream sees them happen.
//@ case: enough-updates
//@ verdict: terminates
//@ case: too-few-updates
//@ verdict: may-hang
//@ finding: deadlock
//@ case: exactly-so-many
//@ verdict: may-hang
//@ finding: deadlock
template <unsigned Wanted, unsigned Condition> static int updates(Setup) {
  cuStreamWaitValue32(second, flag(), Wanted, Condition);
  add<<<2, 2, 0, first>>>(words);
  return finish();
}

//@ case: lacks-a-bit
//@ verdict: terminates
//@ case: lacks-no-bit
//@ verdict: may-hang
//@ finding: deadlock
template <unsigned Value> static int nor(Setup) {
  words->flag.store(~0u);
  cuStreamWaitValue32(second, flag(), 0xf0, CU_STREAM_WAIT_VALUE_NOR);
  set<<<1, 1, 0, first>>>(words, Value);
  return finish();
}

// The difference is a signed number: 2^63 - 1 behind is not behind, 2^63 is.
//@ case: wide-ahead
//@ verdict: terminates
//@ case: wide-behind
//@ verdict: may-hang
//@ finding: deadlock
template <unsigned long long Value> static int wide(Setup) {
  words->wide = 1ull << 62;
  cuStreamWaitValue64(second, reinterpret_cast<CUdeviceptr>(&words->wide), 1ull << 63, CU_STREAM_WAIT_VALUE_GEQ);
  set_wide<<<1, 1, 0, first>>>(words, Value);
  return finish();
}

// The kernel waits for one that is behind the wait for what it sets.
//@ case: sets-then-spins
//@ verdict: may-hang
//@ finding: starvation API
//@ case: spins-then-sets
//@ verdict: may-hang
//@ finding: livelock
template <bool Sets> static int kernel_waits(Setup) {
  cuStreamWaitValue32(second, flag(), 1, CU_STREAM_WAIT_VALUE_EQ);
  answer<<<1, 1, 0, second>>>(words);
  (Sets ? set_then_spin : spin_then_set)<<<1, 1, 0, first>>>(words);
  return finish();
}

// Calls that nothing keeps return although a stream waits: it is no device thread.
//@ case: host-sets
//@ verdict: terminates
//@ case: host-sets-too-late
//@ verdict: may-hang
//@ finding: deadlock
template <bool InTime> static int host_sets(Setup) {
  cuStreamWaitValue32(first, flag(), 1, CU_STREAM_WAIT_VALUE_EQ);
  answer<<<1, 1, 0, first>>>(words);
  cuStreamWriteValue32(second, reinterpret_cast<CUdeviceptr>(&words->wide), 1, 0);
  cudaStreamSynchronize(second);
  if (InTime) {
    words->flag.store(1, memory_order_release);
  }
  const int result = finish();
  words->flag.store(1, memory_order_release);
  return result;
}

//@ case: crosswise
//@ verdict: may-hang
//@ finding: deadlock
//@ case: one-after-the-other
//@ verdict: terminates
template <bool Crosswise> static int two_streams(Setup) {
  const CUdeviceptr other = reinterpret_cast<CUdeviceptr>(&words->answer);
  CUstreamBatchMemOpParams list[2]{};
  list[Crosswise ? 0 : 1].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, flag(), {1}, CU_STREAM_WAIT_VALUE_EQ, 0};
  list[Crosswise ? 1 : 0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, other, {1}, 0, 0};
  cuStreamBatchMemOp(first, 2, list, 0);
  cuStreamWaitValue32(second, other, 1, CU_STREAM_WAIT_VALUE_EQ);
  cuStreamWriteValue32(second, flag(), 1, 0);
  return finish();
}

// Two host threads submit to one stream. If the wait comes first, what would set the word to 1 again waits behind it.
//@ case: setter-behind-the-wait
//@ verdict: may-hang
//@ finding: deadlock
//@ case: setter-not-needed
//@ verdict: terminates
template <CUstreamWaitValue_flags How> static int setter_of_other_thread(Setup) {
  std::thread other([] {
    cudaLaunchHostFunc(first, [](void*) { words->flag.store(1); }, nullptr);
  });
  cuStreamWaitValue32(first, flag(), 1, How);
  words->flag.store(2);
  other.join();
  return finish();
}

int main(int argc, char** argv) {
  prepare();
  const int result = run_case(argc, argv, {
      {"another-stream-sets", another_stream_sets},
      {"nobody-sets", nobody_sets},
      {"behind-the-wait", in_one_stream<false>},
      {"before-the-wait", in_one_stream<true>},
      {"another-stream-writes", another_stream_writes},
      {"gone-again", counted<CU_STREAM_WAIT_VALUE_EQ>},
      {"passed-and-stays", counted<CU_STREAM_WAIT_VALUE_GEQ>},
      {"enough-updates", updates<4, CU_STREAM_WAIT_VALUE_GEQ>},
      {"too-few-updates", updates<5, CU_STREAM_WAIT_VALUE_GEQ>},
      {"exactly-so-many", updates<2, CU_STREAM_WAIT_VALUE_EQ>},
      {"lacks-a-bit", nor<1>},
      {"lacks-no-bit", nor<~0xf0u>},
      {"wide-ahead", wide<~0ull>},
      {"wide-behind", wide<(1ull << 63) - 1>},
      {"sets-then-spins", kernel_waits<true>},
      {"spins-then-sets", kernel_waits<false>},
      {"host-sets", host_sets<true>},
      {"host-sets-too-late", host_sets<false>},
      {"setter-behind-the-wait", setter_of_other_thread<CU_STREAM_WAIT_VALUE_EQ>},
      {"setter-not-needed", setter_of_other_thread<CU_STREAM_WAIT_VALUE_GEQ>},
      {"crosswise", two_streams<true>},
      {"one-after-the-other", two_streams<false>},
  });
  if (result != 0) {
    std::abort(); // the search would not look at the exit code
  }
}
