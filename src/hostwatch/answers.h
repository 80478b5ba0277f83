// Answers that could be others (answers.cpp), for the files that define what asks for them.
#pragma once

#include "hostwatch/hooks.h"

#include <cstddef>
#include <cstdio>

namespace heddle::hostwatch {

/// Is this process told to give the other answer?
bool is_other(HeddleAnswer answer);
/// Code that returns to `pc` asks for that. True: it is the program's, and gets our answer.
bool asks(HeddleAnswer answer, const void* pc);

/// Code that returns to `pc` reads that from outside, or changes it.
void tell(HeddleInput kind, const char* name, const void* pc);

/// What malloc() and the like give.
void* fresh_memory(std::size_t bytes, const void* pc);
void* fresh_memory(std::size_t alignment, std::size_t bytes);

/// False: the system's are to be used.
bool give_random(void* to, std::size_t bytes, const void* pc);
/// Reads from `file` if that is a device of random numbers, and these are ours.
bool read_random(int file, void* to, std::size_t bytes, const void* pc);
bool names_random_device(const char* path);
/// A stream of random numbers; nullptr: the system's are to be used.
FILE* open_random(const void* pc);

} // namespace heddle::hostwatch
