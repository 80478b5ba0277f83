// Implements image_folder.h: the time of a file's last change says when it was used.
#include "jit/image_folder.h"

#include <algorithm>
#include <vector>

namespace heddle::jit {

namespace fs = std::filesystem;

void bound_image_folder(const fs::path& folder, std::uintmax_t most) {
  struct Image {
    fs::path path;
    fs::file_time_type used;
    std::uintmax_t bytes = 0;
  };
  std::vector<Image> images;
  std::uintmax_t all = 0;
  std::error_code failure;
  const auto stale = fs::file_time_type::clock::now() - longest_write;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    Image image{entry.path(), entry.last_write_time(failure)};
    if (failure || !entry.is_regular_file(failure)) {
      continue;
    }
    if (image.path.extension() != ".image") {
      if (image.used < stale) {
        fs::remove(image.path, failure);
      }
      continue;
    }
    image.bytes = entry.file_size(failure);
    all += failure ? 0 : image.bytes;
    images.push_back(std::move(image));
  }
  std::ranges::sort(images, {}, &Image::used);
  for (const Image& image : images) {
    if (all <= most) {
      return;
    }
    fs::remove(image.path, failure);
    all -= image.bytes;
  }
}

void note_image_used(const fs::path& image) {
  std::error_code failure;
  fs::last_write_time(image, fs::file_time_type::clock::now(), failure);
}

} // namespace heddle::jit
