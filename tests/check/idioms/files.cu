// What the C library and the system keep for all host threads: how far a file has been read, random numbers,
// descriptors; and what would be the same for all executions of a search if nobody took care: positions in files,
// shared memory, files that the program makes. The file that is read is the program itself, an ELF file.
#include "cases.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

__global__ void work(int* at) { atomicAdd(at, 1); }
__global__ void nothing() {}

static constexpr const char* file_name = "/proc/self/exe";
static std::mutex mutex;
static std::atomic<int> never;

static void hang_if(bool bad) {
  while (bad && never == 0) {
  }
}
static int* counter() {
  int* at = nullptr;
  cudaMalloc(&at, sizeof *at);
  cudaMemset(at, 0, sizeof *at);
  cudaDeviceSynchronize();
  return at;
}
template <class F, class G> static void both(F first, G second) {
  std::thread a(first), b(second);
  a.join();
  b.join();
}

// --- Positions ---------------------------------------------------------------------------------------------------

// Each execution reads the whole file, whatever others have read.
//@ case: read-beside-kernels
//@ verdict: terminates
//@ case: read-stream-beside-kernels
//@ verdict: terminates
template <bool Stream> static int read_beside_kernels(Setup) {
  int* at = counter();
  FILE* stream = std::fopen(file_name, "r");
  std::setvbuf(stream, nullptr, _IONBF, 0);
  char bytes[4]{};
  for (char& byte : bytes) {
    work<<<2, 1>>>(at);
    if (Stream) {
      byte = static_cast<char>(std::fgetc(stream));
    } else {
      (void)!read(fileno(stream), &byte, 1);
    }
  }
  cudaDeviceSynchronize();
  hang_if(std::memcmp(bytes, "\177ELF", 4) != 0);
  return 0;
}
//@ case: read-lines-beside-kernels
//@ verdict: terminates
static int read_lines_beside_kernels(Setup) {
  int* at = counter();
  std::ifstream file(file_name);
  char bytes[20000]; // more than a buffer of it
  for (int i = 0; i < 2; ++i) {
    work<<<2, 1>>>(at);
    file.read(bytes, sizeof bytes);
  }
  cudaDeviceSynchronize();
  hang_if(file.tellg() != 2 * sizeof bytes);
  return 0;
}
// Bytes 9 to 15 are zeros: the host's state does not come back, as the position is part of it.
//@ case: read-equal-bytes
//@ verdict: terminates
static int read_equal_bytes(Setup) {
  const int file = open(file_name, O_RDONLY);
  lseek(file, 9, SEEK_SET);
  char byte = 0;
  do {
    nothing<<<1, 1>>>();
    cudaDeviceSynchronize();
    (void)!read(file, &byte, 1);
  } while (byte == 0);
  return 0;
}

//@ case: read-in-turns
//@ verdict: terminates
//@ case: first-reader-waits
//@ verdict: may-hang
//@ finding: livelock
template <bool Waits> static int read_in_turns(Setup) {
  static int file = open(file_name, O_RDONLY);
  static char bytes[2];
  const auto reads = [](int n) {
    const std::lock_guard lock(mutex);
    (void)!read(file, &bytes[n], 1);
  };
  both([&] { reads(0); }, [&] { reads(1); });
  hang_if(Waits ? bytes[0] != 'E' : bytes[0] + bytes[1] != '\177' + 'E');
  return 0;
}
//@ case: read-by-two
//@ verdict: terminates
//@ case: read-by-two-order
//@ verdict: may-hang
//@ finding: livelock
template <bool Order> static int read_by_two(Setup) {
  static int file = open(file_name, O_RDONLY);
  static char bytes[2];
  both([] { (void)!read(file, &bytes[0], 1); }, [] { (void)!read(file, &bytes[1], 1); });
  hang_if(Order ? bytes[0] == 'E' : bytes[0] + bytes[1] != '\177' + 'E');
  return 0;
}
//@ case: stream-by-two
//@ verdict: terminates
//@ case: stream-by-two-order
//@ verdict: may-hang
//@ finding: livelock
template <bool Order> static int stream_by_two(Setup) {
  static FILE* file = std::fopen(file_name, "r");
  static int bytes[2];
  both([] { bytes[0] = std::fgetc(file); }, [] { bytes[1] = std::fgetc(file); });
  hang_if(Order ? bytes[0] == 'E' : bytes[0] + bytes[1] != '\177' + 'E');
  return 0;
}
// Many uses: with one mutex held in all of them every order is looked at, otherwise that is named.
//@ case: much-read-in-turns
//@ verdict: terminates
//@ case: much-read-by-two
//@ verdict: unknown
//@ coverage: bounded
//@ case: much-read-by-each
//@ verdict: terminates
enum class Much { InTurns, ByTwo, ByEach };
template <Much How> static int much_read(Setup) {
  const auto reads = [](FILE* file) {
    for (int n = 0; n < 16; ++n) {
      std::fgetc(file);
    }
  };
  static FILE* files[2] = {std::fopen(file_name, "r"), std::fopen(file_name, "r")};
  const auto all = [&](int n) {
    if (How == Much::InTurns) {
      const std::lock_guard lock(mutex);
      reads(files[0]);
    } else {
      reads(files[How == Much::ByEach ? n : 0]);
    }
  };
  both([&] { all(0); }, [&] { all(1); });
  return 0;
}
//@ case: written-in-turns
//@ verdict: terminates
static int written_in_turns(Setup) {
  static FILE* file = std::tmpfile();
  std::setvbuf(file, nullptr, _IONBF, 0);
  const auto writes = [] {
    const std::lock_guard lock(mutex);
    std::fputs("ab", file);
  };
  both(writes, writes);
  hang_if(std::ftell(file) != 4);
  return 0;
}

// --- Random numbers, descriptors ---------------------------------------------------------------------------------

//@ case: rand-by-two
//@ verdict: terminates
//@ case: rand-by-two-order
//@ verdict: may-hang
//@ finding: livelock
//@ case: lrand48-by-two-order
//@ verdict: may-hang
//@ finding: livelock
template <class Random> static int random_by_two(Random random, bool (*bad)(long, long)) {
  static long numbers[2];
  both([&] { numbers[0] = random(); }, [&] { numbers[1] = random(); });
  hang_if(bad(numbers[0], numbers[1]));
  return 0;
}
static bool is_less(long a, long b) { return a < b; }
static bool is_more(long a, long b) { return a > b; }
static bool is_same(long a, long b) { return a == b; }
//@ case: lowest-descriptor
//@ verdict: may-hang
//@ finding: livelock
//@ case: some-descriptor
//@ verdict: terminates
template <bool Order> static int descriptors(Setup) {
  static int numbers[2];
  both([] { numbers[0] = open("/dev/null", O_RDONLY); }, [] { numbers[1] = open("/dev/null", O_RDONLY); });
  hang_if(Order ? numbers[0] > numbers[1] : numbers[0] == numbers[1]);
  return 0;
}

// --- Shared memory, files that must be new ---------------------------------------------------------------------

//@ case: mapped-shared
//@ verdict: terminates
//@ case: mapped-shared-order
//@ verdict: may-hang
//@ finding: livelock
template <bool Order> static int mapped_shared(Setup) {
  static int* at = static_cast<int*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
  );
  static int first;
  both(
      [] { first = __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); },
      [] { __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); }
  );
  hang_if(Order ? first == 1 : *at != 2);
  return 0;
}
//@ case: lock-file
//@ verdict: terminates
//@ case: lock-file-twice
//@ verdict: may-hang
//@ finding: livelock
template <int Times> static int lock_file(Setup) {
  int* at = counter();
  bool all = true;
  for (int n = 0; n < Times; ++n) {
    const int file = open("files.lock", O_CREAT | O_EXCL | O_RDWR, 0600);
    all = all && file >= 0;
    close(file);
  }
  work<<<2, 1>>>(at);
  cudaDeviceSynchronize();
  hang_if(!all || unlink("files.lock") != 0 || access("files.lock", F_OK) == 0);
  return 0;
}

// --- Folders, files with another name ----------------------------------------------------------------------------

// The first execution finds what another one has changed.
//@ case: folder-made
//@ verdict: unknown
//@ coverage: bounded
//@ case: folder-by-one-order
//@ verdict: unknown
//@ coverage: bounded
//@ case: counter-in-file
//@ verdict: unknown
//@ coverage: bounded
static int folder_made(Setup) {
  work<<<2, 1>>>(counter());
  const bool made = mkdir("files.folder", 0700) == 0;
  cudaDeviceSynchronize();
  hang_if(made && rmdir("files.folder") != 0);
  return 0;
}
__global__ void first_of(int* at) {
  if (atomicAdd(at, 1) == 0) {
    at[1] = static_cast<int>(blockIdx.x);
  }
}
static int folder_by_one_order(Setup) {
  int* at = nullptr;
  cudaMallocManaged(&at, 2 * sizeof *at);
  at[0] = at[1] = 0;
  first_of<<<2, 1>>>(at);
  cudaDeviceSynchronize();
  if (at[1] == 1) {
    mkdir("files.order", 0700);
    rmdir("files.order");
  } else {
    hang_if(access("files.order", F_OK) == 0);
  }
  return 0;
}
static int counter_in_file(Setup) {
  long count = 0;
  std::ifstream("files.count") >> count;
  std::ofstream("files.count") << count % 8 + 1;
  work<<<2, 1>>>(counter());
  cudaDeviceSynchronize();
  hang_if(count > 8);
  std::remove("files.count");
  return 0;
}
// A file is written beside another one, and takes its place.
//@ case: renamed
//@ verdict: terminates
//@ case: renamed-new
//@ verdict: terminates
//@ case: renamed-twice
//@ verdict: may-hang
//@ finding: livelock
enum class Renamed { Written, New, Twice };
template <Renamed How> static int renamed(Setup) {
  int* at = counter();
  const std::string from = How == Renamed::New ? "files.new" : How == Renamed::Twice ? "files.twice" : "files.part";
  const std::string to = from + ".done";
  const int flags = O_CREAT | O_WRONLY | (How == Renamed::Written ? O_TRUNC : O_EXCL);
  const int file = open(from.c_str(), flags, 0600);
  bool good = file >= 0 && write(file, "x", 1) == 1 && close(file) == 0;
  work<<<2, 1>>>(at);
  cudaDeviceSynchronize();
  good = good && rename(from.c_str(), to.c_str()) == 0;
  good = good && (How != Renamed::Twice || rename(from.c_str(), to.c_str()) == 0);
  hang_if(!good || unlink(to.c_str()) != 0);
  return 0;
}

int main(int argc, char** argv) {
  // clang-format off: one case a line
  return run_case(argc, argv, {
    {"read-beside-kernels", read_beside_kernels<false>},
    {"read-stream-beside-kernels", read_beside_kernels<true>},
    {"read-lines-beside-kernels", read_lines_beside_kernels},
    {"read-equal-bytes", read_equal_bytes},
    {"read-in-turns", read_in_turns<false>},
    {"first-reader-waits", read_in_turns<true>},
    {"read-by-two", read_by_two<false>},
    {"read-by-two-order", read_by_two<true>},
    {"stream-by-two", stream_by_two<false>},
    {"stream-by-two-order", stream_by_two<true>},
    {"much-read-in-turns", much_read<Much::InTurns>},
    {"much-read-by-two", much_read<Much::ByTwo>},
    {"much-read-by-each", much_read<Much::ByEach>},
    {"written-in-turns", written_in_turns},
    {"rand-by-two", [](Setup) { return random_by_two(rand, is_same); }},
    {"rand-by-two-order", [](Setup) { return random_by_two(rand, is_less); }},
    {"lrand48-by-two-order", [](Setup) { return random_by_two(lrand48, is_more); }},
    {"lowest-descriptor", descriptors<true>},
    {"some-descriptor", descriptors<false>},
    {"mapped-shared", mapped_shared<false>},
    {"mapped-shared-order", mapped_shared<true>},
    {"lock-file", lock_file<1>},
    {"lock-file-twice", lock_file<2>},
    {"folder-made", folder_made},
    {"folder-by-one-order", folder_by_one_order},
    {"counter-in-file", counter_in_file},
    {"renamed", renamed<Renamed::Written>},
    {"renamed-new", renamed<Renamed::New>},
    {"renamed-twice", renamed<Renamed::Twice>},
  });
}
