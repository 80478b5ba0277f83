// posix_spawn, wait and exec.
#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace heddle {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) {
    result.push_back(const_cast<char*>(word.c_str())); // exec's signature predates const
  }
  result.push_back(nullptr);
  return result;
}

/// Starts command[0] with its stdout sent to `stdout_descriptor`.
Result<pid_t>
start(const std::vector<std::string>& command, int stdout_descriptor, Messages messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, stdout_descriptor, STDOUT_FILENO);
  if (messages == Messages::Dropped) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int failure = posix_spawnp(
      &child,
      command[0].c_str(),
      &actions,
      nullptr,
      pointers(command).data(),
      environ
  );
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return input_error(fmt::format("cannot start '{}': {}", command[0], std::strerror(failure)));
  }
  return child;
}

End wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    return {.status = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  }
  return {.status = WEXITSTATUS(status)};
}

/// Waits for `child`, but not longer than until `stop` is true.
void wait_until(pid_t child, const std::function<bool()>& stop) {
  constexpr int milliseconds = 100;
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd ended = {.fd = descriptor, .events = POLLIN, .revents = 0};
  while (descriptor >= 0 && !stop() && poll(&ended, 1, milliseconds) <= 0) {
  }
  close(descriptor);
}

} // namespace

Result<int> run_until(const std::vector<std::string>& command, const std::function<bool()>& stop) {
  TRY(const pid_t child, start(command, STDERR_FILENO, Messages::Ours));
  wait_until(child, stop);
  if (stop()) {
    kill(child, SIGTERM);
  }
  return wait_for(child).status;
}

Result<int> run(const std::vector<std::string>& command) {
  TRY(const pid_t child, start(command, STDERR_FILENO, Messages::Ours));
  return wait_for(child).status;
}

Result<End> run_as_is(
    const std::vector<std::string>& command,
    const std::map<std::string, std::string>& variables
) {
  for (const auto& [name, value] : variables) {
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
  const std::vector<char*> words = pointers(command);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    return input_error(fmt::format("cannot start '{}': {}", command[0], std::strerror(errno)));
  }
  if (child == 0) {
    // Whoever ends this process means the program: nobody else knows of it.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent) {
      execvp(words[0], words.data());
      fmt::print(stderr, "heddle: error: cannot start '{}': {}\n", words[0], std::strerror(errno));
    }
    _exit(127);
  }
  return wait_for(child);
}

Result<Output> run_and_read(const std::vector<std::string>& command, Messages messages) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return input_error(fmt::format("pipe: {}", std::strerror(errno)));
  }
  auto child = start(command, ends[1], messages);
  close(ends[1]);
  Output output;
  if (child) {
    char buffer[4096];
    for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) != 0;) {
      if (count > 0) {
        output.text.append(buffer, static_cast<std::size_t>(count));
      } else if (errno != EINTR) {
        break;
      }
    }
    output.status = wait_for(*child).status;
  }
  close(ends[0]);
  if (!child) {
    return unexpected(child.error());
  }
  return output;
}

namespace {

struct Start {
  char* const* command;
  int null;
  bool failed = false;
  std::byte* stack = nullptr; // of the grandchild
};
constexpr std::size_t start_stack = 32 * 1024;

// Both run in this process's memory while its caller waits, so they make system calls only.
int start_grandchild(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(start.null, descriptor);
  }
  setsid();
  execv(start.command[0], start.command);
  start.failed = true;
  _exit(127);
}
int start_child(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  start.failed = clone(start_grandchild, start.stack, CLONE_VM | CLONE_VFORK, argument) < 0;
  _exit(0);
}

} // namespace

bool start_detached(const std::vector<std::string>& command) {
  const auto words = pointers(command);
  Start start{words.data(), open("/dev/null", O_RDWR | O_CLOEXEC)};
  if (start.null < 0) {
    return false;
  }
  std::vector<std::byte> stacks(2 * start_stack);
  start.stack = stacks.data() + start_stack;
  // Without a signal at its end the child is not seen by a program's own wait().
  const pid_t child =
      clone(start_child, stacks.data() + 2 * start_stack, CLONE_VM | CLONE_VFORK, &start);
  if (child > 0) {
    waitpid(child, nullptr, __WCLONE);
  }
  close(start.null);
  return child > 0 && !start.failed;
}

Error become(
    const std::vector<std::string>& command,
    const std::map<std::string, std::string>& variables
) {
  for (const auto& [name, value] : variables) {
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
  execvp(command[0].c_str(), pointers(command).data());
  return {ErrorKind::Input, fmt::format("cannot start '{}': {}", command[0], std::strerror(errno))};
}

std::string name_of_program(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(in, name);
  return name;
}

} // namespace heddle
