// What the system answers, and what another conforming run may answer otherwise: where memory lies and whether an
// address is given again, numbers of processes and threads, what memory holds that nobody has set, random numbers
// (spec/answers.md). A search gives one answer to each such question. If the program decides by it, the
// search is bounded; a program that asks and decides nothing by it (it prints the answer, uses it as data, or treats
// all answers alike) is searched to the end.
#include "cases.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <unistd.h>
#include <x86intrin.h>

__device__ Atomic<int> never;
__device__ int words[64];

__global__ void hangs_if(int bad) {
  if (bad != 0) {
    while (never.load(memory_order_relaxed) == 0) {
    }
  }
}
static int hang_if(bool bad) {
  hangs_if<<<1, 1>>>(bad ? 1 : 0);
  return static_cast<int>(cudaDeviceSynchronize());
}
/// Another answer is another number of blocks.
static int blocks(std::uint64_t n) {
  hangs_if<<<1 + n % 8, 1>>>(0);
  return static_cast<int>(cudaDeviceSynchronize());
}
template <class T> static T* on_device(std::size_t count) {
  T* p = nullptr;
  cudaMalloc(&p, count * sizeof(T));
  cudaMemset(p, 0, count * sizeof(T));
  cudaDeviceSynchronize();
  return p;
}
static std::uintptr_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// --- Where memory of devices lies ------------------------------------------------------------------------------------

//@ case: device-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: device-hash
//@ verdict: unknown
//@ coverage: bounded
//@ case: variable-hash
//@ verdict: unknown
//@ coverage: bounded
//@ case: device-printed
//@ verdict: terminates
//@ case: device-aligned
//@ verdict: terminates
static int device_order(Setup) {
  const int *a = on_device<int>(64), *b = on_device<int>(64);
  return hang_if(a > b);
}
static int device_hash(Setup) {
  return blocks(number(on_device<int>(64)) >> 12);
}
static int variable_hash(Setup) {
  void* p = nullptr;
  cudaGetSymbolAddress(&p, words);
  return blocks(number(p) >> 20);
}
static int device_printed(Setup) {
  const int *a = on_device<int>(64), *b = on_device<int>(64);
  std::printf("%p %td\n", static_cast<const void*>(a), b - a);
  return hang_if(false);
}
static int device_aligned(Setup) {
  return hang_if(number(on_device<int>(64)) % 256 != 0);
}

// Whether an address is given again.
//@ case: device-again
//@ verdict: unknown
//@ coverage: bounded
//@ case: device-forgotten
//@ verdict: terminates
static int device_again(bool decides) {
  int* const a = on_device<int>(64);
  const std::uintptr_t before = number(a);
  cudaFree(a);
  int* const b = on_device<int>(64);
  const bool same = number(b) == before;
  std::printf("%d\n", same);
  const int status = hang_if(decides && same);
  cudaFree(b);
  return status;
}

// Addresses that went through memory, and are compared by a kernel.
//@ case: stored-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: stored-list
//@ verdict: terminates
__global__ void compares_stored(int** pointers) {
  auto* const numbers = reinterpret_cast<volatile std::uintptr_t*>(pointers);
  if (numbers[0] > numbers[1]) {
    while (never.load(memory_order_relaxed) == 0) {
    }
  }
}
struct Node {
  Node* next;
  int value;
};
__global__ void walks(const Node* node) {
  int sum = 0;
  for (; node != nullptr; node = node->next) {
    sum += node->value;
  }
  words[0] = sum;
}
static int stored_order(Setup) {
  int* both[2] = {on_device<int>(64), on_device<int>(64)};
  int** const stored = on_device<int*>(2);
  cudaMemcpy(stored, both, sizeof both, cudaMemcpyHostToDevice);
  compares_stored<<<1, 1>>>(stored);
  return static_cast<int>(cudaDeviceSynchronize());
}
static int stored_list(Setup) {
  Node* list = nullptr;
  for (int i = 0; i < 3; ++i) {
    const Node node{list, i};
    list = on_device<Node>(1);
    cudaMemcpy(list, &node, sizeof node, cudaMemcpyHostToDevice);
  }
  walks<<<1, 1>>>(list);
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- The host's memory -------------------------------------------------------------------------------------------

//@ case: heap-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: heap-contents
//@ verdict: unknown
//@ coverage: bounded
//@ case: heap-cleared
//@ verdict: terminates
//@ case: heap-copied
//@ verdict: terminates
static int heap_order(Setup) {
  const auto a = std::make_unique<int[]>(2048), b = std::make_unique<int[]>(2048);
  return hang_if(a.get() > b.get());
}
//@ case: stream-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: event-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: streams-differ
//@ verdict: terminates
static int stream_order(Setup) {
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  return hang_if(a > b);
}
static int event_order(Setup) {
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  return hang_if(a > b);
}
//@ case: graph-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: node-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: nodes-differ
//@ verdict: terminates
static int graph_order(Setup) {
  cudaGraph_t a, b;
  cudaGraphCreate(&a, 0);
  cudaGraphCreate(&b, 0);
  return hang_if(a > b);
}
static int node_order(bool decides) {
  cudaGraph_t graph;
  cudaGraphNode_t a, b;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddEmptyNode(&a, graph, nullptr, 0);
  cudaGraphAddEmptyNode(&b, graph, nullptr, 0);
  return hang_if(decides ? a > b : a == b);
}
static int streams_differ(Setup) {
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  return hang_if(a == b);
}
enum class Heap { Contents, Cleared, Copied };
template <Heap what> static int heap(Setup) {
  constexpr std::size_t count = 5000;
  auto* const p = static_cast<int*>(what == Heap::Cleared ? std::calloc(count, sizeof(int))
                                                           : std::malloc(count * sizeof(int)));
  bool bad = false;
  if (what == Heap::Copied) {
    cudaMemcpy(on_device<int>(count), p, count * sizeof(int), cudaMemcpyHostToDevice);
  } else {
    bad = *static_cast<volatile int*>(p + 4000) != 0;
  }
  const int status = hang_if(bad);
  std::free(p);
  return status;
}

// Stack, mappings, pinned and managed memory.
//@ case: stack-hash
//@ verdict: unknown
//@ coverage: bounded
//@ case: mapped-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: pinned-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: managed-hash
//@ verdict: unknown
//@ coverage: bounded
//@ case: stack-printed
//@ verdict: terminates
//@ case: pinned-aligned
//@ verdict: terminates
static int* pinned(std::size_t count) {
  int* p = nullptr;
  cudaMallocHost(&p, count * sizeof *p);
  return p;
}
static int stack_hash(Setup) {
  int local = 0;
  return blocks(number(&local) >> 12);
}
static int mapped_order(Setup) {
  const auto map = [] { return mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); };
  const void *a = map(), *b = map();
  return hang_if(a < b);
}
static int pinned_order(Setup) {
  const int *a = pinned(1 << 10), *b = pinned(1 << 10);
  return hang_if(a < b);
}
static int managed_hash(Setup) {
  int* p = nullptr;
  cudaMallocManaged(&p, 64);
  return blocks(number(p) >> 24);
}
static int stack_printed(Setup) {
  int local = 0;
  std::printf("%p\n", static_cast<void*>(&local));
  return hang_if(false);
}
static int pinned_aligned(Setup) { return hang_if(number(pinned(16)) % 64 != 0); }

// --- Numbers of processes and threads ----------------------------------------------------------------------------

//@ case: process
//@ verdict: unknown
//@ coverage: bounded
//@ case: kernels-thread
//@ verdict: unknown
//@ coverage: bounded
//@ case: thread-hash
//@ verdict: unknown
//@ coverage: bounded
//@ case: process-printed
//@ verdict: terminates
//@ case: process-as-data
//@ verdict: terminates
//@ case: thread-equal
//@ verdict: terminates
__global__ void stores(int value) { words[1] = value; }
static int process(Setup) { return hang_if(getpid() % 2 == 0); }
static int kernels_thread(Setup) { return hang_if(gettid() % 2 == 0); }
static int thread_hash(Setup) {
  return hang_if(pthread_self() / 16 % 4 > 1);
}
static int process_printed(Setup) {
  std::printf("%d\n", static_cast<int>(getpid()));
  return hang_if(false);
}
static int process_as_data(Setup) {
  stores<<<1, 1>>>(static_cast<int>(getpid()));
  return static_cast<int>(cudaDeviceSynchronize());
}
static int thread_equal(Setup) {
  return hang_if(pthread_equal(pthread_self(), pthread_self()) == 0);
}

// In executions of one kind only, whichever block comes first.
//@ case: process-after-first-block
//@ verdict: unknown
//@ coverage: bounded
//@ case: process-after-second-block
//@ verdict: unknown
//@ coverage: bounded
//@ case: order-after-first-block
//@ verdict: unknown
//@ coverage: bounded
//@ case: order-after-second-block
//@ verdict: unknown
//@ coverage: bounded
//@ case: process-after-no-block
//@ verdict: terminates
__global__ void first_block(int* first, int** compared) {
  if (atomicAdd(&words[2], 1) == 0) {
    *first = static_cast<int>(blockIdx.x);
    auto* const numbers = reinterpret_cast<volatile std::uintptr_t*>(compared);
    if (numbers[2] == blockIdx.x && numbers[0] > numbers[1]) {
      while (never.load(memory_order_relaxed) == 0) {
      }
    }
  }
}
static int first_of_blocks(int* compared) {
  int* first = nullptr;
  cudaMallocManaged(&first, sizeof *first);
  int* all[3] = {on_device<int>(64), on_device<int>(64), compared};
  int** const stored = on_device<int*>(3);
  cudaMemcpy(stored, all, sizeof all, cudaMemcpyHostToDevice);
  first_block<<<2, 1>>>(first, stored);
  cudaDeviceSynchronize();
  return *first;
}
static int process_after(int block) {
  const bool is_first = first_of_blocks(reinterpret_cast<int*>(99)) == block;
  return hang_if(is_first && getpid() % 2 == 0);
}
static int order_after(std::uintptr_t block) {
  first_of_blocks(reinterpret_cast<int*>(block));
  return hang_if(false);
}
// Whoever is given such a number knows who is meant.
//@ case: process-known
//@ verdict: terminates
//@ case: process-by-syscall
//@ verdict: unknown
//@ coverage: bounded
//@ case: process-of-group
//@ verdict: unknown
//@ coverage: bounded
//@ case: process-nobody
//@ verdict: terminates
static std::string proc(const char* what) { return "/proc/" + std::to_string(getpid()) + what; }
static bool all_known() {
  cpu_set_t processors;
  sched_param parameters{};
  rlimit limit{};
  const pid_t self = getpid();
  const std::string memory = proc("/statm");
  char program[4096];
  const auto is_there = [](int file) { return file >= 0 && close(file) == 0; };
  std::ifstream stream(memory);
  std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(proc("").c_str()), closedir);
  return sched_getaffinity(self, sizeof processors, &processors) == 0 &&
         sched_setaffinity(gettid(), sizeof processors, &processors) == 0 &&
         sched_getscheduler(self) == SCHED_OTHER && sched_getparam(self, &parameters) == 0 &&
         setpriority(PRIO_PROCESS, static_cast<id_t>(self),
                     getpriority(PRIO_PROCESS, static_cast<id_t>(self))) == 0 &&
         getpgid(self) == getpgrp() && getsid(self) == getsid(0) && kill(self, 0) == 0 && kill(getppid(), 0) == 0 &&
         prlimit(self, RLIMIT_NOFILE, nullptr, &limit) == 0 && syscall(SYS_getpid) == self &&
         syscall(SYS_gettid) == gettid() && syscall(SYS_tgkill, self, gettid(), 0) == 0 &&
         syscall(SYS_sched_getaffinity, self, sizeof processors, &processors) > 0 && stream.is_open() &&
         is_there(open(memory.c_str(), O_RDONLY)) && access(memory.c_str(), R_OK) == 0 &&
         readlink(proc("/exe").c_str(), program, sizeof program) > 0 && folder != nullptr;
}
static int process_known(Setup) { return hang_if(!all_known()); }
static int process_by_syscall(Setup) { return hang_if(syscall(SYS_gettid) % 2 == 0); }
static int process_of_group(Setup) { return blocks(static_cast<std::uint64_t>(getpgid(0))); }
static int process_nobody(Setup) { return hang_if(kill(getpid() + 1000, 0) == 0 || getpgid(getpid() + 1000) >= 0); }

// --- How busy the machine is -----------------------------------------------------------------------------------------

//@ case: free-memory
//@ verdict: unknown
//@ coverage: bounded
//@ case: free-memory-printed
//@ verdict: terminates
static int free_memory(bool decides) {
  struct sysinfo info;
  sysinfo(&info);
  std::printf("%lu\n", info.freeram);
  return hang_if(decides && info.freeram < info.totalram / 4);
}

//@ case: free-pages
//@ verdict: unknown
//@ coverage: bounded
static int free_pages(Setup) {
  return hang_if(sysconf(_SC_AVPHYS_PAGES) < sysconf(_SC_PHYS_PAGES) / 4);
}

//@ case: free-space
//@ verdict: unknown
//@ coverage: bounded
//@ case: free-space-known
//@ verdict: terminates
static int free_space(bool decides) {
  struct statvfs space;
  statvfs("/", &space);
  return hang_if(decides ? space.f_bavail < space.f_blocks / 4 : space.f_bavail > space.f_blocks);
}

//@ case: used-memory
//@ verdict: unknown
//@ coverage: bounded
static int used_memory(Setup) {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return hang_if(used.ru_maxrss > 150'000);
}

//@ case: processor
//@ verdict: unknown
//@ coverage: bounded
//@ case: processor-known
//@ verdict: terminates
static int processor(bool decides) {
  const int number = sched_getcpu();
  return hang_if(decides ? number != 0 : number >= sysconf(_SC_NPROCESSORS_CONF));
}

//@ case: load
//@ verdict: unknown
//@ coverage: bounded
static int load(Setup) {
  double loads[1];
  return hang_if(getloadavg(loads, 1) == 1 && loads[0] > 8);
}

// --- Which time it is ------------------------------------------------------------------------------------------------

//@ case: odd-second
//@ verdict: unknown
//@ coverage: bounded
//@ case: odd-second-as-data
//@ verdict: terminates
static int odd_second(bool decides) {
  const std::time_t now = std::time(nullptr);
  int* const p = on_device<int>(1);
  const int odd = now % 2;
  cudaMemcpy(p, &odd, sizeof odd, cudaMemcpyDefault);
  return hang_if(decides && odd != 0);
}

//@ case: weekday
//@ verdict: unknown
//@ coverage: bounded
static int weekday(Setup) {
  const std::time_t now = std::time(nullptr);
  return hang_if(std::localtime(&now)->tm_wday != 4); // the day on which a search begins
}

//@ case: even-microsecond
//@ verdict: unknown
//@ coverage: bounded
static int even_microsecond(Setup) {
  timeval now;
  gettimeofday(&now, nullptr);
  return hang_if(now.tv_usec % 2 == 0);
}

// --- Random numbers ----------------------------------------------------------------------------------------------

//@ case: random-call
//@ verdict: unknown
//@ coverage: bounded
//@ case: random-syscall
//@ verdict: unknown
//@ coverage: bounded
//@ case: random-device
//@ verdict: unknown
//@ coverage: bounded
//@ case: random-file
//@ verdict: unknown
//@ coverage: bounded
//@ case: random-of-process
//@ verdict: unknown
//@ coverage: bounded
//@ case: random-stream
//@ verdict: unknown
//@ coverage: bounded
//@ case: random-data
//@ verdict: terminates
__global__ void adds(const unsigned* from, int count) {
  unsigned sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += from[i];
  }
  words[2] = static_cast<int>(sum);
}
static int random_of_process(Setup) {
  return blocks(*reinterpret_cast<const unsigned char*>(getauxval(AT_RANDOM)));
}
static int random_syscall(Setup) {
  unsigned char byte = 0;
  syscall(SYS_getrandom, &byte, sizeof byte, 0);
  return blocks(byte);
}
static int random_call(Setup) {
  unsigned char byte = 0;
  getrandom(&byte, 1, 0);
  return blocks(byte);
}
static int random_of_device(Setup) {
  std::random_device device;
  return blocks(device());
}
static int random_file(Setup) {
  std::FILE* const file = std::fopen("/dev/urandom", "rb");
  const int byte = std::fgetc(file);
  std::fclose(file);
  return blocks(static_cast<unsigned>(byte));
}
static int random_stream(Setup) {
  std::ifstream file("/dev/urandom", std::ios::binary);
  return blocks(static_cast<unsigned>(file.get()));
}
// The processor's own.
//@ case: random-instruction
//@ verdict: unknown
//@ coverage: bounded
//@ case: random-instruction-printed
//@ verdict: terminates
//@ case: cycles
//@ verdict: unknown
//@ coverage: bounded
//@ case: cycles-odd
//@ verdict: unknown
//@ coverage: bounded
//@ case: cycles-by-assembly
//@ verdict: unknown
//@ coverage: bounded
//@ case: cycles-printed
//@ verdict: terminates
static std::uint64_t processors_word() {
  unsigned long long word = 0;
  unsigned char is_there = 0;
  asm volatile("rdrand %0; setc %1" : "=r"(word), "=q"(is_there) : : "cc");
  return is_there != 0 ? word : 0;
}
static std::uint64_t cycles_by_assembly() {
  unsigned low = 0, high = 0, processor = 0;
  asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
  static_cast<void>(processor);
  return std::uint64_t{high} << 32 | low;
}
template <class Count> static int counts(Count count, bool decides) {
  double kept = 0.5; // in a register that a call may change
  const std::uint64_t begin = count();
  hangs_if<<<1, 1>>>(0);
  const int status = static_cast<int>(cudaDeviceSynchronize());
  const std::uint64_t passed = count() - begin;
  kept += static_cast<double>(status);
  std::printf("%llu %f\n", static_cast<unsigned long long>(passed), kept);
  return hang_if(kept != 0.5 || (decides && passed > 1'000'000'000'000));
}
static int random_instruction(Setup) { return blocks(processors_word() >> 61); }
static int random_instruction_printed(Setup) {
  std::printf("%llx\n", static_cast<unsigned long long>(processors_word()));
  return hang_if(false);
}
static int cycles(bool decides) {
  return counts([] { return std::uint64_t{__rdtsc()}; }, decides);
}
static int random_data(Setup) {
  std::mt19937 engine{std::random_device{}()};
  std::vector<unsigned> data(16);
  for (unsigned& word : data) {
    word = static_cast<unsigned>(engine());
  }
  auto* const p = on_device<unsigned>(data.size());
  cudaMemcpy(p, data.data(), data.size() * sizeof data[0], cudaMemcpyHostToDevice);
  adds<<<1, 1>>>(p, static_cast<int>(data.size()));
  return static_cast<int>(cudaDeviceSynchronize());
}

// --- Inputs ------------------------------------------------------------------------------------------------------

//@ case: variable
//@ verdict: terminates
//@ bound: environment variable 'HEDDLE_TEST_N' as it is
//@ case: file-changed
//@ verdict: unknown
//@ coverage: bounded
static int variable(Setup) {
  return hang_if(std::getenv("HEDDLE_TEST_N") != nullptr);
}
static int file_changed(Setup) {
  char name[] = "/tmp/heddle-asked-XXXXXX";
  close(mkstemp(name));
  std::ofstream(name, std::ios::app) << "x";
  std::string text;
  std::ifstream(name) >> text;
  std::remove(name);
  return hang_if(text.size() > 3);
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
    {"device-order", device_order},
    {"device-hash", device_hash},
    {"variable-hash", variable_hash},
    {"device-printed", device_printed},
    {"device-aligned", device_aligned},
    {"device-again", [](Setup) { return device_again(true); }},
    {"device-forgotten", [](Setup) { return device_again(false); }},
    {"stored-order", stored_order},
    {"stored-list", stored_list},
    {"heap-order", heap_order},
    {"stream-order", stream_order},
    {"event-order", event_order},
    {"streams-differ", streams_differ},
    {"graph-order", graph_order},
    {"node-order", [](Setup) { return node_order(true); }},
    {"nodes-differ", [](Setup) { return node_order(false); }},
    {"heap-contents", heap<Heap::Contents>},
    {"heap-cleared", heap<Heap::Cleared>},
    {"heap-copied", heap<Heap::Copied>},
    {"stack-hash", stack_hash},
    {"mapped-order", mapped_order},
    {"pinned-order", pinned_order},
    {"managed-hash", managed_hash},
    {"stack-printed", stack_printed},
    {"pinned-aligned", pinned_aligned},
    {"process", process},
    {"kernels-thread", kernels_thread},
    {"thread-hash", thread_hash},
    {"process-printed", process_printed},
    {"process-as-data", process_as_data},
    {"thread-equal", thread_equal},
    {"process-after-first-block", [](Setup) { return process_after(0); }},
    {"process-after-second-block", [](Setup) { return process_after(1); }},
    {"process-after-no-block", [](Setup) { return process_after(2); }},
    {"order-after-first-block", [](Setup) { return order_after(0); }},
    {"order-after-second-block", [](Setup) { return order_after(1); }},
    {"process-known", process_known},
    {"process-by-syscall", process_by_syscall},
    {"process-of-group", process_of_group},
    {"process-nobody", process_nobody},
    {"free-memory", [](Setup) { return free_memory(true); }},
    {"free-memory-printed", [](Setup) { return free_memory(false); }},
    {"free-pages", free_pages},
    {"free-space", [](Setup) { return free_space(true); }},
    {"free-space-known", [](Setup) { return free_space(false); }},
    {"used-memory", used_memory},
    {"processor", [](Setup) { return processor(true); }},
    {"processor-known", [](Setup) { return processor(false); }},
    {"load", load},
    {"odd-second", [](Setup) { return odd_second(true); }},
    {"odd-second-as-data", [](Setup) { return odd_second(false); }},
    {"weekday", weekday},
    {"even-microsecond", even_microsecond},
    {"random-of-process", random_of_process},
    {"random-call", random_call},
    {"random-syscall", random_syscall},
    {"random-device", random_of_device},
    {"random-file", random_file},
    {"random-stream", random_stream},
    {"random-data", random_data},
    {"random-instruction", random_instruction},
    {"random-instruction-printed", random_instruction_printed},
    {"cycles", [](Setup) { return cycles(true); }},
    {"cycles-odd", [](Setup) { return hang_if(__rdtsc() % 2 != 0); }},
    {"cycles-by-assembly", [](Setup) { return counts(cycles_by_assembly, true); }},
    {"cycles-printed", [](Setup) { return cycles(false); }},
    {"variable", variable},
    {"file-changed", file_changed},
  });
}
