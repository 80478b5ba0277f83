// Shorthands for tests of the PTX front end.
#pragma once

#include "ptx/equal.h"
#include "ptx/parse.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heddle::ptx {

inline std::unique_ptr<Module> must_parse(const std::string& text) {
  auto module = parse(text, "test.ptx");
  EXPECT_TRUE(module) << (module ? "" : module.error().message);
  return module ? std::move(*module) : nullptr;
}

/// Parses, prints, parses again: both must be equal.
inline std::unique_ptr<Module> must_round_trip(const std::string& text) {
  auto module = must_parse(text);
  if (module == nullptr) {
    return nullptr;
  }
  std::string printed = print(*module);
  auto again = parse(printed, "printed.ptx");
  EXPECT_TRUE(again) << (again ? "" : again.error().message) << "\n" << printed;
  if (again) {
    auto found = difference(*module, **again);
    EXPECT_FALSE(found) << *found << "\n" << printed;
  }
  return module;
}

/// The text of a module with one kernel, whose body is `body`.
inline std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n" + body +
         "\n}\n";
}

/// The first line of the error that parsing must give, without "test.ptx:".
inline std::string error_of(const std::string& text) {
  auto module = parse(text, "test.ptx");
  if (module) {
    return "no error";
  }
  std::string message = module.error().message;
  message = message.substr(0, message.find('\n'));
  return message.starts_with("test.ptx:") ? message.substr(9) : message;
}

} // namespace heddle::ptx
