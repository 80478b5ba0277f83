// Implements suite_checkpoint.h.
#include "cli/suite/suite_checkpoint.h"

#include "base/new_file.h"
#include "cli/file.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

namespace heddle::cli {
namespace {

constexpr std::string_view suite_head = "heddle suite checkpoint 1\n";
constexpr std::size_t most_bytes = 1ULL << 32;

std::string compressed(const std::string& text) {
  std::string result(ZSTD_compressBound(text.size()), '\0');
  const std::size_t bytes =
      ZSTD_compress(result.data(), result.size(), text.data(), text.size(), ZSTD_CLEVEL_DEFAULT);
  result.resize(ZSTD_isError(bytes) != 0 ? 0 : bytes);
  return result;
}

/// Empty: it is not whole.
std::string decompressed(const std::string& bytes) {
  // Piece by piece: what a file says of its size may be wrong.
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(
      ZSTD_createDCtx(),
      &ZSTD_freeDCtx
  );
  std::string text, piece(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0 || text.size() + out.pos > most_bytes) {
      return "";
    }
    text.append(piece, 0, out.pos);
    if (left == 0) {
      return in.pos == in.size ? text : "";
    }
    if (in.pos == in.size && out.pos < out.size) {
      return ""; // it has been cut off
    }
  }
}

/// On the disk, not only in its cache. False, and errno: it is not.
bool write_through(const std::string& file, std::string_view bytes) {
  constexpr mode_t mode = 0666; // less the user's umask
  const int fd = open_new_file(file, mode);
  if (fd < 0) {
    return false;
  }
  const bool good = write_to(fd, bytes.data(), bytes.size()) && ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  errno = error;
  return good;
}

} // namespace

Result<void> SuiteCheckpoint::read() {
  TRY(const std::string bytes, read_file(file_));
  const std::string text = decompressed(bytes);
  const auto broken = [&] {
    return input_error(fmt::format("{}: not a checkpoint of a suite, or not whole", file_));
  };
  if (!text.starts_with(suite_head)) {
    return broken();
  }
  for (std::size_t at = suite_head.size(); at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    auto result = report::decode_suite_result(std::string_view(text).substr(at, end - at));
    if (!result || result->identity.empty()) {
      return broken();
    }
    results_[result->identity] = std::move(*result);
    at = end + 1;
  }
  return {};
}

const report::SuiteResult* SuiteCheckpoint::find(const std::string& identity) const {
  const auto known = results_.find(identity);
  return known != results_.end() ? &known->second : nullptr;
}

Result<void> SuiteCheckpoint::add(const report::SuiteResult& result) {
  if (file_.empty() || result.identity.empty()) {
    return {};
  }
  results_[result.identity] = result;
  std::string text(suite_head);
  for (const auto& [identity, one] : results_) {
    text += report::encode(one) + "\n";
  }
  const std::string fresh = file_ + ".new";
  if (!write_through(fresh, compressed(text)) || std::rename(fresh.c_str(), file_.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(fresh.c_str());
    return input_error(fmt::format("cannot write the checkpoint {}: {}", file_, why));
  }
  return {};
}

} // namespace heddle::cli
