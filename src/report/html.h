// A report as one page of HTML that needs no network: the verdict and its assumptions, who waits
// for whom, and the execution behind each finding step by step, with source and memory beside it.
//
//   Page page{.program = "ring.cu", .version = "0.1.0", .report = &report, .traces = {trace}};
//   std::string html = render_html(page, sources);
//
// The page shows the JSON of render_json; what draws it is page/page.{html,css,js}, which the build
// puts into the library. It holds the source lines that it shows, and those around them.
#pragma once

#include "report/diagnostic.h"
#include "report/render.h"
#include "report/trace.h"

#include <optional>
#include <string>
#include <vector>

namespace heddle::report {

struct Page {
  std::string program;
  std::string version;            // of heddle
  const Report* report = nullptr; // nullptr: the page is about the one trace
  // Of each finding in their order; nothing where there is none.
  std::vector<std::optional<Trace>> traces;
};

std::string render_html(const Page& page, SourceCache& sources);

/// The data of the page: {"program", "version", "report", "traces", "sources"}, without line ends.
std::string render_json(const Page& page, SourceCache& sources);

/// The trace-event format of Chrome, which ui.perfetto.dev opens: a track for each thread, one
/// microsecond for each step, and a slice over the steps that repeat forever.
std::string render_perfetto(const Trace& trace);

} // namespace heddle::report
