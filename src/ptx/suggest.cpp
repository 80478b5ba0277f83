#include "ptx/suggest.h"

#include "ptx/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace heddle::ptx {
namespace {

/// Levenshtein distance of two short words.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

class Nearest {
public:
  explicit Nearest(std::string_view word)
      : word_(word.substr(0, 40)),
        limit_(1 + word_.size() / 4) {}
  void offer(std::string_view candidate) {
    std::size_t d = distance(word_, candidate);
    if (d <= limit_ && (best_.empty() || d < best_distance_)) {
      best_ = candidate;
      best_distance_ = d;
    }
  }
  std::string_view best() const { return best_; }

private:
  std::string_view word_;
  std::size_t limit_;
  std::string_view best_;
  std::size_t best_distance_ = 0;
};

} // namespace

std::string suggest_opcode(std::string_view word) {
  Nearest nearest(word);
  for (std::size_t i = 0; i < opcode_count; ++i) {
    nearest.offer(text(static_cast<Opcode>(i)));
  }
  return nearest.best().empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest.best());
}

std::string suggest_modifier(Opcode opcode, std::string_view word) {
  ModSet known;
  for (const Form& form : form_table().of(opcode)) {
    for (const Slot& slot : form.slots) {
      known |= slot.accepts;
    }
  }
  Nearest nearest(word);
  for (std::size_t m = 0; m < modifier_count; ++m) {
    if (known[m]) {
      nearest.offer(text(static_cast<Mod>(m)));
    }
  }
  return nearest.best().empty() ? "" : fmt::format(" (did you mean '.{}'?)", nearest.best());
}

} // namespace heddle::ptx
