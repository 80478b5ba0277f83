// Programs with host threads of every kind that the standard library offers. The first argument
// names one; it ends with 0 if all that it checks holds in the schedule at hand, else with 99, or
// with a number that tells which of several right results came about.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

#include <atomic>
#include <barrier>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <iostream>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                 \
      std::quick_exit(99);                                                                         \
    }                                                                                              \
  } while (false)

using namespace std::chrono_literals;

namespace {

int mutex_counter() {
  std::mutex mutex;
  int counter = 0;
  const auto work = [&] {
    for (int i = 0; i < 3; ++i) {
      const std::lock_guard lock(mutex);
      const int seen = counter;
      std::this_thread::yield();
      counter = seen + 1;
    }
  };
  std::thread a(work), b(work);
  work();
  a.join();
  b.join();
  CHECK(counter == 9);
  return 0;
}

int without_mutex() { // may lose an update: ends with 1 or 2
  std::atomic<int> counter{0};
  const auto work = [&] {
    const int seen = counter.load();
    counter.store(seen + 1);
  };
  std::thread a(work);
  work();
  a.join();
  return counter.load();
}

int store_buffering() { // sequentially consistent: 1, 2 or 3, never 0
  std::atomic<int> x{0}, y{0};
  int seen_by_a = 0, seen_by_b = 0;
  std::thread a([&] {
    x.store(1);
    seen_by_a = y.load();
  });
  std::thread b([&] {
    y.store(1);
    seen_by_b = x.load();
  });
  a.join();
  b.join();
  return seen_by_a + 2 * seen_by_b;
}

int peterson() {
  std::atomic<int> flag[2] = {}, turn{0}, inside{0};
  const auto work = [&](int me) {
    flag[me].store(1);
    turn.store(1 - me);
    while (flag[1 - me].load() != 0 && turn.load() == 1 - me) {
    }
    CHECK(inside.fetch_add(1) == 0);
    inside.fetch_sub(1);
    flag[me].store(0);
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  return 0;
}

int lock_order() { // may deadlock
  std::mutex a, b;
  std::thread other([&] {
    const std::lock_guard first(b);
    const std::lock_guard second(a);
  });
  {
    const std::lock_guard first(a);
    const std::lock_guard second(b);
  }
  other.join();
  return 0;
}

int scoped_lock() { // the same without
  std::mutex a, b;
  std::thread other([&] { const std::scoped_lock both(b, a); });
  {
    const std::scoped_lock both(a, b);
  }
  other.join();
  return 0;
}

int ping_pong() {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  const auto play = [&](int me) {
    for (int i = 0; i < 3; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return turn == me; });
      turn = 1 - me;
      changed.notify_one();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  return 0;
}

int lost_wake_up() { // may deadlock: the flag is set without the mutex
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> ready{false};
  std::thread other([&] {
    ready.store(true);
    changed.notify_one();
  });
  {
    std::unique_lock lock(mutex);
    while (!ready.load()) {
      changed.wait(lock);
    }
  }
  other.join();
  return 0;
}

int wrong_one_woken() { // may deadlock: notify_one wakes the one that cannot go on
  std::mutex mutex;
  std::condition_variable changed;
  int stage = 0;
  const auto wait_for = [&](int wanted) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stage >= wanted; });
    ++stage;
  };
  std::thread first(wait_for, 1), second(wait_for, 2);
  {
    const std::lock_guard lock(mutex);
    stage = 1;
  }
  changed.notify_one();
  first.join();
  changed.notify_one();
  second.join();
  return 0;
}

int futures() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread setter([&] { promise.set_value(41); });
  CHECK(future.get() == 41);
  setter.join();
  auto task = std::async(std::launch::async, [](int x) { return x + 1; }, 41);
  CHECK(task.get() == 42);
  auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); });
  try {
    failing.get();
    CHECK(false);
  } catch (const std::runtime_error& error) {
    CHECK(std::strcmp(error.what(), "no") == 0);
  }
  std::promise<void> never;
  CHECK(never.get_future().wait_for(10ms) == std::future_status::timeout);
  return 0;
}

int atomic_wait() {
  std::atomic<int> stage{0};
  std::thread other([&] {
    stage.wait(0);
    CHECK(stage.load() == 1);
    stage.store(2);
    stage.notify_all();
  });
  stage.store(1);
  stage.notify_one();
  stage.wait(1);
  CHECK(stage.load() == 2);
  other.join();
  return 0;
}

int forgotten_notify() { // may deadlock
  std::atomic<int> stage{0};
  std::thread other([&] { stage.wait(0); });
  stage.store(1);
  other.join();
  return 0;
}

int once() {
  std::once_flag flag;
  std::atomic<int> calls{0};
  const auto work = [&](bool fails) {
    try {
      std::call_once(flag, [&] {
        calls.fetch_add(1);
        std::this_thread::yield();
        if (fails) {
          throw 1;
        }
      });
    } catch (int) {
    }
  };
  std::thread a(work, true), b(work, false);
  a.join();
  b.join();
  return calls.load(); // 1 or 2
}

struct Counted {
  static inline std::atomic<int> alive{0};
  int value = 7;
  Counted() { alive.fetch_add(1); }
  ~Counted() { alive.fetch_sub(1); }
};

thread_local Counted counted;
thread_local int plain = 5;

int thread_locals() {
  CHECK(counted.value == 7 && plain == 5);
  counted.value = 1;
  plain = 1;
  errno = 3;
  pthread_key_t key;
  static std::atomic<int> destroyed{0};
  pthread_key_create(&key, [](void* p) { destroyed.fetch_add(*static_cast<int*>(p)); });
  static int one = 1, ten = 10;
  pthread_setspecific(key, &one);
  const pthread_t main_thread = pthread_self();
  for (int round = 0; round < 2; ++round) {
    std::thread([&] {
      CHECK(pthread_self() != main_thread);
      CHECK(counted.value == 7 && plain == 5);
      CHECK(Counted::alive.load() == 2);
      counted.value = 2;
      plain = 2;
      errno = 4;
      CHECK(pthread_getspecific(key) == nullptr);
      pthread_setspecific(key, &ten);
      std::this_thread::yield();
      CHECK(counted.value == 2 && plain == 2 && errno == 4);
      CHECK(std::isalpha('x') && !std::isalpha('1'));
      std::ostringstream text;
      text << 1.5 << std::this_thread::get_id();
      CHECK(text.str().size() > 3);
    }).join();
  }
  CHECK(counted.value == 1 && plain == 1 && errno == 3);
  CHECK(Counted::alive.load() == 1);
  CHECK(destroyed.load() == 20);
  CHECK(pthread_getspecific(key) == &one);
  return 0;
}

int latches() {
  std::latch latch(2);
  std::barrier barrier(2);
  std::counting_semaphore<3> semaphore(0);
  std::thread other([&] {
    latch.arrive_and_wait();
    barrier.arrive_and_wait();
    semaphore.release();
    barrier.arrive_and_wait();
  });
  latch.arrive_and_wait();
  barrier.arrive_and_wait();
  semaphore.acquire();
  barrier.arrive_and_wait();
  other.join();
  return 0;
}

int stop_tokens() {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::atomic<bool> stopped{false};
  {
    std::jthread worker([&](std::stop_token token) {
      std::unique_lock lock(mutex);
      changed.wait(lock, token, [] { return false; });
      stopped.store(true);
    });
  }
  CHECK(stopped.load());
  return 0;
}

int shared_locks() {
  std::shared_mutex mutex;
  int value = 0;
  const auto read = [&] {
    const std::shared_lock lock(mutex);
    const int seen = value;
    std::this_thread::yield();
    CHECK(seen == value);
  };
  std::thread a(read), b(read);
  {
    const std::unique_lock lock(mutex);
    ++value;
    std::this_thread::yield();
    ++value;
  }
  a.join();
  b.join();
  std::recursive_mutex recursive;
  recursive.lock();
  recursive.lock();
  std::thread([&] { CHECK(!recursive.try_lock()); }).join();
  recursive.unlock();
  recursive.unlock();
  std::thread([&] {
    CHECK(recursive.try_lock());
    recursive.unlock();
  }).join();
  std::timed_mutex timed;
  timed.lock();
  std::thread([&] {
    const auto before = std::chrono::steady_clock::now();
    CHECK(!timed.try_lock_for(20ms));
    CHECK(std::chrono::steady_clock::now() - before >= 20ms);
  }).join();
  timed.unlock();
  return 0;
}

int posix_objects() {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 3);
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  pthread_spinlock_t spin;
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  std::atomic<int> serial{0};
  int counter = 0;
  const auto work = [&] {
    serial.fetch_add(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD ? 1 : 0);
    pthread_spin_lock(&spin);
    ++counter;
    pthread_spin_unlock(&spin);
    sem_post(&semaphore);
    pthread_barrier_wait(&barrier);
  };
  std::thread a(work), b(work);
  work();
  for (int i = 0; i < 3; ++i) {
    CHECK(sem_wait(&semaphore) == 0);
  }
  CHECK(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
  CHECK(serial.load() == 1 && counter == 3);
  a.join();
  b.join();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  CHECK(pthread_mutex_unlock(&mutex) == EPERM);
  CHECK(pthread_mutex_lock(&mutex) == 0);
  CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_destroy(&mutex) == 0);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
  return 0;
}

struct Bracket {
  int* p;
  ~Bracket() { ++*p; }
};

int leaving() {
  static int destroyed = 0;
  pthread_t thread;
  pthread_create(
      &thread,
      nullptr,
      [](void* argument) -> void* {
        const Bracket bracket{&destroyed};
        if (argument != nullptr) {
          pthread_exit(argument);
        }
        return nullptr;
      },
      &destroyed
  );
  void* result = nullptr;
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result == &destroyed && destroyed == 1);
  static std::atomic<bool> done{false};
  std::thread([] { done.store(true); }).detach();
  while (!done.load()) {
    std::this_thread::yield();
  }
  try {
    std::thread([] {
      try {
        throw std::runtime_error("inside");
      } catch (const std::exception& error) {
        CHECK(std::strcmp(error.what(), "inside") == 0);
      }
    }).join();
  } catch (...) {
    CHECK(false);
  }
  CHECK(pthread_join(pthread_self(), nullptr) == EDEADLK);
  return 0;
}

/// Everything that takes the number of a thread, or gives one.
int numbers_of_threads() {
  static pthread_t inside[2];
  static std::thread::id printed[2];
  static int on_stack[2];
  static pthread_mutex_t asking =
      PTHREAD_MUTEX_INITIALIZER; // of a thread that has ended little is known
  pthread_t created[2];
  CHECK(pthread_mutex_lock(&asking) == 0);
  for (int i = 0; i < 2; ++i) {
    CHECK(
        pthread_create(
            &created[i],
            nullptr,
            [](void* which) -> void* {
              const auto i = reinterpret_cast<std::intptr_t>(which);
              inside[i] = pthread_self();
              printed[i] = std::this_thread::get_id();
              char name[16] = "";
              CHECK(pthread_setname_np(pthread_self(), i == 0 ? "zero" : "one") == 0);
              CHECK(pthread_setname_np(pthread_self(), "more than sixteen bytes") == ERANGE);
              std::this_thread::yield();
              CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
              CHECK(std::strcmp(name, i == 0 ? "zero" : "one") == 0);
              CHECK(pthread_getname_np(pthread_self(), name, 3) == ERANGE);
              pthread_attr_t attributes;
              CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
              void* low = nullptr;
              std::size_t bytes = 0;
              CHECK(pthread_attr_getstack(&attributes, &low, &bytes) == 0);
              const auto here = reinterpret_cast<std::uintptr_t>(&attributes);
              const auto from = reinterpret_cast<std::uintptr_t>(low);
              on_stack[i] = here > from && here < from + bytes ? 1 : 0;
              CHECK(i == 0 || pthread_detach(pthread_self()) == 0);
              CHECK(pthread_mutex_lock(&asking) == 0);
              CHECK(pthread_mutex_unlock(&asking) == 0);
              return nullptr;
            },
            reinterpret_cast<void*>(static_cast<std::intptr_t>(i))
        ) == 0
    );
  }
  const pthread_t self = pthread_self();
  clockid_t clock = 0;
  cpu_set_t processors;
  int policy = -1;
  sched_param parameters{};
  for (const pthread_t any : {self, created[0]}) {
    CHECK(pthread_getcpuclockid(any, &clock) == 0);
    CHECK(pthread_getaffinity_np(any, sizeof processors, &processors) == 0);
    CHECK(pthread_setaffinity_np(any, sizeof processors, &processors) == 0);
    CHECK(pthread_getschedparam(any, &policy, &parameters) == 0 && policy == SCHED_OTHER);
    CHECK(pthread_kill(any, 0) == 0);
  }
  CHECK(pthread_mutex_unlock(&asking) == 0);
  CHECK(!pthread_equal(self, created[0]) && !pthread_equal(created[0], created[1]));
  std::this_thread::yield();
  while (printed[0] == std::thread::id() || printed[1] == std::thread::id()) {
    std::this_thread::yield();
  }
  CHECK(std::hash<std::thread::id>{}(printed[0]) != std::hash<std::thread::id>{}(printed[1]));
  CHECK(std::this_thread::get_id() != printed[0] && self == pthread_self());
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_equal(inside[i], created[i]));
  }
  CHECK(pthread_join(created[0], nullptr) == 0 && on_stack[0] == 1);
  return 0;
}

int main_leaves_first() {
  static std::atomic<int> left{2};
  for (int i = 0; i < 2; ++i) {
    std::thread([] {
      if (left.fetch_sub(1) == 1) {
        std::puts("both were here");
        std::fflush(stdout);
      }
    }).detach();
  }
  pthread_exit(nullptr);
}

struct Slow {
  static inline std::atomic<int> made{0};
  Slow() {
    std::this_thread::yield();
    made.fetch_add(1);
  }
};

int static_variables() {
  const auto work = [] {
    static Slow slow;
    CHECK(Slow::made.load() == 1);
  };
  std::thread a(work), b(work);
  work();
  a.join();
  b.join();
  return 0;
}

int deadlines() {
  const auto start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable changed;
  {
    std::unique_lock lock(mutex);
    CHECK(!changed.wait_for(lock, 30ms, [] { return false; }));
  }
  CHECK(std::chrono::steady_clock::now() - start >= 30ms);
  const auto before = std::chrono::system_clock::now();
  std::this_thread::sleep_for(20ms);
  CHECK(std::chrono::system_clock::now() - before >= 20ms);
  const auto end = std::chrono::steady_clock::now() + 50ms;
  std::atomic<bool> never{false};
  while (!never.load() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
  }
  std::binary_semaphore semaphore(0);
  CHECK(!semaphore.try_acquire_for(5ms));
  return 0;
}

int many() {
  std::map<std::thread::id, int> seen;
  std::vector<void*> places;
  for (int i = 0; i < 100; ++i) {
    std::thread([&] {
      ++seen[std::this_thread::get_id()];
      places.push_back(std::malloc(100));
      std::free(places.back());
    }).join();
  }
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int i = 0; i < 40; ++i) {
    threads.emplace_back([&sum, i] { sum.fetch_add(i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(sum.load() == 780);
  return 0;
}

int dining_philosophers() { // may deadlock
  std::mutex forks[3];
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&forks, i] {
      const std::lock_guard left(forks[i]);
      const std::lock_guard right(forks[(i + 1) % 3]);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return 0;
}

int threads_for_ever() { // never ends, but comes back to a state
  std::atomic<int> rounds{0};
  while (true) {
    std::thread([&] { rounds.store(1); }).join();
  }
}

int shared_pointers() {
  struct Noted {
    std::atomic<int>* count;
    ~Noted() { count->fetch_add(1); }
  };
  std::atomic<int> count{0};
  auto shared = std::make_shared<Noted>(&count);
  std::thread other([copy = shared] { std::this_thread::yield(); });
  shared.reset();
  other.join();
  CHECK(count.load() == 1);
  return 0;
}

int endless() { // never ends in every schedule, but comes back to a state
  std::thread other([] {
    volatile int same = 0;
    while (true) {
      same = 1;
    }
  });
  other.join();
  return 0;
}

int endless_beside() { // ends: whoever computes does not hold up the others
  static std::atomic<bool> begun{false};
  std::thread([] {
    begun.store(true);
    while (true) {
    }
  }).detach();
  while (!begun.load()) {
    std::this_thread::yield();
  }
  return 0;
}

const std::map<std::string, int (*)()> programs = {
    {"mutex_counter", mutex_counter},
    {"without_mutex", without_mutex},
    {"store_buffering", store_buffering},
    {"peterson", peterson},
    {"lock_order", lock_order},
    {"scoped_lock", scoped_lock},
    {"ping_pong", ping_pong},
    {"lost_wake_up", lost_wake_up},
    {"wrong_one_woken", wrong_one_woken},
    {"futures", futures},
    {"atomic_wait", atomic_wait},
    {"forgotten_notify", forgotten_notify},
    {"once", once},
    {"thread_locals", thread_locals},
    {"latches", latches},
    {"stop_tokens", stop_tokens},
    {"shared_locks", shared_locks},
    {"posix_objects", posix_objects},
    {"leaving", leaving},
    {"main_leaves_first", main_leaves_first},
    {"static_variables", static_variables},
    {"deadlines", deadlines},
    {"many", many},
    {"numbers_of_threads", numbers_of_threads},
    {"dining_philosophers", dining_philosophers},
    {"shared_pointers", shared_pointers},
    {"endless", endless},
    {"threads_for_ever", threads_for_ever},
    {"endless_beside", endless_beside},
};

} // namespace

int main(int argc, char** argv) {
  if (argc == 2 && programs.contains(argv[1])) {
    return programs.at(argv[1])();
  }
  for (const auto& [name, program] : programs) {
    std::puts(name.c_str());
  }
  return 98;
}
