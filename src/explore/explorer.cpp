// Implements explorer.h.
#include "explore/explorer.h"

#include "base/check.h"
#include "explore/host_state.h"
#include "explore/options.h"
#include "explore/schedule.h"
#include "explore/source_places.h"
#include "explore/state_table.h"
#include "explore/trace.h"
#include "machine/stepper.h"
#include "report/finding.h"

#include "hostwatch/hooks.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

namespace heddle::explore {

namespace {

using machine::StepKind;
using machine::Stepper;

constexpr std::size_t stack_bytes = 8U << 20;
// Processes that wait for a child, at most: each holds a copy of what it has touched.
constexpr int max_depth = 4000;

/// Where the host thread has stopped, and what it may do from here.
struct HostPoint {
  enum class Kind : std::uint8_t {
    Access,  // instrumented code: an atomic or volatile access, or yielding
    ApiCall, // inside a call that could return at any time
    Wait,    // inside a call that returns when `condition` holds
    Query    // asks whether `condition` holds
  };
  Kind kind{};
  const char* what = "";
  const std::function<bool()>* condition = nullptr;
  HostPosition position;
  bool answer = true; // out, of Query
};

struct Choice {
  bool host = false;
  bool answer = true;   // Query
  std::size_t move = 0; // of a device thread or command
};

Step step_of(StepKind kind) {
  switch (kind) {
  case StepKind::None:
    return Step::None;
  case StepKind::End:
    return Step::End;
  case StepKind::Io:
    return Step::Io;
  case StepKind::Volatile:
    return Step::Volatile;
  case StepKind::Sync:
    return Step::Sync;
  }
  return Step::None;
}

report::Finding finding_of(isa::FaultKind kind) {
  using isa::FaultKind;
  using report::Finding;
  switch (kind) {
  case FaultKind::OutOfBounds:
    return Finding::OutOfBounds;
  case FaultKind::Misaligned:
    return Finding::Misaligned;
  case FaultKind::Null:
    return Finding::Null;
  case FaultKind::UseAfterFree:
    return Finding::UseAfterFree;
  case FaultKind::ReadOnly:
    return Finding::ReadOnly;
  case FaultKind::BadSpace:
    return Finding::WrongSpace;
  case FaultKind::HostMemory:
    return Finding::HostMemory;
  case FaultKind::StackOverflow:
    return Finding::StackOverflow;
  case FaultKind::Assert:
    return Finding::Assert;
  case FaultKind::Trap:
    return Finding::Trap;
  case FaultKind::IllegalInstruction:
    return Finding::IllegalInstruction;
  case FaultKind::BadCall:
    return Finding::BadCall;
  case FaultKind::BarrierMisuse:
    return Finding::BarrierMisuse;
  case FaultKind::HeapMisuse:
    return Finding::InvalidFree;
  }
  return Finding::Trap;
}

/// An execution to repeat instead of a search.
struct Replay {
  std::vector<std::uint32_t> choices;
  int trace = -1;
  std::size_t taken = 0;
};

class Explorer final : public machine::Driver {
public:
  Explorer(
      machine::World& world,
      StateTable table,
      Stepper::Options options,
      std::optional<Replay> replay
  );
  ~Explorer() override;

  // --- machine::Driver
  // -----------------------------------------------------------------------------
  void submitted(const machine::CommandPtr& command) override { stepper_.submitted(command); }
  void wait(const std::function<bool()>& done, const char* what) override {
    stop_here({HostPoint::Kind::Wait, what, &done, {}});
  }
  bool query(const std::function<bool()>& ready) override {
    return stop_here({HostPoint::Kind::Query, last_call_, &ready, {}});
  }
  void api_call(const char* name) override {
    last_call_ = name;
    stop_here({HostPoint::Kind::ApiCall, name, nullptr, {}});
  }

  // --- Told by the instrumentation
  // -------------------------------------------------------------------
  void host_event(HeddleHostEvent event);
  void host_wrote(const void* p, std::size_t bytes, const void* pc) {
    if (!inside_) {
      host_.wrote(p, bytes, pc);
    }
  }
  void host_freed(const void* p, std::size_t bytes) {
    if (!inside_) {
      host_.freed(p, bytes);
    }
  }
  [[noreturn]] void unsupported(std::string_view what);
  void found(const report::Diagnostic& diagnostic);
  [[noreturn]] void host_ended();

private:
  bool stop_here(HostPoint point);
  void explore(HostPoint& point);
  std::vector<Choice>
  choices(const HostPoint& point, bool condition, const std::vector<Stepper::Move>& moves) const;
  Hash128 fingerprint(const HostPoint& point, bool condition) const;
  void describe(
      StateId state,
      const HostPoint& point,
      const std::vector<Stepper::Move>& moves,
      const std::vector<Choice>& choices
  );
  Edge edge_for(
      StateId from,
      const HostPoint& point,
      bool condition,
      const Choice& choice,
      const std::vector<Stepper::Move>& moves
  );
  std::size_t branch(StateId state, std::size_t count);
  std::size_t repeat(StateId state, std::size_t count);
  void reached(StateId state);
  void look_at_end_of_child(int status);
  ActorId actor(const Stepper::Move& move);
  std::uint32_t site(const HostPoint& point);
  std::uint32_t site(const Stepper::Move& move);
  std::uint32_t site(const Stepper::Wait& wait);
  Site place_of(const isa::Code& code, const isa::Op& op, std::string what) const;
  void note_failure();
  [[noreturn]] void finish();

  machine::World& world_;
  StateTable table_;
  Stepper stepper_;
  HostState host_;
  std::byte* stack_ = nullptr; // our own
  bool inside_ = false;        // our code is running, not the program's
  int depth_ = 0;              // processes that wait for this one
  const char* last_call_ = "";
  ActorId host_actor_ = 0;
  std::optional<Replay> replay_;
  std::optional<Edge> last_; // the move under way; `to` is not known yet
  std::map<std::tuple<std::uint32_t, std::size_t, std::size_t, std::size_t, int>, ActorId> actors_;
  std::map<std::pair<const void*, std::string>, std::uint32_t> device_sites_;
  std::map<std::pair<std::vector<std::uintptr_t>, std::string>, std::uint32_t> host_sites_;
};

Explorer* the_explorer = nullptr; // hooks and exit handlers carry no context

const HeddleHostHooks hooks = {
    .before_event =
        [](HeddleHostEvent event, const void*, std::size_t) { the_explorer->host_event(event); },
    .wrote = [](const void* p,
                std::size_t bytes,
                const void* pc) { the_explorer->host_wrote(p, bytes, pc); },
    .freed = [](const void* p, std::size_t bytes) { the_explorer->host_freed(p, bytes); },
    .unsupported = [](const char* what) { the_explorer->unsupported(what); },
};

/// False if the program has no instrumentation library.
bool set_hooks(const HeddleHostHooks* value) {
  using Set = void(const HeddleHostHooks*);
  auto* set = reinterpret_cast<Set*>(::dlsym(RTLD_DEFAULT, "heddle_set_host_hooks"));
  if (set != nullptr) {
    set(value);
  }
  return set != nullptr;
}

Explorer::Explorer(
    machine::World& world,
    StateTable table,
    Stepper::Options options,
    std::optional<Replay> replay
)
    : world_(world),
      table_(std::move(table)),
      stepper_(world, options),
      replay_(std::move(replay)) {
  world_.use_virtual_time();
  void* p = ::mmap(
      nullptr,
      stack_bytes,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
      -1,
      0
  );
  HEDDLE_CHECK(p != MAP_FAILED, "no memory for the explorer's stack");
  stack_ = static_cast<std::byte*>(p);
  host_actor_ = table_.add_actor({ActorKind::Host, "the host thread", "", ""});
  HEDDLE_CHECK(the_explorer == nullptr, "two explorers in one process");
  the_explorer = this;
  if (!set_hooks(&hooks)) {
    table_.note(Fact::HostUnseen);
  }
  ::on_exit(
      [](int, void*) {
        if (the_explorer != nullptr) {
          the_explorer->host_ended();
        }
      },
      nullptr
  );
}

Explorer::~Explorer() {
  set_hooks(nullptr);
  the_explorer = nullptr;
  ::munmap(stack_, stack_bytes);
}

// --- The host stops ------------------------------------------------------------------------------

void Explorer::host_event(HeddleHostEvent event) {
  if (inside_) {
    return;
  }
  static constexpr const char* what[] = {
      "an atomic read",
      "an atomic write",
      "an atomic update",
      "a volatile read",
      "a volatile write",
      "yields or sleeps"
  };
  stop_here({HostPoint::Kind::Access, what[event], nullptr, {}});
}

bool Explorer::stop_here(HostPoint point) {
  inside_ = true;
  point.position = host_.capture();
  struct Call {
    Explorer* self;
    HostPoint* point;
  } call{this, &point};
  call_on_stack(
      stack_ + stack_bytes,
      [](void* argument) {
        auto* c = static_cast<Call*>(argument);
        c->self->explore(*c->point);
      },
      &call
  );
  scrub_stack();
  inside_ = false;
  return point.answer;
}

void Explorer::explore(HostPoint& point) {
  for (;;) {
    if (stepper_.failure()) {
      note_failure();
    }
    if (stepper_.saw_dependency()) {
      table_.note(Fact::Dependency);
    }
    if (stepper_.saw_plain_access()) {
      table_.note(Fact::PlainAccess);
    }
    const bool condition = point.condition == nullptr || (*point.condition)();
    const std::vector<Stepper::Move> moves = stepper_.moves();
    const auto visit = table_.visit(fingerprint(point, condition));
    if (!visit) {
      table_.add_event(EventKind::Incomplete, 0, 0, "the limit of states was reached");
      finish();
    }
    if (last_) {
      last_->to = visit->id;
      table_.add_edge(*last_);
    }
    if (!visit->fresh && !replay_) {
      finish();
    }
    const std::vector<Choice> options = choices(point, condition, moves);
    describe(visit->id, point, moves, options);
    if (options.empty()) {
      reached(visit->id);
      finish(); // nobody can move
    }
    const std::size_t chosen =
        replay_ ? repeat(visit->id, options.size()) : branch(visit->id, options.size());
    last_ = edge_for(visit->id, point, condition, options[chosen], moves);
    last_->choice = static_cast<std::uint32_t>(chosen);
    if (replay_ && replay_->trace >= 0) {
      append_row(replay_->trace, {.from = last_->from, .actor = last_->actor, .site = last_->site});
    }
    table_.set_position(last_->from, last_->site);
    if (options[chosen].host) {
      point.answer = options[chosen].answer;
      return;
    }
    stepper_.step(moves[options[chosen].move]);
    last_->step = step_of(stepper_.taken());
  }
}

std::vector<Choice> Explorer::choices(
    const HostPoint& point,
    bool condition,
    const std::vector<Stepper::Move>& moves
) const {
  std::vector<Choice> result;
  for (std::size_t m = 0; m < moves.size(); ++m) {
    result.push_back({.host = false, .answer = true, .move = m});
  }
  if (point.kind == HostPoint::Kind::Query) {
    result.push_back({.host = true, .answer = false, .move = 0});
  }
  if (condition) {
    result.push_back({.host = true, .answer = true, .move = 0});
  }
  return result;
}

Hash128 Explorer::fingerprint(const HostPoint& point, bool condition) const {
  Hasher hasher;
  hasher.value(point.kind);
  hasher.value(condition);
  hasher.text(point.what);
  host_.hash(point.position, hasher);
  stepper_.hash(hasher);
  return hasher.finish();
}

void Explorer::describe(
    StateId state,
    const HostPoint& point,
    const std::vector<Stepper::Move>& moves,
    const std::vector<Choice>& choices
) {
  std::vector<Demand> demands;
  for (const Stepper::Move& move : moves) {
    switch (move.guarantee) {
    case Stepper::Guarantee::None:
      break;
    case Stepper::Guarantee::Itself:
      demands.push_back({Rule::Device, actor(move)});
      break;
    case Stepper::Guarantee::Cluster:
      demands.push_back({Rule::Cluster, actor(move)});
      break;
    case Stepper::Guarantee::Cooperative:
      demands.push_back({Rule::Cooperative, actor(move)});
      break;
    }
  }
  if (point.kind == HostPoint::Kind::Access) {
    demands.push_back({Rule::Host, host_actor_});
  } else if (!choices.empty()) {
    demands.push_back({Rule::Api, host_actor_}); // it could return, or device work could go on
  }
  std::string waits; // sites, separated by blanks; only where nothing else is going on
  if (moves.empty()) {
    for (const Stepper::Wait& wait : stepper_.waits()) {
      waits += fmt::format("{} ", site(wait));
    }
  }
  table_.describe(
      state,
      {.demands = demands,
       .moves = static_cast<std::uint32_t>(choices.size()),
       .host_site = site(point),
       .waits = table_.intern(waits)}
  );
}

Edge Explorer::edge_for(
    StateId from,
    const HostPoint& point,
    bool condition,
    const Choice& choice,
    const std::vector<Stepper::Move>& moves
) {
  Edge edge{.from = from};
  if (choice.host) {
    edge.actor = host_actor_;
    edge.step = Step::Host;
    edge.site = site(point);
    edge.not_ready = !choice.answer;
    // [QUERY] obliges device threads that could move; and what is complete is not "not ready" for
    // ever.
    edge.query_obliged = !choice.answer && (condition || !moves.empty());
  } else {
    const Stepper::Move& move = moves[choice.move];
    edge.actor = actor(move);
    edge.site = site(move);
  }
  return edge;
}

// --- Processes -----------------------------------------------------------------------------------

/// Returns the number of the choice that this process goes on with: in a child its own, in the
/// process itself the last one, after all children have ended.
std::size_t Explorer::branch(StateId state, std::size_t count) {
  for (std::size_t n = 0; n + 1 < count; ++n) {
    if (depth_ >= max_depth) {
      table_.add_event(EventKind::Incomplete, state, 0, "executions are too long to explore");
      break;
    }
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody stays behind if the tool is killed
      if (::getppid() != parent) {
        ::_exit(finished_exit_code);
      }
      ++depth_;
      return n;
    }
    if (child < 0) {
      table_.add_event(
          EventKind::Incomplete,
          state,
          0,
          fmt::format("cannot fork: {}", std::strerror(errno))
      );
      break;
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    look_at_end_of_child(status);
  }
  return count - 1;
}

/// The next choice of the schedule; ends the execution behind its last one.
std::size_t Explorer::repeat(StateId state, std::size_t count) {
  if (replay_->taken == replay_->choices.size()) {
    reached(state);
    finish();
  }
  const std::size_t chosen = replay_->choices[replay_->taken++];
  if (chosen >= count) {
    table_.add_event(
        EventKind::Incomplete,
        state,
        0,
        fmt::format(
            "step {} of the schedule takes move {}, but there are {}",
            replay_->taken,
            chosen + 1,
            count
        )
    );
    finish();
  }
  return chosen;
}

void Explorer::reached(StateId state) {
  if (replay_ && replay_->trace >= 0) {
    append_row(replay_->trace, {.from = state});
  }
}

void Explorer::look_at_end_of_child(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == finished_exit_code) {
    return;
  }
  const auto [from, site] = table_.position();
  const std::vector<Event> events = table_.events();
  if (!events.empty() && events.back().from == from && events.back().kind == EventKind::Fault) {
    return; // it has said why
  }
  if (WIFSIGNALED(status)) {
    table_.add_event(
        EventKind::Crash,
        from,
        site,
        fmt::format("the host program was ended by {}", ::strsignal(WTERMSIG(status)))
    );
  } else {
    table_.add_event(
        EventKind::Incomplete,
        from,
        site,
        fmt::format("a process ended by itself with code {}", WEXITSTATUS(status))
    );
  }
}

void Explorer::finish() {
  table_.count_execution();
  ::_exit(finished_exit_code);
}

void Explorer::host_ended() {
  const auto end = table_.end_state();
  if (end && last_) {
    last_->to = *end;
    table_.add_edge(*last_);
    reached(*end);
  }
  finish();
}

void Explorer::unsupported(std::string_view what) {
  const HostPosition position = host_.capture();
  HostPoint point{HostPoint::Kind::Access, "", nullptr, position};
  table_.add_event(EventKind::Unsupported, last_ ? last_->from : 0, site(point), what);
  host_ended();
}

void Explorer::found(const report::Diagnostic& diagnostic) {
  HostPoint point{HostPoint::Kind::Access, "", nullptr, host_.capture()};
  table_.add_event(
      EventKind::Fault,
      last_ ? last_->from : 0,
      site(point),
      fmt::format("{}\t{}", report::describe(diagnostic.finding).code, diagnostic.message)
  );
}

void Explorer::note_failure() {
  const Stepper::Failure& failure = *stepper_.failure();
  const machine::FaultReport& report = failure.report;
  const StateId from = last_ ? last_->from : 0;
  const Site place{report.source.file, report.source.line, report.source.column, ""};
  if (!failure.incomplete.empty()) {
    table_.add_event(EventKind::Incomplete, from, 0, failure.incomplete);
    finish();
  }
  if (report.kind == machine::FaultReport::Kind::Unsupported) {
    table_.add_event(
        EventKind::Unsupported,
        from,
        table_.intern(place),
        report.kernel.empty() ? report.fault.text
                              : fmt::format("{} in kernel '{}'", report.fault.text, report.kernel)
    );
  } else {
    const auto& t = report.thread;
    const auto& b = report.block;
    table_.add_event(
        EventKind::Fault,
        from,
        table_.intern(place),
        fmt::format(
            "{}\tkernel '{}': thread ({},{},{}) of block ({},{},{}) faults at `{}`",
            report::describe(finding_of(report.fault.kind)).code,
            report.kernel,
            t.x,
            t.y,
            t.z,
            b.x,
            b.y,
            b.z,
            report.instruction
        )
    );
  }
  host_ended();
}

// --- Names ---------------------------------------------------------------------------------------

ActorId Explorer::actor(const Stepper::Move& move) {
  const std::string kernel = stepper_.kernel_name(move);
  const auto key = std::tuple(
      table_.intern(kernel),
      move.cluster,
      move.block,
      move.warp,
      move.thread ? move.lane : -1
  );
  const auto known = actors_.find(key);
  if (known != actors_.end()) {
    return known->second;
  }
  const Actor actor =
      move.thread
          ? Actor{ActorKind::DeviceThread,
                  fmt::format("{} of {}", stepper_.thread_name(move), kernel),
                  stepper_.cluster_name(move), kernel}
          : Actor{ActorKind::Command, kernel, kernel, kernel};
  return actors_[key] = table_.add_actor(actor);
}

std::uint32_t Explorer::site(const HostPoint& point) {
  const bool call = point.kind != HostPoint::Kind::Access;
  const auto key = std::pair(
      point.position.return_addresses,
      call ? fmt::format("inside {}", point.what) : std::string(point.what)
  );
  const auto known = host_sites_.find(key);
  if (known != host_sites_.end()) {
    return known->second;
  }
  // Which source line that is, the tool finds out when it is asked (host_sources.h).
  std::string addresses = "@";
  for (const std::uintptr_t a : key.first) {
    if (const std::uintptr_t link = host_.link_address(a); link != 0) {
      addresses += fmt::format("{}{:x}", addresses.size() == 1 ? "" : ",", link - 1);
    }
  }
  return host_sites_[key] = table_.intern(Site{addresses, 0, 0, key.second});
}

std::uint32_t Explorer::site(const Stepper::Move& move) {
  const Stepper::Description description = stepper_.describe(move);
  const auto key = std::pair<const void*, std::string>(description.op, description.what);
  const auto known = device_sites_.find(key);
  if (known != device_sites_.end()) {
    return known->second;
  }
  const Site site = description.op != nullptr
                        ? place_of(*description.code, *description.op, description.what)
                        : Site{"", 0, 0, description.what};
  return device_sites_[key] = table_.intern(site);
}

std::uint32_t Explorer::site(const Stepper::Wait& wait) {
  const std::string others = wait.threads == 1 ? "" : fmt::format(" and {} more", wait.threads - 1);
  return table_.intern(place_of(
      *wait.code,
      *wait.op,
      fmt::format(
          "{} of {}{} {}",
          stepper_.thread_name(wait.first),
          stepper_.kernel_name(wait.first),
          others,
          wait.what
      )
  ));
}

Site Explorer::place_of(const isa::Code& code, const isa::Op& op, std::string what) const {
  machine::FaultReport place;
  machine::describe_instruction(code, op, place);
  place.inlined_at.insert(place.inlined_at.begin(), place.source);
  const machine::SourcePlace& own = users_place(place.inlined_at);
  return {own.file, own.line, own.column, std::move(what)};
}

} // namespace

Result<std::unique_ptr<machine::Driver>>
make_explorer(machine::World& world, std::string_view text) {
  TRY(const Handover handover, parse_handover(text));
  TRY(StateTable table, StateTable::open(handover.table));
  std::optional<Replay> replay;
  if (handover.replay >= 0) {
    TRY(std::vector<std::uint32_t> choices, read_choices(handover.replay));
    replay = Replay{std::move(choices), handover.trace};
  }
  return std::make_unique<Explorer>(
      world,
      std::move(table),
      Stepper::Options{.ignore_grid_order = handover.options.ignore_grid_order},
      std::move(replay)
  );
}

Result<void> check_implemented(const Options& options) {
  const Options defaults;
  const auto refuse = [](std::string_view what) {
    return unsupported(fmt::format("{} is not implemented yet", what));
  };
  if (options.progress != ProgressModel::Cuda && options.progress != ProgressModel::Obe) {
    return refuse(fmt::format("--progress={}", name(options.progress)));
  }
  if (options.host_progress != defaults.host_progress) {
    return refuse("--host-progress=none");
  }
  if (options.prompt_api != defaults.prompt_api) {
    return refuse("--api=prompt");
  }
  if (options.other_processes != defaults.other_processes) {
    return refuse("--other-processes");
  }
  if (options.spurious_failures != defaults.spurious_failures) {
    return refuse("--spurious-failures");
  }
  return {}; // the reductions that could be switched off are not there either
}

bool note_finding(const report::Diagnostic& diagnostic) {
  if (the_explorer != nullptr) {
    the_explorer->found(diagnostic);
  }
  return the_explorer != nullptr;
}

void stop_unsupported(std::string_view what) {
  if (the_explorer != nullptr) {
    the_explorer->unsupported(what);
  }
}

} // namespace heddle::explore
