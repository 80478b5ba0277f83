// Implements minimise.h: leaves out whatever can be left out, until nothing can.
#include "reduce/minimise.h"

namespace heddle::enumeration {

namespace {

/// Without operation n; what asked for its result is gone, too.
Code without(const Code& code, std::size_t n) {
  Code result = code;
  result.operations.erase(result.operations.begin() + static_cast<std::ptrdiff_t>(n));
  for (Operation& operation : result.operations) {
    Guard& guard = operation.guard;
    if (guard.on == Guard::On::Result && guard.of == n) {
      guard = {};
    } else if (guard.on == Guard::On::Result && guard.of > n) {
      --guard.of;
    }
  }
  if (result.hang && result.hang->of == n) {
    result.hang.reset();
  } else if (result.hang && result.hang->of > n) {
    --result.hang->of;
  }
  return result;
}

std::vector<Code> smaller(const Code& code) {
  std::vector<Code> result;
  for (std::size_t n = 0; n < code.operations.size(); ++n) {
    if (n != 0 || code.rounds == 0) {
      result.push_back(without(code, n));
    }
    if (code.operations[n].guard.on != Guard::On::Always) {
      result.push_back(code);
      result.back().operations[n].guard = {};
    }
    if (code.operations[n].value != Value::One) {
      result.push_back(code);
      result.back().operations[n].value = Value::One;
    }
  }
  if (code.rounds != 0) {
    result.push_back(code);
    result.back().rounds = 0;
  }
  if (code.hang) {
    result.push_back(code);
    result.back().hang.reset();
    if (code.hang->who) {
      result.push_back(code);
      result.back().hang->who.reset();
    }
  }
  std::erase_if(result, [](const Code& less) {
    for (std::size_t n = 0; n < less.operations.size(); ++n) {
      if (!has_what_it_uses(less, n)) {
        return true;
      }
    }
    return false;
  });
  return result;
}

std::vector<Case> smaller(const Case& found) {
  std::vector<Case> result;
  for (std::size_t r = 0; r < reductions; ++r) {
    const auto reduction = static_cast<Reduction>(r);
    if (found.configuration.has(reduction)) {
      result.push_back({found.program, found.configuration.without(reduction)});
    }
  }
  if (found.program.actors > 2 && found.program.alike() && !found.program.in_pairs() &&
      found.program.shape != Shape::Clusters) {
    result.push_back(found);
    --result.back().program.actors;
  }
  for (std::size_t n = 0; n < found.program.host.size(); ++n) {
    if (found.program.host[n].kind != HostKind::Launch) {
      result.push_back(found);
      std::vector<HostOperation>& host = result.back().program.host;
      host.erase(host.begin() + static_cast<std::ptrdiff_t>(n));
    }
  }
  for (std::size_t n = 0; n < found.program.beside.size(); ++n) {
    result.push_back(found);
    std::vector<HostOperation>& beside = result.back().program.beside;
    beside.erase(beside.begin() + static_cast<std::ptrdiff_t>(n));
  }
  if (found.program.functions) {
    result.push_back(found);
    result.back().program.functions = false;
  }
  for (std::size_t c = 0; c < found.program.codes.size(); ++c) {
    for (const Code& code : smaller(found.program.codes[c])) {
      result.push_back(found);
      result.back().program.codes[c] = code;
    }
  }
  return result;
}

} // namespace

Case minimised(Case found, const std::function<bool(const Case&)>& fails) {
  for (bool some = true; some;) {
    some = false;
    for (Case& less : smaller(found)) {
      if (fails(less)) {
        found = std::move(less);
        some = true;
        break;
      }
    }
  }
  return found;
}

} // namespace heddle::enumeration
