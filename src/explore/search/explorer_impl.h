// The explorer itself: the parts of a search, and the host program that drives them. Included by
// explorer.cpp only.
#pragma once

#include "explore/search/asked.h"
#include "explore/search/explorer.h"
#include "explore/search/host_events.h"
#include "explore/search/replayer.h"
#include "explore/search/samples.h"
#include "explore/search/search.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

class Explorer final : public machine::Driver, public HostScheduler {
public:
  Explorer(
      machine::World& world,
      StateTable table,
      const Options& options,
      Purpose purpose,
      machine::MakeWarpRules warp_rules
  );
  ~Explorer() override;
  /// Instead of a search: one execution, by its schedule.
  void repeat(std::vector<std::uint32_t> choices);
  /// Instead of a search: single schedules, as the sheet asks.
  void try_samples(SharedSheet sheet);

  // --- machine::Driver ---------------------------------------------------------------------------
  void submitted(const machine::CommandPtr& command) override;
  void wait(
      const std::function<bool()>& done,
      std::span<const machine::CommandPtr> commands,
      const char* what
  ) override;
  bool
  query(const std::function<bool()>& ready, std::span<const machine::CommandPtr> commands) override;
  void observe(const char* name) override;
  void api_call(const char* name) override;
  void api_return(const char* name) override;
  void api_changed() override;
  void api_holds(std::uint64_t held) override;
  void api_returned(std::uint64_t code) override;

  // --- HostScheduler -----------------------------------------------------------------------------
  void next(HostThreads& threads) override;
  void unsupported(const char* what) override { stop_unsupported(what); }

  // --- Told by the instrumentation and by the runtime --------------------------------------------
  HostEvents& events() { return events_; }
  Asked& asked() { return asked_; }
  void waits_without_need() { ground_.table.note(Fact::CallsWait); }
  bool copies_word_by_word() const {
    return !ground_.stepper.assumed().takes_copies_for_one_move();
  }
  [[noreturn]] void stop_unsupported(std::string_view what);
  void found(const report::Diagnostic& diagnostic);
  std::string host_position() { return addresses(ground_.host, ground_.host.capture()); }
  /// nullopt: not by itself, or nobody knows with which exit status.
  [[noreturn]] void host_ended(std::optional<int> status);
  void host_ends_at_once(int status);
  /// quick_exit has been called: its handlers are not told with which status.
  void host_ends_quickly(int status);
  /// Would the end of the program keep others from what they could still do?
  bool others_see_end() const;
  /// The running thread stops where that is so: exit has been called, or is over.
  void about_to_end(std::optional<int> status);
  std::optional<int> quick_status() const { return quick_status_[threads_.current()]; }

private:
  void note_new_places(const machine::Command& command);
  Search::Parts parts();
  bool is_unrecorded() const { return ground_.purpose.unrecorded; }

  Ground ground_;
  HostThreads& threads_;
  System system_;
  Launches launches_;
  ReportNames names_;
  News news_;
  Way way_;
  Record record_;
  Processes processes_;
  Mover mover_;
  Shares shares_;
  Errands errands_;
  Search search_;
  HostEvents events_;
  Asked asked_;
  std::unique_ptr<Replayer> replayer_;
  std::unique_ptr<Samples> samples_;
  std::array<const char*, HeddleMaxThreads> last_call_{}; // by host thread
  std::uint64_t submitted_ = 0; // host threads, as bits: by the call under way
  std::array<std::optional<int>, HeddleMaxThreads> quick_status_; // by host thread
};

} // namespace heddle::explore
