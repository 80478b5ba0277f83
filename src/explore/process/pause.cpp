// Implements pause.h. A signal stops a process soon, not at once: /proc says when it has.
#include "explore/process/pause.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace heddle::explore {

namespace {

constexpr auto patience = std::chrono::seconds(2);
constexpr auto between_looks = std::chrono::milliseconds(1);

/// Is a process of the group still moving?
bool some_moves(pid_t group) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failure)) {
    const std::string name = entry.path().filename();
    if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; })) {
      continue;
    }
    std::ifstream in(entry.path() / "stat");
    std::string line;
    std::getline(in, line);
    const std::size_t name_end = line.rfind(')'); // the program's name may hold anything
    if (name_end == std::string::npos) {
      continue; // it has ended meanwhile
    }
    std::istringstream rest(line.substr(name_end + 1));
    char state = 0;
    pid_t parent = 0, its_group = 0;
    rest >> state >> parent >> its_group;
    if (its_group == group && state != 'T' && state != 'Z' && state != 'X') {
      return true;
    }
  }
  return static_cast<bool>(failure);
}

} // namespace

Pause::Pause(pid_t leader) : leader_(leader) {
  ::kill(-leader_, SIGSTOP);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!all_stopped_ && std::chrono::steady_clock::now() < end) {
    all_stopped_ = !some_moves(leader_);
    if (!all_stopped_) {
      std::this_thread::sleep_for(between_looks);
    }
  }
}

Pause::~Pause() {
  ::kill(-leader_, SIGCONT);
}

} // namespace heddle::explore
