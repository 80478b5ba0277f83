// OpenFiles: the files that the program has open, and how far it has come in each of them. fork()
// gives the child the same positions: what one process of a search reads would be gone for all
// others.
//
//   OpenFiles files;
//   files.hash(hasher);      // the host has moved: how far it is, part of its state
//   files.make_own();        // in a child: as far as it was, its own from now on
//
// Direction of error: contents are one and the same for all processes (Asked::input names that), so
// are locks of files, and descriptors that the program has sent to itself. Files that cannot be
// opened once more keep a common position; then make_own() says so.
#pragma once

#include "base/hash.h"

#include <sys/types.h>

#include <vector>

namespace heddle::explore {

class OpenFiles {
public:
  /// How far is it now? Some 20 microseconds.
  void look();
  /// As far as when it was looked last. False: one of them has been left as it is.
  bool make_own() const;
  /// Looks, and names that.
  void hash(Hasher& hasher);

private:
  struct File {
    int number = -1;
    dev_t device = 0;
    ino_t node = 0;
    bool is_folder = false;
    off_t position = 0;
    int same_as = -1; // a descriptor with a lower number, by dup(): they have one position
  };
  void add(int number);
  int descriptor_of_the_same(const File& file) const;

  std::vector<File> files_; // by number
  std::vector<int> own_;    // Heddle's, which stay open
};

} // namespace heddle::explore
