// Implements other_answers.h.
#include "explore/verdict/other_answers.h"

#include "report/render.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

namespace heddle::explore {

std::map<std::string, Site> places_of_questions(const StateTable& table, HostSources& sources) {
  std::map<std::string, Site> asked;
  for (const Event& event : table.events()) { // several processes find them in any order
    if (event.kind == EventKind::Asked) {
      const Site where = sources.resolve(table.site(event.site));
      const auto [known, is_new] = asked.emplace(table.text(event.text), where);
      Site& first = known->second;
      if (!is_new && std::tie(where.file, where.line) < std::tie(first.file, first.line)) {
        first = where;
      }
    }
  }
  return asked;
}

std::vector<report::LeftOut>
other_answers(const Decides& decides, const std::map<std::string, Site>& asked) {
  constexpr std::array<std::string_view, all_answers.size()> words{
      "memory of devices lies at other addresses, or in another order (shared variables and "
      "functions, too), or states of mbarriers are other numbers",
      "memory of devices that was freed is given again",
      "memory of the heap lies in another order",
      "memory of the heap that it has not set (malloc, new) holds something else",
      "its process and its threads have other numbers (getpid, gettid, pthread_self)",
      "it gets other random numbers (getrandom, /dev/urandom, std::random_device)",
      "other amounts are free or used, or it runs on another processor (sysinfo, statvfs, "
      "getrusage, "
      "sched_getcpu)"
  };
  std::vector<report::LeftOut> result;
  const auto add = [&](std::string_view if_so, const Site& where) {
    result.push_back(
        {.coverage = report::Coverage::Bounded,
         .what = fmt::format(
             "what the program does if {}{}",
             if_so,
             where.line == 0 ? ""
                             : fmt::format(" ({}:{})", report::shown_path(where.file), where.line)
         )}
    );
  };
  for (const SystemAnswer answer : decides.by) {
    const auto place = asked.find(std::string(word_of(answer)));
    add(words[static_cast<std::size_t>(answer)], place != asked.end() ? place->second : Site());
  }
  if (decides.by_layout) {
    add("stack, heap and libraries lie at other addresses", {});
  }
  if (decides.by_several) {
    add("several answers of the system are others (addresses, numbers of processes, random "
        "numbers)",
        {});
  }
  return result;
}

} // namespace heddle::explore
