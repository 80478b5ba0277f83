// Implements the part of stepper.h that is about images: writing down where a cluster has come to
// (images.h), and what that changes for its work.
#include "reduce/barrier_monitor.h"
#include "reduce/stepper_work.h"

#include <utility>

namespace heddle::reduce {

/// The journal takes over what the cluster has written, except what is in its image.
void Stepper::absorb_writes(Work& work, std::size_t c) {
  std::vector<MemoryJournal::Bytes> own;
  Cluster& cluster = *work.clusters[c];
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    const Block& block = cluster.block(b);
    const std::uint64_t size = block.all_shared().size();
    own.push_back({block.all_shared().data(), size, shared_word(b * size)});
    own.push_back({block.local().data(), block.local().size(), nullptr});
  }
  // Where blocks start at once it matters whether a choice meets a command.
  if (options_.independence.sums || options_.independence.orderly ||
      options_.persistent.starts_at_once) {
    seen_.choice = access_monitor_.note(work, c, own) || seen_.choice;
  }
  journal_.absorb(own);
}

void Stepper::capture(std::size_t n, std::size_t c) {
  Work& work = *works_[n];
  absorb_writes(work, c);
  note_ends(work, c);
  if (weak_) {
    weak_->note_ends(work, c);
  }
  const Image* image = images_.intern(work, c, cluster_moves_);
  work.loaded[c] = image;
  replace_image(n, c, image);
}

void Stepper::replace_image(std::size_t n, std::size_t c, const Image* image) {
  Work& work = *works_[n];
  if (const Image* before = work.images[c]; image != before) {
    log_.push_back(
        {Log::Kind::Image, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(c), before}
    );
    set_image(work, c, image);
  }
}

void Stepper::set_image(Work& work, std::size_t c, const Image* image) {
  if (work.images[c] != nullptr) {
    work.sum.subtract(work.images[c]->hash);
    work.unnumbered.subtract(work.images[c]->unnumbered);
    work.open_places.subtract(work.images[c]->open_places);
  }
  if (image != nullptr) {
    work.sum.add(image->hash);
    work.unnumbered.add(image->unnumbered);
    work.open_places.add(image->open_places);
  }
  work.images[c] = image;
}

void Stepper::note_doubts(Work& work, std::size_t c) {
  const bool doubt = std::exchange(work.progress[c].turns_doubt, false);
  const bool in_pieces = std::exchange(work.progress[c].in_pieces, false);
  seen_.in_pieces = seen_.in_pieces || in_pieces;
  seen_.turns_clash = seen_.turns_clash || (doubt && !mutant_is(Mutant::TurnsForgotten));
}

void Stepper::note_ends(Work& work, std::size_t c) {
  note_doubts(work, c);
  const bool gone =
      some_gone(work.progress[c], *work.clusters[c]) && !mutant_is(Mutant::NeighboursForgetEnds);
  seen_.neighbour_gone = seen_.neighbour_gone || gone;
}

} // namespace heddle::reduce
