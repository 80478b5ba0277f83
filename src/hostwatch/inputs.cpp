// What the program reads from outside, for the verdict to name: environment variables, files, and
// what machine it runs on. The values stay what they are. See spec/answers.md.
//
// May miss: raw system calls, libraries other than the C++ one that read files on their own, and
// files that the program finds open.
#include "hostwatch/answers.h"
#include "hostwatch/changed_files.h"
#include "hostwatch/hooks_internal.h"
#include "hostwatch/processes.h"
#include "hostwatch/shared_use.h"
#include "hostwatch/standard_library.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heddle::hostwatch {

void tell(HeddleInput kind, const char* name, const void* pc) {
  if (hooks != nullptr && hooks->input != nullptr && name != nullptr) {
    hooks->input(kind, name, pc);
  }
}

namespace {

/// By the mode of fopen().
void tell_stream(const char* path, const char* mode, const void* pc) {
  const bool writes = std::strpbrk(mode, "wa+") != nullptr;
  const bool reads = mode[0] == 'r' || std::strchr(mode, '+') != nullptr;
  if (reads && mode[0] != 'w') {
    tell(HeddleFileRead, path, pc);
  }
  if (writes) {
    tell(HeddleFileWritten, path, pc);
    if (is_explored(pc)) {
      note_written(path);
    }
  }
}

void tell_file(const char* path, int flags, const void* pc) {
  const int access = flags & O_ACCMODE;
  if (access != O_WRONLY && (flags & (O_TRUNC | O_DIRECTORY | O_PATH)) == 0) {
    tell(HeddleFileRead, path, pc);
  }
  if (access != O_RDONLY) {
    tell(HeddleFileWritten, path, pc);
    if (is_explored(pc)) {
      note_written(path);
    }
  }
}

SharedUse numbers_of_files;

/// The file is another one than what had its number before.
int opened(int file) {
  if (hooks != nullptr && file >= 0) {
    position_of(file).forget();
  }
  return file;
}

using Open = int(const char*, int, ...);

/// `mode` is there if a file may be made.
int open_file(Open* real, const char* path, int flags, va_list arguments, const void* pc) {
  numbers_of_files.next("opens a file", pc, SharedUse::Order::HardlyMatters);
  constexpr int is_new = O_CREAT | O_EXCL;
  if ((flags & is_new) == is_new && (flags & O_TMPFILE) != O_TMPFILE && is_explored(pc)) {
    return opened(make_own_file(path, flags));
  }
  tell_file(path, flags, pc);
  const bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  const RealPath known(path);
  return opened(has_mode ? real(known, flags, va_arg(arguments, unsigned)) : real(known, flags));
}

using OpenStream = FILE*(const char*, const char*);

FILE* open_stream(OpenStream* real, const char* path, const char* mode, const void* pc) {
  // Streams of C++ read from the file itself: read() gives them what is ours.
  if (hooks != nullptr && names_random_device(path) && mode[0] == 'r' &&
      !is_of_standard_library(pc)) {
    if (FILE* const stream = open_random(pc)) {
      return stream;
    }
  }
  if (std::strchr(mode, 'x') != nullptr && is_explored(pc)) {
    hooks->unsupported("fopen() of a file that must be new, as all schedules find the same files");
  }
  numbers_of_files.next("opens a file", pc, SharedUse::Order::HardlyMatters);
  tell_stream(path, mode, pc);
  FILE* const stream = real(RealPath(path), mode);
  if (stream != nullptr) {
    opened(::fileno(stream));
  }
  return stream;
}

} // namespace
} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

#define HEDDLE_OPEN(name)                                                                          \
  HEDDLE_EXPORT int name(const char* path, int flags, ...) {                                       \
    static Open* real = nullptr;                                                                   \
    va_list arguments;                                                                             \
    va_start(arguments, flags);                                                                    \
    const int file = open_file(                                                                    \
        real_function(real, #name),                                                                \
        path,                                                                                      \
        flags,                                                                                     \
        arguments,                                                                                 \
        __builtin_return_address(0)                                                                \
    );                                                                                             \
    va_end(arguments);                                                                             \
    return file;                                                                                   \
  }
HEDDLE_OPEN(open)
HEDDLE_OPEN(open64)

#define HEDDLE_OPEN_STREAM(name)                                                                   \
  HEDDLE_EXPORT FILE* name(const char* path, const char* mode) {                                   \
    static OpenStream* real = nullptr;                                                             \
    return open_stream(real_function(real, #name), path, mode, __builtin_return_address(0));       \
  }
HEDDLE_OPEN_STREAM(fopen)
HEDDLE_OPEN_STREAM(fopen64)

// --- What the system says about a file -----------------------------------------------------------

#define HEDDLE_LOOK(name, Status)                                                                  \
  HEDDLE_EXPORT int name(const char* path, struct Status* status) noexcept {                       \
    using Look = int(const char*, struct Status*);                                                 \
    static Look* real = nullptr;                                                                   \
    tell(HeddleFileLookedAt, path, __builtin_return_address(0));                                   \
    return real_function(real, #name)(RealPath(path), status);                                     \
  }
HEDDLE_LOOK(stat, stat)
HEDDLE_LOOK(stat64, stat64)
HEDDLE_LOOK(lstat, stat)
HEDDLE_LOOK(lstat64, stat64)

HEDDLE_EXPORT int access(const char* path, int how) noexcept {
  static decltype(&::access) real = nullptr;
  tell(HeddleFileLookedAt, path, __builtin_return_address(0));
  return real_function(real, "access")(RealPath(path), how);
}

HEDDLE_EXPORT DIR* opendir(const char* path) {
  static decltype(&::opendir) real = nullptr;
  tell(HeddleFileLookedAt, path, __builtin_return_address(0));
  return real_function(real, "opendir")(RealPath(path));
}

HEDDLE_EXPORT char* getenv(const char* name) {
  static decltype(&std::getenv) real = nullptr;
  tell(HeddleVariable, name, __builtin_return_address(0));
  return real_function(real, "getenv")(name);
}

HEDDLE_EXPORT char* secure_getenv(const char* name) {
  static decltype(&secure_getenv) real = nullptr;
  tell(HeddleVariable, name, __builtin_return_address(0));
  return real_function(real, "secure_getenv")(name);
}

// --- The machine
// -----------------------------------------------------------------------------------

namespace {
constexpr const char* processors = "the number of processors";
constexpr const char* machine_name = "the name of the machine";
} // namespace

HEDDLE_EXPORT int get_nprocs() noexcept {
  static decltype(&::get_nprocs) real = nullptr;
  tell(HeddleSystem, processors, __builtin_return_address(0));
  return real_function(real, "get_nprocs")();
}

HEDDLE_EXPORT long sysconf(int name) noexcept {
  static decltype(&::sysconf) real = nullptr;
  if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) {
    tell(HeddleSystem, processors, __builtin_return_address(0));
  }
  if (name == _SC_AVPHYS_PAGES && asks(HeddleAnswerLoad, __builtin_return_address(0))) {
    return ::get_avphys_pages();
  }
  return real_function(real, "sysconf")(name);
}

HEDDLE_EXPORT int gethostname(char* name, size_t bytes) noexcept {
  static decltype(&::gethostname) real = nullptr;
  tell(HeddleSystem, machine_name, __builtin_return_address(0));
  return real_function(real, "gethostname")(name, bytes);
}

HEDDLE_EXPORT int uname(utsname* names) noexcept {
  static decltype(&::uname) real = nullptr;
  tell(HeddleSystem, machine_name, __builtin_return_address(0));
  return real_function(real, "uname")(names);
}

HEDDLE_EXPORT char* getcwd(char* path, size_t bytes) noexcept {
  static decltype(&::getcwd) real = nullptr;
  tell(HeddleSystem, "the current folder", __builtin_return_address(0));
  return real_function(real, "getcwd")(path, bytes);
}

HEDDLE_EXPORT int isatty(int file) noexcept {
  static decltype(&::isatty) real = nullptr;
  tell(HeddleSystem, "the terminal", __builtin_return_address(0));
  return real_function(real, "isatty")(file);
}

#define HEDDLE_USER(type, name)                                                                    \
  HEDDLE_EXPORT type name() noexcept {                                                             \
    static decltype(&::name) real = nullptr;                                                       \
    tell(HeddleSystem, "the user", __builtin_return_address(0));                                   \
    return real_function(real, #name)();                                                           \
  }
HEDDLE_USER(uid_t, getuid)
HEDDLE_USER(uid_t, geteuid)
HEDDLE_USER(gid_t, getgid)
HEDDLE_USER(gid_t, getegid)

// --- Commands ------------------------------------------------------------------------------------

namespace {

void tell_command(const char* command, const void* pc) {
  constexpr std::size_t most = 128;
  char text[most];
  std::snprintf(text, most, "what the command '%s' does", command != nullptr ? command : "");
  tell(HeddleSystem, text, pc);
}

} // namespace

HEDDLE_EXPORT int system(const char* command) {
  static decltype(&std::system) real = nullptr;
  tell_command(command, __builtin_return_address(0));
  return real_function(real, "system")(command);
}

HEDDLE_EXPORT FILE* popen(const char* command, const char* mode) {
  static decltype(&::popen) real = nullptr;
  tell_command(command, __builtin_return_address(0));
  return real_function(real, "popen")(command, mode);
}
