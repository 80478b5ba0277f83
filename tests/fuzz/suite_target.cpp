// Target: any text is a suite (heddle check --suite), or is refused with a message.
#include "cli/suite/suite_file.h"

#include "fuzzed.h"

#include <set>

int heddle::fuzz::suite(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const fuzz::File file(fuzz::text_of({data, size}));
  const auto suite = cli::read_suite(file.path());
  if (!suite) {
    fuzz::expect_words(suite.error().message);
    return 0;
  }
  std::set<std::string> names;
  for (const cli::SuiteEntry& entry : suite->entries) {
    fuzz::expect(names.insert(entry.name).second, "two programs of one name");
    fuzz::expect(
        !entry.program.empty() && !entry.expected.empty(),
        "nothing to check, or to expect"
    );
  }
  return 1;
}
