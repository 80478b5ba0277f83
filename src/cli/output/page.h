// The page of --html, for `check`, `run` and `replay`.
#pragma once

#include "base/result.h"
#include "report/html.h"

#include <string>

namespace CLI {
class App;
}

namespace heddle::cli {

/// The flag --html.
void define_html(CLI::App& command, std::string& html);

/// Writes `page` to `file`. Input error: it cannot be written.
Result<void> write_page(report::Page page, const std::string& file);

} // namespace heddle::cli
