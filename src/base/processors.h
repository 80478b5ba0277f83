// How many threads of this process can run at the same time.
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

/// Processors on which this thread may run (sched_setaffinity, taskset, cpusets), and no more than
/// the processor time of its control group is for (`docker run --cpus`). At least one.
/// std::thread::hardware_concurrency() says how many the machine has.
std::uint32_t usable_processors();

/// What cpu.max of a control group (version 2) allows: "QUOTA PERIOD", or "max PERIOD". 0: no
/// limit.
std::uint32_t processors_of_quota(const std::string& cpu_max);

} // namespace heddle
