// Memory that several processes have: pages of files without a name, which live as long as somebody
// has them open or mapped.
#pragma once

#include <cstdint>

namespace heddle::runtime {

/// A file of zeros; -1: there is no room.
int make_shared_file(std::uint64_t bytes);

/// Is this one of these files, of this user, with at least so many bytes? A handle of another
/// process names a descriptor of it, which might be of any file; and one that got shorter would end
/// whoever touches its pages.
bool is_shared_file(int file, std::uint64_t bytes);

/// Its first pages, at `at` (in place of what is there) or anywhere; nullptr: it cannot be mapped.
void* map_shared_file(int file, std::uint64_t bytes, void* at = nullptr);

/// Fresh pages of our own in place of those at `at`.
void map_own_pages(void* at, std::uint64_t bytes);

} // namespace heddle::runtime
