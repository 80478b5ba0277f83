// A micro-program: one kernel of a few actors that do a few operations each, so small that every
// one up to a bound can be searched.
//
//   MicroProgram p{.shape = Shape::Blocks, .actors = 2, .codes = {code}};   // all do the same
//   p.as_ptx()       // the kernel `k`, with its memory as only parameter
//   p.as_words()     // "2 blocks: r0 = increment P; if r0 == 1: hang"
//
// An actor is a thread. It does the operations of its code one after the other; each may depend on
// the result of an earlier one, or on who the actor is. At the end it may hang, which is what a
// search has to find. A block of one thread waits at a barrier that nobody else comes to. In a
// block of several that would be one more reason to tell its threads apart; there the thread waits,
// in a loop, for a value that the place never has. Memory is zero at first.
#pragma once

#include "machine/world.h"
#include "model/progress_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::enumeration {

enum class Shape : std::uint8_t {
  Blocks,       // of one thread
  Block,        // of all actors
  Cluster,      // of blocks of one thread
  Cooperative,  // blocks of one thread, a cooperative grid
  Pairs,        // blocks of two threads
  Warps,        // of one block: the first lane of each; the others have ended
  Lanes,        // of one block: two lanes of the first warp, and one of each other one
  ClusterPairs, // blocks of two threads, of one cluster
  WarpPairs,    // blocks of the first lanes of two warps
  Clusters      // of two blocks of one thread each
};

inline bool of_cluster(Shape shape) {
  return shape == Shape::Cluster || shape == Shape::ClusterPairs || shape == Shape::Clusters;
}

enum class Kind : std::uint8_t {
  Load,
  Store,
  Sum,     // of one, without a result
  Maximum, // with the value, without a result
  Toggle,  // bits of the value, without a result
  Exchange,
  Increment,
  CompareAndSwap, // 0 becomes the value
  Retry,          // adds one by compare-and-swap, again and again until it succeeds
  Lock,           // 0 becomes 1, as soon as it is 0
  Wait,           // until the place has the value
  WaitOrLate,     // the same, or until a clock shows that a millisecond has gone: 0
  PlainLoad,
  PlainStore,
  Barrier,      // of the block or cluster
  Vote,         // of all threads of a block's warp
  Active,       // how many threads activemask names
  Arrive,       // at an mbarrier
  WaitPhase,    // until the first phase of the mbarrier is complete
  Ask,          // whether it is
  Allocate,     // more than half of the heap: the result says if there was room
  Free,         // that
  Neighbour,    // reads shared memory of the first block of the cluster
  Clock,        // is read
  Size,         // how many blocks the grid has
  Fence,        // of acquire and release
  OrderedFence, // sequentially consistent
  // Actor 0 loads P and uses a plain variable of the block, and then all meet at the barrier. No
  // program has a data race by these, since an operation that all do together ends each access.
  Publish,     // it stores the value there
  PublishSome, // … if P is 1
  Republish,   // … and tells what was there before; the others get 0
  Observe,     // all read it
  LoadBoth,    // P and the word behind it, in one access: the result is the latter
  StoreBoth,
  LoadVector, // … as two accesses of one instruction
  StoreVector,
  SumBoth,     // of one to the number that both words make, without a result
  ArriveNamed, // at barrier 1, which completes with 64 threads
  WaitNamed,   // there
  Dependents,  // grids that depend on this one may begin
  WaitGrids,   // until the grids are over that this one depends on
  // Of the lanes of a warp, or of those of them that activemask names:
  Ballot,       // how many have the value 1
  BallotActive, // the same
  Shuffle,      // the value of the first lane
  Match,        // how many have the same value
  Elect,        // 1 for one of them, 0 for the others
  Count,        // the barrier of the block: how many threads have the value 1
  CountNamed,   // the same at barrier 1
  ClusterArrive,
  ClusterWait,
  // Of the barrier that cooperative groups makes of memory for a cooperative grid:
  GridArrive,
  GridWait, // behind the actor's last arrival
  GridSync, // both
  // Of the barrier that cooperative groups makes of memory for a tile of several warps:
  TileSync,
  TileLast, // the same: 1 for the last warp, and 0 for the others
  // Of the mbarrier:
  Drop,       // arrives, and is not expected any more
  ArriveOf,   // … at that of the first block of the cluster
  WaitSecond, // until its second phase is complete
  AskOwn,     // whether the phase is complete at which the actor arrived last
  CopyArrive, // arrives when a copy of four bytes has completed
  Expect,     // sixteen bytes
  Bulk,       // copies sixteen bytes, and says so
  ExpectBulk, // expects them, arrives, and copies them
  Multicast,  // the same as Bulk to both blocks of the cluster
  // Of another mbarrier of the block:
  ArriveOther,
  WaitOther,  // until its first phase is complete
  StoreAsync, // sixteen bytes to the first block of the cluster, and tells its mbarrier
  // Of floating-point numbers, in P: of 1, 2^25 and -2^25, without a result. 2^25 + 1 is rounded.
  SumFloat,
  SumLarge,
  SumLess,
  // Of the device runtime. A child adds 1 to P, and then stores the value to Q.
  Launch,     // of a child, into the stream of the block
  LaunchFree, // … that follows nothing
  LaunchTail, // … when the grid is over
  CopyToQ,    // of P, in the stream of the block
  CopyToP,    // of Q
  Trap,
  BadAccess, // to an address that no memory has
  Spin,      // computes without end
  End,
  // Of the actor's clock, whose answers are of every kind ([CLOCK]):
  Begin,       // a time to which others are related
  BeginOther,  // a second one
  Passed,      // have more than one cycle passed since the first?
  PassedLong,  // … more than six?
  PassedOther, // … more than one since the second?
  LowBit,      // of what it shows
  KeptBit      // … that the actor has stored, and loads again
};

enum class Place : std::uint8_t {
  P,
  Q,
  Own,    // one for each actor
  Local,  // the same, in local memory
  Shared, // in the shared memory of the block
  // One instruction that goes to several places:
  Either,  // Q for actor 0, R for the others
  Found,   // Q if the result before is 0, else R
  Behind,  // the word behind P
  OfFirst, // in the shared memory of the first block of the cluster
  // One instruction that goes to several state spaces: P for actor 0, for the others …
  InShared, // the place in shared memory
  InLocal   // that in local memory
};

enum class Value : std::uint8_t {
  One,
  Two,
  Who,  // the actor's number + 1
  Last, // the result before this operation + 1
  First // the first operation's result + 1
};

/// When an operation is done.
struct Guard {
  enum class On : std::uint8_t {
    Always,
    Result,
    Who
  } on{};
  std::uint8_t of = 0; // the number of the operation whose result it is
  std::uint8_t equals = 0;
  bool operator==(const Guard&) const = default;
};

struct Operation {
  Kind kind{};
  Place place{};
  Value value{};
  Guard guard{};
  bool operator==(const Operation&) const = default;
};

/// If the result of an operation, and perhaps who the actor is, says so.
struct Hang {
  std::uint8_t of = 0, equals = 0;
  std::optional<std::uint8_t> who{};
  bool operator==(const Hang&) const = default;
};

struct Code {
  std::vector<Operation> operations;
  std::optional<Hang> hang;
  std::uint8_t rounds = 0; // not 0: again and again, while result 0 is less than this
  bool polls() const { return rounds != 0 && operations[0].kind == Kind::Load; }
  bool operator==(const Code&) const = default;
};

/// What the host does: one operation after the other, and then it synchronises with the device. The
/// kernel and its host functions are in one stream, copies in another one. P is in pinned memory.
/// tests/reference/mended holds these as numbers.
enum class HostKind : std::uint8_t {
  Launch,       // the kernel
  LaunchBeside, // the same kernel, into the stream of the copies
  LaunchOne,    // one block of the same kernel
  LaunchEarly,  // the same kernel, which need not wait for the end of the one before it
  CallFlag,     // submits a host function that sets the flag, which only the host can see
  CallStore,    // … that makes P 1
  Copy,         // submits a copy of P to Q
  Set,          // … that makes P 1
  SetBefore,    // … that makes Q 1, into the stream of the kernel
  SetTwo,       // … that makes P 2, into that stream
  CopyBack,     // submits a copy of Q to P, into that stream
  Record,       // the event, in the kernel's stream
  RecordCopies, // … in that of the copies
  Await,        // the stream of the copies waits for the event
  AwaitBefore,  // the kernel's stream does
  AwaitP,       // the stream of the copies waits until P is 1
  AwaitPBefore, // the kernel's stream does
  SetIf,        // submits what sets Q to 1 if P is 1 when it is its turn, as a node of a graph
  CopyTwo,      // submits a copy of two words, which makes Q and what is behind P 1
  CopyOut,      // … that makes two words of pageable memory 1
  Store,        // makes P 1
  HangIfP,      // if P has the value
  HangIfQ,
  HangIfFlag,   // if the flag is set
  HangIfHalf,   // if one of the two words of pageable memory is 1, which one read of more finds
  HangIfDone,   // asks once whether all kernels are done
  AskUntilDone, // asks that again and again
  HangIfEvent,  // asks once whether the event is done
  WaitEvent,    // until it is
  WaitCopies,   // until all copies are done
  WaitAll       // with everything
};

/// Of accesses that have one: loads and stores, waits, exchanges, compare-and-swaps.
enum class Width : std::uint8_t {
  B32,
  B8,
  B16,
  B64,
  B128,
  V2B8,
  V4B8,
  V4B16,
  V2B32,
  V4B32,
  V2B64
};
inline constexpr std::size_t widths = 11;
/// What these accesses are besides atomic.
enum class Strength : std::uint8_t {
  Relaxed,
  Ordered, // acquire, release or both
  Volatile // loads and stores
};

struct HostOperation {
  HostKind kind{};
  std::uint8_t value = 0;
  bool operator==(const HostOperation&) const = default;
};

struct MicroProgram {
  Shape shape{};
  std::uint8_t actors = 2;
  std::vector<Code> codes;   // one for all actors, or one for each
  std::uint8_t arrivals = 0; // complete a phase of the mbarrier; 0: those of all actors
  // Empty: the kernel has been launched, and the host waits for the device.
  std::vector<HostOperation> host{};
  std::vector<HostOperation> beside{}; // what a second host thread does
  bool prompt = true;                  // calls return, whatever devices do
  // The memory model of PTX: stores release, waits acquire, increments do both; the rest is
  // relaxed.
  bool weak = false;
  bool narrow = false;    // then: accesses are of the scope of the block
  bool functions = false; // operations are done by functions, one for all of a kind
  bool lockstep = false;  // warps of lockstep rules (simt/rules.h), not of independent threads
  Width width{};
  Strength strength{};
  model::ProgressModel progress{}; // which threads are owed to go on
  std::string text{};              // not empty: PTX that takes the place of `codes`

  bool alike() const { return codes.size() == 1; }
  bool has_width() const { return width != Width::B32 || strength != Strength::Relaxed; }
  bool in_pairs() const {
    return shape == Shape::Pairs || shape == Shape::ClusterPairs || shape == Shape::WarpPairs;
  }
  bool of_cluster() const { return enumeration::of_cluster(shape); }
  bool one_block() const {
    return shape == Shape::Block || shape == Shape::Warps || shape == Shape::Lanes;
  }
  /// Have other lanes ended before anybody does something?
  bool some_lanes() const {
    return shape == Shape::Warps || shape == Shape::Lanes || shape == Shape::WarpPairs;
  }
  /// Then: is it one that has not?
  bool has_lane(std::size_t warp, int lane) const {
    return lane == 0 || (shape == Shape::Lanes && warp == 0 && lane == 1);
  }
  std::string as_ptx() const;
  std::string as_words() const;
  machine::LaunchConfig launch() const;
};

bool has_result(Kind kind);
bool has_place(Kind kind);
bool may_be_same(Place a, Place b);
bool has_value(Kind kind);
bool writes(Kind kind);
bool reads(Kind kind);
bool is_plain(Kind kind);
bool meets(Kind kind); // all actors do it together
bool is_of_mbarrier(Kind kind);
/// Is there the earlier result that the value or the place of operation `n` depends on?
bool has_what_it_uses(const Code& code, std::size_t n);

bool adds_float(Kind kind);
bool is_launch(Kind kind); // by a device thread: of a child, or of a copy
bool submits(HostKind kind);
bool asks(HostKind kind);
bool writes(HostKind kind); // P or Q
bool has_value(HostKind kind);
inline constexpr std::size_t place_q = 16; // P is at 0
inline constexpr std::size_t place_behind = 4;

/// How much malloc has: `allocate` takes more than half of it.
inline constexpr std::uint64_t heap_bytes = 1024;
/// Bytes of memory that a program uses.
inline constexpr std::size_t memory_bytes = 512;

} // namespace heddle::enumeration
