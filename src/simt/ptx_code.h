// What the lockstep machine has to know of lowered PTX code: of each op, what kind of instruction
// it belongs to, and of each branch, where its ways meet again.
//
// A compiler for hardware with a divergence stack puts `ssy L` before a branch that may part lanes
// and `sync` at L; L is the branch's immediate post-dominator. PTX does not contain the two; so
// they are placed here, from the control-flow graph (ptx/cfg.h).
#pragma once

#include "isa/op.h"
#include "ptx/cfg.h"
#include "simt/rules.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace heddle::simt {

struct CodeFacts {
  struct Fact {
    Kind kind{};
    bool indirect = false;                  // of a call: the function is in a register
    std::uint32_t block = 0;                // of the control-flow graph
    const isa::Op* reconvergence = nullptr; // of a branch; nullptr: none in this function
  };
  std::vector<Fact> of; // by index of the op
  ptx::Cfg cfg;
};

/// Computed once per code. Thread safe; answers stay valid as long as the table.
class CodeTable {
public:
  const CodeFacts& facts(const isa::Code& code);

private:
  std::mutex mutex_;
  // A code that is gone may be followed by another one at its address: ops are compared too.
  struct Entry {
    const isa::Op* ops = nullptr;
    std::size_t count = 0;
    std::unique_ptr<CodeFacts> facts;
  };
  std::unordered_map<const isa::Code*, std::vector<Entry>> entries_;
};

} // namespace heddle::simt
