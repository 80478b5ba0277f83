#include "reduce/states/present.h"

#include <algorithm>

namespace heddle::reduce {

void Present::absorb_writes(Work& work, std::size_t c) {
  std::vector<MemoryJournal::Bytes> own;
  Cluster& cluster = *work.clusters[c];
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    const Block& block = cluster.block(b);
    const std::uint64_t size = block.all_shared().size();
    own.push_back({block.all_shared().data(), size, shared_word(b * size)});
    own.push_back({block.local().data(), block.local().size(), nullptr});
  }
  if (parts_.options.notes_accesses()) {
    parts_.seen.choice = parts_.independence.accesses().note(work, c, own) || parts_.seen.choice;
  }
  parts_.machine.journal.absorb(own);
}

void Present::capture(std::size_t n, std::size_t c) {
  Work& work = *parts_.machine.works[n];
  absorb_writes(work, c);
  parts_.independence.note_ends(work, c);
  if (parts_.weak) {
    parts_.weak->note_ends(work, c);
  }
  const Image* image = parts_.images.intern(work, c, finder_);
  work.loaded[c] = image;
  replace_image(n, c, image);
}

void Present::replace_image(std::size_t n, std::size_t c, const Image* image) {
  Work& work = *parts_.machine.works[n];
  if (const Image* before = work.images[c]; image != before) {
    log_.push_back(
        {Log::Kind::Image, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(c), before}
    );
    set_image(work, c, image);
  }
}

void Present::set_image(Work& work, std::size_t c, const Image* image) {
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

// --- Going back ----------------------------------------------------------------------------------

Present::Mark Present::mark() const {
  return {
      log_.size(),
      parts_.machine.journal.mark(),
      parts_.machine.world.output_bytes(),
      parts_.weak ? parts_.weak->order().mark() : 0
  };
}

void Present::undo_to(const Mark& mark) {
  parts_.under_way.failure.reset();
  parts_.machine.journal.undo_to(mark.memory);
  if (parts_.weak) {
    parts_.weak->order().undo_to(mark.weak);
  }
  if (mark.output != parts_.machine.world.output_bytes()) {
    parts_.machine.world.drop_output_from(mark.output);
  }
  for (; log_.size() > mark.log; log_.pop_back()) {
    const Log& entry = log_.back();
    Work& work = *parts_.machine.works[entry.work];
    switch (entry.kind) {
    case Log::Kind::Image:
      set_image(work, entry.cluster, entry.before);
      break;
    case Log::Kind::Ready:
      work.ready = false;
      work.images.clear();
      work.open_places = {};
      work.sum = work.unnumbered = {};
      std::ranges::fill(work.loaded, nullptr);
      break;
    case Log::Kind::GridsOver:
      work.grids_over = false;
      std::ranges::fill(work.starts, Start::Free);
      break;
    case Log::Kind::Done:
      work.done = false;
      work.command->done.store(false);
      break;
    }
  }
}

void Present::add_class_changes(
    std::size_t since,
    const Move& move,
    std::vector<Change>& changes
) const {
  for (std::size_t i = since; i < log_.size(); ++i) {
    const Log& entry = log_[i];
    if (entry.kind == Log::Kind::Image && entry.before != nullptr) {
      const Work& work = *parts_.machine.works[entry.work];
      note_changes(*entry.before, *work.images[entry.cluster], changes);
      if (Renaming::like_others(work, entry.cluster, *entry.before, move.who)) {
        note_kept(*entry.before, changes);
      }
    }
  }
}

void Present::forget() {
  log_.clear();
  parts_.machine.journal.forget();
  if (parts_.weak) {
    parts_.weak->order().forget_undo();
  }
}

void Present::host_moved() {
  log_.clear();
  parts_.machine.journal.recount();
  if (parts_.weak) {
    parts_.weak->order().forget_undo();
    parts_.weak->order().look_again(parts_.machine.world.space());
  }
  parts_.machine.works.drop_done();
}

} // namespace heddle::reduce
