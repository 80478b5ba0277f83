#include "report/editor_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace heddle::report {
namespace {

using Json = nlohmann::json;

std::size_t units_of_utf16(std::string_view text) {
  constexpr unsigned char continues = 0x80, mask = 0xc0, four_bytes = 0xf0;
  std::size_t count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    count += (byte & mask) == continues ? 0 : byte >= four_bytes ? 2 : 1;
  }
  return count;
}

} // namespace

std::string path_of(const std::string& uri) {
  constexpr std::string_view scheme = "file://";
  std::string path;
  if (!uri.starts_with(scheme)) {
    return path;
  }
  for (std::size_t i = scheme.size(); i < uri.size(); ++i) {
    if (uri[i] == '%' && i + 2 < uri.size()) {
      path += static_cast<char>(std::strtol(uri.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      path += uri[i];
    }
  }
  return path;
}

std::string uri_of(const std::string& path) {
  constexpr std::string_view plain = "/-._~";
  std::string uri = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    uri += std::isalnum(byte) != 0 || plain.find(c) != std::string_view::npos
               ? std::string(1, c)
               : fmt::format("%{:02X}", byte);
  }
  return uri;
}

Json Places::range(const Region& at) {
  return {
      {"start", position(at.file, at.line, at.column)},
      {"end", position(at.file, at.end_line, at.end_column)}
  };
}

Json Places::range_of_bytes(const Region& at) {
  return {
      {"start", position_of_byte(at.file, at.offset)},
      {"end", position_of_byte(at.file, std::size_t{at.offset} + at.length)}
  };
}

Json Places::position(const std::string& file, std::uint32_t line, std::uint32_t column) {
  const std::string_view text = sources_.line(file, line).value_or("");
  const std::size_t bytes = std::min<std::size_t>(column == 0 ? 0 : column - 1, text.size());
  const std::size_t character = in_bytes_ ? bytes : units_of_utf16(text.substr(0, bytes));
  return {{"line", line == 0 ? 0 : line - 1}, {"character", character}};
}

Json Places::position_of_byte(const std::string& file, std::size_t offset) {
  const auto [entry, is_new] = texts_.try_emplace(file);
  if (is_new) {
    std::ifstream in(file, std::ios::binary);
    entry->second.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::string_view before = std::string_view(entry->second).substr(0, offset);
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t start = before.rfind('\n') + 1; // of the line; of the first: npos + 1
  return position(
      file,
      static_cast<std::uint32_t>(lines + 1),
      static_cast<std::uint32_t>(before.size() - start + 1)
  );
}

} // namespace heddle::report
