// Implements access_notes.h.
#include "machine/access_notes.h"

#include <algorithm>
#include <cstring>

namespace heddle::machine {

void AccessNotes::clear() {
  writes.clear();
  reads.clear();
  complete_ = true;
}

void AccessNotes::accessed(int /*lane*/, std::byte* at, std::uint32_t bytes, bool store) {
  bool reads_it = true;
  if (store) {
    for (std::uint32_t done = 0; done < bytes;) {
      Written& written = writes.emplace_back();
      written.at = at + done;
      written.bytes = std::min(bytes - done, static_cast<std::uint32_t>(written.before.size()));
      std::memcpy(written.before.data(), written.at, written.bytes);
      done += written.bytes;
    }
    const auto& body = exec_.code().function->body;
    reads_it = body[exec_.current()->instruction].opcode != ptx::Opcode::St;
  }
  if (reads_it && complete_) {
    complete_ = reads.size() < max_reads_;
    if (complete_) {
      reads.push_back({at, bytes});
    }
  }
}

} // namespace heddle::machine
