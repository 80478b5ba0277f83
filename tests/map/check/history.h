// A history of map operations and whether it is linearisable: is there an order of the operations,
// one that keeps those apart that did not overlap, in which a sequential map gives the same
// results? All orders are tried, so keep histories short. Used by the client programs beside it,
// which run under `heddle check`, in every schedule.
//
// Which operations had ended when one began is noted as a set of bits, not by a clock: a clock
// would make states differ in which nothing else does.
//
// May be wrong in one direction only: keys that are not in the model (8 and above) are not judged.
#pragma once

#include <cuda/atomic>

#include <cstdio>
#include <cstdlib>

enum class Kind {
  insert,
  assign,
  apply,
  find,
  erase,
  walk, // over all places: is the key there?
  contains
};

/// One operation to do.
struct Step {
  Kind kind;
  int key;
  int other; // the only call besides this one; -1: there are more
  int alone; // the result if the other one does nothing
};

/// What it was given, what came back, and which calls had ended when it began.
struct Call {
  Step step;
  int value;  // given (insert, assign, apply), or found (find; 0: nothing)
  int result; // insert…: insert_result; find, erase, contains: 0 or 1; walk: how often the key was
              // met
  unsigned after;
};

/// Where the threads of a client note their calls.
struct History {
  static constexpr int most = 12;
  Call calls[most];
  unsigned ended;

  // Each call brings plain data along: whoever sees an effect of it may read them. (Not where
  // operations are relaxed. Without weak memory this could not fail.)
#if defined(WEAK_MEMORY) && !defined(RELAXED)
  static constexpr bool carries = true;
#else
  static constexpr bool carries = false;
#endif
  int brought[most];

  __host__ __device__ void bring(int call) {
    if (carries) {
      brought[call] = 1;
    }
  }
  __host__ __device__ void see(int call) const {
    if (carries && brought[call] != 1) {
      fail();
    }
  }
  /// All calls that a value comes from.
  __host__ __device__ void see_all(int value) const {
    for (int call = 0; carries && call < most; ++call) {
      if ((value / value_of(0) >> call & 1) != 0) {
        see(call);
      }
    }
  }
  __host__ __device__ static void fail() {
#if defined(__CUDA_ARCH__)
    __trap();
#else
    std::abort();
#endif
  }

  /// What a call inserts or adds: bits of its own, since values are added up.
  __host__ __device__ static constexpr int value_of(int call) { return 16 << call; }
  static constexpr int value_before = 5; // of what the preparation inserts

  __host__ __device__ auto ended_calls() {
    return cuda::atomic_ref<unsigned, cuda::thread_scope_system>(ended);
  }
#ifdef WEAK_MEMORY // a call has only come before another one if that can know
  static constexpr auto looks = cuda::memory_order_acquire, ends = cuda::memory_order_release;
#else // these are not to order what the map does not
  static constexpr auto looks = cuda::memory_order_relaxed, ends = cuda::memory_order_relaxed;
#endif
};

/// Does one step and notes it as call `slot`. The value that it brings says which call it was.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Map>
__host__ __device__ void perform(const Map& map, History& h, int slot, const Step& step) {
  const int value = slot < 0 ? History::value_before : History::value_of(slot);
  Call call{step, value, 0, 0};
  if (slot >= 0) {
    call.after = h.ended_calls().load(History::looks);
    h.bring(slot);
  }
  switch (step.kind) {
  case Kind::insert:
    call.result = static_cast<int>(map.try_insert(step.key, value));
    break;
  case Kind::assign:
    call.result = static_cast<int>(map.insert_or_assign(step.key, value));
    break;
  case Kind::apply:
    call.result = static_cast<int>(map.insert_or_apply(step.key, value, [value, &h](int& v) {
      h.see_all(v);
      v += value;
    }));
    break;
  case Kind::find: {
    const auto found = map.find(step.key);
    call.result = found.has_value();
    call.value = found ? *found : 0;
    h.see_all(call.value);
    break;
  }
  case Kind::erase:
    call.result = map.erase(step.key);
    break;
  case Kind::contains:
    call.result = map.contains(step.key);
    break;
  case Kind::walk:
    walk(map, [&](int key, int v) {
      if (key == step.key) {
        ++call.result;
        h.see_all(v);
      }
    });
    break;
  }
  if (step.other >= 0 && call.result != step.alone && call.result <= 1) {
    h.see(step.other);
  }
  if (slot >= 0) {
    h.calls[slot] = call;
    h.ended_calls().fetch_or(1u << slot, History::ends);
  }
}

/// A map of the keys 0…7, or -1 instead of 7, that does one thing after the other; values are never
/// 0.
struct Model {
  int value[8];
  bool tight; // insertions may find it full
};
inline int place_of(int key) {
  return key & 7;
}

inline bool step(Model& m, const Call& call) {
  int& v = m.value[place_of(call.step.key)];
  const bool there = v != 0;
  if (call.step.kind <= Kind::apply && call.result == 2) {
    return m.tight && !there;
  }
  switch (call.step.kind) {
  case Kind::insert:
    v = there ? v : call.value;
    return call.result == (there ? 1 : 0);
  case Kind::assign:
    v = call.value;
    return call.result == (there ? 1 : 0);
  case Kind::apply:
    v += call.value;
    return call.result == (there ? 1 : 0);
  case Kind::find:
    return call.result == (there ? 1 : 0) && call.value == v;
  case Kind::erase:
    v = 0;
    return call.result == (there ? 1 : 0);
  case Kind::walk:
  case Kind::contains:
    return call.result == (there ? 1 : 0);
  }
  return false;
}

inline bool linearisable(const Call* calls, int n, unsigned done, const Model& before) {
  if (done == (1u << n) - 1) {
    return true;
  }
  for (int i = 0; i < n; ++i) {
    if ((done >> i & 1) == 0 && (calls[i].after & ~done) == 0) {
      Model after = before;
      if (step(after, calls[i]) && linearisable(calls, n, done | 1u << i, after)) {
        return true;
      }
    }
  }
  return false;
}

/// Aborts, which is a finding, if the history is not that of any sequential map that began with
/// `before`.
inline void require_linearisable(const History& h, int n, const Model& before) {
  if (h.ended != (1u << n) - 1 || !linearisable(h.calls, n, 0, before)) {
    for (int i = 0; i < n; ++i) {
      const Call& call = h.calls[i];
      std::fprintf(
          stderr,
          "call %d: kind %d key %d value %d result %d after %x\n",
          i,
          static_cast<int>(call.step.kind),
          call.step.key,
          call.value,
          call.result,
          call.after
      );
    }
    std::fprintf(stderr, "not linearisable\n");
    std::abort();
  }
}
