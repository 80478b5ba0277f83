#include "reduce/dead_data/dead_data.h"

#include "model/memory_journal.h"

#include <algorithm>
#include <map>

namespace heddle::reduce {

std::uint64_t
DeadData::left_out_of_shared(const Work& work, std::uint64_t read, std::uint64_t written) const {
  if (!by_decisions_ || work.clusters.front()->size() != 1) {
    return 0;
  }
  read = is(Mutant::OverwrittenForgetsReads) ? 0 : read;
  written = is(Mutant::OverwrittenForgetsWrites) ? ~std::uint64_t{0} : written;
  return (written & ~read) | cone_.data_in_shared(work.command->grid->kernel());
}

HashSum DeadData::sum_of(const Work& work, const ImageShared& shared, std::uint64_t left_out) {
  const auto& variables = work.command->grid->kernel().shared_variables;
  if (left_out == 0 || variables.empty()) {
    return shared.sum;
  }
  const auto [known, is_new] =
      shared.without.try_emplace(combine(work.identity, left_out).low, shared.sum);
  if (is_new) {
    std::map<std::uint64_t, std::uint64_t> words; // by offset: the bits that are left out
    for (std::size_t v = 0; v < std::min<std::size_t>(variables.size(), 64); ++v) {
      for (std::uint64_t b = 0; (left_out >> v & 1) != 0 && b < variables[v].bytes; ++b) {
        const std::uint64_t at = variables[v].offset + b;
        words[at / sizeof at * sizeof at] |= std::uint64_t{0xff} << 8 * (at % sizeof at);
      }
    }
    for (const auto& [offset, bits] : words) {
      const std::uint64_t* name = shared_word(offset);
      const std::uint64_t value = contents(name, shared.bytes.data());
      known->second.subtract(MemoryJournal::hash(name, value));
      known->second.add(MemoryJournal::hash(name, value & ~bits));
    }
  }
  return known->second;
}

} // namespace heddle::reduce
