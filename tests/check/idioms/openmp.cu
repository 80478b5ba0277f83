// Host threads of OpenMP that launch kernels and wait for each other.
//@ nvcc: -Xcompiler -fopenmp
#include "cases.h"

#include <atomic>

#include <cuda_runtime.h>
#include <omp.h>

__global__ void add(int* sum, int value) { atomicAdd(sum, value); }

static int* make_sum() {
  int* sum = nullptr;
  cudaMallocManaged(&sum, sizeof *sum);
  return sum;
}

// One stream for each thread, one part of the work.
//@ case: a-stream-each
//@ verdict: terminates
static int a_stream_each(Setup) {
  int* sum = make_sum();
#pragma omp parallel for num_threads(2)
  for (int i = 1; i <= 2; ++i) {
    add<<<1, 1, 0, cudaStreamPerThread>>>(sum, i);
    cudaStreamSynchronize(cudaStreamPerThread);
  }
  return *sum - 3;
}

//@ case: barrier
//@ verdict: terminates
//@ case: barrier-that-one-leaves-out
//@ verdict: may-hang
//@ finding: deadlock
template <bool All> static int barrier(Setup) {
  std::atomic<int> arrived{0};
  int bad = 0;
#pragma omp parallel num_threads(2) reduction(+ : bad)
  {
    arrived.fetch_add(1);
    if (All || omp_get_thread_num() == 0) {
#pragma omp barrier
      bad += arrived.load() == 2 ? 0 : 1;
    }
  }
  return bad;
}

// A thread of the region waits for another one: in a region of one thread there is none.
//@ case: waits-for-the-other
//@ verdict: terminates
//@ case: waits-for-nobody
//@ verdict: may-hang
//@ finding: livelock
template <int Threads> static int waits(Setup) {
  static std::atomic<int> flag{0};
#pragma omp parallel num_threads(Threads)
  {
    if (omp_get_thread_num() == 1) {
      flag.store(1);
    } else {
      while (flag.load() == 0) {
      }
    }
  }
  return 0;
}

//@ case: critical
//@ verdict: terminates
//@ case: critical-crossed
//@ verdict: may-hang
//@ finding: deadlock
template <bool Crossed> static int critical(Setup) {
  static int sum = 0;
#pragma omp parallel num_threads(2)
  {
    if (Crossed && omp_get_thread_num() == 1) {
#pragma omp critical(second)
      {
#pragma omp critical(first)
        ++sum;
      }
    } else {
#pragma omp critical(first)
      {
#pragma omp critical(second)
        ++sum;
      }
    }
  }
  return sum - 2;
}

//@ case: lock
//@ verdict: terminates
//@ case: lock-kept
//@ verdict: may-hang
//@ finding: deadlock
template <bool Keeps> static int lock(Setup) {
  static omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    omp_set_lock(&lock);
    if (!Keeps) {
      omp_unset_lock(&lock);
    }
  }
  return 0;
}

// Loops, sections, single, reductions, tasks: what comes out.
//@ case: loop
//@ verdict: terminates
static int loop(Setup) {
  int sum = 0, last = 0;
#pragma omp parallel for schedule(dynamic) num_threads(2) reduction(+ : sum) lastprivate(last)
  for (int i = 1; i < 4; ++i) {
    sum += i;
    last = i;
  }
  return sum == 6 && last == 3 ? 0 : 1;
}
//@ case: sections
//@ verdict: terminates
static int sections(Setup) {
  int once = 0, parts = 0;
#pragma omp parallel num_threads(2) reduction(+ : once, parts)
  {
#pragma omp single nowait
    once += 1;
#pragma omp sections
    {
#pragma omp section
      parts += 1;
#pragma omp section
      parts += 2;
    }
  }
  return once == 1 && parts == 3 ? 0 : 1;
}
//@ case: tasks
//@ verdict: unknown
//@ coverage: bounded
static int tasks(Setup) {
  int parts[2] = {};
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(i) shared(parts)
      parts[i] = i + 1;
    }
#pragma omp taskwait
  }
  return parts[0] + parts[1] - 3;
}

// The program does not say how many threads.
//@ case: some-threads
//@ verdict: unknown
//@ coverage: bounded
static int some_threads(Setup) {
  int count = 0;
#pragma omp parallel reduction(+ : count)
  count += 1;
  return count - 2;
}

// A kernel that only one of the threads launches, and that all wait for.
//@ case: launched-by-one
//@ verdict: terminates
static int launched_by_one(Setup) {
  int* sum = make_sum();
  int bad = 0;
#pragma omp parallel num_threads(2) reduction(+ : bad)
  {
#pragma omp single
    {
      add<<<1, 1>>>(sum, 5);
      cudaDeviceSynchronize();
    }
    bad += *sum == 5 ? 0 : 1;
  }
  return bad;
}

int main(int argc, char** argv) {
  const int result = run_case(argc, argv, {
      {"a-stream-each", a_stream_each},
      {"barrier", barrier<true>},
      {"barrier-that-one-leaves-out", barrier<false>},
      {"waits-for-the-other", waits<2>},
      {"waits-for-nobody", waits<1>},
      {"critical", critical<false>},
      {"critical-crossed", critical<true>},
      {"lock", lock<false>},
      {"lock-kept", lock<true>},
      {"loop", loop},
      {"sections", sections},
      {"tasks", tasks},
      {"some-threads", some_threads},
      {"launched-by-one", launched_by_one},
  });
  if (result != 0) {
    std::abort(); // the search would not look at the exit code
  }
}
