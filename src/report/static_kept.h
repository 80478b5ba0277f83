// static_kept.h: what a checker of sources has found in one file, as text that a later run reads.
//
//   std::string text = text_to_keep({findings, time});
//   if (auto kept = read_kept(text)) …
#pragma once

#include "report/static_report.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

struct KeptFile {
  std::vector<StaticFinding> findings;
  FileTime time; // but for the times: it took none
};

std::string text_to_keep(const KeptFile& file);
/// Nothing: no such text, from another version or cut off.
std::optional<KeptFile> read_kept(std::string_view text);

} // namespace heddle::report
