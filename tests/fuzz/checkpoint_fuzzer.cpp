// libFuzzer target: what claims to be a checkpoint is refused, or makes a table of which everything
// can be read. The first byte says of what: one rank's table, those of two ranks with the second
// byte as the part of the first one in 256ths, or the results of a suite, compressed or yet to be.
#include "cli/suite_checkpoint.h"
#include "explore/state_table.h"
#include "explore/verdict.h"

#include "fuzzed.h"
#include <zstd.h>

#include <array>
#include <optional>

namespace {

using namespace heddle;
using namespace heddle::explore;

void read_all_of(const StateTable& table) {
  for (const auto numbering : {StateTable::Numbering::AsFound, StateTable::Numbering::ByContent}) {
    const ProgressGraph graph = table.load(numbering);
    for (const Edge& edge : graph.edges) {
      fuzz::expect(
          edge.from < graph.states.size() && edge.to < graph.states.size() &&
              edge.actor < graph.actors.size(),
          "an edge of nobody, or from nowhere"
      );
      (void)table.site(edge.site);
    }
    for (const Event& event : table.events(numbering)) {
      (void)table.site(event.site);
      (void)table.text(event.text);
    }
  }
  for (std::uint32_t n = 0; n < table.told(); ++n) {
    (void)table.told(n);
  }
  (void)table.to_meet_again();
  (void)table.claims_made();
  (void)table.all_met_again();
  (void)table.learned();
  if (table.state_count() != 0) {
    (void)judge(table, [](const Site& site) { return site; }, JudgeOptions{.finished = false});
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::string_view bytes = fuzz::text_of({data + 2, size - 2});
  const StateTable::Limits limits{.max_states = 64};
  switch (data[0] % 3) {
  case 0: {
    const fuzz::File file(bytes);
    if (const auto table = StateTable::restore(file.fd(), limits)) {
      read_all_of(*table);
    }
    break;
  }
  case 1: {
    const std::size_t middle = bytes.size() * data[1] / 256;
    const fuzz::File first(bytes.substr(0, middle)), second(bytes.substr(middle));
    const std::array parts{first.fd(), data[1] % 2 == 0 ? second.fd() : -1};
    if (const auto table = StateTable::restore(parts, limits)) {
      read_all_of(*table);
    }
    break;
  }
  default: {
    std::string compressed(bytes);
    if (data[1] % 2 != 0) { // mutations of what is compressed rarely mean anything
      compressed.resize(ZSTD_compressBound(bytes.size()));
      compressed.resize(
          ZSTD_compress(compressed.data(), compressed.size(), bytes.data(), bytes.size(), 1)
      );
    }
    const fuzz::File file(compressed);
    cli::SuiteCheckpoint checkpoint(file.path());
    (void)checkpoint.read();
  }
  }
  return 0;
}
