// Can what a file claims to be a saved StateTable be used? Numbers name things that exist, and
// texts that hold structures hold whole ones. A file is damaged, or somebody else has written it;
// whoever reads the table afterwards checks nothing.
//
//   if (!is_sound({.states = …, .edges = …, …})) return input_error("the checkpoint is damaged");
//
// May be wrong: says nothing about whether the program can do what the table says that it does; a
// search that goes on from a table of another program finds that out, or not (checkpoint.h).
// Included by state_table_checkpoint.cpp and state_table_merge.cpp only.
#pragma once

#include "explore/table/state_table_layout.h"

#include <span>
#include <string_view>

namespace heddle::explore {

struct SavedArrays {
  std::span<const StoredState> states;
  std::span<const ShortEdge> edges;
  std::span<const StoredText> texts;
  std::string_view bytes; // of the texts
  std::span<const StoredActor> actors;
  std::span<const Event> events;
  std::span<const StoredTold> told;
};
bool is_sound(const SavedArrays& saved);

/// Do these bytes have the length of a Label, and are its words and truth values such?
bool is_label(std::string_view bytes);

} // namespace heddle::explore
