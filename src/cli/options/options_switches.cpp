// Implements options_switches.h.
#include "cli/options/options_switches.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace heddle::cli {
namespace {

struct Switch {
  const char* flag;
  bool explore::Options::* reduction;
  const char* without; // what the search does then
};

constexpr Switch switches[] = {
    {"--no-symmetry", &explore::Options::symmetry, "equal threads are distinguished"},
    {"--no-sums",
     &explore::Options::sums,
     "updates that commute and whose result is not used are interleaved, too"},
    {"--no-orderly",
     &explore::Options::orderly,
     "atomic and volatile accesses to what no other thread accesses meanwhile are interleaved, "
     "too"},
    {"--no-places",
     &explore::Options::places,
     "atomic and volatile accesses of an instruction are interleaved wherever they go to, if "
     "those to one place are"},
    {"--no-movers",
     &explore::Options::movers,
     "atomic and volatile accesses are interleaved although no other thread can access the place "
     "before their own thread advances"},
    {"--no-early-writes",
     &explore::Options::early_writes,
     "with --memory=ptx stores that follow all others, and fences that order nothing, "
     "are interleaved, too"},
    {"--no-settled",
     &explore::Options::settled,
     "with --memory=ptx reads of several values of a place that no thread writes any more are "
     "interleaved, too"},
    {"--no-data-order",
     &explore::Options::data_order,
     "atomic and volatile accesses on whose order only data depends are interleaved, too"},
    {"--no-cone",
     &explore::Options::cone,
     "values that decide nothing are distinguished in large searches, too"},
    {"--no-straight",
     &explore::Options::straight,
     "blocks of programs in which no thread waits start at any time, too, and end in any order"},
    {"--no-phases", &explore::Options::phases, "operations on mbarriers are interleaved, too"},
    {"--no-peeks",
     &explore::Options::peeks,
     "both answers of an mbarrier are tried where they are soon forgotten, too"},
    {"--no-allocations",
     &explore::Options::allocations,
     "calls of malloc and free in kernels are interleaved, too"},
    {"--no-neighbours",
     &explore::Options::neighbours,
     "accesses to the shared memory of other blocks of a cluster are interleaved, too"},
    {"--no-host-first",
     &explore::Options::host_first,
     "calls of the host return at any time, also where no thread can tell"},
    {"--no-eager",
     &explore::Options::eager,
     "moves that no other thread can notice are interleaved, too"},
};

} // namespace

void define_switches(CLI::App& check, explore::Options& search) {
  for (const Switch& one : switches) {
    check
        .add_flag_callback(
            one.flag,
            [&search, reduction = one.reduction] { search.*reduction = false; },
            fmt::format("To check Heddle itself: {}. Same verdict, more states", one.without)
        )
        ->group("");
  }
}

} // namespace heddle::cli
