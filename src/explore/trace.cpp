// Rows as they lie in memory: both sides are processes of one machine and one build.
#include "explore/trace.h"

#include "base/check.h"
#include "base/hash.h"

#include "reduce/stepper.h"
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <type_traits>

namespace heddle::explore {

static_assert(std::is_trivially_copyable_v<TraceRow>);

std::string digest(const StateTable& table, std::span<const TraceRow> rows) {
  const ProgressGraph graph = table.load();
  Hasher hasher;
  for (const TraceRow& row : rows) {
    if (row.actor < graph.actors.size()) {
      const std::string_view kernel = graph.actors[row.actor].kernel;
      hasher.text(kernel.substr(0, kernel.rfind(reduce::Stepper::launch_number)));
      hasher.text(table.site(row.site).what);
    }
  }
  return fmt::format("{:016x}", hasher.finish().low);
}

void append_row(int fd, const TraceRow& row) {
  HEDDLE_CHECK(::write(fd, &row, sizeof row) == sizeof row, "cannot write the trace");
}

std::vector<TraceRow> read_rows(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    return {};
  }
  std::vector<TraceRow> rows(static_cast<std::size_t>(status.st_size) / sizeof(TraceRow));
  const auto bytes = static_cast<ssize_t>(rows.size() * sizeof(TraceRow));
  if (::pread(fd, rows.data(), static_cast<std::size_t>(bytes), 0) != bytes) {
    rows.clear();
  }
  return rows;
}

} // namespace heddle::explore
