// AccessNotes: what a run has read and written, noted as it happens.
//
//   AccessNotes notes(exec, /*max_reads=*/256);
//   isa::Watching watching(exec, notes);
//   exec.run(…);
//   notes.writes …   notes.reads …
//
// Direction of error: an access of which is not known that it only writes counts as a read as well.
#pragma once

#include "isa/exec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

namespace heddle::machine {

/// A place that was written, with its bytes before.
struct Written {
  std::byte* at = nullptr;
  std::uint32_t bytes = 0;
  std::array<std::byte, 16> before{};
};

class AccessNotes final : public isa::AccessWatch {
public:
  /// Are told of each access, too, before it is noted …
  void tell(isa::AccessWatch& watcher) { first_.push_back(&watcher); }
  /// … or behind that: it may change what the instruction finds there.
  void tell_last(isa::AccessWatch& watcher) { last_.push_back(&watcher); }
  /// Memory that has a record of each part that may be accessed.
  class Records {
  public:
    virtual bool contains(const std::byte* at) const = 0;
    /// Empty: these bytes may not be accessed.
    virtual std::span<std::byte> record_of(const std::byte* at, std::uint32_t bytes) const = 0;

  protected:
    ~Records() = default;
  };
  /// Accesses there read the records.
  void check(const Records& records) { records_ = &records; }
  /// Notes the reads of `exec` too, up to so many.
  AccessNotes(const isa::Exec& exec, std::size_t max_reads) : exec_(exec), max_reads_(max_reads) {}

  struct Read {
    std::byte* at = nullptr;
    std::uint32_t bytes = 0;
  };
  /// An access by an instruction that is strong (atomic, volatile, relaxed, …).
  struct Strong {
    std::byte* at = nullptr;
    std::uint32_t bytes = 0;
    const isa::Op* op = nullptr;
    const isa::Code* code = nullptr;
    int lane = 0;
  };
  struct Misuse {                // of memory that has records
    const isa::Op* op = nullptr; // nullptr: there was none
    const isa::Code* code = nullptr;
    int lane = 0;
    std::byte* at = nullptr;
    std::uint32_t bytes = 0;
    bool store = false;
  };
  Misuse misuse; // the first one
  std::vector<Written> writes;
  std::vector<Read> reads;
  std::vector<Strong> strong;
  std::unordered_set<const isa::Op*> also_strong; // counted among them
  /// Were they all noted?
  bool complete() const { return complete_; }
  void clear();
  void read(std::byte* at, std::uint32_t bytes);
  void written(std::byte* at, std::uint32_t bytes); // before it is

  void accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) override;

private:
  const isa::Exec& exec_;
  std::size_t max_reads_;
  std::vector<isa::AccessWatch*> first_, last_;
  const Records* records_ = nullptr;
  bool complete_ = true;
};

} // namespace heddle::machine
