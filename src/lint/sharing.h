// sharing.h: what each kernel does to memory that others can reach, collected while its graph is
// there, and the rules that look at several kernels together: cuda-progress-stream-wait,
// cuda-missing-release, cuda-missing-acquire.
//
//   Sharing sharing(unit);
//   sharing.add(entry);            // of every kernel
//   sharing.check(found);
//
// Two parameters of different kernels are the same object if one host function launches both with
// the same argument text. Reported is only what a complete pair shows: who publishes and who
// receives are both in the unit. Members of one structure are told apart. Misses:
// everything that goes through structures of pointers.
#pragma once

#include "lint/waits.h"

#include <set>

namespace heddle::lint {

class Sharing {
public:
  explicit Sharing(const Unit& unit) : unit_(unit) {}
  void add(const Entry& entry);
  void check(std::vector<Found>& out) const;

private:
  struct Wait {
    SharedObject object;
    Spot spot;
  };
  /// Data is written, then a flag, and no release in between.
  struct Publication {
    SharedMember data, flag;
    Spot data_spot, flag_spot;
    std::string name;    // of the operation on the flag
    bool narrow = false; // there is a fence, for the block only
  };
  /// A flag is read, then, if it has the right value, data.
  struct Reception {
    SharedMember data, flag;
    Spot flag_spot, data_spot;
    std::string name;
    bool acquires = false;
    bool may_miss_acquire = false; // of the kind where a missing acquire is reported
    bool between_blocks = false;   // certainly: the last block of the grid reads
  };
  struct Kernel {
    std::uint32_t function = 0;
    std::vector<Wait> waits;
    std::set<SharedObject> writes;
    std::vector<Publication> publications;
    std::vector<Publication> released; // the same with a release: evidence that the flag is one
    std::vector<Reception> receptions;
  };

  void add_publications(const Entry& entry, Kernel& kernel) const;
  static bool counts_blocks(const Entry& entry, ValueId poll);
  void add_receptions(const Entry& entry, Kernel& kernel) const;
  bool is_same(
      std::uint32_t kernel,
      const SharedObject& object,
      std::uint32_t other_kernel,
      const SharedObject& other
  ) const;
  bool is_same(
      std::uint32_t kernel,
      const SharedMember& member,
      std::uint32_t other_kernel,
      const SharedMember& other
  ) const;
  static std::string argument(const Launch& launch, const SharedObject& object);
  bool is_ordered_between(const Launch& first, const Launch& second) const;
  void stream_wait(
      const Kernel& waiter,
      const Wait& wait,
      const Launch& a,
      const Launch& b,
      std::vector<Found>& out
  ) const;
  void stream_waits(std::vector<Found>& out) const;
  void orders(std::vector<Found>& out) const;
  Found start(const char* key, std::uint32_t function, const Spot& place) const;

  const Unit& unit_;
  std::vector<Kernel> kernels_;
};

} // namespace heddle::lint
