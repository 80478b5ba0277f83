// Implements fault_diagnostic.h.
#include "machine/fault_diagnostic.h"

#include "machine/fault_finding.h"
#include "machine/grid.h"
#include "machine/source_place.h"
#include "report/names.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::machine {
namespace {

using isa::FaultKind;

std::string triple(const Dim3& d) {
  return fmt::format("({},{},{})", d.x, d.y, d.z);
}

std::string space_of(const isa::Fault& fault) {
  if (fault.kind == FaultKind::HostMemory) {
    return "host memory";
  }
  if (fault.generic) {
    return "memory";
  }
  switch (fault.space) {
  case ptx::Mod::Shared:
    return "shared memory";
  case ptx::Mod::Local:
    return "local memory";
  case ptx::Mod::Const:
    return "constant memory";
  case ptx::Mod::Param:
    return "kernel parameters";
  default:
    return "global memory";
  }
}

bool is_access(FaultKind kind) {
  switch (kind) {
  case FaultKind::OutOfBounds:
  case FaultKind::Misaligned:
  case FaultKind::Null:
  case FaultKind::UseAfterFree:
  case FaultKind::ReadOnly:
  case FaultKind::BadSpace:
  case FaultKind::HostMemory:
  case FaultKind::PeerMemory:
    return true;
  default:
    return false;
  }
}

std::string headline(const FaultReport& fault) {
  const isa::Fault& f = fault.fault;
  if (fault.host_may_act) {
    return "no device thread can advance by itself: unless a host thread acts, the program hangs";
  }
  switch (fault.kind) {
  case FaultReport::Kind::Unsupported:
    return fmt::format("kernel {}: {}", fault.kernel, f.text);
  case FaultReport::Kind::Deadlock:
    return "every thread is blocked: nothing can advance any more";
  case FaultReport::Kind::Starvation:
    return fmt::format("kernel '{}' hangs: it waits for blocks that cannot start", fault.kernel);
  case FaultReport::Kind::Livelock:
    return "the program hangs: no thread that is guaranteed progress can finish";
  case FaultReport::Kind::Fault:
    break;
  }
  if (f.kind == FaultKind::StackOverflow) {
    return fmt::format("a call of {} does not fit into the thread's stack", demangle(f.text));
  }
  if (!is_access(f.kind)) {
    return f.text.empty() ? fmt::format("kernel {} failed", fault.kernel) : f.text;
  }
  std::string what = fmt::format(
      "{} of {} byte{} at {:#x} in {}",
      f.store ? "write" : "read",
      f.bytes,
      f.bytes == 1 ? "" : "s",
      f.address,
      space_of(f)
  );
  return f.text.empty() ? what : what + ": " + f.text;
}

constexpr std::string_view no_dynamic = ", 0 dynamic)";
constexpr std::string_view no_extern = " bytes, all static)";
constexpr std::string_view invalid_group =
    "cooperative_groups trap: the grid is used as a group, and the kernel was not launched "
    "cooperatively";

bool names_extern_array(const ptx::Module& module, const ptx::Operand& operand) {
  const ptx::Variable* const variable =
      operand.kind == ptx::OperandKind::Symbol ? module.find_variable(operand.name) : nullptr;
  return (variable != nullptr && variable->space == ptx::Mod::Shared &&
          variable->byte_size() == 0) ||
         std::ranges::any_of(operand.elements, [&](const ptx::Operand& element) {
           return names_extern_array(module, element);
         });
}

/// Does the kernel use an array that each launch gives its size? Whatever it calls may, too.
bool has_extern_array(const isa::Kernel& kernel) {
  return kernel.calls ||
         std::ranges::any_of(kernel.function->body, [&](const ptx::Instruction& instruction) {
           return std::ranges::any_of(instruction.operands, [&](const ptx::Operand& operand) {
             return names_extern_array(*kernel.code->module, operand);
           });
         });
}

/// All shared memory of a block, as if it were one allocation.
memory::Allocation shared_memory(const Grid& grid, const Block& block) {
  memory::Allocation all;
  all.base = memory::shared_window;
  all.size = block.shared_bytes();
  const std::uint64_t dynamic = grid.config().dynamic_shared;
  all.name = dynamic == 0 && !has_extern_array(grid.kernel())
                 ? fmt::format("shared memory of the block ({}{}", all.size, no_extern)
                 : fmt::format(
                       "shared memory of the block ({} static, {} dynamic)",
                       all.size - dynamic,
                       dynamic
                   );
  return all;
}

/// 2^32 elements, or nearly so many, behind memory that may have been meant: 0u - 1 is the index.
bool is_index_below_zero(const FaultReport& fault) {
  constexpr std::uint64_t near = 1 << 22;
  const isa::Fault& f = fault.fault;
  return f.kind == FaultKind::OutOfBounds && fault.nearest && f.address > fault.nearest->base &&
         f.address - fault.nearest->base + near - (std::uint64_t{f.bytes} << 32U) < 2 * near;
}

/// What to do about an access to a wrong address, where that is plain; "".
std::string help_for(const FaultReport& fault) {
  const isa::Fault& f = fault.fault;
  switch (f.kind) {
  case FaultKind::HostMemory:
    return "give the kernel memory of the device: cudaMalloc and cudaMemcpy, or cudaMallocManaged; "
           "the same for each pointer in what it gets";
  case FaultKind::Null:
    return "look at where the pointer is from: an allocation may have failed; malloc in device "
           "code returns null when its heap is used up "
           "(cudaDeviceSetLimit(cudaLimitMallocHeapSize, …))";
  case FaultKind::Misaligned:
    return fmt::format(
        "an access of {0} bytes needs an address that is a multiple of {0}",
        f.bytes
    );
  case FaultKind::Trap:
    return f.text == invalid_group
               ? "launch the kernel with cudaLaunchCooperativeKernel, with no more blocks than fit "
                 "on the device at once"
               : "";
  case FaultKind::OutOfBounds:
    break;
  default:
    return "";
  }
  if (f.kind == FaultKind::OutOfBounds && f.text.starts_with("block ")) {
    return "let the blocks of a cluster meet before they end: cluster.sync() after the last access "
           "to shared memory of another block";
  }
  if (f.space == ptx::Mod::Shared && fault.nearest && fault.nearest->name.ends_with(no_dynamic)) {
    return "an `extern __shared__` array needs its size in bytes as the third argument of "
           "<<<…>>>: this launch gives 0";
  }
  if (f.space == ptx::Mod::Shared && fault.nearest && fault.nearest->name.ends_with(no_extern)) {
    return "keep the index below the size of the `__shared__` array, or make the array larger";
  }
  return is_index_below_zero(fault)
             ? "this is what an unsigned index gives that went below zero: compare before "
               "subtracting"
             : "";
}

report::Place place_of(const SourcePlace& place) {
  return report::Place{place.file, place.line, place.column, 0};
}

void note_function(report::Diagnostic& d, const std::string& name) {
  if (!name.empty() && std::ranges::find(d.functions, name) == d.functions.end()) {
    d.functions.push_back(name);
  }
}

} // namespace

/// An access to the shared memory of another block of the cluster that has ended: says so.
static void name_ended_block(isa::Exec& exec, isa::Fault& fault) {
  if (fault.kind != FaultKind::OutOfBounds ||
      fault.address - memory::shared_window >= memory::window_size) {
    return;
  }
  const std::uint64_t rank_plus_one =
      (fault.address - memory::shared_window) >> memory::shared_rank_shift;
  std::uint64_t bytes = 0;
  if (rank_plus_one != 0 &&
      exec.environment().shared_of(static_cast<std::uint32_t>(rank_plus_one - 1), &bytes) ==
          nullptr) {
    fault.text = fmt::format(
        "block {} of the cluster has ended, and its shared memory with it, or there is no such "
        "block",
        rank_plus_one - 1
    );
  }
}

/// A trap of cooperative groups: they end a kernel that uses the grid as a group without having
/// been launched as one.
static void name_invalid_group(const Grid& grid, FaultReport& report) {
  if (report.fault.kind == FaultKind::Trap && !grid.config().cooperative &&
      report.source.file.ends_with("/cooperative_groups.h")) {
    report.fault.text = invalid_group;
  }
}

/// How many lanes do what `fault` says. Handlers go through the lanes from the lowest on and stop
/// at the first that cannot access its memory, so those behind it try now, each by itself. Nobody
/// sees what that does: no thread of the context goes on after a fault.
static std::uint32_t at_fault(isa::Exec& exec, const isa::Fault& fault) {
  const isa::LaneMask executing = exec.mask();
  const bool by_lane = is_access(fault.kind) || fault.kind == isa::FaultKind::BarrierMisuse;
  if (!by_lane) {
    return static_cast<std::uint32_t>(std::popcount(executing));
  }
  std::uint32_t count = 1;
  const isa::LaneMask behind = executing & ~((isa::LaneMask{2} << fault.lane) - 1);
  for (isa::LaneMask m = behind; m != 0; m &= m - 1) {
    count += exec.step(exec.warp(), m & -m) == isa::Stop::Fault ? 1 : 0;
  }
  return count;
}

FaultReport report_fault(const Grid& grid, const Block& block, std::size_t warp, isa::Exec& exec) {
  if (block.divergence()) {
    return *block.divergence();
  }
  FaultReport report;
  report.kind = exec.why() == isa::Stop::Unsupported ? FaultReport::Kind::Unsupported
                                                     : FaultReport::Kind::Fault;
  report.fault = exec.fault();
  report.kernel = grid.describe();
  report.launches = {{report.kernel, grid.config().called_from}};
  report.block = block.index();
  report.thread = block.thread_index(warp, report.fault.lane);
  describe_instruction(exec.code(), *exec.current(), report);
  if (report.fault.address - memory::window_base >= 3 * memory::window_size) {
    report.nearest = grid.services().space().nearest(report.fault.address);
  } else if (
      grid.config().cluster.count() == 1 &&
      report.fault.address - memory::shared_window < memory::window_size
  ) {
    report.nearest = shared_memory(grid, block);
  }
  name_ended_block(exec, report.fault);
  name_invalid_group(grid, report);
  report.lanes = at_fault(exec, report.fault);
  return report;
}

/// Host memory of the program itself, or of a library.
static void note_if_in_an_image(report::Diagnostic& d, const isa::Fault& fault) {
  Dl_info image;
  if (fault.kind == FaultKind::HostMemory &&
      ::dladdr(reinterpret_cast<const void*>(fault.address), &image) != 0) {
    d.notes.emplace_back(
        "the address is in the program itself: a global variable or a constant of host code, or "
        "the table of virtual functions of an object that host code has constructed (device code "
        "can call those of objects only that device code has constructed)"
    );
  }
}

bool is_near(const memory::Allocation& nearest, memory::Address at) {
  constexpr std::uint64_t far = 1 << 20;
  const std::uint64_t distance = at < nearest.base ? nearest.base - at
                                 : at - nearest.base < nearest.size
                                     ? 0
                                     : at - nearest.base - nearest.size;
  return distance < far;
}

std::string place_in_memory(const memory::Allocation& nearest, memory::Address at) {
  std::string what =
      nearest.name.empty()
          ? fmt::format("allocation #{}, {} bytes at {:#x}", nearest.id, nearest.size, nearest.base)
          : fmt::format("'{}', {} bytes at {:#x}", nearest.name, nearest.size, nearest.base);
  if (nearest.freed) {
    what += ", which has been freed";
  }
  if (at < nearest.base) {
    return fmt::format("{} bytes before {}", nearest.base - at, what);
  }
  if (at - nearest.base < nearest.size) {
    return fmt::format("byte {} of {}", at - nearest.base, what);
  }
  const std::uint64_t past = at - nearest.base - nearest.size;
  return past == 0 ? fmt::format("right after the end of {}", what)
                   : fmt::format("{} bytes past the end of {}", past, what);
}

void note_if_near(
    report::Diagnostic& d,
    const std::optional<memory::Allocation>& nearest,
    memory::Address at
) {
  if (nearest && is_near(*nearest, at)) {
    d.notes.push_back("the address is " + place_in_memory(*nearest, at));
  }
}

void add_place(
    report::Diagnostic& d,
    const FaultReport& where,
    const std::string& text,
    std::string_view mark
) {
  std::vector<SourcePlace> chain{where.source}; // innermost first
  chain.insert(chain.end(), where.inlined_at.begin(), where.inlined_at.end());
  for (const SourcePlace& place : chain) {
    note_function(d, place.function);
  }
  if (where.source.line == 0) {
    const std::string& ptx = where.instruction;
    d.notes.push_back(fmt::format("{}{}{}{}", mark, text, ptx.empty() ? "" : ": ", ptx));
    return;
  }
  const SourcePlace& own = users_place(chain);
  d.labels.push_back({place_of(own), fmt::format("{}{}", mark, text)});
  for (const SourcePlace& place : chain) { // the user's own place has come first
    if (&place != &own && place.line != 0) {
      const char* const what = &place < &own ? "in a library, called here" : "inlined from here";
      d.labels.push_back({place_of(place), fmt::format("{}{}", mark, what)});
    }
  }
}

namespace {

void add_place(report::Diagnostic& d, const Waiting& waiting, const std::string& text) {
  d.labels.push_back({place_of(waiting.place), text});
  const auto add_once = [&](const SourcePlace& call, const char* how) {
    const report::Label label{place_of(call), how};
    const bool told = std::ranges::any_of(d.labels, [&](const report::Label& other) {
      return other.text == label.text && other.place.file == label.place.file &&
             other.place.line == label.place.line;
    });
    if (!told && call.line != 0) {
      d.labels.push_back(label);
    }
  };
  add_once(waiting.library, "in a library, called here");
  for (const SourcePlace& call : waiting.inlined_at) {
    add_once(call, "inlined from here");
  }
}

} // namespace

report::Diagnostic diagnose(const FaultReport& fault) {
  report::Diagnostic d(finding_of(fault), headline(fault));
  note_function(d, report::kernel_in(fault.kernel));
  if (!fault.waits.empty() && fault.kind != FaultReport::Kind::Fault) {
    for (const Waiting& waiting : fault.waits) {
      note_function(d, report::kernel_in(waiting.kernel));
      note_function(d, waiting.place.function);
      if (waiting.place.line == 0) {
        d.notes.push_back(waiting.text);
        continue;
      }
      add_place(d, waiting, waiting.text);
      if (!d.place.known()) {
        d.place = place_of(waiting.place);
      }
    }
    if (std::ranges::any_of(fault.waits, [](const Waiting& waiting) {
          return waiting.place.line == 0 && !waiting.kernel.empty();
        })) {
      d.notes.emplace_back("compile with -lineinfo to see the lines");
    }
    return d;
  }
  if (fault.fault.kind == FaultKind::BarrierEnded) {
    d.rule = "BAR-GUIDE";
  }
  std::string who = fmt::format(
      "thread {} of block {} of kernel {}",
      triple(fault.thread),
      triple(fault.block),
      fault.kernel
  );
  d.threads.push_back(who);
  if (fault.lanes > 1) {
    who += fmt::format(
        ", with {} more thread{} of its warp",
        fault.lanes - 1,
        fault.lanes == 2 ? "" : "s"
    );
  }
  const bool others = !fault.waits.empty();
  if (others) {
    who.insert(0, "(1) ");
  }
  if (fault.source.line != 0) {
    add_place(d, fault, who);
    d.place = d.labels.front().place;
  } else {
    d.notes.push_back("by " + who);
    d.notes.emplace_back("compile with -lineinfo to see the line");
  }
  if (fault.fault.kind == FaultKind::UseAfterFree &&
      fault.fault.text.starts_with("the handle of")) {
    d.notes.emplace_back(
        "the call that destroys an object does not wait for kernels, and to use the handle after "
        "it "
        "is undefined, also by a kernel that was launched before"
    );
  }
  for (const Waiting& other : fault.waits) {
    const std::string text = "(2) " + other.text;
    if (other.place.line != 0) {
      add_place(d, other, text);
    } else {
      d.notes.push_back(text);
    }
  }
  if (is_access(fault.fault.kind)) {
    note_if_near(d, fault.nearest, fault.fault.address);
  }
  note_if_in_an_image(d, fault.fault);
  if (!fault.instruction.empty()) {
    d.notes.push_back("PTX: " + fault.instruction);
  }
  if (fault.fault.kind == FaultKind::PeerMemory && fault.nearest) {
    d.help.push_back(
        fmt::format(
            "call cudaDeviceEnablePeerAccess({}, 0) while the kernel's own device is the current "
            "one",
            fault.nearest->device
        )
    );
  } else if (fault.fault.kind == FaultKind::BarrierEnded) {
    d.help.emplace_back("let every thread of the block reach the barrier, and return after it");
  } else if (fault.fault.kind == FaultKind::BarrierReused) {
    d.help.emplace_back(
        "put a barrier of the block between the wait and the reuse: a thread that has passed the "
        "wait knows that all have arrived, not that all have passed it"
    );
  }
  if (fault.kind == FaultReport::Kind::Fault) {
    if (std::string help = help_for(fault); !help.empty()) {
      d.help.push_back(std::move(help));
    }
  }
  if (fault.kind == FaultReport::Kind::Unsupported) {
    d.notes.emplace_back("this is a gap of Heddle, not a defect of the program");
  }
  return d;
}

} // namespace heddle::machine
