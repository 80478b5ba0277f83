// Files that the program makes and removes: all executions of a search find the same files, so what
// one of them has made or removed another one would find, or miss (changed_files.cpp).
#pragma once

namespace heddle::hostwatch {

/// The program opens `path` to write to it, so the file is there from now on.
void note_written(const char* path);
/// Opens `path`, which must not be there yet (O_EXCL), for this execution alone: nobody else finds
/// it. -1, and errno, if it is there.
int make_own_file(const char* path, int flags);
/// Where this execution has a file of its own for `path`: a descriptor; -1: it has none.
int own_file(const char* path);

} // namespace heddle::hostwatch
