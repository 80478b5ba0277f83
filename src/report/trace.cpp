// Traces as text. A column is as wide as the name of its thread (A, B, …, AA, …), so that dozens of
// them fit; what happens stands to the right, with the source line.
#include "report/trace.h"

#include "report/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace heddle::report {
namespace {

constexpr std::string_view idle = "·";
constexpr std::uint32_t no_column = ~0U;

/// "A", "B", …, "Z", "AA", "AB", …
std::string letters(std::size_t number) {
  std::string text;
  for (++number; number > 0; number = (number - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('A' + (number - 1) % 26));
  }
  return text;
}

std::string without_indentation(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return std::string(line.substr(std::min(first, line.size())));
}

std::string where(const Place& place) {
  if (!place.known()) {
    return "";
  }
  const std::size_t slash = place.file.rfind('/');
  return fmt::format(
      "{}:{}",
      slash == std::string::npos ? place.file : place.file.substr(slash + 1),
      place.line
  );
}

std::string columns(const Trace& trace, std::uint32_t actor) {
  std::string text;
  for (std::uint32_t a = 0; a < trace.actors.size(); ++a) {
    const std::string name = letters(a);
    text += a == actor ? name : std::string(idle);
    text.append(a == actor ? 1 : name.size(), ' ');
  }
  return text;
}

} // namespace

std::string_view name(TraceEnd end) {
  switch (end) {
  case TraceEnd::Loop:
    return "loop";
  case TraceEnd::Blocked:
    return "blocked";
  case TraceEnd::Ended:
    return "ended";
  case TraceEnd::Defect:
    return "defect";
  case TraceEnd::Diverged:
    return "diverged";
  case TraceEnd::CutShort:
    break;
  }
  return "cut-short";
}

int Trace::exit_code() const {
  switch (end) {
  case TraceEnd::Loop:
  case TraceEnd::Blocked:
  case TraceEnd::Defect:
    return exit_code::defect;
  case TraceEnd::Ended:
    return exit_code::clean;
  case TraceEnd::Diverged:
    return exit_code::unsupported;
  case TraceEnd::CutShort:
    break;
  }
  return exit_code::budget;
}

std::string render_outcome(const Trace& trace) {
  std::string text = fmt::format(
      "{} step{}: {}\n",
      with_thousands(trace.steps.size()),
      trace.steps.size() == 1 ? "" : "s",
      trace.outcome
  );
  if (trace.end != TraceEnd::Diverged) {
    return text;
  }
  const auto last = std::find_if(trace.steps.rbegin(), trace.steps.rend(), [](const TraceStep& s) {
    return !s.is_noise;
  });
  if (last != trace.steps.rend()) {
    text += fmt::format(
        "  = the last step that was made: {}{} by {}\n",
        last->place.known() ? where(last->place) + ": " : "",
        last->what,
        shortened_names(trace.actors.at(last->actor))
    );
  }
  return text + "  = help: --trace prints all of them, to be compared with those of the program as "
                "it was\n";
}

std::string render_text(const Trace& trace, SourceCache& sources, TextStyle style) {
  const auto bold = [&](std::string_view text) {
    return style.colour ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
  };
  std::string out;
  for (std::size_t a = 0; a < trace.actors.size(); ++a) {
    out += fmt::format("  {} = {}\n", bold(letters(a)), shortened_names(trace.actors[a]));
  }
  std::size_t place_width = 0, what_width = 0;
  for (const TraceStep& step : trace.steps) {
    if (step.is_noise) {
      continue;
    }
    place_width = std::max(place_width, where(step.place).size());
    const std::size_t note = step.note.empty() ? 0 : step.note.size() + 2;
    what_width = std::max(what_width, step.what.size() + note);
  }
  out += '\n';
  std::set<std::tuple<std::string, std::uint32_t, std::string>> told; // each call once
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const TraceStep& step = trace.steps[i];
    if (trace.loop_from == i) {
      out += bold("      -- from here on forever --") + "\n";
    }
    if (step.is_noise) {
      continue;
    }
    const std::string what =
        step.note.empty() ? step.what : fmt::format("{}: {}", step.what, step.note);
    const auto line = sources.line(step.place.file, step.place.line);
    std::string row = fmt::format(
        "{:>5}  {} {:<{}}  {:<{}}  {}",
        i + 1,
        columns(trace, step.actor),
        where(step.place),
        place_width,
        what,
        what_width,
        line ? without_indentation(*line) : ""
    );
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
    for (const Label& call : step.calls) {
      if (told.insert({call.place.file, call.place.line, call.text}).second) {
        out += fmt::format(
            "       {} {}  {}\n",
            columns(trace, no_column),
            where(call.place),
            call.text
        );
      }
    }
  }
  if (trace.loop_from) {
    out += bold(fmt::format("      -- again from step {} --", *trace.loop_from + 1)) + "\n";
  }
  return out + "\n" + render_outcome(trace);
}

} // namespace heddle::report
