// Idioms of CUDA on which single rules of the search rest, and that random statements hardly ever make: a barrier made
// of memory, message passing, updates by compare-and-swap, a peek at an mbarrier, a ticket of the last block. A program
// has one of them at most, often with a mistake in it, among random statements.
#pragma once

#include "reference/features.h"

#include <cstdint>
#include <optional>

namespace heddle::differ {

class Scenes : protected Features {
protected:
  using Features::Features;

  enum class Scene : std::uint8_t {
    None,
    HandBarrier,
    Message,
    Updates,
    Allocations,
    Peek,
    Slots,
    Tickets,
    Dependents,
    Children
  };
  /// Which one the program has, once its shape, its host and its memory model are known. Changes the shape for some.
  void choose_scene();
  bool has_scene() const { return scene_ != Scene::None; }
  bool needs_mbarrier() const { return scene_ == Scene::Peek; }
  /// What a thread does in it.
  void play();

private:
  std::optional<enumeration::Reduction> aim() const;
  void hand_barrier();
  void message();
  void update();
  void allocate();
  void peek_ahead();
  void slots();
  void ticket();
  void depend();
  void launch_child();
  /// One of those that a careful program has, or, sometimes, another one.
  template <class T> T mostly(T right, T wrong) { return chance(85) ? right : wrong; }

  Scene scene_{};
};

} // namespace heddle::differ
