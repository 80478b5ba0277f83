// LauncherOutput: where the output of the MPI launcher itself goes.
//
//   const LauncherOutput output;                 // while the launcher is there
//   if (Interruption::received() != 0) output.use();
//
// What a rank prints goes through the launcher. One that is ending its job, or has been killed,
// passes nothing on, so what is found until then would be lost. Does nothing where the launcher
// runs elsewhere, or its output cannot be opened (a socket).
#pragma once

namespace heddle::cli {

class LauncherOutput {
public:
  LauncherOutput();
  ~LauncherOutput();
  LauncherOutput(const LauncherOutput&) = delete;
  LauncherOutput& operator=(const LauncherOutput&) = delete;

  /// From now on this process prints there.
  void use() const;

private:
  int output_ = -1, errors_ = -1;
};

} // namespace heddle::cli
