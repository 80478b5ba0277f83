// Reading, finding and replacing files; words of a flag string.
#include "cli/file.h"

#include "base/new_file.h"
#include "base/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

/// Closes it.
Result<std::string> contents_of_file(int fd, const fs::path& path) {
  std::optional<std::string> contents;
  if (fd >= 0) {
    contents = read_to_end(fd);
    const int error = errno;
    ::close(fd);
    errno = error;
  }
  if (contents) {
    return std::move(*contents);
  }
  return input_error(
      fmt::format("cannot read '{}': {}", printable(path.string()), std::strerror(errno))
  );
}

} // namespace

Result<std::string> read_file(const fs::path& path) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) {
    return input_error(fmt::format("cannot read '{}': it is a folder", printable(path.string())));
  }
  return contents_of_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path);
}

Result<std::string> read_named_file(const fs::path& path) {
  std::error_code failure;
  if (fs::exists(path, failure) && !fs::is_regular_file(path, failure)) {
    return input_error(
        fmt::format(
            "cannot read '{}': it is {}",
            printable(path.string()),
            fs::is_directory(path, failure) ? "a folder" : "not a regular file"
        )
    );
  }
  return contents_of_file(open_regular_file(path), path); // which looks again: it may have changed
}

std::string hex(const Hash128& hash) {
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

std::optional<std::string> hash_file(const fs::path& path) {
  const auto contents = read_regular_file(path);
  if (!contents) {
    return std::nullopt;
  }
  Hasher hasher;
  hasher.text(*contents);
  return hex(hasher.finish());
}

Result<void> write_file(const fs::path& path, std::string_view contents) {
  constexpr mode_t mode = 0600;
  const std::string temporary = path.string() + fmt::format(".{}.new", getpid());
  const int fd = open_new_file(temporary, mode);
  bool good = fd >= 0 && write_to(fd, contents.data(), contents.size());
  good = (fd < 0 || ::close(fd) == 0) && good && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!good) {
    const int error = errno;
    if (fd >= 0) {
      ::unlink(temporary.c_str());
    }
    return input_error(fmt::format("cannot write '{}': {}", path.string(), std::strerror(error)));
  }
  return {};
}

std::optional<fs::path> find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? std::optional(fs::path(name)) : std::nullopt;
  }
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code failure;
    if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, failure)) {
      return candidate;
    }
  }
  return std::nullopt;
}

fs::path own_path() {
  std::error_code failure;
  return fs::read_symlink("/proc/self/exe", failure);
}

std::string as_word(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\\' || c == '\'' || c == '"') {
      result += '\\';
    }
    result += c;
  }
  return result;
}

std::string as_shell_word(std::string_view text) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+,./:@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

std::string printable(std::string_view text) {
  constexpr unsigned char first_printable = 0x20, del = 0x7f;
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool is_c1 = c == 0xc2 && i + 1 < text.size() && // U+0080 to U+009f in UTF-8
                       static_cast<unsigned char>(text[i + 1]) < 0xa0;
    result += c < first_printable || c == del || is_c1 ? fmt::format("\\x{:02x}", c)
                                                       : std::string(1, text[i]);
    i += is_c1 ? 1 : 0;
  }
  return result;
}

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote != '\'' && c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) {
        words.push_back(std::move(word));
        word.clear();
        in_word = false;
      }
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) {
    return input_error(fmt::format("missing closing {} in: {}", quote, text));
  }
  if (in_word) {
    words.push_back(std::move(word));
  }
  return words;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

} // namespace heddle::cli
