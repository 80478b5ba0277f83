// Target: parse() answers any bytes, and what it accepts prints to an equal module.
#include "analysis/cfg.h"
#include "ptx/equal.h"
#include "analysis/liveness.h"
#include "ptx/parse.h"

#include "fuzzed.h"

#include <cstdio>
#include <cstdlib>

int heddle::fuzz::ptx_parse(const std::uint8_t* data, std::size_t size) {
  using namespace heddle::ptx;
  auto module = parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!module) {
    return 0;
  }
  for (const auto& function : (*module)->functions) {
    heddle::analysis::Cfg cfg(*function);
    heddle::analysis::Liveness live(*function, cfg);
  }
  std::string printed = print(**module);
  auto again = parse(printed, "printed");
  if (!again) {
    std::fprintf(stderr, "%s\n", again.error().message.c_str());
    std::abort();
  }
  if (auto found = difference(**module, **again)) {
    std::fprintf(stderr, "%s\n%s\n", found->c_str(), printed.c_str());
    std::abort();
  }
  return 1;
}
