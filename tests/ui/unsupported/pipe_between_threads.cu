// What a pipe holds is kept by the kernel, one for all schedules of a search: fine in a run, a gap of the
// search, which names the place.
//@ compare: no
//@ revisions: run check
//@[run] command: run
//@[run] exit: 0
#include <thread>

#include <unistd.h>

__global__ void work() {}

int main() {
  work<<<1, 1>>>();
  int ends[2];
  if (pipe(ends) != 0) { //~[check] ERROR unsupported pipe()
    return 5;
  }
  std::thread other([&] { (void)!write(ends[1], "x", 1); });
  char got = 0;
  const bool right = read(ends[0], &got, 1) == 1;
  other.join();
  return right ? 0 : 5;
}
