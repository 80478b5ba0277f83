// Puts the data into the template. Everything from outside is escaped here, and only here: the data
// is JSON in which no "<" is left, so no text can end the script element that holds it.
#include "report/html.h"

#include <string_view>
#include <utility>

namespace heddle::report {
namespace {

constexpr std::string_view page_html =
#include "report/page_html.inc"
    ;
constexpr std::string_view page_css =
#include "report/page_css.inc"
    ;
constexpr std::string_view page_js =
#include "report/page_js.inc"
    ;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    default:
      result += c;
    }
  }
  return result;
}

/// "<" stands only in strings of JSON, where it may be written by its number.
std::string without_markup(std::string_view json) {
  std::string result;
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

/// What the page says where scripts do not run.
std::string as_text(const Page& page, SourceCache& sources) {
  std::string text;
  if (page.report != nullptr) {
    text = render_text(*page.report, page.program, sources);
  }
  for (const std::optional<Trace>& trace : page.traces) {
    if (trace) {
      text += "\n" + render_text(*trace, sources);
    }
  }
  return text;
}

} // namespace

std::string render_html(const Page& page, SourceCache& sources) {
  const std::pair<std::string_view, std::string> parts[] = {
      {"@TITLE@", escaped(page.program) + " - heddle"},
      {"@STYLE@", std::string(page_css)},
      {"@TEXT@", escaped(as_text(page, sources))},
      {"@DATA@", without_markup(render_json(page, sources))},
      {"@SCRIPT@", std::string(page_js)},
  };
  // Each mark is looked for in the template alone, behind the one before it.
  std::string html;
  std::string_view rest = page_html;
  for (const auto& [mark, value] : parts) {
    const std::size_t at = rest.find(mark);
    html += rest.substr(0, at);
    html += value;
    rest.remove_prefix(at + mark.size());
  }
  return html += rest;
}

} // namespace heddle::report
