// Litmus programs and their outcomes as text.
#include "memory/litmus.h"

#include <fmt/format.h>

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
  constexpr const char* names[] = {"ld", "st", "exch", "fence", "red"};
  std::string result = names[static_cast<int>(i.kind)] + order;
  return i.is_fence() ? result : result + " " + std::string(1, place_names[i.place]);
}

} // namespace

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
  std::string result;
  for (const auto& thread : p.threads) {
    result += result.empty() ? "" : ",";
    for (const Instruction& i : thread) {
      result += "lsufrb"[static_cast<int>(i.kind)];
      result += i.is_volatile            ? 'v'
                : i.sc                   ? 'c'
                : i.acquire && i.release ? 'b'
                : i.acquire              ? 'a'
                : i.release              ? 'e'
                : i.strong               ? 'r'
                                         : 'w';
      result += "clgs"[static_cast<int>(i.scope)];
      result += place_names[i.place];
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
