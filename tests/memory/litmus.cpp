// Litmus programs and their outcomes as text.
#include "memory/litmus.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::litmus {

namespace {

const char* scope_name(weak::Scope s) {
  switch (s) {
  case weak::Scope::Cta:
    return ".cta";
  case weak::Scope::Cluster:
    return ".cluster";
  case weak::Scope::Gpu:
    return ".gpu";
  case weak::Scope::Sys:
    break;
  }
  return ".sys";
}

constexpr const char* place_names = "xyzw";

std::string text(const Instruction& i) {
  std::string order;
  if (i.is_barrier()) {
    return "barrier";
  }
  if (i.is_volatile) {
    order = ".volatile";
  } else if (i.sc) {
    order = ".sc";
  } else if (i.acquire && i.release) {
    order = ".acq_rel";
  } else if (i.acquire) {
    order = ".acquire";
  } else if (i.release) {
    order = ".release";
  } else if (i.strong) {
    order = ".relaxed";
  }
  if (i.strong && !i.is_volatile) {
    order += scope_name(i.scope);
  }
  constexpr const char* names[] = {"ld", "st", "exch", "fence", "red", "barrier", "add", "cas"};
  std::string result = names[static_cast<int>(i.kind)] + order;
  if (i.is_fence()) {
    return result;
  }
  result += " " + std::string(1, place_names[i.place]);
  if (i.kind == Instruction::Kind::Cas) {
    result += fmt::format(" {}", i.expected);
  }
  if (i.value != 0) {
    result += fmt::format(" {}", i.value);
  }
  constexpr const char* uses[] =
      {"", " + odd(#{})", " [odd(#{})]", " if #{} == 0", " if #{} != 0", " if odd(#{})"};
  return result + fmt::format(fmt::runtime(uses[static_cast<int>(i.use)]), i.from);
}

} // namespace

Executed Executed::having_found(std::uint64_t found) const {
  Executed e = *this;
  if (i.kind == Instruction::Kind::Cas && found != i.expected) {
    e.i.kind = Instruction::Kind::Load;
    e.i.release = false;
  }
  return e;
}

bool hangs(const Program& p) {
  for (std::size_t a = 0; a < p.threads.size(); ++a) {
    for (std::size_t b = 0; b < p.threads.size(); ++b) {
      const auto barriers = [&](std::size_t t) {
        return std::ranges::count_if(p.threads[t], &Instruction::is_barrier);
      };
      if (p.locations[a].block == p.locations[b].block && barriers(a) != barriers(b)) {
        return true;
      }
    }
  }
  return false;
}

std::string text(const Program& p) {
  std::string result;
  for (std::size_t t = 0; t < p.threads.size(); ++t) {
    const weak::Location& at = p.locations[t];
    result +=
        fmt::format("T{} (block {}, cluster {}, device {}):", t, at.block, at.cluster, at.device);
    for (const Instruction& i : p.threads[t]) {
      result += " " + text(i) + ";";
    }
    result += "\n";
  }
  return result;
}

std::string code(const Program& p) {
  constexpr const char* hex = "0123456789abcdef";
  std::string result;
  for (std::size_t t = 0; t < p.threads.size(); ++t) {
    result += result.empty() ? "" : ",";
    for (std::size_t slot = 0; slot < p.threads[t].size(); ++slot) {
      const Instruction& i = p.threads[t][slot];
      result += "lsufrbac"[static_cast<int>(i.kind)];
      result += i.is_volatile            ? 'v'
                : i.sc                   ? 'c'
                : i.acquire && i.release ? 'b'
                : i.acquire              ? 'a'
                : i.release              ? 'e'
                : i.strong               ? 'r'
                                         : 'w';
      result += "clgs"[static_cast<int>(i.scope)];
      result += place_names[i.place];
      result += i.writes() ? hex[value_of(p, t, slot)] : '0';
      result += hex[i.expected];
      result += "-dazno"[static_cast<int>(i.use)];
      result += hex[i.from];
    }
  }
  return result;
}

std::string places_of(const Program& p) {
  std::string result;
  for (const weak::Location& at : p.locations) {
    result += fmt::format("{}{}{}{}", result.empty() ? "" : ",", at.block, at.cluster, at.device);
  }
  return result;
}

std::string text(const Outcomes& o) {
  if (o.race) {
    return "a data race";
  }
  std::string result;
  for (const std::uint64_t value : o.outcomes) {
    result += fmt::format("{:x} ", value);
  }
  return result;
}

} // namespace heddle::litmus
