// Implements micro_host.h.
#include "reduce/micro_host.h"

#include "explore/search/looks_at_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heddle::enumeration {

using explore::HostPoint;
using Point = HostPoint::Kind;

namespace {

constexpr HostOperation synchronise{.kind = HostKind::WaitAll};

bool is_wait(HostKind kind) {
  return kind == HostKind::WaitCopies || kind == HostKind::WaitAll || kind == HostKind::WaitEvent;
}
/// Of what it submits.
bool in_copies(HostKind kind) {
  return kind == HostKind::Copy || kind == HostKind::Set || kind == HostKind::LaunchBeside ||
         kind == HostKind::RecordCopies || kind == HostKind::Await || kind == HostKind::AwaitP ||
         kind == HostKind::SetIf || kind == HostKind::CopyTwo || kind == HostKind::CopyOut;
}

/// Of the pageable memory, as copies and looks name it: the same in each run.
constexpr memory::Address pageable_address = 0x1000;

void write_one(std::byte* to) {
  const std::uint32_t one = 1;
  std::memcpy(to, &one, sizeof one);
}

} // namespace

MicroHost::MicroHost(const MicroProgram& program, Services services, reduce::Stepper& stepper)
    : prompt_(program.prompt),
      services_(std::move(services)),
      stepper_(stepper) {
  if (!program.host.empty()) {
    threads_.push_back({.code = program.host});
    threads_[0].code.push_back(synchronise);
  }
  if (!program.beside.empty()) {
    threads_.push_back({.code = program.beside});
    threads_[1].code.push_back(synchronise); // else nobody waits for what it launches
  }
}

bool MicroHost::all_ended() const {
  return std::ranges::all_of(threads_, &Thread::ended);
}

bool MicroHost::only_one() const {
  return std::ranges::count(threads_, false, &Thread::ended) == 1;
}

HostOperation MicroHost::operation(const Thread& thread) {
  return thread.code[thread.next];
}

explore::HostAt MicroHost::at(unsigned t) const {
  const Thread& thread = threads_[t];
  if (!thread.started) {
    return {Point::Start, true, true};
  }
  const HostOperation now = operation(thread);
  if (is_wait(now.kind)) {
    return {Point::Wait, true, holds(now.kind)};
  }
  if (asks(now.kind) && !thread.hangs) {
    return {Point::Query, true, true};
  }
  if (submits(now.kind) && thread.function == nullptr) {
    return {thread.submitted ? Point::Return : Point::ApiCall, true, true};
  }
  const bool visible =
      now.kind != HostKind::HangIfFlag && now.kind != HostKind::CallFlag && !asks(now.kind);
  return {Point::Access, visible, true};
}

/// As of a call: it depends on which commands have completed, and on nothing else.
bool MicroHost::holds(HostKind kind) const {
  const auto completed = [](const machine::CommandPtr& command) { return command->done.load(); };
  if (kind == HostKind::WaitEvent || kind == HostKind::HangIfEvent) {
    return event_ == nullptr || completed(event_); // it is not recorded: nothing to wait for
  }
  return (asks(kind) || std::ranges::all_of(copies_, completed)) &&
         (kind == HostKind::WaitCopies || std::ranges::all_of(kernels_, completed));
}

std::uint64_t MicroHost::ways(unsigned t) const {
  const explore::HostAt stands = at(t);
  if (stands.kind == Point::Query) {
    return holds(operation(threads_[t]).kind) ? 3 : 2;
  }
  return stands.can_go_on ? 1 : 0;
}

std::uint32_t MicroHost::site(unsigned t) const {
  constexpr std::uint32_t of_function = 1000, of_host = 100; // instructions have smaller numbers
  const Thread& thread = threads_[t];
  return (thread.function != nullptr ? of_function : of_host) +
         static_cast<std::uint32_t>(thread.next);
}

void MicroHost::hash(Hasher& hasher) const {
  for (const Thread& thread : threads_) {
    hasher.value(
        thread.next << 4 | (thread.started ? 1U : 0U) | (thread.submitted ? 2U : 0U) |
        (thread.hangs ? 4U : 0U) | (thread.ended ? 8U : 0U)
    );
    hasher.value(thread.function != nullptr ? 1 + static_cast<unsigned>(thread.code[0].kind) : 0);
  }
  hasher.value(flag_);
  hasher.value(pageable_[1] << 1 | pageable_[2]);
  hasher.value(event_ == nullptr || event_->done.load() ? 0 : stepper_.works().name_of(*event_));
}

/// The device's work that is under way may meet what the thread is about to access.
void MicroHost::arrive(const Thread& thread) {
  const auto t = static_cast<unsigned>(&thread - threads_.data());
  if (!thread.ended && thread.started && at(t).kind == Point::Access && at(t).device_visible) {
    note_access(operation(thread));
  }
}

void MicroHost::note_access(const HostOperation& operation) {
  if (operation.kind == HostKind::HangIfHalf) {
    looked_at_copies_ = looked_at_copies_ ||
                        explore::host_looks_at_copy(stepper_, pageable_address, sizeof pageable_);
    return;
  }
  const bool in_q = operation.kind == HostKind::HangIfQ;
  stepper_.host_accesses(services_.address + (in_q ? place_q : 0), sizeof(std::uint32_t));
}

bool MicroHost::looked_at_copies() const {
  return looked_at_copies_ || (copies_few_words_ && explore::device_looks_at_copy(stepper_));
}

void MicroHost::move(unsigned t, unsigned way) {
  Thread& thread = threads_[t];
  if (!std::exchange(thread.started, true)) {
    arrive(thread);
    return;
  }
  const HostOperation now = operation(thread);
  if (submits(now.kind) && thread.function == nullptr && !std::exchange(thread.submitted, true)) {
    submit(now.kind);
    return;
  }
  thread.submitted = false;
  if (now.kind == HostKind::HangIfHalf) {
    note_access(now);
  }
  access(thread, now, way);
  if (!thread.hangs && !(now.kind == HostKind::AskUntilDone && way != 0)) {
    ++thread.next;
  }
  if (thread.next == thread.code.size()) {
    --thread.next;
    thread.ended = true;
    if (thread.function != nullptr) {
      stepper_.returned(thread.function);
      return;
    }
  }
  stepper_.host_moved();
  arrive(threads_[t]);
}

std::uint32_t MicroHost::word(std::size_t place) const {
  std::uint32_t value = 0;
  std::memcpy(&value, services_.memory + place, sizeof value);
  return value;
}

void MicroHost::write(std::size_t place, std::uint32_t value) {
  std::memcpy(services_.memory + place, &value, sizeof value);
}

void MicroHost::access(Thread& thread, const HostOperation& now, unsigned way) {
  switch (now.kind) {
  case HostKind::Store:
    write(0, 1);
    break;
  case HostKind::HangIfP:
    thread.hangs = thread.hangs || word(0) == now.value;
    break;
  case HostKind::HangIfQ:
    thread.hangs = thread.hangs || word(place_q) == now.value;
    break;
  case HostKind::HangIfFlag:
    thread.hangs = flag_;
    break;
  case HostKind::HangIfHalf:
    thread.hangs = thread.hangs || pageable_[1] != pageable_[2];
    break;
  case HostKind::HangIfDone:
  case HostKind::HangIfEvent:
    thread.hangs = thread.hangs || way == 0;
    break;
  case HostKind::CallFlag:
    flag_ = flag_ || thread.function != nullptr;
    break;
  default:
    break;
  }
}

void MicroHost::make_set(machine::Command& command, std::size_t to, std::uint32_t value) const {
  command.kind = machine::CommandKind::Set;
  command.label = fmt::format("set {} to {}", to == 0 ? "P" : "Q", value);
  command.touches = {{services_.address + to, 4, true}};
  command.work = [p = services_.memory, to, value] { std::memcpy(p + to, &value, sizeof value); };
}

/// As runtime/streams/graph.cpp does it: the node looks when it is its turn, and again when what it
/// has submitted is complete.
std::function<std::vector<machine::CommandPtr>()> MicroHost::set_if(const machine::Command& node) {
  return [this, &node, body = machine::CommandPtr()]() mutable {
    if (body != nullptr || word(0) != 1) {
      return std::vector<machine::CommandPtr>();
    }
    body = std::make_shared<machine::Command>();
    make_set(*body, place_q, 1);
    body->stream = node.stream;
    body->part_of = node.id;
    services_.submit(body);
    return std::vector{body};
  };
}

/// As runtime/streams/operation.cpp does it: words that come when they come are commands that it
/// consists of.
void MicroHost::make_copy(machine::Command& command, const std::array<std::byte*, 2>& words) {
  copies_few_words_ = copies_few_words_ || explore::copies_few_words(command);
  if (!services_.word_by_word) {
    command.work = [words] {
      for (std::byte* const word : words) {
        write_one(word);
      }
    };
    return;
  }
  command.kind = machine::CommandKind::Empty;
  command.touches.reset();
  command.more = [this, self = &command, words, begun = false]() mutable {
    std::vector<machine::CommandPtr> parts;
    for (std::size_t n = 0; !begun && n < words.size(); ++n) {
      auto part = std::make_shared<machine::Command>();
      part->kind = machine::CommandKind::Copy;
      part->label = fmt::format("word {} of a copy", n);
      const bool of_device =
          words[n] >= services_.memory && words[n] < services_.memory + memory_bytes;
      part->touches.emplace();
      if (of_device) {
        const auto place = static_cast<std::uint64_t>(words[n] - services_.memory);
        part->touches->push_back({services_.address + place, sizeof(std::uint32_t), true});
      } else {
        part->touches->push_back({pageable_address + 4 * (n + 1), sizeof(std::uint32_t), true});
      }
      part->work = [to = words[n]] { write_one(to); };
      part->stream = self->stream;
      part->part_of = self->id;
      services_.submit(part);
      parts.push_back(part);
    }
    begun = true;
    return parts;
  };
}

void MicroHost::submit(HostKind kind) {
  machine::CommandPtr command;
  std::byte* const p = services_.memory;
  const memory::Address address = services_.address;
  if (kind <= HostKind::LaunchEarly) {
    command = services_.kernel(kind);
  } else {
    command = std::make_shared<machine::Command>();
  }
  const auto copy = [&](std::size_t to, std::size_t from) {
    command->kind = machine::CommandKind::Copy;
    command->label = "copy";
    command->touches = {{address + to, 4, true}, {address + from, 4, false}};
    command->work = [p, to, from] { std::memcpy(p + to, p + from, 4); };
  };
  const auto set = [&](std::size_t to, std::uint32_t value) { make_set(*command, to, value); };
  switch (kind) {
  case HostKind::CallFlag:
  case HostKind::CallStore:
    command->kind = machine::CommandKind::HostFunction;
    command->label = kind == HostKind::CallFlag ? "host function" : "host function that stores";
    functions_.emplace_back(command, kind);
    break;
  case HostKind::Copy:
    copy(place_q, 0);
    break;
  case HostKind::CopyBack:
    copy(0, place_q);
    break;
  case HostKind::SetBefore:
    set(place_q, 1);
    break;
  case HostKind::Set:
    set(0, 1);
    break;
  case HostKind::SetTwo:
    set(0, 2);
    break;
  case HostKind::Record:
  case HostKind::RecordCopies:
    command->kind = machine::CommandKind::EventRecord;
    command->label = "record";
    event_ = command;
    break;
  case HostKind::Await:
  case HostKind::AwaitBefore:
    command->label = "wait for an event";
    if (event_ != nullptr) {
      command->after.push_back(event_);
    }
    break;
  case HostKind::AwaitP:
  case HostKind::AwaitPBefore:
    command->kind = machine::CommandKind::ValueWait;
    command->label = "wait for a value";
    command->value = services_.value_of_p;
    break;
  case HostKind::SetIf:
    command->label = "conditional node";
    command->more = set_if(*command);
    command->touches = {{.begin = address, .bytes = sizeof(std::uint32_t)}};
    break;
  case HostKind::CopyTwo:
    command->kind = machine::CommandKind::Copy;
    command->label = "copy of two words";
    command->touches = {{address + place_behind, place_q + 4 - place_behind, true}};
    make_copy(*command, {p + place_behind, p + place_q});
    break;
  case HostKind::CopyOut: {
    auto* const words = reinterpret_cast<std::byte*>(pageable_.data());
    command->kind = machine::CommandKind::Copy;
    command->label = "copy out";
    command->touches = {{pageable_address + 4, 8, true}};
    make_copy(*command, {words + 4, words + 8});
    break;
  }
  default:
    break;
  }
  const bool copies = in_copies(kind);
  std::vector<machine::CommandPtr>& stream = copies ? copies_ : kernels_;
  if (!stream.empty()) {
    if (kind == HostKind::LaunchEarly && stream.back()->kind == machine::CommandKind::Kernel) {
      command->early.push_back({stream.back()});
    } else {
      command->after.push_back(stream.back());
    }
  }
  command->stream = copies ? "copies" : "kernels";
  stream.push_back(command);
  services_.submit(command);
}

void MicroHost::begin(const machine::CommandPtr& function) {
  const auto known = std::ranges::find(functions_, function, [](const auto& f) { return f.first; });
  const bool stores = known->second == HostKind::CallStore;
  threads_.push_back(
      {.code = {{.kind = stores ? HostKind::Store : HostKind::CallFlag}},
       .function = function,
       .started = false}
  );
}

} // namespace heddle::enumeration
