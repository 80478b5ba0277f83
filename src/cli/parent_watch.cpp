// Implements parent_watch.h.
#include "cli/parent_watch.h"

#include "report/diagnostic.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>

namespace heddle::cli {
namespace {

constexpr auto between_looks_at_parent = std::chrono::milliseconds(100);
// For the judgement of what has been found, and the report.
constexpr auto time_to_report = std::chrono::seconds(20);

/// False: it is to stop.
bool rest(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock hold(mutex);
  never.wait_for(hold, stop, time, [] { return false; });
  return !stop.stop_requested();
}

} // namespace

ParentWatch::ParentWatch()
    : thread_([parent = ::getppid()](const std::stop_token& stop) {
        while (::getppid() == parent) {
          if (!rest(stop, between_looks_at_parent)) {
            return;
          }
        }
        ::kill(::getpid(), SIGTERM);
        if (rest(stop, time_to_report)) {
          std::_Exit(report::exit_code::signal + SIGTERM);
        }
      }) {}

} // namespace heddle::cli
