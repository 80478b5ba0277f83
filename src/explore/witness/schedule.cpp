// Lines of a schedule, zstd, base64url (RFC 4648 section 5).
#include "explore/witness/schedule.h"

#include "base/check.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace heddle::explore {

namespace {

constexpr std::string_view version = "v1:";
constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
// A witness of a million steps is no witness; and a bad string must not ask for all memory.
constexpr std::size_t most_bytes = 16U << 20;
constexpr std::uint32_t most_choices = 1U << 22;
constexpr int best_compression = 19;

std::string to_base64(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6;) {
      count -= 6;
      text += alphabet[bits >> count & 63];
    }
  }
  if (count > 0) {
    text += alphabet[bits << (6 - count) & 63];
  }
  return text;
}

Result<std::string> from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) {
      const bool is_visible = c >= ' ' && c <= '~';
      return input_error(
          is_visible
              ? fmt::format("a schedule has no character '{}'", c)
              : fmt::format("a schedule has no character {:#04x}", static_cast<unsigned char>(c))
      );
    }
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 255);
    }
  }
  return bytes;
}

std::string compress(std::string_view text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, best_compression);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1); // a wrong character is noticed
  const std::size_t size =
      ZSTD_compress2(context, bytes.data(), bytes.size(), text.data(), text.size());
  ZSTD_freeCCtx(context);
  HEDDLE_CHECK(ZSTD_isError(size) == 0, "zstd: {}", ZSTD_getErrorName(size));
  bytes.resize(size);
  return bytes;
}

Result<std::string> decompress(std::string_view bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most_bytes) {
    return input_error("the schedule is damaged; was it copied as a whole?");
  }
  std::string text(size, '\0');
  const std::size_t result = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(result) != 0 || result != size) {
    return input_error("the schedule is damaged; was it copied as a whole?");
  }
  return text;
}

/// Values stand on one line: newline and backslash are escaped.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\\') {
      text += "\\\\";
    } else {
      text += c;
    }
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      value += text[++i] == 'n' ? '\n' : text[i];
    } else {
      value += text[i];
    }
  }
  return value;
}

/// "0*12 3 1*2": equal choices in a row are counted.
std::string choices_text(std::span<const std::uint32_t> choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size();) {
    std::size_t end = i;
    while (end < choices.size() && choices[end] == choices[i]) {
      ++end;
    }
    text += fmt::format("{}{}", text.empty() ? "" : " ", choices[i]);
    if (end - i > 1) {
      text += fmt::format("*{}", end - i);
    }
    i = end;
  }
  return text;
}

template <class T> bool read_number(std::string_view text, T& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size();
}

bool read_choices_text(std::string_view text, std::vector<std::uint32_t>& choices) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t star = word.find('*');
    std::uint32_t choice = 0, count = 1;
    if (!read_number(word.substr(0, star), choice) ||
        (star != std::string_view::npos && !read_number(word.substr(star + 1), count)) ||
        count > most_choices - choices.size()) {
      return false;
    }
    choices.insert(choices.end(), count, choice);
  }
  return true;
}

bool is_hash(std::string_view text) {
  constexpr std::size_t most_digits = 64;
  return text.size() <= most_digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// False: the key is unknown or the value malformed.
bool read_line(std::string_view key, std::string_view value, Schedule& schedule) {
  const std::string text = unescaped(value);
  if (key == "program") {
    schedule.program = text;
  } else if (key == "argument") {
    schedule.arguments.push_back(text);
  } else if (key == "nvcc") {
    schedule.nvcc = text;
  } else if (key == "device") {
    schedule.device = text;
  } else if (key == "devices") {
    return read_number(value, schedule.devices) && schedule.devices > 0;
  } else if (key == "kernel") {
    schedule.kernel = text;
  } else if (key == "content") {
    schedule.content = text;
    return is_hash(text);
  } else if (key == "digest") {
    schedule.digest = text;
    return is_hash(text);
  } else if (key == "options") {
    const auto options = parse_options(text);
    schedule.options = without_limits(options.value_or(Options()));
    return options.has_value();
  } else if (key == "choices") {
    return read_choices_text(value, schedule.choices);
  } else if (key == "loop") {
    return read_number(value, schedule.loop_from);
  } else {
    return false;
  }
  return true;
}

/// "v2:", without what a terminal would obey.
std::string version_of(std::string_view text) {
  std::string result(text.substr(0, text.find(':') + 1));
  std::erase_if(result, [](char c) { return c < ' ' || c > '~'; });
  return result;
}

} // namespace

std::string encode(const Schedule& schedule) {
  std::string text;
  const auto line = [&text](std::string_view key, std::string_view value) {
    if (!value.empty()) {
      text += fmt::format("{} {}\n", key, escaped(value));
    }
  };
  line("program", schedule.program);
  for (const std::string& argument : schedule.arguments) {
    text += fmt::format("argument {}\n", escaped(argument)); // an empty one is one, too
  }
  line("device", schedule.device);
  line("devices", schedule.devices == 1 ? "" : std::to_string(schedule.devices));
  line("kernel", schedule.kernel);
  line("content", schedule.content);
  line("digest", schedule.digest);
  line("options", to_text(schedule.options));
  line("choices", choices_text(schedule.choices));
  line("loop", std::to_string(schedule.loop_from));
  return std::string(version) + to_base64(compress(text));
}

Result<Schedule> decode(std::string_view text) {
  if (!text.starts_with(version)) {
    const bool other = text.starts_with('v') && text.find(':') < 8;
    return input_error(
        other ? fmt::format(
                    "this schedule was made by another version of Heddle ('{}'; this one reads "
                    "'{}')",
                    version_of(text),
                    version
                )
              : fmt::format("a schedule begins with '{}'", version)
    );
  }
  TRY(const std::string bytes, from_base64(text.substr(version.size())));
  TRY(const std::string lines, decompress(bytes));
  Schedule schedule;
  for (std::string_view rest = lines; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t blank = std::min(line.find(' '), line.size());
    if (!read_line(
            line.substr(0, blank),
            line.substr(std::min(blank + 1, line.size())),
            schedule
        )) {
      // Whoever made it chose the text, which a terminal must not obey.
      return input_error("the schedule has a line that means nothing to this version of Heddle");
    }
  }
  if (schedule.program.empty()) {
    return input_error("the schedule names no program");
  }
  if (schedule.loop_from > schedule.choices.size()) {
    return input_error("the schedule's loop begins after its end");
  }
  return schedule;
}

Result<int> write_choices(std::span<const std::uint32_t> choices) {
  const int fd = ::memfd_create("heddle-choices", 0); // inherited by the explored process
  const auto bytes = static_cast<ssize_t>(choices.size_bytes());
  if (fd < 0 || ::write(fd, choices.data(), choices.size_bytes()) != bytes) {
    return input_error(fmt::format("cannot write the schedule: {}", std::strerror(errno)));
  }
  return fd;
}

Result<std::vector<std::uint32_t>> read_choices(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    return input_error(fmt::format("file descriptor {} is no schedule", fd));
  }
  std::vector<std::uint32_t> choices(
      static_cast<std::size_t>(status.st_size) / sizeof(std::uint32_t)
  );
  const std::size_t bytes = choices.size() * sizeof(std::uint32_t);
  if (::pread(fd, choices.data(), bytes, 0) != static_cast<ssize_t>(bytes)) {
    return input_error(fmt::format("cannot read the schedule: {}", std::strerror(errno)));
  }
  return choices;
}

} // namespace heddle::explore
