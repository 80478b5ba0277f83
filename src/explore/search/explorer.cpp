// Implements explorer.h: the explorer as driver of the machine and as the one that the
// instrumentation of the host reports to.
#include "explore/search/explorer.h"

#include "base/check.h"
#include "explore/host/unneeded_wait.h"
#include "explore/options.h"
#include "explore/process/fork_server.h"
#include "explore/search/explorer_impl.h"
#include "explore/search/machine_choices.h"
#include "explore/search/stepper_options.h"
#include "explore/witness/schedule.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <unordered_set>

namespace heddle::explore {

namespace {

Explorer* the_explorer = nullptr; // hooks and exit handlers carry no context

HeddleHostHooks hooks = {
    .before_event =
        [](HeddleHostEvent event, const void* address, std::size_t bytes, std::uint64_t operands) {
          return the_explorer->host_event(event, address, bytes, operands);
        },
    .plain =
        [](const void* p, std::size_t, const void* pc) { the_explorer->host_meets_work(p, pc); },
    .wrote = [](const void* p,
                std::size_t bytes,
                const void* pc) { the_explorer->host_wrote(p, bytes, pc); },
    .freed = [](const void* p, std::size_t bytes) { the_explorer->host_freed(p, bytes); },
    .allocates = [] { the_explorer->host_allocates(); },
    .left_out = [](HeddleLeftOut what) { the_explorer->host_left_out(what); },
    .unsupported = [](const char* what) { the_explorer->stop_unsupported(what); },
    .ends_at_once = [](int status) { the_explorer->host_ends_at_once(status); },
    .ends_quickly = [](int status) { the_explorer->host_ends_quickly(status); },
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

/// Once for each kernel that this process launches.
void note_new_places(StateTable& table, const machine::Command& command) {
  static std::unordered_set<const isa::Kernel*> known;
  if (!command.grid || !known.insert(&command.grid->kernel()).second) {
    return;
  }
  if (const std::string what = left_out_places(command.grid->kernel()); !what.empty()) {
    table.add_event(EventKind::LeftOut, 0, 0, what);
  }
}

} // namespace

Explorer::Explorer(
    machine::World& world,
    StateTable table,
    const Options& options,
    std::optional<Replay> replay,
    machine::MakeWarpRules warp_rules
)
    : world_(world),
      table_(std::move(table)),
      options_(options),
      stepper_(world, stepper_options(options, std::move(warp_rules))),
      threads_(*this, host_),
      replay_(std::move(replay)),
      course_(table_.course()),
      board_(table_.work_board()) {
  threads_.set_eager(options.eager && options.host_progress);
  if (const RankBoard ranks = table_.rank_board(); ranks.is_divided()) {
    ranks_ = ranks;
    serves_ = ranks.does_errands();
  }
  world_.use_virtual_time();
  if (options.guide_barriers) {
    world_.let_ended_hold_up_barriers();
  }
  HEDDLE_CHECK(the_explorer == nullptr, "two explorers in one process");
  the_explorer = this;
  host_actor(0);
  hooks.threads = threads_.hooks();
  if (!set_hooks(&hooks)) {
    table_.note(Fact::HostUnseen);
  }
  // Runs after those of the program, which are registered later.
  ::at_quick_exit([] {
    if (the_explorer != nullptr) {
      the_explorer->host_ended(the_explorer->quick_status());
    }
  });
  ::on_exit(
      [](int status, void*) {
        if (the_explorer != nullptr) {
          the_explorer->host_ended(status);
        }
      },
      nullptr
  );
}

Explorer::~Explorer() {
  set_hooks(nullptr);
  the_explorer = nullptr;
}

// --- The host stops ------------------------------------------------------------------------------

void Explorer::wait(
    const std::function<bool()>& done,
    std::span<const machine::CommandPtr> commands,
    const char* what
) {
  // One that need not wait goes on before or after any move of a device: that it has waited is one
  // of these.
  const auto kind = is_promised() ? HostPoint::Kind::Wait : HostPoint::Kind::MayWait;
  threads_.stop({.kind = kind, .what = what, .condition = &done, .commands = commands});
}

bool Explorer::query(
    const std::function<bool()>& ready,
    std::span<const machine::CommandPtr> commands
) {
  note_circle(); // it depends on what devices have not done yet
  return threads_.stop(
             {.kind = HostPoint::Kind::Query,
              .what = last_call_[threads_.current()],
              .condition = &ready,
              .commands = commands}
         ) == 0;
}

void Explorer::observe(const char* name) {
  note_circle(); // it depends on what devices have not done yet
  threads_.stop({.kind = HostPoint::Kind::Access, .what = name});
}

void Explorer::api_call(const char* name) {
  last_call_[threads_.current()] = name;
  in_calls_ |= std::uint64_t{1} << threads_.current();
  // What it is called with lies in registers that nobody saves. It comes from where the thread was
  // before.
  threads_.stop({.kind = HostPoint::Kind::ApiCall, .what = name, .operands = threads_.origin()});
}

void Explorer::api_changed() {
  changed_ = combined(changed_, threads_.origin());
}

void Explorer::api_holds(std::uint64_t held) {
  threads_.hold(held);
}

void Explorer::api_returned(std::uint64_t code) {
  threads_.came_back(code);
}

namespace {

/// A copy moves its words in one step here. Who looks meanwhile could see some of them only, by
/// what is a data race: these are looked for then.
bool meets_copy(const reduce::Works& works, const machine::Command& command) {
  return works.copies_words_beside(command) ||
         (reduce::Works::copies_words(command) && works.busy());
}

} // namespace

void Explorer::submitted(const machine::CommandPtr& command) {
  hooks.submitted = true;
  if (command->part_of == 0) { // else by no call
    submitted_ |= std::uint64_t{1} << threads_.current();
  }
  const HostThreads::Aside aside(threads_);
  if (command->value) {
    value_wait_calls_[command->id] = addresses(host_.capture());
    note_circle(); // for all that is known
  }
  if (!command->early.empty()) {
    note_circle(); // whether the two overlap is not chosen where blocks start at once
  }
  if (command->grid && command->part_of == 0) {
    launches_[command->id] = last_launches_[command->grid->describe()] = addresses(host_.capture());
  }
  command->which = launch_numbers_.submitted(
      *command,
      command->grid ? command->grid->describe() : "",
      threads_.current(),
      threads_.name(threads_.current())
  );
  meets_copy(stepper_.works(), *command) ? table_.note(Fact::PlainAccess) : void();
  one_way() ? void() : note_new_places(table_, *command);
  stepper_.submitted(command);
}

// [API]: a call that has submitted work may still stay blocked for as long as that work makes
// progress, as all launches do with CUDA_LAUNCH_BLOCKING=1.
void Explorer::api_return(const char* name) {
  const std::uint64_t self = std::uint64_t{1} << threads_.current();
  const bool submitted = (submitted_ & self) != 0;
  submitted_ &= ~self;
  if (submitted && !options_.prompt_api) {
    threads_.stop({.kind = HostPoint::Kind::Return, .what = name});
  }
  in_calls_ &= ~self;
}

/// What the running host thread allocates meanwhile is not the program's.
class Explorer::InCall {
public:
  explicit InCall(Explorer& explorer)
      : explorer_(explorer),
        thread_(std::uint64_t{1} << explorer.threads_.current() & ~explorer.in_calls_) {
    explorer.in_calls_ |= thread_;
  }
  ~InCall() { explorer_.in_calls_ &= ~thread_; }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

private:
  Explorer& explorer_;
  std::uint64_t thread_;
};

unsigned Explorer::host_event(
    HeddleHostEvent event,
    const void* address,
    std::size_t bytes,
    std::uint64_t operands
) {
  if (threads_.inside() || (event == HeddleYield && !threads_.worth_stopping_to_yield())) {
    return 0;
  }
  const InCall call(*this);
  static constexpr const char* what[] = {
      "an atomic read",
      "an atomic write",
      "an atomic update",
      "a volatile read",
      "a volatile write",
      "yields or sleeps",
      "an atomic update"
  };
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const auto note_access = [&] {
    if (event != HeddleYield) {
      const HostThreads::Aside aside(threads_);
      stepper_.host_accesses(a, bytes);
    }
  };
  note_access();
  const bool reads = event == HeddleAtomicLoad || event == HeddleVolatileRead;
  HostPosition position;
  if (reads && !threads_.worth_stopping_to_read(address, bytes, position)) {
    table_.note(Fact::Reads);
    threads_.reads_on(position, address, bytes);
    return 0;
  }
  const bool is_weak = event == HeddleWeakExchange;
  const bool may_fail = is_weak && options_.spurious_failures;
  if (is_weak && !may_fail) {
    table_.note(Fact::NoSpuriousFailures);
  }
  const unsigned way = threads_.stop(
      {.kind = HostPoint::Kind::Access,
       .what = may_fail ? "a weak exchange" : what[event],
       .device_visible = event != HeddleYield && world_.space().find_range(a).size != 0,
       .may_fail = may_fail,
       .reads = reads,
       .operands = combined(a, operands),
       .position = std::move(position)}
  );
  note_access(); // while it stood there others may have submitted work, which it meets
  if (!reads && event != HeddleYield) {
    const HostThreads::Aside aside(threads_);
    stepper_.host_writes(a, bytes);
  }
  threads_.reads(address, bytes);
  return way;
}

/// A plain access of the host, to memory that devices reach, while work is under way: when it
/// happens is not a choice, so what devices do before or after it is not looked at.
void Explorer::host_meets_work(const void* p, const void* pc) {
  const auto place = reinterpret_cast<std::uintptr_t>(pc);
  if (threads_.inside() || !stepper_.works().busy() || host_.ours(place)) {
    return;
  }
  const HostThreads::Aside aside(threads_);
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const bool shared = world_.space().find_range(address).size != 0;
  const reduce::Works& works = stepper_.works();
  if (shared ? works.may_reach(address) : works.names(address)) {
    table_.note(Fact::HostAccess);
    constexpr std::size_t most = 4; // places, in one process
    if (!one_way() && met_work_.size() < most && met_work_.insert(pc).second) {
      const HostPosition position{.return_addresses = {place}};
      table_.add_event(
          EventKind::Unchosen,
          0,
          table_.intern(Site{addresses(position), 0, 0, ""}),
          "other moments of a plain host access to memory that kernels or copies under way can "
          "reach"
      );
    }
  }
}

void Explorer::host_wrote(const void* p, std::size_t bytes, const void* pc) {
  if (threads_.inside() || !host_.remembers(p, pc)) {
    return;
  }
  const HostThreads::Aside aside(threads_);
  const auto a = reinterpret_cast<std::uintptr_t>(p);
  if (world_.space().find_range(a).size != 0 &&
      world_.space().find(a)->kind != memory::AllocationKind::Registered) {
    return; // managed or pinned: the device's memory, and gone when it is freed
  }
  host_.wrote(p, bytes);
}

void Explorer::host_freed(const void* p, std::size_t bytes) {
  if (!threads_.inside()) {
    const HostThreads::Aside aside(threads_);
    host_.freed(p, bytes);
  }
}

/// What the allocator has free is no part of a state: where the next object lies may depend on the
/// way to it.
void Explorer::host_allocates() {
  const bool own = threads_.inside() || (in_calls_ >> threads_.current() & 1) != 0;
  if (!own && (threads_.count() > 1 || stepper_.works().busy())) {
    table_.note(Fact::HostAllocates);
  }
}

void Explorer::host_left_out(HeddleLeftOut what) {
  if (threads_.inside()) {
    return; // our own locks
  }
  switch (what) {
  case HeddleSpuriousWakeUps:
    table_.note(Fact::NoSpuriousWakeUps);
    break;
  case HeddleOthersWoken:
    table_.note(Fact::FirstWoken);
    break;
  case HeddleWritersFirst:
    table_.note(Fact::ReadersFirst);
    break;
  case HeddleTeamSizes:
    table_.note(Fact::TeamsOfTwo);
    break;
  case HeddleLaterTasks:
    table_.note(Fact::TasksAtOnce);
    break;
  }
}

// --- Interface -----------------------------------------------------------------------------------

namespace {

/// What HEDDLE_EXPLORE says, or what a fork server is told.
Result<Handover> take_handover(std::string_view text) {
  if (!text.starts_with(serve_key)) {
    return parse_handover(text);
  }
  return serve(std::atoi(std::string(text.substr(serve_key.size())).c_str()));
}

} // namespace

Result<std::unique_ptr<machine::Driver>> make_explorer(
    machine::World& world,
    std::string_view text,
    const std::function<machine::MakeWarpRules(const Options&)>& warp_rules
) {
  TRY(const Handover handover, take_handover(text));
  TRY(StateTable table, StateTable::open(handover.table));
  std::optional<Replay> replay;
  if (handover.replay >= 0) {
    TRY(std::vector<std::uint32_t> choices, read_choices(handover.replay));
    replay = Replay{std::move(choices), handover.trace};
  }
  auto explorer = std::make_unique<Explorer>(
      world,
      std::move(table),
      handover.options,
      std::move(replay),
      warp_rules(handover.options)
  );
  if (handover.samples >= 0) {
    TRY(SharedSheet sheet, SharedSheet::open(handover.samples));
    explorer->try_samples(std::move(sheet));
  }
  return explorer;
}

bool note_finding(const report::Diagnostic& diagnostic) {
  if (the_explorer != nullptr) {
    the_explorer->found(diagnostic);
  }
  return the_explorer != nullptr;
}

bool is_exploring() {
  return the_explorer != nullptr;
}

std::string host_position() {
  return the_explorer != nullptr ? the_explorer->host_position() : "";
}

void note_unneeded_wait() {
  if (the_explorer != nullptr) {
    the_explorer->waits_without_need();
  }
}

void stop_unsupported(std::string_view what) {
  if (the_explorer != nullptr) {
    the_explorer->stop_unsupported(what);
  }
}

} // namespace heddle::explore
