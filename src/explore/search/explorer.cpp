// Implements explorer.h: the explorer as driver of the machine and as the one that the
// instrumentation of the host reports to.
#include "explore/search/explorer.h"

#include "base/check.h"
#include "explore/host/copy_words.h"
#include "explore/host/unneeded_wait.h"
#include "explore/options.h"
#include "explore/process/fork_server.h"
#include "explore/search/explorer_impl.h"
#include "explore/search/looks_at_copies.h"
#include "explore/search/machine_choices.h"
#include "explore/witness/schedule.h"
#include "report/diagnostic_lines.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace heddle::explore {

namespace {

Explorer* the_explorer = nullptr; // hooks and exit handlers carry no context

HeddleHostHooks hooks = {
    .before_event =
        [](HeddleHostEvent event, const void* address, std::size_t bytes, std::uint64_t operands) {
          return the_explorer->events().access(event, address, bytes, operands);
        },
    .plain = [](const void* p,
                std::size_t,
                const void* pc) { the_explorer->events().meets_work(p, pc); },
    .wrote = [](const void* p,
                std::size_t bytes,
                const void* pc) { the_explorer->events().wrote(p, bytes, pc); },
    .freed = [](const void* p, std::size_t bytes) { the_explorer->events().freed(p, bytes); },
    .allocates = [] { the_explorer->events().allocates(); },
    .left_out = [](HeddleLeftOut what) { the_explorer->events().left_out(what); },
    .explores = [](const void* pc) { return the_explorer->events().explores(pc); },
    .alone = [] { return the_explorer->events().alone(); },
    .asks = [](HeddleAnswer what,
               const void* pc) { return the_explorer->asked().answer(what, pc); },
    .input = [](HeddleInput kind,
                const char* name,
                const void* pc) { the_explorer->asked().input(kind, name, pc); },
    .unsupported = [](const char* what) { the_explorer->stop_unsupported(what); },
    .ends = [](int status) { the_explorer->about_to_end(status); },
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

/// The last exit handlers. While one thread stands there another one may come to its own end, and
/// find them again.
void end_by_exit(int status, void*) {
  if (the_explorer != nullptr) {
    if (the_explorer->others_see_end()) {
      ::on_exit(end_by_exit, nullptr);
    }
    the_explorer->about_to_end(status);
    the_explorer->host_ended(status);
  }
}

void end_quickly() {
  if (the_explorer != nullptr) {
    if (the_explorer->others_see_end()) {
      ::at_quick_exit(end_quickly);
    }
    const std::optional<int> status = the_explorer->quick_status();
    the_explorer->about_to_end(status);
    the_explorer->host_ended(status);
  }
}

} // namespace

Explorer::Explorer(
    machine::World& world,
    StateTable table,
    const Options& options,
    Purpose purpose,
    machine::MakeWarpRules warp_rules
)
    : ground_(world, std::move(table), options, purpose, std::move(warp_rules), *this),
      threads_(ground_.threads),
      system_(ground_),
      launches_(ground_.host, ground_.threads),
      names_(ground_, launches_),
      news_(ground_),
      way_(ground_, system_),
      record_(ground_, system_, launches_, names_, way_.course()),
      processes_(ground_, news_, way_),
      mover_(ground_, system_, record_, way_, processes_),
      shares_(ground_, system_, way_, processes_, mover_, news_),
      errands_(ground_, system_, record_, news_, way_, processes_, mover_, shares_),
      search_(ground_, parts()),
      events_(ground_),
      asked_(ground_) {
  HEDDLE_CHECK(the_explorer == nullptr, "two explorers in one process");
  the_explorer = this;
  names_.host_actor(0);
  hooks.threads = threads_.hooks();
  if (!set_hooks(&hooks)) {
    ground_.table.note(Fact::HostUnseen);
  }
  // These run after those of the program, which are registered later.
  ::at_quick_exit(end_quickly);
  ::on_exit(end_by_exit, nullptr);
}

Search::Parts Explorer::parts() {
  return {system_, record_, news_, way_, processes_, mover_, shares_, errands_};
}

void Explorer::repeat(std::vector<std::uint32_t> choices) {
  replayer_ = std::make_unique<Replayer>(ground_, parts(), search_, std::move(choices));
}

void Explorer::try_samples(SharedSheet sheet) {
  samples_ = std::make_unique<Samples>(ground_, parts(), search_, names_, std::move(sheet));
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
  processes_.note_circle(); // it depends on what devices have not done yet
  return threads_.stop(
             {.kind = HostPoint::Kind::Query,
              .what = last_call_[threads_.current()],
              .condition = &ready,
              .commands = commands}
         ) == 0;
}

void Explorer::observe(const char* name) {
  processes_.note_circle(); // it depends on what devices have not done yet
  threads_.stop({.kind = HostPoint::Kind::Access, .what = name});
}

void Explorer::api_call(const char* name) {
  last_call_[threads_.current()] = name;
  events_.begin_call();
  // What it is called with lies in registers that nobody saves. It comes from where the thread was
  // before.
  threads_.stop({.kind = HostPoint::Kind::ApiCall, .what = name, .operands = threads_.origin()});
}

void Explorer::api_changed() {
  system_.api_changed();
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

/// Where a kernel asks for what the machine has chosen: once for each that this process launches.
void Explorer::note_new_places(const machine::Command& command) {
  if (ground_.purpose.one_way() || !launches_.is_new_kernel(command)) {
    return;
  }
  if (const std::string what = left_out_places(command.grid->kernel()); !what.empty()) {
    ground_.table.add_event(EventKind::LeftOut, 0, 0, what);
  }
}

void Explorer::submitted(const machine::CommandPtr& command) {
  hooks.submitted = true;
  if (command->part_of == 0) { // else by no call
    submitted_ |= std::uint64_t{1} << threads_.current();
  }
  const HostThreads::Aside aside(threads_);
  if (command->value) {
    processes_.note_circle(); // for all that is known
  }
  if (!command->early.empty()) {
    processes_.note_circle(); // whether the two overlap is not chosen where blocks start at once
  }
  launches_.submitted(*command);
  if (copies_few_words(*command)) {
    news_.copies_few_words();
  }
  if (meets_copy(ground_.stepper.works(), *command)) {
    ground_.table.note(Fact::PlainAccess);
  }
  note_new_places(*command);
  ground_.stepper.submitted(command);
}

// [API]: a call that has submitted work may still stay blocked for as long as that work makes
// progress, as all launches do with CUDA_LAUNCH_BLOCKING=1.
void Explorer::api_return(const char* name) {
  const std::uint64_t self = std::uint64_t{1} << threads_.current();
  const bool submitted = (submitted_ & self) != 0;
  submitted_ &= ~self;
  if (submitted && !ground_.options.prompt_api) {
    threads_.stop({.kind = HostPoint::Kind::Return, .what = name});
  }
  events_.end_call();
}

void Explorer::next(HostThreads&) {
  events_.arrived();
  ground_.stepper.host_moved();
  system_.host_moved();
  way_.clear();
  if (samples_) {
    samples_->go_on();
    return;
  }
  if (errands_.are_all()) {
    if (errands_.perform([this] { return search_.run(); })) {
      return;
    }
    processes_.finish();
  }
  const Arrival arrival{.host = true, .open = 0};
  if (!search_.enter(replayer_ ? replayer_->arrival(arrival) : arrival) ||
      !(replayer_ ? replayer_->go_on() : search_.run())) {
    processes_.finish();
  }
  way_.clear();
}

// --- Ends ----------------------------------------------------------------------------------------

namespace {

/// Could one of the other host threads go on, if no host thread wakes one any more?
bool others_could_go_on(const HostThreads& threads) {
  for (unsigned t = 0; t < threads.count(); ++t) {
    if (t != threads.current() && threads.state(t) == HostThreads::State::Live &&
        (!threads.stands(t) || threads.point(t).kind != HostPoint::Kind::Sync ||
         threads.ways(t) != 0)) {
      return true;
    }
  }
  return false;
}

} // namespace

/// What device threads do was looked at where the host stopped last, unless it has written
/// something since.
bool Explorer::others_see_end() const {
  const bool is_end = !threads_.inside() && !ground_.leaving &&
                      threads_.state(threads_.current()) == HostThreads::State::Live;
  const reduce::Works& works = ground_.stepper.works();
  return is_end && (others_could_go_on(threads_) || works.may_call_host() ||
                    (works.busy() && events_.tells_devices()));
}

/// To end is an operation that all others can tell: they do nothing after it.
void Explorer::about_to_end(std::optional<int> status) {
  if (others_see_end()) {
    const auto operands = static_cast<std::uint64_t>(status.value_or(-1));
    threads_.stop(
        {.kind = HostPoint::Kind::Access, .what = "ends the program", .operands = operands}
    );
  }
}

/// The program, or we ourselves, end this process without exit handlers.
void Explorer::host_ends_at_once(int status) {
  if (!threads_.inside() && !ground_.leaving) {
    about_to_end(status);
    host_ended(status);
  }
}

void Explorer::host_ends_quickly(int status) {
  about_to_end(status);
  quick_status_[threads_.current()] = status;
}

void Explorer::host_ended(std::optional<int> status) {
  ground_.leaving = true;
  events_.ended();
  std::optional<std::uint8_t> unexpected; // [EXIT]
  if (status) {
    const auto seen = static_cast<std::uint8_t>(*status); // as whoever waits for the process does
    if (seen == ground_.options.expect_exit) {
      ground_.table.note(Fact::EndsAsExpected);
    } else {
      unexpected = seen;
    }
  }
  if (is_unrecorded()) {
    if (unexpected) {
      samples_->note(fmt::format("exit status {}", *unexpected));
    }
    samples_->end(unexpected ? SampleEnd::Event : SampleEnd::Ended);
  }
  // The table may rest meanwhile (while another process enlarges it): that is not the program's.
  const HostThreads::Aside aside(threads_);
  {
    const Course::Change change(way_.course());
    search_.end_here(unexpected);
    way_.course().done();
  }
  processes_.finish();
}

void Explorer::stop_unsupported(std::string_view what) {
  if (is_unrecorded()) {
    samples_->note(what);
    samples_->end(SampleEnd::Event);
  }
  const HostPoint point{.kind = HostPoint::Kind::Access, .position = ground_.host.capture()};
  const HostThreads::Aside aside(threads_);
  ground_.table.add_event(EventKind::Unsupported, record_.from(), names_.site(point), what);
  host_ended(std::nullopt);
}

void Explorer::found(const report::Diagnostic& diagnostic) {
  if (is_unrecorded()) {
    samples_->note(diagnostic.message);
    return;
  }
  if (way_.course().repeats()) {
    return; // it is known
  }
  const HostPoint point{.kind = HostPoint::Kind::Access, .position = ground_.host.capture()};
  const HostThreads::Aside aside(threads_);
  const std::string text = report::to_lines(diagnostic);
  ground_.table.add_event(EventKind::Fault, record_.from(), names_.site(point), text);
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
  Purpose purpose;
  std::vector<std::uint32_t> choices;
  if (handover.replay >= 0) {
    purpose.kind = Purpose::Kind::Replay;
    purpose.trace = handover.trace;
    TRY(choices, read_choices(handover.replay));
  } else if (handover.samples >= 0) {
    purpose.kind = Purpose::Kind::Samples;
  }
  const Options& options = handover.options;
  auto explorer =
      std::make_unique<Explorer>(world, std::move(table), options, purpose, warp_rules(options));
  if (purpose.kind == Purpose::Kind::Replay) {
    explorer->repeat(std::move(choices));
  } else if (purpose.kind == Purpose::Kind::Samples) {
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

bool copies_word_by_word() {
  return the_explorer != nullptr && the_explorer->copies_word_by_word();
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
