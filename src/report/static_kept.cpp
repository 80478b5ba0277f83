#include "report/static_kept.h"

#include <nlohmann/json.hpp>

namespace heddle::report {

// In the namespace of the types, where the library looks for them.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Region, file, line, column, end_line, end_column, offset, length)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Edit, where, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Fix, description, edits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Step, where, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    StaticFinding,
    key,
    rule,
    severity,
    place,
    message,
    function,
    steps,
    related,
    help,
    fixes,
    suppressed,
    suppressed_by,
    fingerprint
)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileTime, file, lines, errors, first_error, barriers)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KeptFile, findings, time)

std::string text_to_keep(const KeptFile& file) {
  const nlohmann::json json = file;
  return json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

std::optional<KeptFile> read_kept(std::string_view text) {
  try {
    return nlohmann::json::parse(text).get<KeptFile>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

} // namespace heddle::report
