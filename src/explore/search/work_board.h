// WorkBoard: where processes of one search hand work to each other, in memory that all share.
//
//   board.found(me);                       // me begins a family: processes forked from one base
//   board.join(family, child);             // before it is forked
//   if (board.some_idle(family)) board.give(family, bytes);       // a member that works
//   board.rest(me); … board.await(me, milliseconds) …             // a member without work
//   board.quit(me);                        // it works, and never will again for this family
//
// A family is over when none of its members works; who rests is told so. Work is given to members
// that rest, one piece each, so nothing is ever left on the board: a piece is with its giver or
// with its taker. A member that rests may leave at any time; so nobody waits forever for one that
// died.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace heddle::explore {

class WorkBoard {
public:
  static constexpr std::size_t most_bytes = 64 * 1024; // of one piece of work
  static std::size_t bytes(std::uint32_t processes);
  /// `memory` is zero at first and aligned to 128 bytes. Processes have numbers below `processes`.
  WorkBoard(void* memory, std::uint32_t processes);

  using Family = std::uint32_t; // the number of the process that founded it
  void found(std::uint32_t process);
  void join(Family family, std::uint32_t process);
  bool some_idle(Family family) const;
  /// False: nobody rests any more, or these are too many bytes. The taker works from now on.
  bool give(Family family, std::span<const std::byte> work);

  /// `process` has nothing to do. It may be given work from now on; await() must follow.
  void rest(std::uint32_t process);
  enum class NoWork : std::uint8_t {
    Over, // no member of the family works
    Tired // it has waited so long, and rests no more
  };
  std::variant<NoWork, std::vector<std::byte>> await(std::uint32_t process, int milliseconds);
  /// `process` works, and leaves its family.
  void quit(std::uint32_t process);

private:
  enum class Mail : std::uint32_t {
    Away,
    Resting,
    Promised, // a piece is being written
    Full,
    Over
  };
  struct alignas(128) Member {
    std::uint32_t family;
    Mail mail;
    std::uint32_t bytes;
    // Of the family that it has founded:
    std::uint32_t working, resting;
  };
  Member& member(std::uint32_t process) const { return members_[process]; }
  std::byte* box(std::uint32_t process) const { return boxes_ + process * most_bytes; }
  void dismiss(Family family);
  bool turn(std::uint32_t process, Mail from, Mail to);

  std::uint32_t* highest_ = nullptr; // of all processes that have been members
  Member* members_ = nullptr;
  std::byte* boxes_ = nullptr;
};

} // namespace heddle::explore
