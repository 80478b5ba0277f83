// Target: what claims to be a checkpoint is refused, or makes a table of which everything can be
// read. The first byte says of what: one rank's table; those of two ranks with the second byte as
// the part of the first one in 256ths; the results of a suite, compressed or yet to be; a whole
// file, of the check "fuzz".
#include "cli/suite/suite_checkpoint.h"
#include "explore/table/checkpoint.h"
#include "explore/table/state_table.h"
#include "explore/verdict/verdict.h"

#include "fuzzed.h"
#include <zstd.h>

#include <array>
#include <optional>

namespace {

using namespace heddle;
using namespace heddle::explore;

constexpr StateTable::Limits few_states{.max_states = 64};

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

bool is_read(const Result<StateTable>& table) {
  if (!table) {
    fuzz::expect_words(table.error().message);
    return false;
  }
  read_all_of(*table);
  return true;
}

bool is_table(std::string_view bytes) {
  const fuzz::File file(bytes), same(bytes);
  const bool goes_on = is_read(StateTable::restore(file.fd(), few_states));
  return is_read(StateTable::read(same.fd(), few_states)) && goes_on;
}

bool are_tables(std::string_view bytes, std::uint8_t part) {
  constexpr std::size_t parts_of_all = 256;
  const std::size_t middle = bytes.size() * part / parts_of_all;
  const fuzz::File first(bytes.substr(0, middle)), second(bytes.substr(middle));
  const std::array parts{first.fd(), part % 2 == 0 ? second.fd() : -1};
  return is_read(StateTable::restore(parts, few_states));
}

bool are_results(std::string_view bytes, bool compressed_already) {
  std::string compressed(bytes);
  if (!compressed_already) { // mutations of what is compressed rarely mean anything
    compressed.resize(ZSTD_compressBound(bytes.size()));
    compressed.resize(
        ZSTD_compress(compressed.data(), compressed.size(), bytes.data(), bytes.size(), 1)
    );
  }
  const fuzz::File file(compressed);
  cli::SuiteCheckpoint checkpoint(file.path());
  return checkpoint.read().has_value();
}

bool is_file(std::string_view bytes) {
  const fuzz::File file(bytes);
  Checkpoint checkpoint({.file = file.path(), .resume = true, .version = {}}, "fuzz");
  if (const auto looked = checkpoint.look(); !looked) {
    fuzz::expect_words(looked.error().message);
    return false;
  }
  const auto kept = checkpoint.kept(few_states);
  if (kept && *kept) {
    read_all_of(**kept);
  }
  return is_read(checkpoint.read_table(few_states));
}

} // namespace

int heddle::fuzz::checkpoint(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::string_view bytes = fuzz::text_of({data + 2, size - 2});
  const auto read = [&] {
    switch (data[0] % 4) {
    case 0:
      return is_table(bytes);
    case 1:
      return are_tables(bytes, data[1]);
    case 2:
      return are_results(bytes, data[1] % 2 == 0);
    default:
      return is_file(bytes);
    }
  };
  return read() ? 1 : 0;
}
