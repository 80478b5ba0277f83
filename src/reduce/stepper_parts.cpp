// Parts of images: each is kept once for each content, and thrown away when nobody has it.
#include "reduce/stepper_work.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace heddle::reduce {

void Stepper::forget() {
  constexpr std::size_t worth_it = 1024; // images
  log_.clear();
  journal_.forget();
  if (weak_) {
    weak_->forget_undo();
  }
  if (images_.store().size() < worth_it) {
    return;
  }
  known_moves_.forget(); // names images
  std::unordered_set<const Image*> used;
  for (const auto& work : works_) {
    used.insert(work->images.begin(), work->images.end());
    used.insert(work->loaded.begin(), work->loaded.end());
  }
  images_.store().keep_only(used);
}

} // namespace heddle::reduce
