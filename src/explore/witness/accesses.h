// Accesses: which words of memory a step of a repeated execution has read and written, as a text
// that the explored process hands to the tool.
//
//   row.note = table.intern(to_text(accesses, space, "cluster 0 of kernel 'k<<<1,1>>>'", code));
//   step.memory = accesses_from(table.text(row.note));
//
// Knows what device threads access with instructions. Misses what the host, copies and a grid that
// is carried out in one move access, and what comes after the first 32 places of a step. Accesses
// of one step that lie side by side in a word of eight bytes are told as one.
#pragma once

#include "isa/usual_layout.h"
#include "memory/address_space.h"
#include "model/memory_journal.h"
#include "report/trace.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

/// Of those that are read, and of those that are written: so many are told to users, and so many
/// words are compared when an execution is repeated.
inline constexpr std::size_t most_told_places = 32, most_compared_places = 128;

/// Offsets are those of a search (base/outside.h). `owner`: whose shared memory it is, by name.
/// `code`: what it executes; nullptr: nothing.
std::string to_text(
    const model::MemoryJournal::Accesses& accesses,
    const memory::AddressSpace& space,
    std::string_view owner,
    const isa::Code* code
);
/// The same for why a read did not have to see the newest value; "" if it did.
std::string to_text(std::string_view reason);
/// The other way round. Lines that are not understood are left out, and what comes after the first
/// `most` that are read, or written.
std::vector<report::MemoryAccess>
accesses_from(std::string_view text, std::size_t most = most_told_places);
std::string reason_from(std::string_view text);

/// "reads 0", "writes 1", "reads 0, writes 1"; empty if there are more.
std::string in_words(const std::vector<report::MemoryAccess>& accesses);

} // namespace heddle::explore
