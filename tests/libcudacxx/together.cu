// One object, used by host threads and device threads at the same time: the same function runs on both sides, and what it leaves behind does not depend on who was faster.
//@ exercises: system-scope RMW operations under contention between host and device, for every width; wait and notify between the two sides
#include "operations.h"

#include "../run/patience.h"

#include <cstdint>
#include <thread>
#include <vector>

using cuda::thread_scope_system;

constexpr int host_threads = 2, device_threads = 64, rounds = 24;
constexpr int everybody = host_threads + device_threads;

/// What one thread does; `me` numbers the threads of both sides.
template <class T> struct Contended {
  cuda::atomic<T, thread_scope_system> sum, by_cas, parity, bits, cleared, lowest, highest, baton;
  alignas(8) T referenced; // used through atomic_ref only
  cuda::atomic<std::uint64_t, thread_scope_system> taken_out, torn;

  __host__ __device__ void work(int me) {
    using U = cuda::std::make_unsigned_t<T>;
    constexpr int width = sizeof(T) * 8;
    cuda::atomic_ref<T, thread_scope_system> reference(referenced);
    for (int i = 0; i < rounds; ++i) {
      memory_order order = any_order((me + i) % any_orders);
      sum.fetch_add(static_cast<T>(me + i), order);
      T seen = by_cas.load(relaxed);
      while (!by_cas.compare_exchange_weak(seen, static_cast<T>(static_cast<U>(seen) + 1), order)) {
      }
      parity.fetch_xor(static_cast<T>(me * 3 + i), order);
      bits.fetch_or(static_cast<T>(U(1) << (me % width)), order);
      cleared.fetch_and(static_cast<T>(~(U(1) << (i % width))), order);
      lowest.fetch_min(static_cast<T>(100 - (me + i) % 100), order);
      highest.fetch_max(static_cast<T>((me * 5 + i) % 120), order);
      reference.fetch_sub(static_cast<T>(me), order);
      // Every value put in is taken out once: the sum over all tells.
      taken_out.fetch_add(static_cast<U>(baton.exchange(static_cast<T>(me % 100 + 1), order)), relaxed);
    }
  }
};

template <class T> struct ContendedWhole {
  // Types with exchange and compare-exchange only, in two halves that must agree.
  cuda::atomic<T, thread_scope_system> whole;
  cuda::atomic<unsigned, thread_scope_system> torn;
  __host__ __device__ void work(int me) {
    for (int i = 0; i < rounds; ++i) {
      memory_order order = any_order((me + i) % any_orders);
      T old = whole.exchange(Traits<T>::make((me + i) % 40), order);
      T now = whole.load(load_order(i % load_orders));
      for (T value : {old, now}) {
        bool known = false;
        for (int k = 0; k < 40; ++k) {
          known = known || Traits<T>::make(k) == value;
        }
        if (!known) {
          torn.fetch_add(1);
        }
      }
    }
  }
};

template <class T> struct ContendedFloat {
  cuda::atomic<T, thread_scope_system> sum;
  __host__ __device__ void work(int me) {
    for (int i = 0; i < rounds; ++i) {
      sum.fetch_add(static_cast<T>(me % 8) * T(0.25), any_order(i % any_orders));
    }
  }
};

template <class Work> __global__ void device_part(Work* work) { work->work(host_threads + blockIdx.x * blockDim.x + threadIdx.x); }

/// Runs both sides on *work and waits for them.
template <class Work> void together(Work* work) {
  device_part<<<2, device_threads / 2>>>(work);
  CUDA_OK(cudaGetLastError());
  std::vector<std::thread> threads;
  for (int i = 0; i < host_threads; ++i) {
    threads.emplace_back([=] { work->work(i); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CUDA_OK(cudaDeviceSynchronize());
}

template <class T> bool check_integer_type(const char* name) {
  using U = cuda::std::make_unsigned_t<T>;
  constexpr int width = sizeof(T) * 8;
  Shared<Contended<T>> shared;
  Contended<T>& object = *shared;
  for (auto* a : {&object.sum, &object.by_cas, &object.parity, &object.bits, &object.highest, &object.baton}) {
    a->store(0);
  }
  object.cleared.store(static_cast<T>(-1));
  object.lowest.store(cuda::std::numeric_limits<T>::max());
  object.referenced = 0;
  object.taken_out.store(0);
  together(shared.get());

  U sum = 0, parity = 0, bits = 0, cleared = static_cast<U>(-1), difference = 0;
  T lowest = cuda::std::numeric_limits<T>::max(), highest = 0;
  std::uint64_t put_in = 0;
  for (int me = 0; me < everybody; ++me) {
    for (int i = 0; i < rounds; ++i) {
      sum = static_cast<U>(sum + static_cast<U>(me + i));
      parity = static_cast<U>(parity ^ static_cast<U>(me * 3 + i));
      bits = static_cast<U>(bits | static_cast<U>(U(1) << (me % width)));
      cleared = static_cast<U>(cleared & static_cast<U>(~(U(1) << (i % width))));
      lowest = std::min(lowest, static_cast<T>(100 - (me + i) % 100));
      highest = std::max(highest, static_cast<T>((me * 5 + i) % 120));
      difference = static_cast<U>(difference - static_cast<U>(me));
      put_in += static_cast<unsigned>(me % 100 + 1);
    }
  }
  Tally tally;
  CHECK(object.sum.load() == static_cast<T>(sum));
  CHECK(object.by_cas.load() == static_cast<T>(everybody * rounds));
  CHECK(object.parity.load() == static_cast<T>(parity));
  CHECK(object.bits.load() == static_cast<T>(bits));
  CHECK(object.cleared.load() == static_cast<T>(cleared));
  CHECK(object.lowest.load() == lowest);
  CHECK(object.highest.load() == highest);
  CHECK(object.referenced == static_cast<T>(difference));
  CHECK(object.taken_out.load() + static_cast<U>(object.baton.load()) == put_in);
  return print(name, tally);
}

template <class T> bool check_whole(const char* name) {
  Shared<ContendedWhole<T>> shared;
  shared->whole.store(Traits<T>::make(0));
  shared->torn.store(0);
  together(shared.get());
  Tally tally;
  CHECK(shared->torn.load() == 0);
  return print(name, tally);
}

template <class T> bool check_float(const char* name) {
  Shared<ContendedFloat<T>> shared;
  shared->sum.store(0);
  together(shared.get());
  T expected = 0;
  for (int me = 0; me < everybody; ++me) {
    expected += static_cast<T>(me % 8) * T(0.25) * rounds;
  }
  Tally tally;
  CHECK(shared->sum.load() == expected); // quarters: exact in any order
  return print(name, tally);
}

// The two sides hand a baton to each other with wait and notify.
template <class T> struct Baton {
  cuda::atomic<T, thread_scope_system> turn;
  __host__ __device__ void play(int side, int turns) {
    for (int i = 0; i < turns; ++i) {
      T now = turn.load(acquire);
      while (static_cast<int>(now) % 2 != side) {
        turn.wait(now, acquire);
        now = turn.load(acquire);
      }
      turn.store(static_cast<T>(now + 1), release);
      turn.notify_all();
    }
  }
};

template <class T> __global__ void device_side(Baton<T>* baton, int turns) { baton->play(1, turns); }

template <class T> bool check_wait(const char* name) {
  constexpr int turns = 30;
  Shared<Baton<T>> baton;
  baton->turn.store(0);
  device_side<<<1, 1>>>(baton.get(), turns);
  CUDA_OK(cudaGetLastError());
  // [QUERY]: something must oblige the kernel to start before the host blocks without an API call.
  (void)cudaStreamQuery(nullptr);
  std::thread host([&] { baton->play(0, turns); });
  CUDA_OK(cudaDeviceSynchronize());
  host.join();
  Tally tally;
  CHECK(static_cast<int>(baton->turn.load()) == 2 * turns);
  return print(name, tally);
}

int main() {
  bool failed = false;
  failed |= check_integer_type<std::int8_t>("int8_t");
  failed |= check_integer_type<std::uint8_t>("uint8_t");
  failed |= check_integer_type<std::int16_t>("int16_t");
  failed |= check_integer_type<std::uint16_t>("uint16_t");
  failed |= check_integer_type<std::int32_t>("int32_t");
  failed |= check_integer_type<std::uint32_t>("uint32_t");
  failed |= check_integer_type<std::int64_t>("int64_t");
  failed |= check_integer_type<std::uint64_t>("uint64_t");
  failed |= check_float<float>("float");
  failed |= check_float<double>("double");
  failed |= check_whole<int*>("int*");
  failed |= check_whole<Pair16>("struct of 2 bytes");
  failed |= check_whole<Pair32>("struct of 4 bytes");
  failed |= check_whole<Pair64>("struct of 8 bytes");
  failed |= check_wait<signed char>("wait and notify, 1 byte");
  failed |= check_wait<short>("wait and notify, 2 bytes");
  failed |= check_wait<int>("wait and notify, 4 bytes");
  failed |= check_wait<long long>("wait and notify, 8 bytes");
  return failed;
}
