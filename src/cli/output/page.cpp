// Implements page.h.
#include "cli/output/page.h"

#include "cli/options/option_values.h"
#include "cli/output/output.h"

#include <CLI/CLI.hpp>

namespace heddle::cli {

void define_html(CLI::App& command, std::string& html) {
  command
      .add_option(
          "--html",
          html,
          "Also write a page that a browser opens without network: the verdict, which thread "
          "waits for which, "
          "and each step with source and memory"
      )
      ->check(file_to_write())
      ->type_name("FILE");
}

Result<void> write_page(report::Page page, const std::string& file) {
  report::SourceCache sources;
  page.version = HEDDLE_VERSION;
  return write_result(render_html(page, sources), file);
}

} // namespace heddle::cli
