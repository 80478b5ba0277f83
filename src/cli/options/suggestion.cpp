// Implements suggestion.h.
#include "cli/options/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace heddle::cli {
namespace {

/// Insertions, deletions, replacements, and swaps of neighbours that turn one word into the other.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    before = std::exchange(last, now);
  }
  return last[b.size()];
}

} // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string_view best;
  for (const std::string& one : known) {
    if (const std::size_t edits = edits_between(word, one); edits < least) {
      least = edits;
      best = one;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

std::string option_meant_by(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"--arch", "--device"},
      {"--gpu", "--device"},
      {"--gpus", "--devices"},
      {"--json", "--format=json"},
      {"--sarif", "--format=sarif"},
      {"--threads", "--jobs"},
      {"--time", "--max-time"},
      {"--time-limit", "--max-time"},
      {"--timeout", "--max-time"},
  };
  const auto name = word.substr(0, word.find('='));
  for (const auto& [other, ours] : others) {
    if (name == other) {
      return std::string(ours);
    }
  }
  constexpr std::string_view of_nvcc[] =
      {"-D", "-G", "-I", "-L", "-O", "-U", "-W", "-X", "-arch", "-gencode", "-l", "-std", "-rdc"};
  const bool nvcc =
      std::ranges::any_of(of_nvcc, [&](std::string_view flag) { return word.starts_with(flag); });
  return nvcc ? fmt::format("flags of nvcc are given as --nvcc=\"{}\"", word) : "";
}

} // namespace heddle::cli
