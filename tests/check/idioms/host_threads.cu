// Several host threads, alone and with the device: locks, condition variables, feeding and waiting.
//
// Host threads are guaranteed from their creation ([HOST]); what they wait for decides.
#include "cases.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Mail {
  SystemAtomic<int> request, answer, stop;
};

static Mail* make_mail() {
  void* memory = nullptr;
  cudaMallocHost(&memory, sizeof(Mail));
  return new (memory) Mail{};
}

__global__ void answer(Mail* mail) {
  while (mail->request.load(memory_order_acquire) == 0) {
  }
  mail->answer.store(1, memory_order_release);
}
__global__ void set_answer(Mail* mail) { mail->answer.store(1, memory_order_release); }

static int finish() { return static_cast<int>(cudaDeviceSynchronize()); }

// --- Hosts among themselves -----------------------------------------------------------------------------

//@ case: mutexes-crossed
//@ verdict: may-hang
//@ finding: deadlock
//@ case: mutexes-ordered
//@ verdict: terminates
template <bool crossed> static int mutexes(Setup) {
  static std::mutex a, b;
  std::thread other([] {
    std::lock_guard first(crossed ? b : a);
    std::lock_guard second(crossed ? a : b);
  });
  {
    std::lock_guard first(a);
    std::lock_guard second(b);
  }
  other.join();
  return 0;
}

// Waits for a notification that may have come before; with a condition, and without.
//@ case: notified-with-condition
//@ verdict: terminates
//@ case: notified-without-condition
//@ verdict: may-hang
//@ finding: deadlock HANG-DEADLOCK
template <bool condition> static int notified(Setup) {
  static std::mutex mutex;
  static std::condition_variable changed;
  static bool ready = false;
  std::thread other([] {
    {
      std::lock_guard lock(mutex);
      ready = true;
    }
    changed.notify_one();
  });
  {
    std::unique_lock lock(mutex);
    if (condition) {
      changed.wait(lock, [] { return ready; });
    } else {
      changed.wait(lock);
    }
  }
  other.join();
  return 0;
}

// --- One host thread waits in a call, another one does what the kernel waits for -------------------------

//@ case: waiter-and-feeder
//@ verdict: terminates
//@ clause: host-threads
static int waiter_and_feeder(Setup) {
  Mail* mail = make_mail();
  std::thread feeder([=] { mail->request.store(1, memory_order_release); });
  answer<<<1, 1>>>(mail);
  const int result = finish();
  feeder.join();
  return result;
}

// The feeder first waits for the answer.
//@ case: feeder-waits-for-answer
//@ verdict: may-hang
//@ finding: livelock
//@ polls: the loops look alike or not
static int feeder_waits_for_answer(Setup) {
  Mail* mail = make_mail();
  std::thread feeder([=] {
    while (mail->answer.load(memory_order_acquire) == 0) {
    }
    mail->request.store(1, memory_order_release);
  });
  answer<<<1, 1>>>(mail);
  const int result = finish();
  feeder.join();
  return result;
}

// The feeder calls the API before it feeds: the call may wait for the kernel.
//@ case: feeder-allocates
//@ verdict: may-hang
//@ finding: starvation API
//@ clause: api
static int feeder_allocates(Setup) {
  Mail* mail = make_mail();
  std::thread feeder([=] {
    void* memory = nullptr;
    cudaMalloc(&memory, 4);
    mail->request.store(1, memory_order_release);
  });
  answer<<<1, 1>>>(mail);
  const int result = finish();
  feeder.join();
  return result;
}

// Each of two threads launches and waits for its own stream.
//@ case: two-launchers
//@ verdict: terminates
//@ case: two-launchers 2
//@ flags: -j4 --states-alone=0
//@ verdict: terminates
static int two_launchers(Setup) {
  Mail* mail = make_mail();
  const auto work = [=] {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    set_answer<<<1, 1, 0, stream>>>(mail);
    cudaStreamSynchronize(stream);
  };
  std::thread other(work);
  work();
  other.join();
  return 0;
}

// A thread that only queries obliges the device for the thread that only spins.
//@ case: spinner-and-querier
//@ verdict: terminates
//@ clause: query host-threads
static int spinner_and_querier(Setup) {
  Mail* mail = make_mail();
  set_answer<<<1, 1>>>(mail);
  std::thread querier([] {
    while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    }
  });
  while (mail->answer.load(memory_order_acquire) == 0) {
  }
  querier.join();
  return finish();
}

// Where the next object lies depends on the order in which others have given theirs back.
// (The two submit in any order: all of that is too much.)
//@ case: allocators
//@ flags: --max-states=300 --schedules=18
//@ verdict: unknown
//@ incomplete: too many states
__device__ Atomic<int> steps;
__global__ void step() { steps.fetch_add(blockIdx.x + steps.load(memory_order_relaxed), memory_order_relaxed); }
static int allocators(Setup) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<int>> kept;
  const auto work = [](int id) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    step<<<2, 1, 0, stream>>>();
    for (int i = 0; i < 3; ++i) {
      auto object = std::make_unique<int>(id);
      const std::lock_guard guard(mutex);
      kept.push_back(std::move(object));
      if (i == 1) {
        kept.pop_back();
      }
    }
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    const std::vector<int> more(id * 100);
    step<<<1, 1, 0, stream>>>();
    kept.emplace_back(new int(static_cast<int>(more.size())));
    cudaStreamSynchronize(stream);
  };
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  return kept.size() == 6 ? 0 : 1;
}

// libcu++ waits on the host by the clock: it remembers when it began and for how long it has waited. The
// search comes to an end all the same.
//@ case: waits-for-nobody
//@ flags: --max-states=500
//@ verdict: may-hang
//@ finding: livelock
//@ coverage: bounded
static int waits_for_nobody(Setup) {
  SystemAtomic<int> never{0};
  never.wait(0);
  return 0;
}

// One thread spins for nobody, and while the other one is kept inside its query a kernel spins as well: the first
// is what hangs even if calls return promptly, and so the only thing to tell, whichever of the two is met first.
//@ case: spins-beside-a-query
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
//@ polls: the loops look alike or not
//@ case: spins-beside-a-query
//@ flags: --no-eager
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
static int spins_beside_a_query(Setup) {
  Mail* mail = make_mail();
  std::thread spinner([mail] {
    while (mail->stop.load(memory_order_relaxed) == 0) {
    }
  });
  answer<<<1, 1>>>(mail);
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    mail->request.store(1, memory_order_release);
  }
  spinner.join();
  return finish();
}

// A thread stands before its access when the kernel is launched that the access may come between two accesses of.
//@ case: stands-before-launch
//@ verdict: may-hang
//@ finding: livelock HANG-LIVELOCK
__global__ void add_and_look(Mail* mail) {
  mail->answer.fetch_add(1);
  if (mail->answer.load() == 1) {
    mail->answer.store(1, memory_order_release);
  }
}
static int stands_before_launch(Setup) {
  Mail* mail = make_mail();
  std::thread adder([mail] { mail->answer.fetch_add(1); });
  add_and_look<<<1, 1>>>(mail);
  adder.join();
  const int error = finish();
  while (mail->answer.load() == 1) {
  }
  return error;
}

static int hang_if(bool bad) {
  if (bad) {
    answer<<<1, 1>>>(make_mail());
  }
  return finish();
}

// Store buffering: a processor may read both old values. The search does not look at that, and says so.
//@ case: store-buffering
//@ verdict: terminates
//@ bound: memory sequentially consistent
static int store_buffering(Setup) {
  static std::atomic<int> x{0}, y{0};
  int seen_y = 0;
  std::thread other([&seen_y] {
    x.store(1, std::memory_order_relaxed);
    seen_y = y.load(std::memory_order_relaxed);
  });
  y.store(1, std::memory_order_relaxed);
  const int seen_x = x.load(std::memory_order_relaxed);
  other.join();
  return hang_if(seen_x == 0 && seen_y == 0);
}

// As many threads as there are processors.
//@ case: threads-by-processors
//@ verdict: terminates
//@ bound: the number of processors as it is
static int threads_by_processors(Setup) {
  return hang_if(std::thread::hardware_concurrency() == 0);
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {
      {"mutexes-crossed", mutexes<true>},
      {"mutexes-ordered", mutexes<false>},
      {"notified-with-condition", notified<true>},
      {"notified-without-condition", notified<false>},
      {"waiter-and-feeder", waiter_and_feeder},
      {"feeder-waits-for-answer", feeder_waits_for_answer},
      {"feeder-allocates", feeder_allocates},
      {"two-launchers", two_launchers},
      {"spinner-and-querier", spinner_and_querier},
      {"allocators", allocators},
      {"waits-for-nobody", waits_for_nobody},
      {"spins-beside-a-query", spins_beside_a_query},
      {"stands-before-launch", stands_before_launch},
      {"store-buffering", store_buffering},
      {"threads-by-processors", threads_by_processors},
  });
}
