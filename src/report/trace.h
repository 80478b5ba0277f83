// Trace: one execution step by step, for people (a column per thread) and programs.
//
//   Trace trace{.actors = {"the host thread", "thread (0,0,0) of …"}, .steps = …, .loop_from = 9};
//   std::string text = render_text(trace, sources, {.colour = …});
#pragma once

#include "report/diagnostic.h"
#include "report/render.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::report {

/// A place in memory that a step has read or written.
struct MemoryAccess {
  bool write = false;
  std::uint32_t bytes = 0;  // 1 to 8
  std::uint64_t value = 0;  // what it read, or what is there afterwards
  std::uint64_t offset = 0; // bytes from the start of `name`
  std::string name{};       // a variable, "device memory 3", "shared memory of …"
};

struct TraceStep {
  std::uint32_t actor = 0; // index into Trace::actors
  Place place;
  std::string what;           // "an atomic read"
  std::string note;           // "reads 0"; may be empty
  std::vector<Label> calls{}; // how it got there, innermost first
  std::vector<MemoryAccess> memory{};
  bool is_noise = false; // of no interest to people: render_text leaves it out, not its number
};

/// How a repeated execution ended.
enum class TraceEnd : std::uint8_t {
  Loop,     // the last step leads back to the state before step `loop_from`
  Blocked,  // nobody can move
  Ended,    // the program has ended
  Defect,   // a crash or a fault
  Diverged, // it was not the execution that was recorded
  CutShort  // a limit was reached, or Heddle does not implement something
};
std::string_view name(TraceEnd end); // "loop", "blocked", …

struct Trace {
  std::vector<std::string> actors;
  std::vector<TraceStep> steps;
  std::optional<std::uint32_t> loop_from; // index of a step
  TraceEnd end{};
  std::string outcome; // in words, one line

  /// 0 it ended, 1 it showed the defect, 3 it diverged, 4 it was cut short.
  int exit_code() const;
};

/// Who takes part, one line for each step with a column for each thread, and how it ended.
std::string render_text(const Trace& trace, SourceCache& sources, TextStyle style = {});
/// Only how it ended.
std::string render_outcome(const Trace& trace);
/// {"end", "outcome", "actors", "loop_from", "steps": [{"actor", "file", "line", "column", "what",
/// "note", "calls", "memory"}]} and a newline; actors and steps count from 0. "memory" holds
/// {"name", "offset", "bytes", "value", "write"}, the value in hexadecimal digits, and is left out
/// if empty; so is "noise", which is true of steps that render_text leaves out.
std::string render_json(const Trace& trace);

} // namespace heddle::report
