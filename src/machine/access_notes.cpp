// Implements access_notes.h.
#include "machine/access_notes.h"

#include "ptx/effect.h"

#include <algorithm>
#include <cstring>

namespace heddle::machine {

void AccessNotes::clear() {
  writes.clear();
  reads.clear();
  strong.clear();
  misuse = {};
  complete_ = true;
}

void AccessNotes::read(std::byte* at, std::uint32_t bytes) {
  if (complete_) {
    complete_ = reads.size() < max_reads_;
    if (complete_) {
      reads.push_back({at, bytes});
    }
  }
}

void AccessNotes::written(std::byte* at, std::uint32_t bytes) {
  for (std::uint32_t done = 0; done < bytes;) {
    Written& written = writes.emplace_back();
    written.at = at + done;
    written.bytes = std::min(bytes - done, static_cast<std::uint32_t>(written.before.size()));
    std::memcpy(written.before.data(), written.at, written.bytes);
    done += written.bytes;
  }
}

void AccessNotes::accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) {
  for (isa::AccessWatch* watcher : first_) {
    watcher->accessed(lane, at, bytes, store);
  }
  const isa::Op* op = exec_.current();
  using Kind = ptx::Effect::Kind;
  const ptx::Effect& effect = ptx::effect_of(exec_.code().function->body[op->instruction]);
  // A reducing copy reads its source weakly.
  if ((effect.is_strong() && (effect.is_access() || (effect.is(Kind::Copy) && store))) ||
      (!also_strong.empty() && also_strong.contains(op))) {
    strong.push_back({at, bytes, op, &exec_.code(), lane});
  }
  bool reads_it = true;
  if (store) {
    written(at, bytes);
    reads_it = !effect.is(Kind::Store) || effect.is_async(); // those count bytes at an mbarrier
  }
  if (reads_it) {
    read(at, bytes);
  }
  if (records_ != nullptr && records_->contains(at)) {
    if (const auto record = records_->record_of(at, bytes); !record.empty()) {
      read(record.data(), static_cast<std::uint32_t>(record.size()));
    } else if (misuse.op == nullptr) {
      misuse = {op, &exec_.code(), lane, at, bytes, store};
    }
  }
  for (isa::AccessWatch* watcher : last_) {
    watcher->accessed(lane, at, bytes, store);
  }
}

} // namespace heddle::machine
