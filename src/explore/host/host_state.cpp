// Unwinding, the executable's segments, and the stack switch (x86-64, System V ABI).
#include "explore/host/host_state.h"

#include "base/check.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/resource.h>
#include <unwind.h>

#include <algorithm>
#include <csignal>
#include <cstring>

extern "C" void* __libc_stack_end; // the stack pointer at the program's entry (glibc)

namespace heddle::explore {

namespace {

constexpr std::size_t max_frames = 16;

struct Module {
  std::uintptr_t begin = ~std::uintptr_t{0}, end = 0;
  std::uintptr_t bias = 0;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> writable;
};

/// The loaded modules; the first is the executable.
std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        Module module;
        module.bias = info->dlpi_addr;
        std::uintptr_t read_only_end = 0; // of what is read-only after relocation
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) & header = info->dlpi_phdr[i];
          if (header.p_type == PT_GNU_RELRO) {
            read_only_end =
                (info->dlpi_addr + header.p_vaddr + header.p_memsz + 4095) / 4096 * 4096;
          }
        }
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) & header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD) {
            continue;
          }
          const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          const std::uintptr_t end = begin + header.p_memsz;
          module.begin = std::min(module.begin, begin);
          module.end = std::max(module.end, end);
          if ((header.p_flags & PF_W) != 0) {
            const std::uintptr_t from = std::clamp(read_only_end, begin, end);
            module.writable.emplace_back(from, end);
          }
        }
        static_cast<std::vector<Module>*>(out)->push_back(std::move(module));
        return 0;
      },
      &modules
  );
  return modules;
}

/// Of the registers in an XSAVE area (Intel SDM, volume 1, chapter 13), as the kernel lays it into
/// the frame of a signal: the legacy region, the header, and behind it what the processor has more
/// (the upper halves of ymm registers and so on), if the kernel says so.
std::uint64_t hash_of_vectors(const _libc_fpstate& area) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&area);
  constexpr std::size_t registers = 32, registers_end = 416, software = 464, header_end = 576;
  Hasher hasher;
  hasher.bytes(bytes + registers, registers_end - registers); // st0 to st7, xmm0 to xmm15
  _fpx_sw_bytes extended{};
  std::memcpy(&extended, bytes + software, sizeof extended);
  if (extended.magic1 == FP_XSTATE_MAGIC1 && extended.xstate_size > header_end) {
    hasher.bytes(bytes + header_end, extended.xstate_size - header_end);
  }
  return hasher.finish().low;
}

} // namespace

HostState::HostState() {
  const std::vector<Module> modules = loaded_modules();
  HEDDLE_CHECK(!modules.empty(), "no loaded module");
  load_bias_ = modules[0].bias;
  program_ = {modules[0].begin, modules[0].end};
  for (const auto& [begin, end] : modules[0].writable) {
    data_.push_back({begin, end});
  }
  const std::uintptr_t own[] = {
      reinterpret_cast<std::uintptr_t>(&scrub_stack),
      reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_DEFAULT, "heddle_set_host_hooks"))
  };
  for (const std::uintptr_t address : own) {
    for (const Module& module : modules) {
      if (address != 0 && address - module.begin < module.end - module.begin) {
        own_code_.push_back({module.begin, module.end});
      }
    }
  }
  const auto stack_end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  rlimit limit{};
  ::getrlimit(RLIMIT_STACK, &limit);
  // The kernel keeps at least this much free below the stack when it places other mappings.
  constexpr std::uintptr_t gap = std::uintptr_t{128} << 20;
  stack_ = {stack_end - std::min<std::uintptr_t>(limit.rlim_cur, gap), stack_end};
}

void HostState::add_stacks(
    const void* begin,
    std::size_t count,
    std::size_t period,
    std::size_t bytes
) {
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  other_stacks_ = {from, from + count * period};
  stack_period_ = period;
  stack_bytes_ = bytes;
}

bool HostState::on_stack(std::uintptr_t address) const {
  return stack_.contains(address) ||
         (other_stacks_.contains(address) &&
          (address - other_stacks_.begin) % stack_period_ < stack_bytes_);
}

bool HostState::ours(std::uintptr_t pc) const {
  return std::any_of(own_code_.begin(), own_code_.end(), [&](const Range& range) {
    return range.contains(pc);
  });
}

HostPosition HostState::capture() const {
  struct Walk {
    const HostState* host;
    HostPosition position;
  } walk{this, {}};
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* argument) {
        auto& [host, position] = *static_cast<Walk*>(argument);
        const std::uintptr_t pc = _Unwind_GetIP(context);
        if (position.return_addresses.empty()) {
          if (host->ours(pc)) {
            return _URC_NO_REASON;
          }
          // GetCFA gives the frame address of the callee, which is the stack pointer in this frame.
          position.stack_pointer = _Unwind_GetCFA(context);
          constexpr int callee_saved[] = {3, 6, 12, 13, 14, 15}; // DWARF numbers of rbx rbp r12-r15
          for (std::size_t i = 0; i < std::size(callee_saved); ++i) {
            position.registers[i] = _Unwind_GetGR(context, callee_saved[i]);
          }
        }
        position.return_addresses.push_back(pc);
        return position.return_addresses.size() < max_frames ? _URC_NO_REASON : _URC_END_OF_STACK;
      },
      &walk
  );
  return std::move(walk.position);
}

std::optional<HostPosition> HostState::interrupted(const ucontext_t& context) const {
  const auto value = [&](int name) {
    return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[name]);
  };
  if (!program_.contains(value(REG_RIP)) || ours(value(REG_RIP))) {
    return std::nullopt;
  }
  constexpr std::uintptr_t red_zone = 128; // below the stack pointer, in use nevertheless
  HostPosition position;
  position.return_addresses.push_back(value(REG_RIP) + 1); // places are looked up one before
  position.stack_pointer = value(REG_RSP) - red_zone;
  constexpr int preserved[] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15};
  constexpr int others[] =
      {REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11};
  for (std::size_t i = 0; i < std::size(preserved); ++i) {
    position.registers[i] = value(preserved[i]);
  }
  for (std::size_t i = 0; i < std::size(others); ++i) {
    position.others[i] = value(others[i]);
  }
  if (context.uc_mcontext.fpregs != nullptr) {
    position.vectors = hash_of_vectors(*context.uc_mcontext.fpregs);
  }
  return position;
}

void HostState::hash_thread(const HostPosition& position, TimeNames& times, Hasher& hasher) const {
  if (!position.return_addresses.empty()) {
    hasher.value(position.return_addresses.front());
  }
  hasher.value(position.stack_pointer);
  times.bytes(position.registers.data(), sizeof position.registers, hasher);
  times.bytes(position.others.data(), sizeof position.others, hasher);
  hasher.value(position.vectors);
  const std::uintptr_t end = position.stack_end != 0 ? position.stack_end : stack_.end;
  if (position.stack_pointer != 0 && position.stack_pointer < end) {
    times.bytes(
        reinterpret_cast<const void*>(position.stack_pointer),
        end - position.stack_pointer,
        hasher
    );
  }
}

void HostState::hash_memory(TimeNames& times, Hasher& hasher) const {
  for (const Range& range : data_) {
    times.bytes(reinterpret_cast<const void*>(range.begin), range.end - range.begin, hasher);
  }
  for (const auto& [number, written] : heap_) {
    if (written.none()) {
      continue;
    }
    hasher.value(number);
    const auto* base = reinterpret_cast<const char*>(number * page);
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (written[i]) {
        hasher.value(i);
        times.bytes(base + i * granule, granule, hasher);
      }
    }
  }
}

Hash128
HostState::hash_alone(const HostPosition& position, const HostClock& clock, bool memory) const {
  Hasher hasher;
  hash_with_times(clock, hasher, [&](TimeNames& times, Hasher& to) {
    hash_thread(position, times, to);
    if (memory) {
      hash_memory(times, to);
    }
  });
  return hasher.finish();
}

bool HostState::remembers(const void* p, const void* pc) const {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return !on_stack(address) && !program_.contains(address) &&
         !ours(reinterpret_cast<std::uintptr_t>(pc));
}

void HostState::wrote(const void* p, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  for (std::uintptr_t a = begin / granule * granule; a < begin + bytes; a += granule) {
    heap_[a / page].set(a % page / granule);
  }
}

void HostState::freed(const void* p, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t end = begin + bytes;
  for (auto it = heap_.lower_bound(begin / page); it != heap_.end() && it->first * page < end;) {
    const std::uintptr_t from = std::max(begin, it->first * page);
    const std::uintptr_t to = std::min(end, (it->first + 1) * page);
    for (std::uintptr_t a = from / granule * granule; a < to; a += granule) {
      it->second.reset(a % page / granule);
    }
    it = it->second.none() ? heap_.erase(it) : std::next(it);
  }
}

std::uintptr_t HostState::link_address(std::uintptr_t address) const {
  return program_.contains(address) ? address - load_bias_ : 0;
}

__attribute__((noinline)) void scrub_stack() {
  // More than unwinding and hashing use below the caller.
  char unused[64 * 1024];
  std::memset(unused, 0, sizeof unused);
  asm volatile("" : : "r"(unused) : "memory"); // it is not dead
}

} // namespace heddle::explore
