// One line for each access: r or w, the bytes, the value, the offset, and the name of what it lies
// in.
#include "explore/witness/accesses.h"

#include "memory/usual_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>

namespace heddle::explore {
namespace {

using model::WordPart;
using report::MemoryAccess;

constexpr unsigned byte_bits = 8, word_bits = 64;

std::string_view kind_name(memory::AllocationKind kind) {
  using memory::AllocationKind;
  switch (kind) {
  case AllocationKind::Managed:
    return "managed memory";
  case AllocationKind::Pinned:
  case AllocationKind::Registered:
    return "host memory";
  case AllocationKind::Global:
  case AllocationKind::Constant:
    return "variable";
  case AllocationKind::Heap:
    return "device heap";
  case AllocationKind::Device:
    break;
  }
  return "device memory";
}

class Names {
public:
  Names(const memory::AddressSpace& space, std::string_view owner, const isa::Code* code)
      : owner_(owner),
        code_(code) {
    space.each_live([&](const memory::Allocation& allocation) { live_.push_back(allocation); });
  }

  /// Where the byte lies; nothing if it is in no allocation.
  std::optional<std::pair<std::string, std::uint64_t>> place(const WordPart& part) const {
    const auto at = reinterpret_cast<std::uintptr_t>(part.at);
    if (model::is_shared(part.at)) {
      return std::pair("shared memory of " + owner_, at & ~model::in_shared_memory);
    }
    for (const memory::Allocation& allocation : live_) {
      const std::uint64_t address = at - static_cast<std::uint64_t>(allocation.delta);
      // The first word may begin before it: allocations need not be aligned to words.
      if (address + sizeof(std::uint64_t) > allocation.base && address < allocation.end()) {
        const std::string name =
            allocation.name.empty()
                ? fmt::format("{} {}", kind_name(allocation.kind), allocation.id)
                : allocation.name;
        // Pieces of the heap have an order, too.
        const bool in_heap = allocation.kind == memory::AllocationKind::Heap;
        return std::pair(
            name,
            in_heap ? memory::usual_address(address) - memory::usual_address(allocation.base)
                    : address - allocation.base
        );
      }
    }
    return std::nullopt;
  }

  /// Where a search has what lies there.
  isa::UsualPlace usual(const WordPart& part, std::uint64_t offset, unsigned bytes) const {
    return code_ == nullptr || !model::is_shared(part.at) ? isa::UsualPlace{offset, bytes}
                                                          : isa::usual_place(*code_, offset, bytes);
  }

private:
  std::string owner_;
  const isa::Code* code_;
  std::vector<memory::Allocation> live_;
};

/// A line for each run of bytes that the mask names.
void add(std::string& text, const Names& names, const WordPart& part, char letter) {
  const auto place = names.place(part);
  if (!place) {
    return;
  }
  for (std::uint64_t mask = part.mask; mask != 0;) {
    const auto shift = static_cast<unsigned>(std::countr_zero(mask)) / byte_bits * byte_bits;
    const auto together = static_cast<unsigned>(std::countr_one(mask >> shift)) / byte_bits;
    const auto [offset, bytes] = names.usual(part, place->second + shift / byte_bits, together);
    const unsigned bits = bytes * byte_bits;
    const std::uint64_t ones = bits >= word_bits ? ~0ULL : (1ULL << bits) - 1;
    text += fmt::format(
        "{} {} {:x} {} {}\n",
        letter,
        bytes,
        part.value >> shift & ones,
        offset,
        place->first
    );
    mask &= ~(ones << shift);
  }
}

/// What a word held when it was first read, or last written, once.
std::vector<WordPart> each_once(const std::vector<WordPart>& parts, bool last) {
  std::vector<WordPart> result;
  for (const WordPart& part : parts) {
    const auto known = std::ranges::find(result, part.at, &WordPart::at);
    if (known == result.end()) {
      if (result.size() < most_compared_places) {
        result.push_back(part);
      }
      continue;
    }
    const std::uint64_t news = last ? part.mask : part.mask & ~known->mask;
    known->value = (known->value & ~news) | (part.value & news);
    known->mask |= part.mask;
  }
  return result;
}

template <class T> bool take(std::string_view& text, T& value, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

std::string value_text(const MemoryAccess& access) {
  constexpr std::int64_t readable = 1'000'000;
  const unsigned unused = word_bits - access.bytes * byte_bits;
  const auto number = static_cast<std::int64_t>(access.value << unused) >> unused;
  return -readable < number && number < readable ? fmt::format("{}", number)
                                                 : fmt::format("{:#x}", access.value);
}

constexpr std::string_view because = "because ";

} // namespace

std::string to_text(std::string_view reason) {
  return reason.empty() ? std::string() : fmt::format("{}{}\n", because, reason);
}

std::string reason_from(std::string_view text) {
  const std::size_t begin = text.starts_with(because) ? 0 : text.find("\nbecause ");
  if (begin == std::string_view::npos) {
    return {};
  }
  const std::size_t at = begin + (begin == 0 ? 0 : 1) + because.size();
  return std::string(text.substr(at, text.find('\n', at) - at));
}

std::string to_text(
    const model::MemoryJournal::Accesses& accesses,
    const memory::AddressSpace& space,
    std::string_view owner,
    const isa::Code* code
) {
  if (accesses.read.empty() && accesses.written.empty()) {
    return {};
  }
  const Names names(space, owner, code);
  std::string text;
  for (const WordPart& part : each_once(accesses.read, /*last=*/false)) {
    add(text, names, part, 'r');
  }
  for (const WordPart& part : each_once(accesses.written, /*last=*/true)) {
    add(text, names, part, 'w');
  }
  return text;
}

std::vector<MemoryAccess> accesses_from(std::string_view text, std::size_t most) {
  std::vector<MemoryAccess> result;
  std::array<std::size_t, 2> count{}; // that are read, and written
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with("r ") && !line.starts_with("w ")) {
      continue;
    }
    MemoryAccess access{.write = line.front() == 'w'};
    line.remove_prefix(2);
    if (take(line, access.bytes, 10) && take(line, access.value, 16) &&
        take(line, access.offset, 10) && access.bytes >= 1 &&
        access.bytes <= sizeof(access.value) && count[access.write ? 1 : 0]++ < most) {
      access.name = std::string(line);
      result.push_back(std::move(access));
    }
  }
  return result;
}

std::string in_words(const std::vector<MemoryAccess>& accesses) {
  const auto word = [](const MemoryAccess& access) {
    return fmt::format("{} {}", access.write ? "writes" : "reads", value_text(access));
  };
  if (accesses.size() == 1) {
    return word(accesses[0]);
  }
  const bool update = accesses.size() == 2 && !accesses[0].write && accesses[1].write &&
                      accesses[0].name == accesses[1].name &&
                      accesses[0].offset == accesses[1].offset;
  return update ? word(accesses[0]) + ", " + word(accesses[1]) : "";
}

} // namespace heddle::explore
