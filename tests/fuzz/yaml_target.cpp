// Target: any text is a project's settings (.heddle.yaml), a baseline or the options of lint, or is
// refused with a message.
#include "cli/config/config_file.h"
#include "cli/lint/lint_settings.h"

#include "fuzzed.h"

int heddle::fuzz::yaml(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const fuzz::File file(fuzz::text_of({data, size}));
  bool is_accepted = false;
  for (const cli::ConfigOptions& options :
       {cli::ConfigOptions{.file = file.path(), .baseline = "", .write_baseline = ""},
        cli::ConfigOptions{.file = "none", .baseline = file.path(), .write_baseline = ""}}) {
    for (const char* program : {"", "src/scan.cu"}) {
      auto config = cli::read_config(options, program);
      if (!config) {
        fuzz::expect_words(config.error().message);
        continue;
      }
      is_accepted = true;
      report::Report report;
      report.findings.emplace_back(report::Finding::DataRace, "two threads");
      config->suppressions.apply(report);
      (void)cli::unused_suppressions(*config, {});
    }
    (void)cli::describe_config(options, false);
  }
  for (const char* section : {"", "lint"}) {
    const auto settings = cli::read_lint_file(file.path(), section);
    if (!settings) {
      fuzz::expect_words(settings.error().message);
    }
  }
  return is_accepted ? 1 : 0;
}
