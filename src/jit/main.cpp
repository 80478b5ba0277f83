// heddle-jit KERNEL OUTPUT SHAPE PTX…: compiles a kernel of the PTX files, linked with each other,
// to an image (image.h) for launches of a shape (launch_shape.h). A program of its own, so that
// LLVM is never loaded into a user's program.
//
// PTX files whose names begin with OUTPUT are removed, and the oldest images beside OUTPUT if there
// are too many (image_folder.h). Exit codes: 0 the image has been written,
// whole and at once; 2 usage or bad input; 3 nothing of the kernel can be compiled, and OUTPUT is
// an empty file that says so (also if it takes too long, or dies); 70 a defect of Heddle.
#include "base/new_file.h"
#include "isa/program.h"
#include "jit/compile.h"
#include "jit/handlers.h"
#include "jit/image_folder.h"
#include "ptx/parse.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace heddle::jit {
namespace {

/// Whoever looks at `to` sees nothing or all of it.
Result<void> write(const std::vector<std::byte>& image, const std::string& to) {
  constexpr mode_t mode = 0600; // what is executed nobody else may change
  const std::string temporary = fmt::format("{}.{}", to, ::getpid());
  const int fd = open_new_file(temporary, mode);
  bool good = fd >= 0 && write_to(fd, image.data(), image.size());
  good = (fd < 0 || ::close(fd) == 0) && good && ::rename(temporary.c_str(), to.c_str()) == 0;
  if (!good) {
    const int error = errno;
    if (fd >= 0) {
      ::unlink(temporary.c_str());
    }
    return input_error(fmt::format("cannot write '{}': {}", to, std::strerror(error)));
  }
  bound_image_folder(std::filesystem::path(to).parent_path());
  return {};
}

Result<void> compile(
    const std::string& name,
    const std::string& to,
    const std::string& shape_name,
    char** first,
    char** last
) {
  const auto shape = LaunchShape::named(shape_name);
  if (!shape) {
    return input_error(fmt::format("unknown shape of launches '{}'", shape_name));
  }
  std::vector<std::shared_ptr<const ptx::Module>> modules;
  for (char** file = first; file != last; ++file) {
    std::ifstream in(*file, std::ios::binary);
    if (!in) {
      return input_error(fmt::format("cannot read '{}'", *file));
    }
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (std::string_view(*file).starts_with(to)) {
      std::filesystem::remove(*file); // written for us: jit/tiers.cpp
    }
    TRY(auto module, ptx::parse(text, *file));
    modules.push_back(std::move(module));
  }
  memory::AddressSpace space;
  TRY(const auto program, isa::Program::link(std::move(modules), space, /*device=*/0));
  TRY(const isa::Kernel* kernel, program->kernel(name));
  TRY(const Handlers handlers, Handlers::load());
  TRY(const std::vector<std::byte> image, compile_kernel(handlers, *kernel, *shape));
  return write(image, to);
}

int run(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(
        stderr,
        "usage: heddle-jit KERNEL OUTPUT [shared|all][plain]32|16|8|any16|any32 PTX…\n"
    );
    return 2;
  }
  if (const auto done = compile(argv[1], argv[2], argv[3], argv + 4, argv + argc); !done) {
    fmt::print(stderr, "heddle-jit: {}\n", done.error().message);
    switch (done.error().kind) {
    case ErrorKind::Input:
      return 2;
    case ErrorKind::Unsupported:
      return write({}, argv[2]) ? 3 : 2;
    case ErrorKind::Internal:
      return 70;
    }
  }
  return 0;
}

/// A kernel that takes longer is not worth it: seconds of processor time.
constexpr rlim_t most_seconds = 20;

/// Compiles in a process of its own, so that somebody is left to say that nothing will come of it:
/// when it takes too long, or dies.
int compile_within_limits(int argc, char** argv) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{most_seconds, most_seconds + 1};
    ::setrlimit(RLIMIT_CPU, &limit);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::_Exit(run(argc, argv));
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    return 70;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 70) {
    return WEXITSTATUS(status);
  }
  (void)write({}, argv[2]);
  return WIFEXITED(status) ? 70 : 3;
}

} // namespace
} // namespace heddle::jit

int main(int argc, char** argv) {
  return heddle::jit::compile_within_limits(argc, argv);
}
