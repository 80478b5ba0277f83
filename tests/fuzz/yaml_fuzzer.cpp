// libFuzzer target: any text is a project's settings (.heddle.yaml), or is refused with a message.
#include "cli/config_file.h"

#include "fuzzed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const fuzz::File file(fuzz::text_of({data, size}));
  for (const char* program : {"", "src/scan.cu"}) {
    auto config =
        cli::read_config({.file = file.path(), .baseline = "", .write_baseline = ""}, program);
    fuzz::expect(config || !config.error().message.empty(), "refused without a word");
    if (config) {
      report::Report report;
      report.findings.emplace_back(report::Finding::DataRace, "two threads");
      config->suppressions.apply(report);
      (void)cli::unused_suppressions(*config, {});
    }
  }
  (void)cli::describe_config({.file = file.path(), .baseline = "", .write_baseline = ""}, false);
  return 0;
}
