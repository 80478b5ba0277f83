// What the lockstep machine needs to know about lowered PTX code: for each op, the kind of its
// instruction; for each branch, the instruction where its sides reconverge.
//
// A compiler for hardware with a divergence stack puts `ssy L` before a branch that may diverge,
// and `sync` at L, the immediate post-dominator of the branch. PTX contains neither, so this file
// computes L from the control-flow graph (analysis/cfg.h).
#pragma once

#include "analysis/cfg.h"
#include "isa/op.h"
#include "simt/rules.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace heddle::simt {

struct CodeFacts {
  struct Fact {
    Kind kind{};
    bool indirect = false;                  // a call of a function in a register
    std::uint32_t block = 0;                // of the control-flow graph
    const isa::Op* reconvergence = nullptr; // of a branch; nullptr: not in this function
  };
  std::vector<Fact> of; // by index of the op
  analysis::Cfg cfg;
};

/// Computes the facts once per code. Thread safe; references stay valid as long as the table.
class CodeTable {
public:
  /// `ends`: whether lanes that end early are waited for where others meet.
  explicit CodeTable(analysis::Ends ends) : ends_(ends) {}
  const CodeFacts& facts(const isa::Code& code);

private:
  const analysis::Ends ends_;
  std::mutex mutex_;
  // New code may have the address of destroyed code, so the ops are compared too.
  struct Entry {
    const isa::Op* ops = nullptr;
    std::size_t count = 0;
    std::unique_ptr<CodeFacts> facts;
  };
  std::unordered_map<const isa::Code*, std::vector<Entry>> entries_;
};

} // namespace heddle::simt
