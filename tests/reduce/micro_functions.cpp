// Implements micro_functions.h.
#include "reduce/micro_functions.h"

#include <fmt/format.h>

namespace heddle::enumeration {

const char* function_name(Kind kind) {
  switch (kind) {
  case Kind::Load:
    return "load";
  case Kind::Store:
    return "store";
  case Kind::Exchange:
    return "exchange";
  case Kind::Increment:
    return "increment";
  case Kind::Wait:
    return "await";
  default:
    return nullptr;
  }
}

std::string functions_as_ptx() {
  std::string text;
  const auto add = [&text](Kind kind, std::string_view body) {
    text += fmt::format(
        ".func (.param .b32 r) {}(.param .b64 a, .param .b32 v) {{\n"
        ".reg .b64 %m; .reg .b32 %v, %w; .reg .pred %p;\n"
        "ld.param.b64 %m, [a]; ld.param.b32 %v, [v];\n{}\n"
        "st.param.b32 [r], %w; ret;\n}}\n",
        function_name(kind),
        body
    );
  };
  add(Kind::Load, "ld.relaxed.gpu.u32 %w, [%m];");
  add(Kind::Store, "st.relaxed.gpu.u32 [%m], %v; mov.u32 %w, 0;");
  add(Kind::Exchange, "atom.relaxed.gpu.exch.b32 %w, [%m], %v;");
  add(Kind::Increment, "atom.relaxed.gpu.add.u32 %w, [%m], 1;");
  add(Kind::Wait, "AGAIN: ld.relaxed.gpu.u32 %w, [%m]; setp.ne.u32 %p, %w, %v; @%p bra AGAIN;");
  return text;
}

std::string call_as_ptx(
    const Operation& operation,
    const std::string& to,
    const std::string& at,
    const std::string& value
) {
  const std::size_t plus = at.find('+');
  const char* const name = function_name(operation.kind);
  const bool by_address = operation.place == Place::Q;
  return fmt::format(
      "add.u64 %y#, {}, {}; mov.u32 %b#, {};\n{}"
      "{{ .param .b64 a; .param .b32 v; .param .b32 r; st.param.b64 [a], %y#;\n"
      "st.param.b32 [v], %b#; {}call (r), {}, (a, v){};\n{}}}\n",
      at.substr(1, plus - 1),
      at.substr(plus + 1, at.size() - plus - 2),
      value,
      by_address ? fmt::format("mov.u64 %x#, {}; ", name) : "",
      by_address ? "proto#: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);\n"
                 : "",
      by_address ? "%x#" : name,
      by_address ? ", proto#" : "",
      has_result(operation.kind) ? fmt::format("ld.param.b32 {}, [r]; ", to) : ""
  );
}

} // namespace heddle::enumeration
