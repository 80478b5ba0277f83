// heddle config: which settings of the project apply here, and what there is to set.
#include "cli/commands.h"
#include "cli/config/config_file.h"

#include <fmt/format.h>

namespace heddle::cli {

int config_command(const ShowConfigOptions& options) {
  const auto text = describe_config(options.config, options.explain);
  if (!text) {
    return report_error(text.error());
  }
  fmt::print("{}", *text);
  return 0;
}

} // namespace heddle::cli
