// Implements dead_ends.h.
#include "analysis/dead_ends.h"

#include "analysis/bit_vector.h"
#include "analysis/liveness.h"
#include "ptx/effect.h"

#include <algorithm>

namespace heddle::analysis {

namespace {

/// Blocks from which the end can be reached.
std::vector<bool> blocks_that_end(const Cfg& cfg) {
  std::vector<bool> ends(cfg.blocks().size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = ends.size(); b-- > 0;) {
      for (const std::uint32_t next : cfg.blocks()[b].successors) {
        if (!ends[b] && (next == cfg.exit() || ends[next])) {
          ends[b] = changed = true;
        }
      }
    }
  }
  return ends;
}

} // namespace

std::vector<std::uint32_t> reads_before_dead_ends(const ptx::Function& function, const Cfg& cfg) {
  const std::vector<bool> ends = blocks_that_end(cfg);
  BitVector deciding(function.registers.size());
  bool any = false;
  for (std::size_t b = 0; b < ends.size(); ++b) {
    const BasicBlock& block = cfg.blocks()[b];
    for (const std::uint32_t next : block.successors) {
      if (ends[b] && next != cfg.exit() && !ends[next] && block.last > block.first) {
        each_register(function.body[block.last - 1], [&](RegisterUse use) {
          deciding.set(use.index);
          any = true;
        });
      }
    }
  }
  std::vector<std::uint32_t> result;
  for (bool changed = any; changed;) {
    changed = false;
    result.clear();
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      const ptx::Instruction& instruction = function.body[i];
      bool decides = false;
      each_register(instruction, [&](RegisterUse use) {
        decides = decides || (use.write && deciding.test(use.index));
      });
      if (!decides) {
        continue;
      }
      if (effect_of(instruction).is(ptx::Effect::Kind::Load)) {
        result.push_back(i);
        continue; // where it reads matters less than when
      }
      each_register(instruction, [&](RegisterUse use) {
        if (!use.write && !deciding.test(use.index)) {
          deciding.set(use.index);
          changed = true;
        }
      });
    }
  }
  return result;
}

std::vector<std::uint32_t>
stores_like(const ptx::Function& function, const std::vector<std::uint32_t>& reads) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < function.body.size() && !reads.empty(); ++i) {
    const ptx::Instruction& store = function.body[i];
    const bool like = std::ranges::any_of(reads, [&](std::uint32_t r) {
      const ptx::Instruction& read = function.body[r];
      return effect_of(store).is(ptx::Effect::Kind::Store) && store.type() && read.type() &&
             type_bits(*store.type()) == type_bits(*read.type()) &&
             store.one_of(ptx::Category::Space) == read.one_of(ptx::Category::Space);
    });
    if (like) {
      result.push_back(i);
    }
  }
  return result;
}

} // namespace heddle::analysis
