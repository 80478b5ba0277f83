// Result<T>: a value, or the reason why there is none.
//
//   Result<Module> m = parse(text);
//   if (!m) return unexpected(m.error());
//   TRY(auto module, parse(text));          // the same in one line
//
// Four kinds of error are never mixed: a *finding* (defect in the program) is not an Error at all
// but a report::Finding; Unsupported is our gap; Input is a bad file or flag of the user; Internal
// is a broken invariant (usually HEDDLE_CHECK instead).
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace heddle {

enum class ErrorKind {
  Input,
  Unsupported,
  Internal
};

struct Error {
  ErrorKind kind = ErrorKind::Input;
  std::string message; // one line, or clang-style "file:line:col: error: …" with the source line
};

template <class T> using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> input_error(std::string message) {
  return tl::unexpected<Error>(Error{ErrorKind::Input, std::move(message)});
}
inline tl::unexpected<Error> unsupported(std::string message) {
  return tl::unexpected<Error>(Error{ErrorKind::Unsupported, std::move(message)});
}
inline tl::unexpected<Error> unexpected(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

} // namespace heddle

#define HEDDLE_CONCAT_(a, b) a##b
#define HEDDLE_CONCAT(a, b) HEDDLE_CONCAT_(a, b)
#define HEDDLE_TRY_(tmp, decl, ...)                                                                \
  auto tmp = (__VA_ARGS__);                                                                        \
  if (!tmp) {                                                                                      \
    return ::tl::unexpected<::heddle::Error>(std::move(tmp.error()));                              \
  }                                                                                                \
  decl = std::move(*tmp)
/// TRY(auto x, f()): x becomes f()'s value, or the function returns f()'s error.
#define TRY(decl, ...) HEDDLE_TRY_(HEDDLE_CONCAT(try_, __LINE__), decl, __VA_ARGS__)
/// TRY_VOID(f()): returns f()'s error if there is one.
#define TRY_VOID(...)                                                                              \
  do {                                                                                             \
    auto HEDDLE_CONCAT(try_, __LINE__) = (__VA_ARGS__);                                            \
    if (!HEDDLE_CONCAT(try_, __LINE__)) {                                                          \
      return ::tl::unexpected<::heddle::Error>(std::move(HEDDLE_CONCAT(try_, __LINE__).error()));  \
    }                                                                                              \
  } while (false)
