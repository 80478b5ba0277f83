// Implements race_groups.h.
#include "runtime/diagnostics/race_groups.h"

#include "machine/source_place.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

namespace heddle::runtime {
namespace {

using race::RaceReport;
using race::Why;

/// The lines between which a barrier is missing: behind `from`, before `to`; of pairs that meet
/// around a loop, behind `to` and before `from` in the next round.
struct Gap {
  const RaceReport* race = nullptr;
  std::uint32_t from = 0, to = 0;
  std::size_t group = 0;
  bool unsure = false; // RaceGroup::unsure
};

bool alike(const RaceReport& a, const RaceReport& b) {
  return a.code == b.code && a.next_round == b.next_round &&
         a.unordered_value == b.unordered_value &&
         users_place(a.first).file == users_place(b.first).file;
}

std::optional<Gap> gap_of(const RaceReport& race) {
  const machine::SourcePlace& first = users_place(race.first);
  const machine::SourcePlace& second = users_place(race.second);
  if (race.code == nullptr || race.why > Why::Block || first.line == 0 ||
      first.file != second.file) {
    return std::nullopt;
  }
  const auto [low, high] = std::minmax(first.line, second.line);
  return Gap{&race, low, high, 0, false};
}

/// Gives gaps of one kind that have a point in common the same group.
void find_points(std::vector<Gap*>& gaps, std::size_t& groups) {
  std::ranges::sort(gaps, {}, [](const Gap* gap) { return std::tuple(gap->to, gap->from, gap); });
  const Gap* point = nullptr;
  for (Gap* gap : gaps) {
    const bool inside =
        point != nullptr &&
        (gap->race->next_round
             ? gap->from <= point->to
             : gap->from < point->to || (gap->from == point->from && gap->to == point->to));
    if (!inside) {
      point = gap;
      ++groups;
    }
    gap->group = groups;
  }
}

/// In the order in which a thread comes to them.
const race::RaceSide& earlier_side(const RaceReport& race) {
  return race.reversed ? race.second : race.first;
}

/// The barrier at the end of a loop's body may be all that is missing: also of pairs that look as
/// if they were of one round, a read with a write further down or one line with itself. (Where the
/// compiler has written the rounds one after the other, only the lines of `loop` show the loop.)
void join_rounds(std::vector<Gap>& gaps) {
  for (Gap& gap : gaps) {
    const bool may_join = gap.to != 0 && !gap.race->next_round &&
                          (!earlier_side(*gap.race).write || gap.from == gap.to);
    if (!may_join) {
      continue;
    }
    const auto loop = std::ranges::find_if(gaps, [&](const Gap& other) {
      return other.to != 0 && other.race->next_round && other.race->code == gap.race->code &&
             other.from <= gap.from && gap.to <= other.to &&
             users_place(other.race->first).file == users_place(gap.race->first).file;
    });
    if (loop != gaps.end()) {
      gap.group = loop->group;
      gap.unsure = true;
    }
  }
}

/// A race rather than what is none; threads far from each other, whose barrier helps the others,
/// too; different values rather than the same one.
bool tells_more(const RaceReport& a, const RaceReport& b) {
  return a.why != b.why ? a.why > b.why : !a.same_value && b.same_value;
}

} // namespace

bool may_be_of_two_rounds(const RaceReport& race) {
  return race.in_loop && !race.next_round && !earlier_side(race).write;
}

const machine::SourcePlace& users_place(const race::RaceSide& side) {
  const auto own = std::ranges::find_if(side.place.inlined_at, [](const auto& place) {
    return !machine::is_system_file(place.file);
  });
  return machine::is_system_file(side.place.source.file) && own != side.place.inlined_at.end()
             ? *own
             : side.place.source;
}

std::vector<RaceGroup> group_races(const std::vector<RaceReport>& races) {
  std::vector<Gap> gaps;
  std::size_t groups = 0;
  for (const RaceReport& race : races) {
    gaps.push_back(gap_of(race).value_or(Gap{&race, 0, 0, 0, false}));
  }
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i].group != 0) {
      continue;
    }
    if (gaps[i].to == 0) {
      gaps[i].group = ++groups;
      continue;
    }
    std::vector<Gap*> same;
    for (Gap& gap : gaps) {
      if (gap.to != 0 && alike(*gap.race, *gaps[i].race)) {
        same.push_back(&gap);
      }
    }
    find_points(same, groups);
  }
  join_rounds(gaps);
  std::vector<RaceGroup> result;
  std::vector<std::size_t> numbers; // of what is in `result`
  for (const Gap& gap : gaps) {
    if (gap.unsure) {
      continue;
    }
    const auto known = std::ranges::find(numbers, gap.group);
    if (known == numbers.end()) {
      numbers.push_back(gap.group);
      result.push_back({*gap.race, {}, {}});
      continue;
    }
    RaceGroup& group = result[static_cast<std::size_t>(known - numbers.begin())];
    group.others.push_back(*gap.race);
    if (tells_more(*gap.race, group.first)) {
      std::swap(group.first, group.others.back());
    }
  }
  for (const Gap& gap : gaps) {
    if (gap.unsure) {
      const auto known = std::ranges::find(numbers, gap.group);
      result[static_cast<std::size_t>(known - numbers.begin())].unsure.push_back(*gap.race);
    }
  }
  return result;
}

} // namespace heddle::runtime
