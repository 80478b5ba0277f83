// Rows as they lie in memory: both sides are processes of one machine and one build.
#include "explore/witness/trace.h"

#include "base/check.h"
#include "base/hash.h"
#include "reduce/stepper.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace heddle::explore {

static_assert(std::is_trivially_copyable_v<TraceRow>);

std::string digest(
    const StateTable& table,
    std::span<const Actor> actors,
    std::span<const TraceRow> rows,
    const std::function<std::string(const TraceRow&)>& more
) {
  Hasher hasher;
  // Moves one after the other that leave a state as it is count in any order: which of several
  // equal threads makes which of them may be another one when they are made again.
  std::vector<std::uint64_t> unchanging;
  StateId at = 0;
  const auto end_of_run = [&] {
    std::ranges::sort(unchanging);
    for (const std::uint64_t move : unchanging) {
      hasher.value(move);
    }
    unchanging.clear();
  };
  for (const TraceRow& row : rows) {
    if (row.from != at) {
      end_of_run();
      at = row.from;
    }
    if (row.actor < actors.size()) {
      const std::string_view kernel = actors[row.actor].kernel;
      Hasher move;
      move.text(kernel.substr(0, kernel.rfind(reduce::MoveNames::launch_number)));
      move.text(table.site(row.site).what);
      if (more) {
        move.text(more(row));
      }
      unchanging.push_back(move.finish().low);
    }
  }
  end_of_run();
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
