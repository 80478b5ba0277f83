// Other programs: run one and wait, run one and read what it prints, become one.
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heddle {

/// Runs command[0] with our stderr; its stdout goes to our stderr, too. The exit status, 128 +
/// signal if it was killed.
Result<int> run(const std::vector<std::string>& command);

struct End {
  int status = 0; // 128 + signal if it was killed
  int signal = 0; // 0: it has ended by itself
};
/// The same with our stdout, and with variables added to our environment. It gets SIGTERM if we end
/// before it does.
Result<End> run_as_is(
    const std::vector<std::string>& command,
    const std::map<std::string, std::string>& variables
);

struct Output {
  int status = 0;
  std::string text; // stdout
};
/// What becomes of what it prints on stderr.
enum class Messages {
  Ours, // goes to our stderr
  Dropped
};
Result<Output>
run_and_read(const std::vector<std::string>& command, Messages messages = Messages::Ours);

/// Runs command[0], without our stdout. It gets SIGTERM as soon as `stop` says so. The exit status,
/// 128 + signal if it was killed.
Result<int> run_until(const std::vector<std::string>& command, const std::function<bool()>& stop);

/// Starts command[0], a path, without output and without waiting. It is no child of this process:
/// who waits for children does not see it, and no signal tells of its end. False: it cannot be
/// started.
bool start_detached(const std::vector<std::string>& command);

/// What a process is called in /proc (15 characters at most); empty: it is not there.
std::string name_of_program(pid_t process);

/// Replaces this process by command[0] (found through PATH), with variables added to the
/// environment. Returns only if that fails.
Error become(
    const std::vector<std::string>& command,
    const std::map<std::string, std::string>& variables
);

} // namespace heddle
