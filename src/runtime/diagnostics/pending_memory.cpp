// Implements pending_memory.h.
#include "runtime/diagnostics/pending_memory.h"

#include "machine/block.h"
#include "machine/host_activity.h"
#include "ptx/counting.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/code_origin.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/pending_diagnostic.h"
#include "runtime/diagnostics/python_place.h"
#include "runtime/forked_child.h"
#include "runtime/runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace heddle::runtime {
namespace {

constexpr memory::Address host_page = 4096;
constexpr unsigned most_steps = 32;     // of a page
constexpr std::size_t most_claims = 64; // of a command
constexpr long most_kept = 8;           // commands
constexpr std::size_t most_pages_stepped = 1024;

PendingMemory* the_pending = nullptr;

/// Pages that one instruction of the running thread accesses. (Nothing that is destroyed with the
/// main thread: destructors of static objects access such memory, too.)
struct Stepping {
  std::array<memory::Address, 64> pages;
  std::size_t count = 0;
};
thread_local Stepping stepping;

bool set_access(memory::Address first_page, memory::Address end_page, int access) {
  return ::mprotect(reinterpret_cast<void*>(first_page), end_page - first_page, access) == 0;
}

bool is_of_the_c_library(const void* frame) {
  Dl_info info{};
  return ::dladdr(const_cast<void*>(frame), &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, "/libc.so") != nullptr;
}

/// The frames of the code that has been interrupted at `pc`, innermost first.
std::vector<const void*> interrupted(const void* pc) {
  std::vector<const void*> frames = callers();
  const auto at = std::ranges::find(frames, pc);
  if (at == frames.end()) {
    return {pc};
  }
  frames.erase(frames.begin(), at);
  return frames;
}

/// Does Heddle make the access, itself or by a function of the C library?
bool is_ours(const std::vector<const void*>& frames) {
  for (const void* frame : frames) {
    if (origin_of(frame) == CodeOrigin::Heddle) {
      return true;
    }
    if (!is_of_the_c_library(frame)) {
      return false;
    }
  }
  return false;
}

} // namespace

class PendingMemory::Listener final : public machine::AccessListener {
public:
  /// nullptr: nobody asks.
  Listener(PendingMemory& pending, PendingWorkPtr work, PairedWorkPtr paired)
      : pending_(pending),
        work_(std::move(work)),
        paired_(std::move(paired)) {}
  void
  accessed(const isa::Exec& exec, const std::byte* at, std::uint32_t bytes, bool store) override {
    const auto address = reinterpret_cast<memory::Address>(at);
    if (work_ != nullptr && pending_.choice_.may_contain(address, bytes)) {
      pending_.accessed(*work_, exec, address, bytes, store);
    }
    if (paired_ != nullptr) {
      pending_.pairs_.accessed(*paired_, exec, address, bytes, store);
    }
  }

private:
  PendingMemory& pending_;
  PendingWorkPtr work_;
  PairedWorkPtr paired_;
};

PendingMemory::PendingMemory(memory::AddressSpace& space)
    : space_(space),
      choice_(space),
      pairs_(space) {
  the_pending = this;
  watch_page_faults(this);
}

// --- What is kept back -------------------------------------------------------------------------

bool PendingMemory::holds(
    const machine::CommandPtr& command,
    const std::set<std::uint64_t>& before
) {
  const bool is_paired = pairs_.holds(command, before);
  return watches(command) || is_paired;
}

bool PendingMemory::watches(const machine::CommandPtr& command) {
  if (!choice_.is_possible()) {
    return false;
  }
  const QuietCalls quiet;
  const std::lock_guard lock(mutex_);
  ++submissions_;
  std::vector<PendingPart> parts = choice_.parts_to_watch(command);
  if (parts.empty() || !page_faults_are_seen()) {
    return false;
  }
  // Of a kernel all that it is given is protected: the host may use the rest of it.
  if (!see_system_calls(this) && command->grid != nullptr) {
    return false;
  }
  works_.push_back(
      std::make_shared<PendingWork>(
          PendingWork{command, std::move(parts), {}, true, false, callers_in_call()}
      )
  );
  protect(*works_.back());
  note_protected();
  return true;
}

/// What nobody else is about to access, or accesses.
void PendingMemory::protect(const PendingWork& work) const {
  for (const bool write : {false, true}) { // what is written last: it keeps reads away, too
    for (const PendingPart& part : work.parts) {
      const bool in_use = std::ranges::any_of(works_, [&](const PendingWorkPtr& other) {
        return !other->held && !other->kept &&
               std::ranges::any_of(other->parts, [&](const PendingPart& p) {
                 return p.overlaps(part);
               });
      });
      if (part.write == write && !part.open && !in_use) {
        set_access(part.first_page, part.end_page, write ? PROT_NONE : PROT_READ);
      }
    }
  }
}

void PendingMemory::protect_all() {
  for (const bool write : {false, true}) {
    for (const PendingWorkPtr& work : works_) {
      const bool writes = std::ranges::any_of(work->parts, &PendingPart::write);
      if ((work->held || work->kept) && writes == write) {
        protect(*work);
      }
    }
  }
}

void PendingMemory::open(PendingPart& part) {
  part.open = true;
  set_access(part.first_page, part.end_page, PROT_READ | PROT_WRITE);
}

/// All that is protected where `at` lies: not only its page, for each hole costs a mapping.
void PendingMemory::open_all(Address at) {
  for (const PendingWorkPtr& work : works_) {
    for (PendingPart& part : work->parts) {
      if (part.holds(at)) {
        open(part);
      }
    }
  }
}

void PendingMemory::lets_go(const machine::Command& command, const char* unpromised) {
  PairedWorkPtr paired = pairs_.begins(command);
  PendingWorkPtr work;
  if (tells_host(command, unpromised, work) || paired != nullptr) {
    machine::tell_accesses(
        *command.grid,
        std::make_shared<Listener>(*this, std::move(work), std::move(paired))
    );
  }
}

/// Are its accesses of interest because of what the host does? `to`: then the work.
bool PendingMemory::tells_host(
    const machine::Command& command,
    const char* unpromised,
    PendingWorkPtr& to
) {
  const QuietCalls quiet;
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find_if(works_, [&](const PendingWorkPtr& work) {
    return work->command.get() == &command;
  });
  if (it == works_.end()) {
    return false;
  }
  PendingWork& work = **it;
  work.held = false;
  work.unpromised = unpromised;
  for (PendingPart& part : work.parts) {
    open(part);
  }
  note_protected();
  if (!work.exact()) {
    if (unpromised != nullptr) {
      work.record = std::make_unique<PendingRecord>();
    }
    if (!work.claims.empty() || work.record != nullptr) {
      to = *it;
      return true;
    }
    return false;
  }
  for (const PendingClaim& claim : work.claims) {
    const auto part = std::ranges::find_if(work.parts, [&](const PendingPart& p) {
      return p.conflicts(claim.at, claim.store);
    });
    if (!claim.settled && part != work.parts.end()) {
      found_.push_back({claim, work.command, part->write, work.called_from, {}});
    }
  }
  return false;
}

/// Its pages are protected again: the host has not waited in a way that it may go by.
void PendingMemory::keep(PendingWork& work) {
  work.kept = true;
  work.claims.clear();
  for (PendingPart& part : work.parts) {
    part.open = work.record != nullptr && !work.record->has_any(part.first_page, part.end_page);
  }
}

/// Of those that are kept: the oldest ones are let off, since nothing else may end them.
void PendingMemory::keep_few() {
  auto kept = std::ranges::count_if(works_, [](const auto& work) { return work->kept; });
  std::erase_if(works_, [&](const PendingWorkPtr& work) {
    const bool goes = work->kept && kept > most_kept;
    if (goes) {
      --kept;
      std::ranges::for_each(work->parts, open);
    }
    return goes;
  });
}

/// Is anything protected otherwise now?
bool PendingMemory::drop_what_is_over(Promise promise) {
  bool changed = false;
  for (const PendingWorkPtr& work : works_) {
    if (work->held || work->kept || !work->command->done.load()) {
      continue;
    }
    changed = true;
    if (!work->exact()) {
      machine::stop_telling(*work->command->grid);
    }
    if (work->unpromised != nullptr && promise == Promise::None) {
      keep(*work);
    }
  }
  keep_few();
  for (const PendingWorkPtr& work : works_) {
    for (PendingPart& part : work->parts) {
      if (work->kept && promise == Promise::Made && !part.open) {
        open(part);
      }
    }
  }
  std::erase_if(works_, [&](const PendingWorkPtr& work) {
    return !work->held && work->command->done.load() && (!work->kept || promise == Promise::Made);
  });
  return changed;
}

void PendingMemory::host_waited(Promise promise) {
  std::vector<PendingRace> found;
  std::vector<PendingFree> freed;
  {
    const QuietCalls quiet;
    const std::lock_guard lock(mutex_);
    const std::size_t before = works_.size();
    if (drop_what_is_over(promise) || works_.size() != before) {
      protect_all();
      note_protected();
    }
    keeps_ = std::ranges::any_of(works_, [](const auto& work) { return work->kept; });
    if (works_.empty()) {
      steps_.clear();
    }
    found.swap(found_);
    freed.swap(freed_);
  }
  for (const PendingRace& one : found) {
    tell(diagnose(one, space_));
  }
  for (const PendingFree& one : freed) {
    tell(diagnose(one));
  }
  for (const PairedRace& one : pairs_.take_found()) {
    tell(diagnose(one, space_));
  }
}

/// Once.
void PendingMemory::tell(report::Diagnostic diagnostic) {
  const std::lock_guard lock(telling_);
  const report::Diagnostic& d = diagnostic;
  if (!told_.insert(fmt::format("{}:{}:{}", d.message, d.place.file, d.place.line)).second) {
    return;
  }
  if (d.severity == report::Severity::Warning) {
    warn(std::move(diagnostic));
  } else {
    announce(d);
  }
}

void PendingMemory::host_has_freed() {
  if (the_pending != nullptr && the_pending->keeps_) {
    the_pending->host_waited(Promise::None);
  }
}

void PendingMemory::settle() {
  thread_local bool settles = false;
  if (the_pending == nullptr || is_forked_child() || std::exchange(settles, true)) {
    return;
  }
  bool touched = false;
  if (const std::unique_lock lock(the_pending->mutex_, std::try_to_lock); lock) {
    touched = std::ranges::any_of(the_pending->works_, [](const PendingWorkPtr& work) {
      return std::ranges::any_of(work->claims, [](const PendingClaim& c) { return !c.settled; });
    });
  }
  if (touched) {
    Runtime::existing()->world().driver().complete_rest();
  }
}

void PendingMemory::host_knows() {
  if (the_pending != nullptr && the_pending->keeps_) {
    the_pending->host_waited(Promise::Made);
  }
}

bool PendingMemory::uses(const PendingWork& work, Address base, std::uint64_t bytes) {
  return std::ranges::any_of(work.parts, [&](const PendingPart& part) {
    const Address first = std::max(part.begin, base);
    const Address end = std::min(part.end, base + bytes);
    return first < end && (work.exact() || work.record->has_any(first, end));
  });
}

void PendingMemory::forget(memory::Address base, std::uint64_t bytes) {
  if (the_pending == nullptr) {
    return;
  }
  const QuietCalls quiet;
  const std::lock_guard lock(the_pending->mutex_);
  for (const PendingWorkPtr& work : the_pending->works_) {
    if (work->kept && uses(*work, base, bytes)) {
      the_pending->freed_.push_back(
          {work->command, work->called_from, work->unpromised, callers()}
      );
    }
    for (PendingPart& part : work->parts) {
      if (part.begin < base + bytes && base < part.end) {
        open(part);
      }
    }
  }
}

// --- What host code accesses -------------------------------------------------------------------

PageWatcher::Answer PendingMemory::faulted(Address at, bool store, const void* pc) {
  if (!choice_.may_contain(at / host_page * host_page, host_page)) {
    return Answer::NotOurs;
  }
  const QuietCalls quiet;
  const std::vector<const void*> frames = interrupted(pc);
  const void* const script = python_line_here();
  const bool ours = is_forked_child() || machine::is_machine_thread() ||
                    thread_state().in_callback || is_ours(frames);
  const std::lock_guard lock(mutex_);
  if (std::ranges::none_of(works_, [&](const auto& work) { return covers(*work, at, store); })) {
    thread_local Address last = 0;
    thread_local unsigned again = 0; // another thread may have opened the page by now
    again = std::exchange(last, at) == at ? again + 1 : 0;
    const auto allocation = space_.find(at);
    return allocation && again < most_steps ? Answer::GoesOn : Answer::NotOurs;
  }
  if (!ours) {
    claim_all({at, store, pc, frames, script, submissions_});
  }
  const bool enough = std::ranges::any_of(works_, [&](const auto& work) {
    return covers(*work, at, store) && !work->claims.empty() &&
           (work->claims.size() >= most_claims || work->claims.back().settled);
  });
  const Address page = at / host_page * host_page;
  if (ours || enough || ++steps_[page] > most_steps || steps_.size() > most_pages_stepped ||
      stepping.count == stepping.pages.size()) {
    open_all(at);
    return Answer::GoesOn;
  }
  if (!set_access(page, page + host_page, PROT_READ | PROT_WRITE)) {
    return Answer::NotOurs;
  }
  stepping.pages[stepping.count++] = page;
  return Answer::Steps;
}

bool PendingMemory::covers(const PendingWork& work, Address at, bool store) {
  return std::ranges::any_of(work.parts, [&](const PendingPart& p) { return p.covers(at, store); });
}

void PendingMemory::claim_all(const PendingClaim& one) {
  for (const PendingWorkPtr& work : works_) {
    const bool conflicts = std::ranges::any_of(work->parts, [&](const PendingPart& p) {
      return p.conflicts(one.at, one.store);
    });
    if (work->held && conflicts) {
      claim(*work, one);
    } else if (work->kept && conflicts) {
      judge_kept(*work, one);
    }
  }
}

void PendingMemory::judge_kept(PendingWork& work, const PendingClaim& claim) {
  work.claims.push_back(claim);
  const PendingRecord::Access* const access =
      work.record != nullptr ? work.record->meets(claim.at, claim.store) : nullptr;
  if (access != nullptr) {
    found_.push_back({claim, work.command, access->store, {}, access->place, work.unpromised});
  }
  const auto part = std::ranges::find_if(work.parts, [&](const PendingPart& p) {
    return p.conflicts(claim.at, claim.store);
  });
  if (work.exact() && part != work.parts.end()) {
    found_.push_back({claim, work.command, part->write, work.called_from, {}, work.unpromised});
  }
}

/// What it accesses is open then, and the call is no different from what it is otherwise.
void PendingMemory::about_to_call(
    long number,
    const std::uint64_t (&arguments)[6],
    const void* pc
) {
  const bool reads = number == SYS_write || number == SYS_pwrite64; // memory of the program
  const bool writes = number == SYS_read || number == SYS_pread64;
  const std::vector<const void*> frames = interrupted(pc);
  const void* const script = python_line_here();
  const bool ours = thread_state().in_callback || is_ours(frames);
  const std::lock_guard lock(mutex_);
  for (std::size_t n = 0; n < std::size(arguments); ++n) {
    const Address at = arguments[n];
    if (std::ranges::none_of(works_, [&](const PendingWorkPtr& work) {
          return std::ranges::any_of(work->parts, [&](const PendingPart& p) {
            return p.holds(at);
          });
        })) {
      continue;
    }
    if (n == 1 && !ours && (reads || writes)) {
      claim_all({at, writes, pc, frames, script, submissions_});
    }
    open_all(at);
  }
  note_protected();
}

void PendingMemory::open_everything() {
  const std::lock_guard lock(mutex_);
  for (const PendingWorkPtr& work : works_) {
    for (PendingPart& part : work->parts) {
      if (!part.open) {
        open(part);
      }
    }
  }
  note_protected();
}

void PendingMemory::note_protected() {
  protects_ = std::ranges::any_of(works_, [](const PendingWorkPtr& work) {
    return std::ranges::any_of(work->parts, [](const PendingPart& part) { return !part.open; });
  });
}

void PendingMemory::claim(PendingWork& work, const PendingClaim& claim) {
  const auto again = [&](const PendingClaim& c) {
    return !c.store && !claim.store && c.at == claim.at && c.pc == claim.pc &&
           c.submissions == claim.submissions;
  };
  if (std::ranges::any_of(work.claims, again)) { // it polls
    for (PendingClaim& c : work.claims) {
      c.settled = c.settled || c.at == claim.at;
    }
    std::ranges::partition(work.claims, [](const PendingClaim& c) { return !c.settled; });
    return;
  }
  work.claims.push_back(claim);
}

void PendingMemory::stepped() {
  const QuietCalls quiet;
  const std::lock_guard lock(mutex_);
  for (const Address page : std::span(stepping.pages).first(stepping.count)) {
    bool covered = false;
    bool read = false;
    for (const PendingWorkPtr& work : works_) {
      for (const PendingPart& part : work->parts) {
        covered = covered || part.covers(page, /*store=*/true);
        read = read || part.covers(page, /*store=*/false);
      }
    }
    if (covered) {
      set_access(page, page + host_page, read ? PROT_NONE : PROT_READ);
    }
  }
  stepping.count = 0;
}

// --- What the command does there ---------------------------------------------------------------

void PendingMemory::accessed(
    PendingWork& work,
    const isa::Exec& exec,
    Address at,
    std::uint32_t bytes,
    bool store
) {
  const isa::Code& code = exec.code();
  const ptx::Instruction& instruction = code.function->body[exec.current()->instruction];
  const ptx::Effect& effect = ptx::effect_of(instruction);
  const bool counts = ptx::is_counting(instruction); // the host may read that, and not begin anew
  const std::lock_guard lock(mutex_);
  if (effect.is_strong() && !counts) {
    work.told = work.told || effect.reads();
    return;
  }
  const auto place = [&] { return place_in_kernel(exec); };
  if (work.record != nullptr && !counts &&
      !work.record->note(at, bytes, store, exec.current(), place) && work.claims.empty()) {
    machine::stop_telling(*work.command->grid);
  }
  for (PendingClaim& claim : work.claims) {
    const bool meets = claim.at >= at && claim.at < at + bytes;
    const bool conflict = claim.store ? !work.told : store && !counts;
    if (!meets || claim.settled || !conflict) {
      continue;
    }
    claim.settled = true;
    found_.push_back({claim, work.command, store, {}, place()});
  }
}

} // namespace heddle::runtime
