// Implements program_cache.h.
#include "cli/compile/program_cache.h"

#include "base/hash.h"
#include "base/private_folder.h"
#include "cli/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

constexpr auto keep_unused = std::chrono::hours(24 * 30);
constexpr auto settled = std::chrono::seconds(2); // the coarsest times that file systems keep
constexpr std::string_view unsettled = "-";

ProgramCache::Time time_of(const timespec& time) {
  return ProgramCache::Time(
      std::chrono::duration_cast<ProgramCache::Time::duration>(
          std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec)
      )
  );
}

/// When the inode was last changed, and what <state> is for it; nothing if there is no such file.
struct FileState {
  ProgramCache::Time changed;
  std::string text;
};

std::optional<FileState> state_of(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) {
    return std::nullopt;
  }
  return FileState{
      time_of(about.st_ctim),
      fmt::format(
          "{:x}.{:x}.{:x}.{:x}.{:x}.{:x}.{:x}",
          about.st_dev,
          about.st_ino,
          about.st_size,
          about.st_mtim.tv_sec,
          about.st_mtim.tv_nsec,
          about.st_ctim.tv_sec,
          about.st_ctim.tv_nsec
      )
  };
}

std::string line_of(std::string_view hash, std::string_view state, std::string_view path) {
  return fmt::format("{} {} {}\n", hash, state, path);
}

constexpr const char* folders[] =
    {"programs", "kernels", "triton", "flashinfer", "schedules", "lint"};

/// The cache in this folder: all that is executed lies in folders of it.
PrivateFolder make_folders(const fs::path& cache) {
  PrivateFolder made = make_private_folder(cache);
  for (const char* folder : folders) {
    if (made.state == PrivateFolder::State::Ready) {
      made = make_private_folder(cache / folder);
    }
  }
  return made;
}

/// In the place of a cache folder for the rest of this process. (Not a part of ProgramCache:
/// several of them, one after the other, use the same programs.)
Result<fs::path> temporary_cache() {
  static const TemporaryFolder folder;
  if (folder.path().empty() || make_folders(folder.path()).state != PrivateFolder::State::Ready) {
    return input_error(
        "there is no place for compiled programs: set XDG_CACHE_HOME, or TMPDIR, to a folder that "
        "only you can write to"
    );
  }
  return folder.path();
}

/// Once in a process.
void warn_of(const std::string& reason) {
  static std::string before;
  if (before != reason) {
    before = reason;
    fmt::print(
        stderr,
        "heddle: warning: the cache is not used, because others could plant programs in it: {}; a "
        "temporary folder takes its place (see docs/security.md)\n",
        reason
    );
  }
}

/// Where the cache of this user is.
struct CacheFolder {
  fs::path path;       // empty: nowhere
  bool chosen = false; // for Heddle: it has to be there
  std::string reason;  // why it is nowhere, if that needs a word
};

/// Does not make the home folder: a service, or a container with the user id of somebody else, may
/// name one that is not there, and root could put it anywhere.
CacheFolder cache_folder() {
  if (const std::string chosen = environment("XDG_CACHE_HOME"); !chosen.empty()) {
    return {.path = fs::path(chosen) / "heddle", .chosen = true, .reason = {}};
  }
  const fs::path home = environment("HOME");
  std::error_code failure;
  if (!home.empty() && !fs::is_directory(home, failure)) {
    return {
        .path = {},
        .reason = fmt::format("the home folder '{}' does not exist", printable(home.string()))
    };
  }
  return {.path = home.empty() ? home : home / ".cache" / "heddle", .reason = {}};
}

/// Did only this user write it?
bool is_private_program(const fs::path& program) {
  const int fd = ::open(program.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  const bool is_private = fd >= 0 && is_private_file(fd);
  if (fd >= 0) {
    ::close(fd);
  }
  return is_private && access(program.c_str(), X_OK) == 0;
}

/// As keep() makes them: a manifest names nothing outside of its folder.
bool is_name(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace

void remove_unused(const fs::path& folder) {
  std::error_code failure;
  const auto oldest = fs::file_time_type::clock::now() - keep_unused;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto time = entry.last_write_time(failure);
    if (!failure && time < oldest) {
      fs::remove(entry.path(), failure);
    }
  }
}

Result<ProgramCache> ProgramCache::open() {
  CacheFolder cache = cache_folder();
  if (!cache.path.empty()) {
    const PrivateFolder made = make_folders(cache.path);
    switch (made.state) {
    case PrivateFolder::State::Ready:
      return ProgramCache(cache.path / folders[0], /*temporary=*/false);
    case PrivateFolder::State::CannotBeMade:
      if (cache.chosen) {
        return input_error(
            fmt::format(
                "cannot write the cache folder '{}' ({}); set XDG_CACHE_HOME to a folder that can "
                "be written",
                cache.path.string(),
                made.reason
            )
        );
      }
      cache.reason = "the cache cannot be written: " + made.reason;
      break;
    case PrivateFolder::State::OfOthers:
      warn_of(made.reason);
    }
  }
  TRY(const fs::path temporary, temporary_cache());
  ProgramCache result(temporary / folders[0], /*temporary=*/true);
  result.why_not_kept_ = cache.reason;
  return result;
}

fs::path ProgramCache::manifest(const std::string& key) const {
  return folder_ / (key + ".manifest");
}

fs::path ProgramCache::temporary(const std::string& key) const {
  return folder_ / fmt::format("{}.{}", key, getpid());
}

std::optional<fs::path> ProgramCache::find(const std::string& key) const {
  const auto text = read_file(manifest(key));
  if (!text) {
    return std::nullopt;
  }
  const Time now = std::chrono::system_clock::now();
  std::string changed; // the manifest up to here, if it should be another one
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t begin = text->size() - rest.size();
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    if (first == std::string_view::npos) {
      return std::nullopt;
    }
    if (line.substr(0, first) == "program") {
      fs::path program = folder_ / line.substr(first + 1);
      if (!is_name(line.substr(first + 1)) || !is_private_program(program)) {
        return std::nullopt;
      }
      std::error_code failure;
      fs::last_write_time(program, fs::file_time_type::clock::now(), failure);
      // A cache that is full still serves.
      if (changed.empty() || !write_file(manifest(key), changed.append(line) + "\n")) {
        fs::last_write_time(manifest(key), fs::file_time_type::clock::now(), failure);
      }
      return program;
    }
    if (second == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view hash = line.substr(0, first);
    const std::string_view state = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    const auto seen = state_of(path); // before the contents, so that a later change is noticed
    if (!seen || (seen->text != state && hash_file(path) != hash)) {
      return std::nullopt;
    }
    const std::string_view news = seen->changed + settled < now ? seen->text : unsettled;
    if (changed.empty() && news != state) {
      changed = text->substr(0, begin);
    }
    if (!changed.empty() || news != state) {
      changed += line_of(hash, news, path);
    }
  }
  return std::nullopt;
}

Result<fs::path> ProgramCache::keep(
    const std::string& key,
    const std::vector<std::string>& files,
    Time begun,
    const fs::path& program
) const {
  Hasher all;
  all.text(key);
  std::string lines;
  std::error_code failure;
  for (const std::string& file : files) {
    const auto seen = state_of(file);
    const auto hash = hash_file(file);
    if (!seen || !hash || seen->changed > begun) {
      return program;
    }
    all.text(*hash);
    lines += line_of(
        *hash,
        seen->changed + settled < begun ? seen->text : unsettled,
        fs::absolute(file, failure).string()
    );
  }
  const std::string name = hex(all.finish());
  fs::permissions(program, fs::perms::owner_all, failure); // whatever the umask is
  fs::rename(program, folder_ / name, failure);
  if (failure) {
    return input_error(
        fmt::format("cannot write '{}': {}", (folder_ / name).string(), failure.message())
    );
  }
  TRY_VOID(write_file(manifest(key), lines + "program " + name + "\n"));
  remove_unused(folder_);
  return folder_ / name;
}

} // namespace heddle::cli
