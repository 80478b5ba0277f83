// Implements block.h: plain accesses to words by a whole warp, looked at together.
//
// What is kept of them, and what is found, is what looking at one lane after the other would give:
// where that is not certain, lanes are left to access.cpp.
#include "isa/ops_address.h"
#include "race/block.h"

#include <immintrin.h>

#include <bit>

namespace heddle::race {

using isa::LaneMask;

namespace {

/// The lanes that read what the lane right before them, or half a warp before, reads: bit `lane`.
template <std::size_t distance> LaneMask same_as_before(const std::uint64_t (&address)[32]) {
  LaneMask result = 0;
  for (std::size_t lane = distance == 1 ? 0 : distance; lane < isa::warp_size; lane += 4) {
    // A vector that would begin before the first lane is compared with itself, one lane late.
    const auto* here = reinterpret_cast<const __m256i*>(address + lane);
    const auto* before =
        reinterpret_cast<const __m256i*>(address + (lane == 0 ? 0 : lane - distance));
    const __m256i equal = _mm256_cmpeq_epi64(_mm256_loadu_si256(here), _mm256_loadu_si256(before));
    auto bits = static_cast<LaneMask>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
    if (distance == 1 && lane == 0) {
      bits = 0;
      for (std::size_t i = 1; i < 4; ++i) {
        bits |= static_cast<LaneMask>(address[i] == address[i - 1]) << i;
      }
    }
    result |= bits << lane;
  }
  return result;
}

} // namespace

namespace {

/// Does each half of the warp access the words of a segment, lane n the n-th?
bool in_rows(const std::uint64_t (&address)[isa::warp_size]) {
  constexpr std::size_t half = isa::warp_size / 2;
  static_assert(Segment::words == half);
  if ((address[0] | address[half]) % Segment::bytes != 0 || address[1] - address[0] != 4) {
    return false;
  }
  std::uint64_t differ = 0;
  for (std::size_t lane = 0; lane < half; ++lane) {
    differ |= address[lane] ^ (address[0] + lane * 4);
    differ |= address[lane + half] ^ (address[half] + lane * 4);
  }
  return differ == 0;
}

} // namespace

/// Plain reads of words in shared memory by a whole warp at once, if its lanes know the same. Of
/// lanes that read one word the first two are looked at. For the others there is nothing to do:
/// two of their warp are kept by then, or one of them and one that is farther away. The result is
/// the lanes that are left.
LaneMask BlockRaces::read_words(
    const Site& site,
    Access by,
    std::size_t w,
    LaneMask lanes,
    const std::uint64_t (&address)[isa::warp_size]
) {
  const std::size_t first = w * isa::warp_size;
  if (lanes != isa::all_lanes || !site.shared || !knowledge_of(w).same) {
    return lanes;
  }
  constexpr std::size_t most_settled = 64;
  settled_.resize(most_settled);
  Settled& before = settled_[(address[0] / 4 ^ address[0] / 256) % most_settled];
  if (before.changes == shared_.changes() && before.now == now_[first]) {
    std::uint64_t differ = 0;
    for (std::size_t lane = 0; lane < isa::warp_size; ++lane) {
      differ |= address[lane] ^ before.address[lane];
    }
    if (differ == 0) {
      return 0;
    }
  }
  std::uint64_t together = 0;
  std::uint64_t apart = 0; // bits in which addresses differ
  for (std::size_t lane = 0; lane < isa::warp_size; ++lane) {
    together |= address[lane];
    apart |= address[lane] ^ address[0];
  }
  constexpr std::uint64_t end_of_own = std::uint64_t{1} << memory::shared_rank_shift;
  if ((together & 3) != 0 || together >= end_of_own || apart >= Page::bytes) {
    return lanes;
  }
  Page* page = shared_.page_to_read(address[0] / Page::bytes);
  if (page == nullptr) {
    return lanes;
  }
  by.tick = now_[first].tick;
  const std::uint32_t known = now_[first].block_known;
  const auto read = [&](int number) __attribute__((always_inline)) {
    const auto lane = static_cast<std::size_t>(number);
    by.thread = static_cast<std::uint16_t>(first + lane);
    return shared_.read_word(*page, address[lane], by, known);
  };
  using WordRead = Shadow::WordRead;
  LaneMask left = 0;
  bool settled = true;
  if (in_rows(address)) {
    const auto read_row = [&](std::size_t half) {
      by.thread = static_cast<std::uint16_t>(first + half);
      Cell* cell = shared_.cell_for_half(*page, address[half]);
      return cell != nullptr ? shared_.read_word(*page, *cell, by, known) : WordRead::No;
    };
    constexpr std::size_t half = isa::warp_size / 2;
    const WordRead low = read_row(0);
    if (low != WordRead::No) {
      lanes = 0;
      settled = low == WordRead::ForWarp;
      if (address[0] != address[half] || !settled) {
        const WordRead high = read_row(half);
        settled = settled && high == WordRead::ForWarp;
        left = high == WordRead::No ? isa::all_lanes << half : 0;
      }
    }
  }
  const LaneMask next_to = lanes != 0 ? same_as_before<1>(address) : 0;
  const LaneMask half_away = lanes != 0 ? same_as_before<isa::warp_size / 2>(address) : 0;
  for (LaneMask m = lanes; m != 0;) {
    const int lane = std::countr_zero(m);
    const LaneMask bit = LaneMask{1} << lane;
    m &= ~bit;
    const WordRead kept = read(lane);
    settled = settled && kept == WordRead::ForWarp;
    if (kept == WordRead::No) {
      left |= bit;
      continue;
    }
    const int run = std::countr_one(static_cast<std::uint64_t>(next_to) >> (lane + 1));
    const LaneMask behind = static_cast<LaneMask>(((std::uint64_t{1} << run) - 1) << (lane + 1));
    const LaneMask alike = (behind | (half_away & (bit | behind) << isa::warp_size / 2)) & m;
    if (kept == WordRead::ForThread && alike != 0 &&
        read(std::countr_zero(alike)) == WordRead::No) {
      left |= alike & -alike;
    }
    m &= ~alike;
  }
  for (std::size_t lane = 0; settled && lane < isa::warp_size; ++lane) {
    settled = Shadow::is_settled(*page, address[lane]);
    before.address[lane] = address[lane];
  }
  before.changes = settled ? shared_.changes() : ~std::uint64_t{0};
  before.now = now_[first];
  return left;
}

/// Of an access to words of global memory or the block's own shared memory, if it is aligned.
Shadow* BlockRaces::shadow_of_words(const Site& site, std::uint64_t address) {
  if ((address & 3) != 0) {
    return nullptr;
  }
  if (site.shared) {
    return address < std::uint64_t{1} << memory::shared_rank_shift ? &shared_ : nullptr;
  }
  return isa::in_window(address) ? nullptr : &races_.global();
}

const BlockRaces::Knowledge& BlockRaces::knowledge_of(std::size_t w) {
  Knowledge& knowledge = knowledge_[w];
  if (knowledge.changes != changes_) {
    knowledge = {changes_, true, true};
    const std::size_t first =
        w * isa::warp_size + static_cast<std::size_t>(std::countr_zero(live(w)));
    for (LaneMask m = live(w); m != 0; m &= m - 1) {
      const std::size_t index = w * isa::warp_size + static_cast<std::size_t>(std::countr_zero(m));
      knowledge.same = knowledge.same && now_[index] == now_[first] &&
                       threads_[index].warp_known == threads_[first].warp_known;
      knowledge.alone = knowledge.alone && threads_[index].others.empty();
    }
  }
  return knowledge;
}

/// A plain access of a word each by all lanes of a warp. The result is the lanes that are left.
LaneMask BlockRaces::look_at_rows(
    const Site& site,
    Access by,
    std::size_t w,
    const std::uint64_t (&address)[isa::warp_size]
) {
  if (!in_rows(address) || !knowledge_of(w).same) {
    return isa::all_lanes;
  }
  const std::size_t first = w * isa::warp_size;
  LaneMask left = isa::all_lanes;
  NearOrder order = near_order();
  set_thread(order, first);
  order.knows_others = !knowledge_of(w).alone;
  by.tick = now_[first].tick;
  constexpr std::size_t half = isa::warp_size / 2;
  for (const std::size_t lane : {std::size_t{0}, half}) {
    Shadow* shadow = shadow_of_words(site, address[lane]);
    Page* page = shadow != nullptr ? shadow->page(address[lane] / Page::bytes) : nullptr;
    Cell* cell = page != nullptr ? shadow->cell_for_half(*page, address[lane]) : nullptr;
    if (cell == nullptr) {
      continue;
    }
    order.thread = by.thread = static_cast<std::uint16_t>(first + lane);
    using WordRead = Shadow::WordRead;
    bool done = false;
    if (page->write.any()) {
      // As touch_words() does.
    } else if (site.kind == SiteKind::Load) {
      const WordRead kept = shadow->read_word(*page, *cell, by, order.block_known);
      if (kept == WordRead::ForWarp && address[0] == address[half]) {
        return 0;
      }
      done = kept != WordRead::No;
    } else if (!page->read.any()) {
      done = shadow->write_word(*page, *cell, by, order.block_known);
    }
    if (done || shadow->touch_word(*page, *cell, by, order)) {
      left &= lane == 0 ? isa::all_lanes << half : ~(isa::all_lanes << half);
    }
  }
  return left;
}

/// Reads of the same words by all lanes of a warp. True: done. What is kept of them are the last
/// two, or the last one and what is farther away: those between the first two and the last two make
/// no difference.
bool BlockRaces::read_together(
    const Site& site,
    Access by,
    std::size_t w,
    std::uint64_t words,
    const std::uint64_t (&address)[isa::warp_size]
) {
  if (address[0] != address[1] || address[0] != address[isa::warp_size - 1]) {
    return false;
  }
  std::uint64_t apart = 0;
  for (const std::uint64_t a : address) {
    apart |= a ^ address[0];
  }
  Shadow* shadow = apart == 0 ? shadow_of_words(site, address[0]) : nullptr;
  const std::size_t first = w * isa::warp_size;
  if (shadow == nullptr || !knowledge_of(w).same || !knowledge_of(w).alone) {
    return false;
  }
  NearOrder order = near_order();
  set_thread(order, first);
  by.tick = now_[first].tick;
  for (const std::size_t lane : {0, 1, isa::warp_size - 2, isa::warp_size - 1}) {
    order.thread = by.thread = static_cast<std::uint16_t>(first + lane);
    if (!shadow->touch_words(address[0], words, by, order)) {
      return false;
    }
  }
  return true;
}

} // namespace heddle::race
