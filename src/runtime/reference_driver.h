// ReferenceDriver: the driver of `heddle check --reference`.
//
// Kernels stay where they are until the host waits, asks or ends. Then those that may run beside
// each other are searched by the reference (reference/search.h), from the memory as it is, and one
// line says what it found. Afterwards the engine runs them in a fair order, and the program goes on
// from there.
//
// Not looked at: what the host does while kernels run, and what other orders of earlier kernels
// leave behind. Copies and other commands between kernels are carried out where they stand.
#pragma once

#include "machine/engine.h"

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace heddle::runtime {

class ReferenceDriver final : public machine::Driver {
public:
  /// `asked`: "N FILE", the most states of one search, and where lines are appended.
  ReferenceDriver(machine::World& world, const std::string& asked);

  void submitted(const machine::CommandPtr& command) override;
  void wait(
      const std::function<bool()>& done,
      std::span<const machine::CommandPtr> commands,
      const char* what
  ) override;
  void alone(const std::function<void()>& call) override { engine_.alone(call); }
  bool complete_rest() override;
  bool
  query(const std::function<bool()>& ready, std::span<const machine::CommandPtr> commands) override;
  void api_call(const char* name) override { engine_.api_call(name); }

private:
  using Commands = std::vector<machine::CommandPtr>;
  void go_on();
  void search(const Commands& group);
  std::string outcome(const Commands& kernels, const Commands& group);
  void carry_out(const Commands& commands);

  machine::World& world_;
  machine::Engine engine_;
  std::size_t most_states_ = 0;
  std::string file_;
  std::recursive_mutex mutex_; // a host function may submit
  Commands waiting_;
};

} // namespace heddle::runtime
