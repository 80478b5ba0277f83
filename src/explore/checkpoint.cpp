// Implements checkpoint.h. A file begins with four lines: the format, the check, the search, and
// the size in bytes of each other rank's table (0: it is missing). These tables follow, and then
// that of rank 0.
#include "explore/checkpoint.h"

#include "base/new_file.h"

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

constexpr std::string_view head = "heddle search checkpoint 3";
constexpr std::size_t longest_line = 1 << 16;

/// Which search it is: how far it may go does not matter.
std::string name_of(Options options) {
  const Options usual;
  options.max_states = usual.max_states;
  options.max_seconds = usual.max_seconds;
  options.max_mebibytes = usual.max_mebibytes;
  options.schedules = usual.schedules;
  options.seed = usual.seed;
  return "options " + to_text(options);
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

/// All that is behind the lines of a file.
Result<StateTable> restored(const File& in, const std::string& line, StateTable::Limits limits) {
  std::vector<std::unique_ptr<File>> files;
  std::istringstream sizes(line.substr(std::min(others_line.size(), line.size())));
  for (std::uint64_t bytes = 0; sizes >> bytes;) {
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
  has_ = in.line().value_or("");
  return {};
}

Result<StateTable> Checkpoint::table(const Options& options, StateTable::Limits limits) {
  if (!is_wanted() || has_ != name_of(options)) {
    return StateTable::create(limits);
  }
  const File in(where_.file);
  std::optional<std::string> line;
  for (int lines = 0; lines < 4; ++lines) {
    line = in.is_open() ? in.line() : std::nullopt;
    if (!line) {
      return input_error(fmt::format("cannot read {} any more", where_.file));
    }
  }
  auto table = restored(in, *line, limits);
  if (!table) {
    return input_error(fmt::format("{}: {}", where_.file, table.error().message));
  }
  return table;
}

bool Checkpoint::write(
    const Options& options,
    const StateTable& table,
    std::span<const int> others
) const {
  const std::string fresh = where_.file + ".new";
  std::string lines = fmt::format("{}\n{}\n{}\n{}", head, identity_, name_of(options), others_line);
  for (std::size_t rank = 1; rank < others.size(); ++rank) {
    lines += fmt::format(" {}", bytes_in(others[rank]));
  }
  bool good = false;
  {
    const File out = File::fresh(fresh);
    good = out.is_open() && out.write(lines + "\n");
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

void Checkpoint::save(
    const Options& options,
    const StateTable& table,
    std::span<const int> others
) {
  if (!is_wanted()) {
    return;
  }
  if (write(options, table, others)) {
    has_ = name_of(options);
  } else {
    problems_.insert(
        fmt::format("the checkpoint {} could not be written: {}", where_.file, std::strerror(errno))
    );
  }
}

void Checkpoint::forget() {
  has_.clear();
  problems_.insert(
      fmt::format(
          "the search began anew: the program did not do again what it had done for the checkpoint "
          "{}",
          where_.file
      )
  );
}

} // namespace heddle::explore
