// Implements ImageStore of image.h.
#include "reduce/states/image.h"

#include <cstring>
#include <utility>

namespace heddle::reduce {

const Image* ImageStore::add(std::unique_ptr<Image> image) {
  find_alike(*image);
  return images_.add(std::move(image));
}

void ImageStore::find_alike(const Image& image) {
  image.alike = &image;
  if (by_decisions_) {
    const Image* first = first_alike_.try_emplace(image.hash.low, &image).first->second;
    image.alike = first->hash == image.hash ? first : &image;
  }
}

const ImageRest* ImageStore::intern(std::unique_ptr<ImageRest> rest) {
  const ImageRest* known = rests_.find(rest->content);
  return known != nullptr ? known : rests_.add(std::move(rest));
}

const ImageThread* ImageStore::intern(std::unique_ptr<ImageThread> thread) {
  const Image::Ready& ready = thread->ready;
  const Hash128 own = hash_of(thread->bytes.data(), thread->bytes.size());
  thread->content = combine(
      own.low,
      own.high,
      thread->summand.low,
      thread->summand.high,
      thread->lane.low,
      thread->lane.high,
      thread->unnumbered.low,
      thread->unnumbered.high,
      std::uint64_t{thread->asked} << 16 | std::uint64_t{thread->identity} << 2 |
          std::uint64_t{thread->placed} << 1 | std::uint64_t{thread->can_move},
      std::uint64_t{ready.block} << 32 | ready.warp,
      static_cast<std::uint64_t>(ready.lane) << 32 | ready.lanes,
      std::uint64_t{ready.endless} << 16 | static_cast<std::uint64_t>(ready.operation.kind) << 8 |
          static_cast<std::uint64_t>(ready.operation.step),
      reinterpret_cast<std::uintptr_t>(ready.operation.what),
      std::uint64_t{ready.operation.local} << 1 | std::uint64_t{ready.operation.plain_read},
      reinterpret_cast<std::uintptr_t>(ready.op)
  );
  const ImageThread* known = threads_.find(thread->content);
  return known != nullptr ? known : threads_.add(std::move(thread));
}

Hash128
ImageStore::content_of(const ImageRest& rest, const ImageShared& shared, const HashSum& threads) {
  return combine(
      rest.content.low,
      rest.content.high,
      shared.sum.low,
      shared.sum.high,
      threads.low,
      threads.high
  );
}

/// What the sum is after that has been written there.
HashSum ImageShared::after(std::span<const WordPart> writes) const {
  HashSum result = sum;
  for (const WordPart& part : writes) {
    const std::uint64_t before = contents(part.at, bytes.data());
    const std::uint64_t then = (before & ~part.mask) | part.value;
    if (then != before) {
      result.subtract(MemoryJournal::hash(part.at, before));
      result.add(MemoryJournal::hash(part.at, then));
    }
  }
  return result;
}

const ImageShared*
ImageStore::written(const ImageShared& before, std::span<const WordPart> writes) {
  return shared(before.after(writes), [&] {
    auto bytes = before.bytes;
    for (const WordPart& part : writes) {
      const std::uint64_t after =
          (contents(part.at, before.bytes.data()) & ~part.mask) | part.value;
      const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(part.at) & ~in_shared_memory;
      std::memcpy(bytes.data() + offset, &after, sizeof after);
    }
    return bytes;
  });
}

void ImageStore::keep_only(const std::unordered_set<const Image*>& used) {
  images_.erase_if([&](const Image& image) { return !used.contains(&image); });
  first_alike_.clear();
  for (const Image* image : used) {
    if (image != nullptr) {
      find_alike(*image);
    }
  }
  std::unordered_set<const void*> parts;
  for (const Image* image : used) {
    if (image != nullptr) {
      parts.insert(image->rest);
      parts.insert(image->shared);
      parts.insert(image->parts.begin(), image->parts.end());
    }
  }
  rests_.erase_if([&](const ImageRest& rest) { return !parts.contains(&rest); });
  shared_.erase_if([&](const ImageShared& shared) { return !parts.contains(&shared); });
  threads_.erase_if([&](const ImageThread& thread) { return !parts.contains(&thread); });
}

} // namespace heddle::reduce
