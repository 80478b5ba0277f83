// Implements stream_ordered.h.
#include "runtime/memory/stream_ordered.h"

#include "machine/grid.h"
#include "machine/unawaited.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/registration/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heddle::runtime {
namespace {

/// What a command is given that may be addresses.
std::vector<memory::Address> addresses_in(const Operation& operation) {
  std::vector<memory::Address> result;
  if (const auto* copy = std::get_if<Copy>(&operation.work)) {
    result = {copy->to, copy->from};
  } else if (const auto* set = std::get_if<Set>(&operation.work)) {
    result = {set->to};
  } else if (const auto* launch = std::get_if<KernelLaunch>(&operation.work)) {
    const std::vector<std::byte>& bytes = launch->parameters;
    for (std::size_t at = 0; at + sizeof(memory::Address) <= bytes.size(); at += 8) {
      memory::Address word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      result.push_back(word);
    }
  }
  std::erase_if(result, [](memory::Address a) {
    return !memory::AddressSpace::in_device_range(a);
  });
  if (const auto* launch = std::get_if<KernelLaunch>(&operation.work)) {
    result.push_back(reinterpret_cast<memory::Address>(launch->function->owner));
  }
  return result;
}

/// "is given memory that may be freed before it is used", and what ends it does.
struct Words {
  const char* use;
  const char* end;
  const char* help;
};

Words words_for(StreamOrdered::Kind kind) {
  constexpr const char* help =
      "wait for the stream that uses it, or for an event behind that use, before it is destroyed";
  switch (kind) {
  case StreamOrdered::Kind::Texture:
    return {"is given a texture object that may be destroyed before it is used", "destroys", help};
  case StreamOrdered::Kind::Surface:
    return {"is given a surface object that may be destroyed before it is used", "destroys", help};
  case StreamOrdered::Kind::Code:
    return {
        "may run after its code has been unloaded",
        "unloads",
        "wait for the stream that executes it, or for an event behind it, before it is unloaded"
    };
  case StreamOrdered::Kind::Memory:
    break;
  }
  return {
      "is given memory that may be freed before it is used",
      "frees",
      "free it in the stream that uses it, or wait for that stream before the free"
  };
}

std::string named(const machine::Command& command) {
  return command.grid != nullptr
             ? fmt::format("kernel '{}' in {}", command.grid->describe(), command.stream)
             : fmt::format("{} in {}", command.label, command.stream);
}

} // namespace

StreamOrdered::Lives::iterator StreamOrdered::holding(memory::Address address) {
  auto it = lives_.upper_bound(address);
  if (it == lives_.begin()) {
    return lives_.end();
  }
  --it;
  return address - it->first < it->second.bytes ? it : lives_.end();
}

/// Without a monitor nobody says more than what a call has waited for: that is no order of code.
bool StreamOrdered::sees(Kind kind) const {
  return kind == Kind::Memory ? !accesses_are_seen_ : kind != Kind::Code || accesses_are_seen_;
}

void StreamOrdered::made_by_host(memory::Address address, std::uint64_t bytes, Kind kind) {
  if (sees(kind)) {
    const std::lock_guard lock(mutex_);
    Life life;
    life.kind = kind;
    life.bytes = bytes;
    lives_.insert_or_assign(address, std::move(life));
  }
}

void StreamOrdered::submitted(const Operation& operation, const machine::Command& command) {
  const std::lock_guard lock(mutex_);
  if (const auto* allocate = std::get_if<Allocate>(&operation.work);
      allocate != nullptr && !sees(Kind::Memory)) {
    return;
  }
  if (const auto* allocate = std::get_if<Allocate>(&operation.work)) {
    Life life;
    life.bytes = allocate->bytes;
    life.allocation = command.id;
    life.allocated_in = named(command);
    lives_.insert_or_assign(allocate->address, std::move(life));
    return;
  }
  if (lives_.empty()) {
    return;
  }
  if (const auto* free = std::get_if<Free>(&operation.work)) {
    end(free->address, &command, nullptr);
    return;
  }
  const std::vector<memory::Address> addresses = addresses_in(operation);
  if (addresses.empty()) {
    return;
  }
  Use one;
  one.command = command.id;
  one.what = named(command);
  if (command.grid != nullptr) {
    one.kernel = command.grid->describe();
    one.called_from = command.grid->config().called_from;
  }
  for (const memory::Address address : addresses) {
    use(address, one);
  }
}

void StreamOrdered::use(memory::Address address, const Use& one) {
  const auto it = holding(address);
  if (it == lives_.end()) {
    return;
  }
  Life& life = it->second;
  const machine::Unawaited& order = *world_.unawaited();
  if (life.free && !order.contains(*life.free)) {
    lives_.erase(it); // over: an access is a fault
    return;
  }
  if (!order.is_before(life.allocation, one.command)) {
    tell(report::Finding::UseBeforeAllocation, one, *it);
  }
  if (life.free && !order.is_before(*life.free, one.command)) {
    tell(report::Finding::UseAfterFree, one, *it);
  }
  std::erase_if(life.uses, [&](const Use& before) { return !order.contains(before.command); });
  life.uses.push_back(one);
}

void StreamOrdered::ended_by_host(memory::Address address, const char* call) {
  const std::lock_guard lock(mutex_);
  end(address, nullptr, call);
}

/// By a command, or else by a call of the host.
void StreamOrdered::end(
    memory::Address address,
    const machine::Command* command,
    const char* call
) {
  const auto it = lives_.find(address);
  if (it == lives_.end()) {
    return;
  }
  Life& life = it->second;
  const machine::Unawaited& order = *world_.unawaited();
  life.freed_in = command != nullptr ? named(*command) : fmt::format("{} without a wait", call);
  for (const Use& one : life.uses) {
    const bool before = command != nullptr ? order.is_before(one.command, command->id)
                                           : !order.contains(one.command);
    if (!before) {
      tell(report::Finding::UseAfterFree, one, *it);
    }
  }
  if (command == nullptr) {
    lives_.erase(it);
    return;
  }
  life.free = command->id;
  life.uses.clear();
}

bool StreamOrdered::has_told(const machine::FaultReport& fault) {
  const std::lock_guard lock(mutex_);
  return fault.nearest && fault.nearest->freed &&
         told_.contains({fault.kernel, fault.nearest->base});
}

void StreamOrdered::tell(report::Finding finding, const Use& one, const Lives::value_type& at) {
  const Life& life = at.second;
  const bool early = finding == report::Finding::UseBeforeAllocation;
  if (!early) {
    told_.emplace(one.kernel, at.first);
  }
  const Words words = words_for(life.kind);
  report::Diagnostic d(
      finding,
      fmt::format(
          "{} {}",
          one.what,
          early ? "is given memory that need not be allocated yet" : words.use
      )
  );
  if (!reported_.insert(d.message).second) {
    return;
  }
  if (life.kind == Kind::Code) {
    d.rule = "API-WAIT";
    d.severity = report::Severity::Warning;
    d.notes.emplace_back(
        "only the call that unloads it stands between the two: it waits with today's drivers, and "
        "nothing promises that"
    );
  } else {
    d.notes.push_back(
        fmt::format(
            "{} {} it, and nothing orders the two",
            early ? life.allocated_in : life.freed_in,
            early ? "allocates" : words.end
        )
    );
  }
  if (!one.kernel.empty()) {
    d.functions.push_back(one.kernel);
    add_launches(d, {{std::pair(one.kernel, one.called_from)}});
  }
  if (!one.kernel.empty() && life.kind == Kind::Memory) {
    d.notes.emplace_back("heddle run --races looks at the kernel's accesses themselves");
  }
  add_call(d);
  d.help.emplace_back(
      early ? "use it in the stream that allocates it, or let the other stream wait for an event "
              "that is recorded after the allocation"
            : words.help
  );
  if (d.severity == report::Severity::Warning) {
    warn(std::move(d));
  } else {
    announce(d);
  }
}

} // namespace heddle::runtime
