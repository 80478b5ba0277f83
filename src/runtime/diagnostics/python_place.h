// Which line of a Python script makes a call, where a Python interpreter is in the process.
//
//   if (const void* place = python_caller()) …   // stands for a line, like a return address
//   if (const PythonPlace* known = python_place(address)) …
//
// Uses Python's C interface (PyEval_GetFrame and so on, the same since 3.9), which is looked up by
// name: nothing here is linked with Python. Of several frames the innermost that is not in an
// installed package counts, since that is the user's.
#pragma once

#include <string>

namespace heddle::runtime {

struct PythonPlace {
  std::string file;
  int line = 0;
};

/// nullptr: there is no interpreter, or this thread does not execute Python. Takes Python's global
/// lock if this thread has given it up, so the caller must not hold a lock of ours.
const void* python_caller();

/// The same; waits for nobody. nullptr, too, if this thread has given up Python's global lock. Also
/// where an access of the interpreter's, or of an extension's, has been interrupted.
const void* python_line_here();

/// What an address of python_caller() stands for; nullptr: it is another address.
const PythonPlace* python_place(const void* address);

} // namespace heddle::runtime
