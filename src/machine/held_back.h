// HeldBack: a driver in front of another one that keeps some commands back until the host waits.
//
//   world.set_driver(std::make_unique<HeldBack>(std::move(engine), holder));
//
// A command may begin at any time after its submission [DEP], so a late one is as good as an early
// one, and until it begins nobody but the host touches what it is about to access: `Holder` looks.
// A command that is kept back goes on when
// - the host waits for it, or for what comes behind it, or asks whether that is complete;
// - a host thread waits for something else, and that takes long: it may depend on this one in ways
//   that are not seen;
// - the thread that has submitted it has worked for a while, or so much time has passed that it
//   waits for something of its own: device work is not put off for longer.
// Time of the submitting thread, not of a clock on the wall, decides in the common cases, so that
// what is seen does not depend on how busy the machine is. Thread safe.
#pragma once

#include "machine/world.h"

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace heddle::machine {

class Holder {
public:
  enum class Promise : std::uint8_t {
    Made, // the host may go by it
    None
  };
  virtual ~Holder() = default;
  /// The calling host thread submits the command. Is it to be kept back? `before`: ids of what is
  /// kept back and has to complete before it begins.
  virtual bool holds(const CommandPtr& command, const std::set<std::uint64_t>& before) = 0;
  /// It may begin when this returns. `unpromised`: the call of the host that waits for it, and need
  /// not ([API-WAIT]); nullptr: another reason.
  virtual void lets_go(const Command& command, const char* unpromised) = 0;
  /// The calling host thread begins, or ends, a call of the API.
  virtual void call_begins() = 0;
  virtual void call_ends() = 0;
  /// A host thread has waited, with no lock of the machine: time to say what was found.
  virtual void host_waited(Promise promise) = 0;
};

/// While one of these lives, waits of the calling thread are such that it could go on without
/// ([API-WAIT]). Of each thread by itself, unlike Driver::wait_unpromised().
class UnpromisedWait {
public:
  UnpromisedWait();
  ~UnpromisedWait();
  UnpromisedWait(const UnpromisedWait&) = delete;
  UnpromisedWait& operator=(const UnpromisedWait&) = delete;
};

class HeldBack final : public Driver {
public:
  HeldBack(std::unique_ptr<Driver> inner, std::unique_ptr<Holder> holder);
  ~HeldBack() override;

  void submitted(const CommandPtr& command) override;
  void wait(
      const std::function<bool()>& done,
      std::span<const CommandPtr> commands,
      const char* what
  ) override;
  void alone(const std::function<void()>& call) override { inner_->alone(call); }
  bool complete_rest() override;
  bool query(const std::function<bool()>& ready, std::span<const CommandPtr> commands) override;
  void observe(const char* name) override { inner_->observe(name); }
  void api_call(const char* name) override {
    holder_->call_begins();
    inner_->api_call(name);
  }
  void api_return(const char* name) override {
    inner_->api_return(name);
    holder_->call_ends();
  }
  void api_changed() override { inner_->api_changed(); }
  void api_holds(std::uint64_t held) override { inner_->api_holds(held); }
  void api_returned(std::uint64_t code) override { inner_->api_returned(code); }

  void let_all_go();

private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    CommandPtr command;
    Clock::time_point until;
    clockid_t clock{}; // of the thread that has submitted it
    std::chrono::nanoseconds worked_until{};
  };
  using Commands = std::map<std::uint64_t, CommandPtr>; // by id: in the order of the calls

  std::set<std::uint64_t> held_before(const Command& command) const;
  void let_go_behind(std::span<const CommandPtr> commands, const char* unpromised);
  void let_go(const Commands& commands, const char* unpromised);
  void forget_if_none();
  void look_now_and_then();
  Commands take_overdue();

  std::unique_ptr<Driver> inner_;
  std::unique_ptr<Holder> holder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Held> held_; // by the command's id
  /// Commands that are not held, or are, and come behind such: ids of both.
  std::map<std::uint64_t, std::set<std::uint64_t>> behind_;
  unsigned waiting_ = 0; // host threads
  std::optional<Clock::time_point> waits_since_;
  bool stopping_ = false;
  std::thread looks_; // started with the first one that is held
};

} // namespace heddle::machine
