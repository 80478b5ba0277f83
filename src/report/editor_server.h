// A language server for editors: the findings of `heddle lint` as diagnostics, its fixes as quick
// fixes. JSON-RPC over two streams (docs/lint/editors.md).
//
//   return serve_editor([&](const std::string& file) { … }, version, std::cin, std::cout);
//
// A file is judged as it is on the disk, when it is opened and when it is saved. Until a changed
// file is saved its diagnostics stay, and its quick fixes are held back: they would hit other text.
#pragma once

#include "base/result.h"
#include "report/static_report.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace heddle::report {

using JudgeFile = std::function<Result<StaticReport>(const std::string& file)>;

/// Until the client says `exit`, or the input ends. The exit code: 0 after `shutdown`.
int serve_editor(
    const JudgeFile& judge,
    const std::string& version,
    std::istream& in,
    std::ostream& out
);

} // namespace heddle::report
