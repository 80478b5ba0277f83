// Implements names.h.
#include "report/names.h"

#include <optional>
#include <vector>

namespace heddle::report {
namespace {

constexpr std::size_t long_name = 40, long_list = 12, long_parameters = 40;

bool begins_name(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool continues_name(char c) {
  return begins_name(c) || (c >= '0' && c <= '9');
}

/// Just past the bracket that closes the one at `open`; nothing: none does.
std::optional<std::size_t> past_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '<' || text[i] == '(') {
      ++depth;
    } else if ((text[i] == '>' && text[i - 1] != '-') || text[i] == ')') {
      if (--depth == 0) {
        return i + 1;
      }
    }
  }
  return std::nullopt;
}

/// Tags of an ABI, "[abi:cxx11]": part of a name that nobody has written. Numba keeps a kernel's
/// flags in them.
void skip_tags(std::string_view text, std::size_t& at) {
  while (text.substr(at).starts_with("[abi:")) {
    const std::size_t end = text.find(']', at);
    if (end == std::string_view::npos) {
      return;
    }
    at = end + 1;
  }
}

struct Component {
  std::string_view name, arguments;
};

/// The name that begins at `at`, which moves behind it.
std::vector<Component> read_name(std::string_view text, std::size_t& at) {
  std::vector<Component> name;
  for (;;) {
    const std::size_t begin = at;
    while (at < text.size() && continues_name(text[at])) {
      ++at;
    }
    name.push_back({text.substr(begin, at - begin), {}});
    skip_tags(text, at);
    const bool list = at < text.size() && text[at] == '<' && !text.substr(at).starts_with("<<<");
    if (const auto end = list ? past_bracket(text, at) : std::nullopt) {
      name.back().arguments = text.substr(at, *end - at);
      at = *end;
    }
    if (!text.substr(at).starts_with("::") || at + 2 >= text.size() || !begins_name(text[at + 2])) {
      return name;
    }
    at += 2;
  }
}

void append_short(std::string& out, const std::vector<Component>& name) {
  const auto append = [&out](const Component& component) {
    out += component.name;
    out += component.arguments.size() > long_list ? "<…>" : component.arguments;
  };
  if (name.size() > 1) {
    append(name.front());
    out += name.size() > 2 ? "::…::" : "::";
  }
  append(name.back());
}

} // namespace

std::string shortened_names(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!begins_name(text[at])) {
      out += text[at++];
      continue;
    }
    const std::size_t begin = at;
    const std::vector<Component> name = read_name(text, at);
    const bool is_long =
        at - begin > long_name && (name.size() > 1 || !name.back().arguments.empty());
    const bool has_tags = text.substr(begin, at - begin).find("[abi:") != std::string_view::npos;
    if (!is_long && !has_tags) {
      out += text.substr(begin, at - begin);
      continue;
    }
    append_short(out, name);
    if (const auto end =
            at < text.size() && text[at] == '(' ? past_bracket(text, at) : std::nullopt;
        end && *end - at > long_parameters) {
      out += "(…)";
      at = *end;
    }
  }
  return out;
}

std::string kernel_in(std::string_view text) {
  constexpr std::string_view before = "kernel '";
  const std::size_t shape = text.rfind("<<<");
  if (shape == std::string_view::npos) {
    return std::string(text);
  }
  const std::size_t at = text.find(before);
  const std::size_t begin = at < shape ? at + before.size() : 0;
  return std::string(text.substr(begin, shape - begin));
}

/// The name in a declaration: what stands before its parameters.
static std::vector<Component> name_of(std::string_view function) {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  std::vector<Component> name;
  for (std::size_t at = 0; at < function.size();) {
    if (function.substr(at).starts_with(anonymous)) {
      at += anonymous.size();
    } else if (function[at] == '(') {
      break;
    } else if (begins_name(function[at])) {
      name = read_name(function, at); // the last one: the type of the result stands first
    } else {
      ++at;
    }
  }
  return name;
}

std::string bare_name(std::string_view function) {
  const std::vector<Component> name = name_of(function);
  return name.empty() ? std::string(function) : std::string(name.back().name);
}

std::string outer_name_space(std::string_view function) {
  const std::vector<Component> name = name_of(function);
  return name.size() < 2 ? "" : std::string(name.front().name);
}

} // namespace heddle::report
