// Implements checkpoint.h. A file begins with lines: the format, the check, where it stands, the
// search, the size in bytes of the search that was kept (0: none), and that of each other rank's
// table (0: it is missing). These tables follow, and then that of rank 0.
#include "explore/table/checkpoint.h"

#include "base/new_file.h"
#include "report/render.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace heddle::explore {

namespace {

constexpr std::string_view head = "heddle search checkpoint 6";
constexpr std::string_view stands_line = "stands: ";
constexpr std::string_view kept_line = "kept: ";
constexpr std::size_t longest_line = 1 << 16;

/// Which search it is: how far it may go does not matter.
std::string name_of(const Options& options) {
  return "options " + to_text(with_limits_of(options, {}));
}

class File {
public:
  /// Of that name, for reading.
  explicit File(const std::string& name) : fd_(::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {}
  /// A new one, for writing.
  static File fresh(const std::string& name) {
    constexpr mode_t mode = 0666; // less the user's umask
    return File(open_new_file(name, mode));
  }
  /// In memory.
  File() : fd_(::memfd_create("heddle-part", MFD_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) {
      const int error = errno;
      ::close(fd_);
      errno = error;
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  bool write(std::string_view text) const {
    return ::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  std::optional<std::string> line() const {
    std::string text;
    for (char c = 0; text.size() < longest_line && ::read(fd_, &c, 1) == 1; text += c) {
      if (c == '\n') {
        return text;
      }
    }
    return std::nullopt;
  }

private:
  explicit File(int fd) : fd_(fd) {}
  int fd_;
};

std::uint64_t bytes_in(int fd) {
  struct stat status{};
  return fd >= 0 && ::fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

/// From where `from` stands to where `to` stands; both go on behind it. As many as there are, if
/// that is less. False, and errno: it cannot be written.
bool copy_bytes(int from, int to, std::uint64_t count) {
  while (count != 0) {
    const ssize_t some = ::sendfile(to, from, nullptr, count);
    if (some == 0) {
      return true;
    }
    if (some < 0 && errno != EINTR) {
      return false;
    }
    count -= static_cast<std::uint64_t>(std::max<ssize_t>(some, 0));
  }
  return true;
}

/// "other ranks: 1234 0 567": of ranks 1, 2, …
constexpr std::string_view others_line = "other ranks:";

/// What a file begins with.
struct Lines {
  std::string head, identity, stands, search;
  std::uint64_t kept = 0;            // bytes
  std::vector<std::uint64_t> others; // bytes
};

/// Of a file that begins with those of this format. Input error: it is damaged.
Result<Lines> lines_of(const File& in) {
  Lines lines;
  std::string kept, others;
  for (std::string* const line :
       {&lines.head, &lines.identity, &lines.stands, &lines.search, &kept, &others}) {
    auto read = in.line();
    if (!read) {
      return input_error("the checkpoint is damaged");
    }
    *line = std::move(*read);
  }
  if (!lines.stands.starts_with(stands_line) || !kept.starts_with(kept_line) ||
      !others.starts_with(others_line)) {
    return input_error("the checkpoint is damaged");
  }
  lines.stands.erase(0, stands_line.size());
  std::istringstream(kept.substr(kept_line.size())) >> lines.kept;
  std::istringstream sizes(others.substr(others_line.size()));
  for (std::uint64_t bytes = 0; sizes >> bytes;) {
    lines.others.push_back(bytes);
  }
  return lines;
}

/// All that is behind the lines of a file, and the search that was kept.
Result<StateTable>
restored(const File& in, const std::vector<std::uint64_t>& sizes, StateTable::Limits limits) {
  std::vector<std::unique_ptr<File>> files;
  for (const std::uint64_t bytes : sizes) {
    files.push_back(bytes == 0 ? nullptr : std::make_unique<File>());
    if (bytes != 0 && !copy_bytes(in.fd(), files.back()->fd(), bytes)) {
      return input_error(std::strerror(errno));
    }
  }
  if (files.empty()) {
    return StateTable::restore(in.fd(), limits);
  }
  const File own;
  if (!copy_bytes(in.fd(), own.fd(), ~std::uint64_t{0} >> 2)) {
    return input_error(std::strerror(errno));
  }
  std::vector<int> parts{own.fd()};
  for (const auto& file : files) {
    parts.push_back(file ? file->fd() : -1);
  }
  return StateTable::restore(parts, limits);
}

} // namespace

Result<void> Checkpoint::look() {
  if (!is_wanted() || !where_.resume) {
    return {};
  }
  const File in(where_.file);
  if (!in.is_open()) {
    return input_error(
        fmt::format("--resume: cannot read {}: {}", where_.file, std::strerror(errno))
    );
  }
  if (in.line() != head) {
    return input_error(fmt::format("--resume: {} is not a checkpoint of a search", where_.file));
  }
  if (in.line() != identity_) {
    return input_error(
        fmt::format(
            "--resume: {} is of another program, another version of it or of heddle, or other "
            "arguments",
            where_.file
        )
    );
  }
  if (::lseek(in.fd(), 0, SEEK_SET) != 0) {
    return input_error(fmt::format("--resume: cannot read {}", where_.file));
  }
  auto lines = lines_of(in);
  if (!lines) {
    return input_error(fmt::format("--resume: {}: {}", where_.file, lines.error().message));
  }
  has_ = written_ = lines->search;
  stands_in_file_ = lines->stands;
  return {};
}

bool Checkpoint::has(const Options& options) const {
  return !has_.empty() && has_ == name_of(options);
}

Result<std::optional<StateTable>> Checkpoint::kept(StateTable::Limits limits) const {
  const File in(where_.file);
  TRY(const Lines lines, lines_of(in));
  if (lines.kept == 0) {
    return std::nullopt;
  }
  const File own;
  if (!copy_bytes(in.fd(), own.fd(), lines.kept) || ::lseek(own.fd(), 0, SEEK_SET) != 0) {
    return input_error(std::strerror(errno));
  }
  TRY(StateTable table, StateTable::read(own.fd(), limits));
  return std::optional<StateTable>(std::move(table));
}

void Checkpoint::begin(Standing standing, const Options& options) {
  standing_ = std::move(standing);
  if (!is_wanted()) {
    return;
  }
  if (const auto empty = StateTable::create({})) {
    save(options, *empty);
  }
  has_.clear(); // nothing of it is worth going on from
}

void Checkpoint::go_on(Standing standing) {
  standing_ = std::move(standing);
}

void Checkpoint::keep_beside(const StateTable& table) {
  if (!is_wanted()) {
    return;
  }
  kept_ = std::shared_ptr<const int>(
      new int(::memfd_create("heddle-kept", MFD_CLOEXEC)),
      [](const int* fd) {
        ::close(*fd);
        delete fd;
      }
  );
  if (!table.save(*kept_)) {
    kept_.reset(); // then the search that is to find everything goes on without
  }
}

Result<StateTable> Checkpoint::read_table(StateTable::Limits limits) const {
  const File in(where_.file);
  const auto lines = in.is_open() ? lines_of(in) : input_error("it cannot be read any more");
  if (!lines) {
    return input_error(fmt::format("{}: {}", where_.file, lines.error().message));
  }
  if (File kept; !copy_bytes(in.fd(), kept.fd(), lines->kept)) { // goes behind it
    return input_error(fmt::format("cannot read {}: {}", where_.file, std::strerror(errno)));
  }
  auto table = restored(in, lines->others, limits);
  if (!table) {
    return input_error(fmt::format("{}: {}", where_.file, table.error().message));
  }
  return table;
}

Result<StateTable> Checkpoint::table(const Options& options, StateTable::Limits limits) {
  if (!is_wanted()) {
    return StateTable::create(limits);
  }
  const bool goes_on = has(options);
  TRY(StateTable table, goes_on ? read_table(limits) : StateTable::create(limits));
  Course course = table.course();
  if (!limits.divided && !table.had_several()) {
    course.keep();
  }
  if (where_.stop_after != 0) {
    course.stop_at(table.state_count() + where_.stop_after);
  }
  if (!goes_on) {
    return table;
  }
  fmt::print(
      stderr,
      "heddle: resumed: {}, {}\n",
      standing_.words,
      table.state_count() != 0 ? report::with_thousands(table.state_count()) + " states"
                               : "from its beginning"
  );
  has_.clear();
  return table;
}

bool Checkpoint::write(
    const Options& options,
    const StateTable& table,
    std::span<const int> others
) const {
  const std::string fresh = where_.file + ".new";
  std::string lines = fmt::format(
      "{}\n{}\n{}{}\n{}\n{}{}\n{}",
      head,
      identity_,
      stands_line,
      standing_.plan,
      name_of(options),
      kept_line,
      kept_ != nullptr ? bytes_in(*kept_) : 0,
      others_line
  );
  for (std::size_t rank = 1; rank < others.size(); ++rank) {
    lines += fmt::format(" {}", bytes_in(others[rank]));
  }
  bool good = false;
  {
    const File out = File::fresh(fresh);
    good = out.is_open() && out.write(lines + "\n");
    if (kept_ != nullptr) {
      good = good && ::lseek(*kept_, 0, SEEK_SET) == 0 &&
             copy_bytes(*kept_, out.fd(), bytes_in(*kept_));
    }
    for (std::size_t rank = 1; rank < others.size(); ++rank) {
      good = good &&
             (others[rank] < 0 || (::lseek(others[rank], 0, SEEK_SET) == 0 &&
                                   copy_bytes(others[rank], out.fd(), bytes_in(others[rank]))));
    }
    good = good && table.save(out.fd()) && ::fsync(out.fd()) == 0;
  }
  good = good && std::rename(fresh.c_str(), where_.file.c_str()) == 0;
  if (!good) {
    const int error = errno;
    ::unlink(fresh.c_str());
    errno = error;
  }
  return good;
}

/// What a search that has been invalid for some states would learn before it ends is in no table:
/// it is made again from its beginning, so that it learns the same.
static bool is_void(const Options& options, const StateTable& table) {
  return table.saw(Fact::Refuted) || (options.host_first && table.saw(Fact::HostClash)) ||
         ((options.sums || options.orderly || options.by_decisions) && table.saw(Fact::SumsClash));
}

void Checkpoint::save(
    const Options& options,
    const StateTable& table,
    std::span<const int> others
) {
  if (!is_wanted()) {
    return;
  }
  const bool is_useless = is_void(options, table);
  const auto empty = is_useless ? StateTable::create({}) : input_error("");
  if (is_useless && !empty) {
    return;
  }
  if (write(options, is_useless ? *empty : table, is_useless ? std::span<const int>() : others)) {
    written_ = name_of(options);
  } else {
    problems_.insert(
        fmt::format("the checkpoint {} could not be written: {}", where_.file, std::strerror(errno))
    );
  }
}

void Checkpoint::forget() {
  has_.clear();
  written_.clear();
  kept_.reset();
  problems_.insert(
      fmt::format(
          "the search began anew: the program did not do again what it had done for the checkpoint "
          "{}",
          where_.file
      )
  );
}

} // namespace heddle::explore
