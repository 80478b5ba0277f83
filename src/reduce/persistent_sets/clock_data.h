// Clock data: what device clocks have shown, where it goes when no time limit asks for it.
//
// A search shows one value, where what a clock shows is data, and two, where it decides by a time
// limit (spec/clocks.md). Stored to memory, such a value may be loaded again, and something may be
// decided by it. Then one value does not stand for all.
//
//   ClockData data(exec, space);
//   data.looked(code, op, live);                   // a clock is read there
//   data.accessed(lane, at, bytes, store);         // as isa::AccessWatch
//   data.carried_out(command);                     // a copy, or anything else that is no kernel
//   data.host_accesses(at, bytes);                 // by an atomic or volatile access
//   if (data.take_news()) …                        // known moves may have something to mark
//   data.left_out()                                // what was decided, and by which clock; or ""
//
// Marks are never taken back, so what a place held earlier counts. May be wrong: what the host
// makes of such a value is not followed; that it can see one counts as a decision.
#pragma once

#include "analysis/value_flow.h"
#include "isa/exec.h"
#include "isa/program.h"
#include "machine/live_state.h"
#include "machine/world.h"
#include "memory/address_space.h"
#include "reduce/mutant.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::reduce {

class ClockData final : public isa::AccessWatch {
public:
  ClockData(const isa::Exec& exec, const memory::AddressSpace& space, Mutant mutant = Mutant::None)
      : exec_(exec),
        space_(space),
        mutant_(mutant) {}

  void looked(const isa::Code& code, const isa::Op& op, const machine::LiveState::At& live);
  /// Of a reading that decides in a way that two answers do not stand for.
  void decides(const isa::Code& code, const isa::Op& op);
  void accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) override;
  void carried_out(const machine::Command& command);
  void host_accesses(const std::byte* at, std::uint64_t bytes);
  /// A call of which nobody knows what it reads, or a command that waits for a value.
  void called_library();
  bool take_news() { return std::exchange(news_, false); }
  const std::string& left_out() const { return left_out_; }

private:
  struct Function {
    explicit Function(const ptx::Function& f)
        : flow(f),
          read(f.body.size()),
          stored(f.body.size()) {}
    analysis::ValueFlow flow;
    // By instruction, from which readings comes what it has read, and what it writes.
    std::vector<std::uint64_t> read, stored;
  };
  Function& function(const ptx::Function& f);
  std::uint64_t name(const isa::Code& code, std::uint32_t instruction);
  void flows(Function& f, std::uint32_t instruction, std::uint64_t readings);
  void stores(Function& f, std::uint32_t store, std::uint64_t readings);
  std::uint64_t marks_of(const std::byte* at, std::uint64_t bytes) const;
  void mark(const std::byte* at, std::uint64_t bytes, std::uint64_t readings);
  void note(std::uint64_t readings, const char* what);

  const isa::Exec& exec_;
  const memory::AddressSpace& space_;
  Mutant mutant_;
  std::unordered_map<const ptx::Function*, Function> functions_;
  std::map<std::pair<const ptx::Function*, std::uint32_t>, std::uint64_t> readings_; // a bit each
  std::vector<std::string> places_; // of readings; bit n % 64 is number n
  static constexpr std::uint64_t granule = 4;
  std::unordered_map<std::uint64_t, std::uint64_t> marks_; // by granule
  std::uint64_t all_marks_ = 0;
  std::string left_out_;
  bool news_ = false;
};

} // namespace heddle::reduce
