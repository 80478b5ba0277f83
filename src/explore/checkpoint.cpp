// Implements checkpoint.h. A file begins with three lines (what it is, of which check, of which
// search), behind which a table follows.
#include "explore/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

namespace heddle::explore {

namespace {

constexpr std::string_view head = "heddle search checkpoint 2";
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
  File(const std::string& name, int flags) : fd_(::open(name.c_str(), flags | O_CLOEXEC, 0666)) {}
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
  int fd_;
};

} // namespace

Result<void> Checkpoint::look() {
  if (!is_wanted() || !where_.resume) {
    return {};
  }
  const File in(where_.file, O_RDONLY);
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
  const File in(where_.file, O_RDONLY);
  for (int lines = 0; lines < 3; ++lines) {
    if (!in.is_open() || !in.line()) {
      return input_error(fmt::format("cannot read {} any more", where_.file));
    }
  }
  auto table = StateTable::restore(in.fd(), limits);
  if (!table) {
    return input_error(fmt::format("{}: {}", where_.file, table.error().message));
  }
  return table;
}

bool Checkpoint::write(const Options& options, const StateTable& table) const {
  const std::string fresh = where_.file + ".new";
  bool good = false;
  {
    const File out(fresh, O_WRONLY | O_CREAT | O_TRUNC);
    good = out.is_open() &&
           out.write(fmt::format("{}\n{}\n{}\n", head, identity_, name_of(options))) &&
           table.save(out.fd()) && ::fsync(out.fd()) == 0;
  }
  good = good && std::rename(fresh.c_str(), where_.file.c_str()) == 0;
  if (!good) {
    const int error = errno;
    ::unlink(fresh.c_str());
    errno = error;
  }
  return good;
}

void Checkpoint::save(const Options& options, const StateTable& table) {
  if (!is_wanted()) {
    return;
  }
  if (write(options, table)) {
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
