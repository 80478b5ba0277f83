// Target: decode() answers any string, and what it accepts is written and read as the
// same. The first byte says whether the rest is the string, or the lines that are compressed in
// one.
#include "explore/witness/schedule.h"

#include "fuzzed.h"
#include <zstd.h>

namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6;) {
      count -= 6;
      text += alphabet[bits >> count & 63];
    }
  }
  return count > 0 ? text + alphabet[bits << (6 - count) & 63] : text;
}

} // namespace

int heddle::fuzz::schedule(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  if (size == 0) {
    return 0;
  }
  std::string text(fuzz::text_of({data + 1, size - 1}));
  if (data[0] % 2 != 0) {
    std::string frame(ZSTD_compressBound(text.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 1));
    text = "v1:" + base64(frame);
  }
  auto schedule = explore::decode(text);
  if (!schedule) {
    fuzz::expect_words(schedule.error().message);
    return 0;
  }
  schedule->nvcc.clear(); // is not written
  const auto again = explore::decode(explore::encode(*schedule));
  fuzz::expect(again && *again == *schedule, "a schedule that is not read as it was written");
  return 1;
}
