// MicroHost: the host threads of a micro-program: the one that does HostOperations, and those that
// run host functions. Each operation is a move. (Those of real programs:
// explore/host/host_threads.h.)
//
//   MicroHost host(program, device, world, stepper);
//   for (unsigned t = 0; t < host.threads(); ++t)
//     if (host.at(t).can_go_on) host.move(t);
//   host.begin(command);                     // a host function that the stepper has begun
//
// There is no way back: see walk.h.
#pragma once

#include "explore/strategy/host_first.h"
#include "reduce/micro_program.h"

#include <array>
#include <functional>
#include <vector>

namespace heddle::enumeration {

class MicroHost {
public:
  struct Services {
    std::function<machine::CommandPtr(HostKind)> kernel; // a command, not submitted
    std::function<void(const machine::CommandPtr&)> submit;
    std::byte* memory = nullptr;     // P
    memory::Address address = 0;     // of it, on the device
    machine::ValueWait value_of_p{}; // that P is 1
    bool word_by_word = false;       // copies of few words are made so
  };
  MicroHost(const MicroProgram& program, Services services, reduce::Stepper& stepper);

  bool prompt() const { return prompt_; }
  bool none() const { return threads_.empty(); } // the program has no host code
  unsigned threads() const { return static_cast<unsigned>(threads_.size()); }
  bool live(unsigned thread) const { return !threads_[thread].ended; }
  bool all_ended() const;
  bool only_one() const; // is live
  explore::HostAt at(unsigned thread) const;
  /// Bits: 1 if it can go on, or is told that what it asks for is so; 2 if it may be told that it
  /// is not.
  std::uint64_t ways(unsigned thread) const;
  void move(unsigned thread, unsigned way = 0);
  void begin(const machine::CommandPtr& function);
  void hash(Hasher& hasher) const;
  /// Has somebody looked at a copy of few words that was under way?
  bool looked_at_copies() const;
  std::uint32_t site(unsigned thread) const; // the same for the same operation

private:
  struct Thread {
    std::vector<HostOperation> code{};
    machine::CommandPtr function{}; // that it runs
    std::size_t next = 0;
    bool started = true, submitted = false, hangs = false, ended = false;
  };
  static HostOperation operation(const Thread& thread);
  void arrive(const Thread& thread);
  void submit(HostKind kind);
  void make_set(machine::Command& command, std::size_t to, std::uint32_t value) const;
  std::function<std::vector<machine::CommandPtr>()> set_if(const machine::Command& node);
  bool holds(HostKind kind) const; // what is waited or asked for
  void access(Thread& thread, const HostOperation& operation, unsigned way);
  void note_access(const HostOperation& operation);
  void make_copy(machine::Command& command, const std::array<std::byte*, 2>& words);
  std::uint32_t word(std::size_t place) const;
  void write(std::size_t place, std::uint32_t value);

  bool prompt_;
  Services services_;
  reduce::Stepper& stepper_;
  std::vector<Thread> threads_;
  std::vector<std::pair<machine::CommandPtr, HostKind>> functions_;
  std::vector<machine::CommandPtr> kernels_, copies_; // the streams
  machine::CommandPtr event_;                         // its last record
  bool flag_ = false;
  // Pageable memory, of which a copy makes the words in the middle.
  std::array<std::uint32_t, 4> pageable_{};
  bool copies_few_words_ = false, looked_at_copies_ = false;
};

} // namespace heddle::enumeration
