// Implements rank_cut.h.
#include "explore/ranks/rank_cut.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace heddle::explore {

RankCut::~RankCut() {
  close_all();
}

void RankCut::begin() {
  const std::lock_guard hold(mutex_);
  close_all();
  number_ = ++begun_;
}

bool RankCut::is_over() const {
  const std::lock_guard hold(mutex_);
  const auto others = std::span(copies_).subspan(1);
  return std::ranges::all_of(others, &Copy::ended) ||
         std::ranges::any_of(others, [](const Copy& one) { return one.ended && !one.good; });
}

std::optional<std::vector<int>> RankCut::copies() const {
  const std::lock_guard hold(mutex_);
  std::vector<int> files{-1};
  for (std::size_t rank = 1; rank < copies_.size(); ++rank) {
    if (!copies_[rank].good) {
      return std::nullopt;
    }
    files.push_back(copies_[rank].file);
  }
  return files;
}

void RankCut::end() {
  const std::lock_guard hold(mutex_);
  close_all();
  number_ = 0;
}

std::uint32_t RankCut::wanted() const {
  const std::lock_guard hold(mutex_);
  return number_;
}

void RankCut::add(int from, std::uint32_t number, std::string_view bytes) {
  const std::lock_guard hold(mutex_);
  Copy& copy = copies_[static_cast<std::size_t>(from)];
  if (number != number_ || copy.ended) {
    return;
  }
  if (copy.file < 0) {
    copy.file = ::memfd_create("heddle-part", MFD_CLOEXEC);
  }
  while (!bytes.empty()) {
    const ssize_t some = ::write(copy.file, bytes.data(), bytes.size());
    if (some <= 0) { // no memory is left
      copy.ended = true;
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(some));
  }
}

void RankCut::finish(int from, std::uint32_t number, bool good) {
  const std::lock_guard hold(mutex_);
  Copy& copy = copies_[static_cast<std::size_t>(from)];
  if (number == number_ && !copy.ended) {
    copy.ended = true;
    copy.good = good && copy.file >= 0;
  }
}

void RankCut::close_all() {
  for (Copy& copy : copies_) {
    if (copy.file >= 0) {
      ::close(copy.file);
    }
    copy = {};
  }
}

} // namespace heddle::explore
