// Watching a search from outside: its time, its memory, and how far it is (progress.h), on a
// terminal and in a file.
//
//   Watch watch(table, options, {.show = isatty(STDERR_FILENO) != 0});
//   Ending ending = watch.wait_for({leader, ended, status});      // ends the group at a limit
//
// The line goes to stderr, is rewritten in place, and is gone in the end.
#pragma once

#include "explore/options.h"
#include "explore/process/after_defect.h"
#include "explore/process/progress.h"
#include "explore/process/progress_file.h"
#include "explore/single/sample_sheet.h"
#include "explore/table/state_table.h"

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace heddle::explore {

struct Ending {
  std::optional<int> status; // of waitpid; none: a limit was reached, everything has been ended
  std::string limit;         // which: "the limit of 60 s was reached (--max-time)"
};

/// For a search that can go on later.
struct Keeping {
  std::function<void()> keep{}; // called while all processes stand still …
  double seconds_between = 0;   // … after so much time; empty: never
};

class Watch {
public:
  struct Of { // what is watched
    bool show = false;
    int log = -1;                       // a file to which they write without end; only its
                                        // beginning is kept. -1: none
    double share = 1;                   // of the time limit …
    double gone = 0;                    // … of which others have had so many seconds
    const SampleSheet* sheet = nullptr; // single schedules are tried
    std::chrono::steady_clock::time_point begun{}; // the check, which this is a part of
    ProgressFile* file = nullptr;                  // for lines of JSON; null: none
    Keeping keeping{};
    std::function<void(Progress&)> add_others =
        {};                              // what other ranks have done; empty: there are none
    AfterDefect* after_defect = nullptr; // ends it soon after one; null: nothing does
  };
  Watch(const StateTable& table, const Options& options, const Of& of);
  struct Processes {
    pid_t leader = 0;              // of a process group of their own
    int ended = -1;                // a descriptor that can be read when status() need not wait
    std::function<int()> status;   // as of waitpid
    std::function<void()> end_all; // status() tells when that is done
  };
  Ending wait_for(const Processes& processes);

private:
  std::string limit_reached(pid_t leader, double seconds);
  Progress progress(double seconds);
  double seconds_in_all() const;
  void show_progress(double seconds);
  void record_progress(double seconds, bool is_last);
  void keep(pid_t leader, double seconds);
  void clear_line() const;
  void forget_log() const;

  const StateTable& table_;
  Options options_;
  Of of_;
  std::uint64_t most_bytes_ = 0; // 0: usual_limit(), which is not known yet
  double next_look_ = 0;         // at the memory, which costs a little
  std::uint64_t memory_ = 0;     // that was in use then
  double next_line_ = 0, next_record_ = 0, next_keep_ = 0;
  bool line_shown_ = false;
};

/// Calls keep() while all processes of the group stand still and have left nothing half done.
/// False: they could not be stopped there.
bool keep_still(pid_t leader, const StateTable& table, const std::function<void()>& keep);

/// Memory of `process` and all its descendants that they do not share with others, in bytes.
std::uint64_t private_memory(pid_t process);

} // namespace heddle::explore
