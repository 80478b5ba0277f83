// Implements schedule_record.h: a file for each schedule, with a line that names the format and the
// flags behind it.
#include "cli/check/schedule_record.h"

#include "base/private_folder.h"
#include "cli/compile/program_cache.h"
#include "cli/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view head = "heddle schedule 1\n";

fs::path file_of(const ProgramCache& cache, const std::string& text) {
  Hasher hasher;
  hasher.text(head);
  hasher.text(text);
  return cache.schedules() / hex(hasher.finish());
}

} // namespace

void keep_schedule(const std::string& text, const ScheduleRecord& record) {
  const auto cache = ProgramCache::open();
  if (cache && !cache->is_temporary()) {
    (void)write_file(file_of(*cache, text), std::string(head) + record.nvcc);
    remove_unused(cache->schedules());
  }
}

std::optional<ScheduleRecord> find_schedule(const std::string& text) {
  const auto cache = ProgramCache::open();
  if (!cache) {
    return std::nullopt;
  }
  const fs::path file = file_of(*cache, text);
  const int fd = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  const bool is_ours = fd >= 0 && is_private_file(fd);
  if (fd >= 0) {
    ::close(fd);
  }
  const auto contents = is_ours ? read_file(file) : Result<std::string>(input_error(""));
  if (!contents || !contents->starts_with(head)) {
    return std::nullopt;
  }
  std::error_code failure;
  fs::last_write_time(file, fs::file_time_type::clock::now(), failure);
  return ScheduleRecord{.nvcc = contents->substr(head.size())};
}

} // namespace heddle::cli
