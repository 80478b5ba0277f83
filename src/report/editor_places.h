// Places of findings as the Language Server Protocol has them: addresses of files, and lines and
// characters that count from 0.
//
//   Places places(/*in_bytes=*/false);
//   Json range = places.range(finding.place);
#pragma once

#include "report/render.h"
#include "report/static_report.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace heddle::report {

/// file:///a%20b is "/a b". Empty: no file of this machine.
std::string path_of(const std::string& uri);
std::string uri_of(const std::string& path);

class Places {
public:
  /// Characters are bytes if the client takes them so, else units of UTF-16.
  explicit Places(bool in_bytes) : in_bytes_(in_bytes) {}
  nlohmann::json range(const Region& at);
  /// Of an edit, which is known by its bytes.
  nlohmann::json range_of_bytes(const Region& at);

private:
  nlohmann::json position(const std::string& file, std::uint32_t line, std::uint32_t column);
  nlohmann::json position_of_byte(const std::string& file, std::size_t offset);

  bool in_bytes_;
  SourceCache sources_;
  std::map<std::string, std::string> texts_; // whole files, where bytes count
};

} // namespace heddle::report
