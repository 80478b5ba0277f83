// A history of map operations and whether it is linearisable: is there an order of the operations,
// one that keeps those apart that did not overlap, in which a sequential map gives the same
// results? All orders are tried, so keep histories short. Used by the client programs beside it,
// which run under `heddle check`, in every schedule.
//
// May be wrong in one direction only: `full` is accepted whenever the sequential map is allowed to
// refuse, which the client says (`room`).
#pragma once

#include <cuda/atomic>

#include <cstdio>
#include <cstdlib>

enum class Kind {
  insert,
  assign,
  apply,
  find,
  erase
};

/// One call: what was asked, what came back, and when it began and ended on the common clock.
struct Call {
  Kind kind;
  int key;
  int value;  // given (insert, assign), or found (find; 0: nothing)
  int result; // insert…: insert_result; find, erase: 0 or 1
  int began;
  int ended;
};

/// Where the threads of a client note their calls. The clock orders calls that do not overlap.
struct History {
  static constexpr int most = 6;
  Call calls[most];
  int clock;

  __host__ __device__ int now() {
    return cuda::atomic_ref<int, cuda::thread_scope_system>(clock).fetch_add(
        1,
        cuda::memory_order_relaxed
    );
  }
};

template <class Map>
__host__ __device__ void perform(Map& map, History& h, int slot, Kind kind, int key, int value) {
  Call& call = h.calls[slot];
  call = {kind, key, value, 0, h.now(), 0};
  switch (kind) {
  case Kind::insert:
    call.result = static_cast<int>(map.try_insert(key, value));
    break;
  case Kind::assign:
    call.result = static_cast<int>(map.insert_or_assign(key, value));
    break;
  case Kind::apply:
    call.result =
        static_cast<int>(map.insert_or_apply(key, value, [value](int& v) { v += value; }));
    break;
  case Kind::find: {
    const auto found = map.find(key);
    call.result = found.has_value();
    call.value = found ? *found : 0;
    break;
  }
  case Kind::erase:
    call.result = map.erase(key);
    break;
  }
  call.ended = h.now();
}

/// A map of the keys 0…7 that does one thing after the other; values are never 0.
struct Model {
  int value[8];
};

inline bool step(Model& m, const Call& call) {
  int& v = m.value[call.key];
  switch (call.kind) {
  case Kind::insert:
    if (v != 0) {
      return call.result == 1;
    }
    v = call.value;
    return call.result == 0;
  case Kind::assign:
  case Kind::apply: {
    const bool there = v != 0;
    v = call.kind == Kind::apply ? v + call.value : call.value;
    return call.result == (there ? 1 : 0);
  }
  case Kind::find:
    return call.result == (v != 0 ? 1 : 0) && call.value == v;
  case Kind::erase: {
    const bool there = v != 0;
    v = 0;
    return call.result == (there ? 1 : 0);
  }
  }
  return false;
}

inline bool linearisable(const Call* calls, int n, unsigned done, const Model& before) {
  if (done == (1u << n) - 1) {
    return true;
  }
  for (int i = 0; i < n; ++i) {
    bool first = (done >> i & 1) == 0;
    for (int j = 0; first && j < n; ++j) {
      first = (done >> j & 1) != 0 || j == i || calls[j].ended > calls[i].began;
    }
    if (first) {
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
  if (!linearisable(h.calls, n, 0, before)) {
    for (int i = 0; i < n; ++i) {
      std::fprintf(
          stderr,
          "call %d: kind %d key %d value %d result %d, %d to %d\n",
          i,
          static_cast<int>(h.calls[i].kind),
          h.calls[i].key,
          h.calls[i].value,
          h.calls[i].result,
          h.calls[i].began,
          h.calls[i].ended
      );
    }
    std::fprintf(stderr, "not linearisable\n");
    std::abort();
  }
}
