// A library that schedules the host threads of the program that it is linked to, without CUDA.
//
// HEDDLE_TEST_SCHEDULE=round            each thread in turn
//                      random:<seed>    whoever the seed says
//                      fork:<seed>      the same, and now and then the process forks and both go on
//                      all              every order: a small model checker in the way of the
//                                       explorer; prints what it has found to stderr
// Unset: the program has its ordinary threads.
#include "explore/host/host_threads.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

namespace {

using namespace heddle;
using explore::HostPoint;
using explore::HostState;
using explore::HostThreads;

constexpr int deadlock_code = 42, unsupported_code = 43;
constexpr std::size_t table_size = 1U << 20;

/// What all processes of an exploration have seen.
struct Shared {
  std::size_t states = 0, executions = 0, deadlocks = 0, crashes = 0;
  bool ended_with[256] = {};
  char deadlock[512] = {};
  Hash128 seen[table_size] = {};
};

struct Move {
  unsigned thread, way;
};

class Scheduler final : public explore::HostScheduler {
public:
  explicit Scheduler(const std::string& mode)
      : mode_(mode.substr(0, mode.find(':'))),
        random_(
            mode.find(':') == std::string::npos ? 0 : std::stoi(mode.substr(mode.find(':') + 1))
        ),
        threads_(*this, state_) {
    void* p = ::mmap(
        nullptr,
        sizeof(Shared),
        PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
        -1,
        0
    );
    shared_ = static_cast<Shared*>(p);
    the_scheduler = this;
    static HeddleHostHooks hooks;
    hooks.before_event = [](HeddleHostEvent event, const void*, std::size_t, std::uint64_t) {
      HostThreads& threads = the_scheduler->threads_;
      if (!threads.inside() && (event != HeddleYield || threads.worth_stopping_to_yield())) {
        static constexpr const char* what[] =
            {"load", "store", "update", "read", "write", "yield", "update"};
        return threads.stop({.kind = HostPoint::Kind::Access, .what = what[event], .position = {}});
      }
      return 0U;
    };
    hooks.wrote = [](const void* q, std::size_t bytes, const void* pc) {
      HostState& state = the_scheduler->state_;
      if (!the_scheduler->threads_.inside() && state.remembers(q, pc)) {
        state.wrote(q, bytes);
      }
    };
    hooks.freed = [](const void* q, std::size_t bytes) {
      if (!the_scheduler->threads_.inside()) {
        the_scheduler->state_.freed(q, bytes);
      }
    };
    hooks.unsupported = [](const char* what) { the_scheduler->unsupported(what); };
    hooks.threads = threads_.hooks();
    using Set = void(const HeddleHostHooks*);
    reinterpret_cast<Set*>(::dlsym(RTLD_DEFAULT, "heddle_set_host_hooks"))(&hooks);
    ::on_exit([](int code, void*) { the_scheduler->program_ended(code); }, nullptr);
  }

  void next(HostThreads&) override {
    std::vector<Move> moves;
    for (unsigned thread = 0; thread < threads_.count(); ++thread) {
      std::uint64_t ways = threads_.ways(thread);
      if (ways != 0) { // who is only to return without a reason is blocked
        ways &= ~ways_without_reason(threads_.point(thread));
      }
      for (unsigned way = 0; way < 64; ++way) {
        if ((ways >> way & 1) != 0) {
          moves.push_back({thread, way});
        }
      }
    }
    if (mode_ == "all") {
      visit();
    }
    if (moves.empty()) {
      stuck();
    }
    const Move move = moves[pick(moves)];
    threads_.choose(move.thread, move.way);
  }

  [[noreturn]] void unsupported(const char* what) override {
    std::fprintf(stderr, "unsupported: %s\n", what);
    ::_exit(unsupported_code);
  }

private:
  std::size_t pick(const std::vector<Move>& moves) {
    if (mode_ == "all") {
      return branch(moves.size());
    }
    if (mode_ == "round") {
      // The next thread after the running one; of its ways each in turn.
      const unsigned last = threads_.current();
      std::size_t best = 0;
      unsigned best_distance = ~0U;
      for (std::size_t m = 0; m < moves.size(); ++m) {
        const unsigned distance =
            (moves[m].thread + threads_.count() - last - 1) % threads_.count();
        if (distance < best_distance) {
          best = m;
          best_distance = distance;
        }
      }
      return best;
    }
    if (mode_ == "fork" && forks_ < 6 && random_() % 8 == 0) {
      ++forks_;
      const pid_t child = threads_.fork_process();
      if (child == 0) {
        child_ = true;
        random_.seed(static_cast<unsigned>(random_()) + 1);
      } else {
        children_.push_back(child);
      }
    }
    return random_() % moves.size();
  }

  void visit() {
    Hasher hasher;
    threads_.hash(hasher);
    const Hash128 hash = hasher.finish();
    for (std::size_t i = hash.low % table_size;; i = (i + 1) % table_size) {
      if (shared_->seen[i] == hash) {
        finish();
      }
      if (shared_->seen[i] == Hash128{}) {
        shared_->seen[i] = hash;
        ++shared_->states;
        return;
      }
    }
  }

  std::size_t branch(std::size_t count) {
    for (std::size_t n = 0; n + 1 < count; ++n) {
      const pid_t child = threads_.fork_process();
      if (child == 0) {
        child_ = true;
        return n;
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      shared_->crashes += WIFSIGNALED(status) ? 1 : 0;
    }
    return count - 1;
  }

  [[noreturn]] void stuck() {
    std::string text;
    for (unsigned thread = 0; thread < threads_.count(); ++thread) {
      if (threads_.state(thread) == HostThreads::State::Live) {
        text += threads_.name(thread) + " " + threads_.point(thread).what + "\n";
      }
    }
    if (mode_ != "all") {
      std::fprintf(stderr, "%s", text.c_str());
      ::_exit(deadlock_code);
    }
    ++shared_->deadlocks;
    std::strncpy(shared_->deadlock, text.c_str(), sizeof shared_->deadlock - 1);
    finish();
  }

  void program_ended(int code) {
    if (mode_ == "all") {
      shared_->ended_with[code & 255] = true;
      finish();
    }
    for (const pid_t child : children_) {
      int status = 0;
      ::waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        std::fprintf(stderr, "a forked process ended with status %x\n", status);
        ::_exit(97);
      }
    }
  }

  [[noreturn]] void finish() {
    ++shared_->executions;
    if (!child_) {
      std::string codes;
      for (int code = 0; code < 256; ++code) {
        codes += shared_->ended_with[code] ? " " + std::to_string(code) : "";
      }
      std::fprintf(
          stderr,
          "states %zu executions %zu crashes %zu deadlocks %zu codes%s\n%s",
          shared_->states,
          shared_->executions,
          shared_->crashes,
          shared_->deadlocks,
          codes.c_str(),
          shared_->deadlock
      );
    }
    ::_exit(0);
  }

  static inline Scheduler* the_scheduler = nullptr;

  std::string mode_;
  std::minstd_rand random_;
  HostState state_;
  HostThreads threads_;
  Shared* shared_ = nullptr;
  bool child_ = false;
  int forks_ = 0;
  std::vector<pid_t> children_;
};

__attribute__((constructor)) void begin(int, char** argv, char**) {
  const char* mode = std::getenv("HEDDLE_TEST_SCHEDULE");
  if (mode == nullptr) {
    return;
  }
  if ((::personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0) {
    ::personality(ADDR_NO_RANDOMIZE);
    ::setenv("LD_BIND_NOW", "1", 1);
    ::execv("/proc/self/exe", argv);
  }
  new Scheduler(mode); // never destroyed: the process may end on its stack
}

} // namespace
