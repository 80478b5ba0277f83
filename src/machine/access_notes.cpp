// Implements access_notes.h.
#include "machine/access_notes.h"

#include "machine/cone.h"
#include "machine/device_heap.h"
#include "machine/order_data.h"
#include "machine/weak_order.h"
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
  if (order_data_ != nullptr) {
    order_data_->accessed(at, bytes, store);
  }
  if (cone_ != nullptr) {
    cone_->accessed(at, store);
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
    reads_it = !effect.is(Kind::Store);
  }
  if (reads_it) {
    read(at, bytes);
  }
  if (heap_ != nullptr && heap_->contains(at)) {
    if (DeviceHeap::Slot* slot = heap_->find(at, bytes)) {
      read(reinterpret_cast<std::byte*>(slot), sizeof *slot);
    } else if (misuse.op == nullptr) {
      misuse = {op, &exec_.code(), lane, at, bytes, store};
    }
  }
  if (weak_ != nullptr) { // last: it may change what the instruction finds there
    weak_->accessed(lane, at, bytes, store);
  }
}

} // namespace heddle::machine
