// A program that Heddle has compiled lies in a cache, under a path that means nothing to a user. It
// is called as he would have called what nvcc had made of it: usage lines that print argv[0] say
// "./app". /proc/self/exe leads to where it lies.
#pragma once

namespace heddle::runtime {

/// HEDDLE_CALLED_AS has the name and, behind a line break, the program that it is for: what that
/// starts in its turn has its own name. Before main.
void set_called_as(char** argv);

} // namespace heddle::runtime
