// Implements shadow.h.
#include "race/shadow.h"

namespace heddle::race {

void Shadow::restart() {
  ++life_;
  ++changes_;
  free_.clear();
  for (Segment::Cells& cells : cells_) { // nobody's any more: all pages begin anew
    free_.push_back(&cells);
  }
  kept_.clear();
  bytes_.clear();
}

Page* Shadow::existing_page(std::uint64_t number) {
  const auto it = pages_.find(number);
  return it != pages_.end() && it->second->life == life_ ? it->second.get() : nullptr;
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
  ++changes_;
  const std::uint64_t end = (address + bytes) / 4 * 4;
  for (std::uint64_t at = (address + 3) / 4 * 4; at < end; at += 4) {
    Page* page = existing_page(at / Page::bytes);
    if (Cell* cell = page == nullptr ? nullptr : word(*page, at)) {
      const std::uint32_t sync = (cell->more & split_bit) == 0 ? cell->sync : 0;
      *cell = {};
      cell->sync = sync;
    }
  }
}

Page* Shadow::find_page(std::uint64_t number) {
  std::unique_ptr<Page>& page = pages_[number];
  if (page == nullptr) {
    if (!may_take(sizeof(Page))) {
      return nullptr;
    }
    page = std::make_unique<Page>();
    page->life = life_;
    const auto next = first_writes_.upper_bound(number);
    if (next != first_writes_.begin() && number <= std::prev(next)->second.last) {
      page->write = std::prev(next)->second.by;
    }
  } else if (page->life != life_) {
    page->write = page->read = {};
    page->segments.fill({});
    page->touched = false;
    page->life = life_;
  }
  recent_[number % recent_.size()] = {number, page.get()};
  return page.get();
}

void Shadow::set_first_write(std::uint64_t address, std::uint64_t bytes, const Access& by) {
  const std::uint64_t first = (address + Page::bytes - 1) / Page::bytes;
  const std::uint64_t end = (address + bytes) / Page::bytes;
  if (first < end) {
    first_writes_[first] = {end - 1, by};
  }
}

bool Shadow::may_take(std::uint64_t bytes) {
  if (bytes_left_ < bytes) {
    bytes_left_ = 0;
    ++refused_;
    return false;
  }
  bytes_left_ -= bytes;
  return true;
}

/// Each word of the segment gets a cell of its own.
bool Shadow::part(Segment& segment) {
  if (free_.empty()) {
    if (!may_take(sizeof(Segment::Cells))) {
      return false;
    }
    free_.push_back(&cells_.emplace_back());
  }
  Segment::Cells& cells = *free_.back();
  free_.pop_back();
  for (std::uint16_t n = 0; n < Segment::words; ++n) {
    cells[n] = segment.cell_of(n);
  }
  segment.apart = &cells;
  return true;
}

Cell* Shadow::cell(std::uint64_t address) {
  Page* page = this->page(address / Page::bytes);
  if (page == nullptr) {
    return nullptr;
  }
  page->touched = true;
  ++changes_; // whoever asks may change it
  Cell* cell = word(*page, address);
  if (cell != nullptr && (cell->more & split_bit) != 0) {
    return &byte_cell(*cell, static_cast<unsigned>(address % 4));
  }
  return cell;
}

void Shadow::split(Cell& cell) {
  std::array<Cell, 4> parts;
  for (Cell& part : parts) {
    part = cell;
    if (cell.more != 0) {
      part.more = 0;
      kept(part) = kept_[cell.more];
    }
  }
  cell.more = static_cast<std::uint32_t>(bytes_.size()) | split_bit;
  cell.write = cell.read = cell.far_read = {};
  bytes_.push_back(parts);
}

} // namespace heddle::race
