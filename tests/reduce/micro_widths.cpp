// Implements micro_widths.h.
#include "reduce/micro_widths.h"

#include <fmt/format.h>

#include <array>

namespace heddle::enumeration {

namespace {

struct Row {
  const char* name;
  const char* type;         // with the vector
  const char* value;        // the operand
  const char* join;         // puts %m# into it
  const char* part;         // takes %m# out of it
  bool exchanges, compares; // atom.exch, atom.cas have that type
  const char* keep = "";    // copies it to …
  const char* kept = "";
};

const Row& row(Width width) {
  static constexpr std::array<Row, widths> table{{
      {"b32", "b32", "%m#", "", "", true, true, "mov.b32 %n#, %m#; ", "%n#"},
      {"b8", "b8", "%m#", "", "", false, false},
      {"b16",
       "b16",
       "%h#",
       "cvt.u16.u32 %h#, %m#;",
       "cvt.u32.u16 %m#, %h#;",
       false,
       true,
       "mov.b16 %i#, %h#; ",
       "%i#"},
      {"b64",
       "b64",
       "%v#",
       "mov.u32 %g#, 0; mov.b64 %v#, {%g#, %m#};",
       "mov.b64 {%g#, %m#}, %v#;",
       true,
       true,
       "mov.b64 %w#, %v#; ",
       "%w#"},
      {"b128",
       "b128",
       "%q#",
       "mov.u32 %g#, 0; mov.b64 %w#, {%g#, %m#}; mov.b64 %v#, 0; mov.b128 %q#, {%v#, %w#};",
       "mov.b128 {%v#, %w#}, %q#; mov.b64 {%g#, %m#}, %w#;",
       true,
       true,
       "mov.b128 %z#, {%v#, %w#}; ",
       "%z#"},
      {"v2.b8", "v2.b8", "{%g#, %m#}", "mov.u32 %g#, 0;", "", false, false},
      {"v4.b8",
       "v4.b8",
       "{%g#, %e#, %f#, %m#}",
       "mov.u32 %g#, 0; mov.u32 %e#, 0; mov.u32 %f#, 0;",
       "",
       false,
       false},
      {"v4.b16",
       "v4.b16",
       "{%i#, %j#, %k#, %h#}",
       "cvt.u16.u32 %h#, %m#; mov.u16 %i#, 0; mov.u16 %j#, 0; mov.u16 %k#, 0;",
       "cvt.u32.u16 %m#, %h#;",
       false,
       false},
      {"v2.b32", "v2.b32", "{%g#, %m#}", "mov.u32 %g#, 0;", "", false, false},
      {"v4.b32",
       "v4.b32",
       "{%g#, %e#, %f#, %m#}",
       "mov.u32 %g#, 0; mov.u32 %e#, 0; mov.u32 %f#, 0;",
       "",
       false,
       false},
      {"v2.b64",
       "v2.b64",
       "{%v#, %w#}",
       "mov.u32 %g#, 0; mov.b64 %w#, {%g#, %m#}; mov.u64 %v#, 0;",
       "mov.b64 {%g#, %m#}, %w#;",
       false,
       false},
  }};
  return table[static_cast<std::size_t>(width)];
}

std::string order_of(Strength strength, Kind kind) {
  if (strength != Strength::Ordered) {
    return "relaxed";
  }
  switch (kind) {
  case Kind::Load:
  case Kind::Wait:
    return "acquire";
  case Kind::Store:
    return "release";
  default:
    return "acq_rel";
  }
}

} // namespace

const char* name_of(Width width) {
  return row(width).name;
}

const char* name_of(Strength strength) {
  static constexpr const char* names[] = {"relaxed", "ordered", "volatile"};
  return names[static_cast<std::size_t>(strength)];
}

std::string registers_of_widths(std::size_t pieces) {
  return fmt::format(
      ".reg .b128 %q<{0}>, %z<{0}>; .reg .b64 %v<{0}>, %w<{0}>;\n"
      ".reg .b32 %e<{0}>, %f<{0}>, %g<{0}>, %m<{0}>, %n<{0}>;\n"
      ".reg .b16 %i<{0}>, %j<{0}>, %k<{0}>;\n",
      pieces
  );
}

std::optional<std::string> wide_access(
    const MicroProgram& program,
    Kind kind,
    std::string_view to,
    std::string_view at,
    std::string_view value,
    int label
) {
  const Row& r = row(program.width);
  const std::string order = order_of(program.strength, kind);
  const std::string put = fmt::format("mov.u32 %m#, {}; {} ", value, r.join);
  const auto load = [&] {
    return fmt::format("ld.{}.gpu.{} {}, {}; {} ", order, r.type, r.value, at, r.part);
  };
  const std::string plain = fmt::format("weak.{}", at == "[own]" ? "local" : "global");
  switch (kind) {
  case Kind::Load:
    return fmt::format("{}mov.u32 {}, %m#;\n", load(), to);
  case Kind::PlainLoad:
    return fmt::format(
        "ld.{}.{} {}, {}; {} mov.u32 {}, %m#;\n",
        plain,
        r.type,
        r.value,
        at,
        r.part,
        to
    );
  case Kind::PlainStore:
    return fmt::format("{}st.{}.{} {}, {};\n", put, plain, r.type, at, r.value);
  case Kind::Wait: {
    return fmt::format(
        "L{0}: {1}setp.ne.u32 %p#, %m#, {2}; @%p# bra L{0};\n",
        label,
        load(),
        value
    );
  }
  case Kind::Store:
    return fmt::format("{}st.{}.gpu.{} {}, {};\n", put, order, r.type, at, r.value);
  case Kind::Exchange:
    if (!r.exchanges) {
      return std::nullopt;
    }
    return fmt::format(
        "{}atom.{}.gpu.exch.{} {}, {}, {}; {} mov.u32 {}, %m#;\n",
        put,
        order,
        r.type,
        r.value,
        at,
        r.value,
        r.part,
        to
    );
  case Kind::CompareAndSwap:
    if (!r.compares) {
      return std::nullopt;
    }
    return fmt::format(
        "mov.u32 %m#, 0; {0} {1}{2}atom.{3}.gpu.cas.{4} {5}, {6}, {7}, {5}; {8} mov.u32 {9}, "
        "%m#;\n",
        r.join,
        r.keep,
        put,
        order,
        r.type,
        r.value,
        at,
        r.kept,
        r.part,
        to
    );
  default:
    return std::nullopt;
  }
}

std::string as_volatile(std::string text) {
  for (const char* strong : {"ld.relaxed.", "st.relaxed."}) {
    for (std::size_t at = text.find(strong); at != std::string::npos; at = text.find(strong, at)) {
      const std::size_t scope = at + std::string_view(strong).size();
      const std::size_t end = text.find('.', scope); // behind the scope
      text.replace(at + 3, end - at - 3, "volatile");
    }
  }
  return text;
}

} // namespace heddle::enumeration
