// Implements architecture.h.
#include "cli/compile/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace heddle::cli {
namespace {

/// What the word `i` gives one of these options; empty: it does not.
std::string value_of(
    std::span<const std::string> words,
    std::size_t i,
    std::initializer_list<std::string_view> options
) {
  for (const std::string_view option : options) {
    if (words[i] == option && i + 1 < words.size()) {
      return words[i + 1];
    }
    if (words[i].starts_with(std::string(option) + "=")) {
      return words[i].substr(option.size() + 1);
    }
  }
  return "";
}

/// The architecture that a code generation starts from: "arch=compute_90,code=sm_90".
std::string start_of(const std::string& generation) {
  constexpr std::string_view key = "arch=";
  return generation.starts_with(key)
             ? generation.substr(key.size(), generation.find(',') - key.size())
             : "";
}

} // namespace

std::vector<std::string> architectures_among(std::span<const std::string> words) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string found = value_of(words, i, {"-arch", "--gpu-architecture"});
    if (found.empty()) {
      found = start_of(value_of(words, i, {"-gencode", "--generate-code"}));
    }
    if (!found.empty()) {
      result.push_back(std::move(found));
    }
  }
  return result;
}

std::vector<std::string> ptx_too(std::span<const std::string> words) {
  std::vector<std::string> result;
  const auto add = [&](std::string flag) {
    if (std::ranges::find(result, flag) == result.end()) {
      result.push_back(std::move(flag));
    }
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string value = value_of(words, i, {"-gencode", "--generate-code"});
    const std::string arch = start_of(value);
    if (!arch.empty() && value.find("code=compute") == std::string::npos &&
        value.find("[compute") == std::string::npos &&
        value.find(",compute") == std::string::npos) {
      add(fmt::format("-gencode=arch={0},code={0}", arch));
    }
    // Together with -arch=compute_90, which says what code is made from; values are joined.
    const std::string code = value_of(words, i, {"-code", "--gpu-code"});
    if (!code.empty() && code.find("compute") == std::string::npos) {
      for (const std::string& from : architectures_among(words)) {
        if (from.starts_with("compute")) {
          add("-code=" + from);
        }
      }
    }
  }
  return result;
}

bool asks_for_link_time_code(std::string_view word) {
  return word == "-dlto" || word == "--dlink-time-opt";
}

} // namespace heddle::cli
