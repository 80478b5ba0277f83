// AccessWatch: called before each access to global, shared and local memory.
//
//   const Watching watching(exec, watch);   // until it ends; who watches already goes on watching
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::isa {

class Exec;

/// The op that makes the access is Exec::current().
class AccessWatch {
public:
  /// `bytes` at host address `at`; `store`: also or only written.
  virtual void accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) = 0;

protected:
  ~AccessWatch() = default;

private:
  friend class Exec;
  friend class Watching;
  AccessWatch* outer_ = nullptr; // who watched before
};

/// Who began to watch last ends first.
class Watching {
public:
  Watching(Exec& exec, AccessWatch& watch);
  ~Watching();
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

private:
  Exec& exec_;
  AccessWatch& watch_;
};

} // namespace heddle::isa
