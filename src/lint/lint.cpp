#include "lint/lint.h"

#include "lint/database.h"
#include "lint/frontend.h"
#include "lint/one_file.h"
#include "lint/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

namespace heddle::lint {
namespace {

namespace fs = std::filesystem;

Result<std::vector<Job>> jobs_of(const LintRequest& request) {
  std::vector<Job> jobs;
  std::vector<CompileCommand> commands;
  if (!request.database.empty()) {
    TRY(commands, read_database(request.database));
  }
  const auto from_command = [&](const CompileCommand& command, const std::string& file) {
    const Translated translated = translate_flags(command.words, command.folder);
    Job job{file, command.folder, translated.flags, translated.architecture};
    job.flags.insert(job.flags.end(), request.flags.begin(), request.flags.end());
    return job;
  };
  const Translated plain = translate_flags(request.flags, fs::current_path().string());
  for (const std::string& file : request.files) {
    const std::string absolute = fs::absolute(file).lexically_normal().string();
    const auto command = std::ranges::find(commands, absolute, &CompileCommand::file);
    jobs.push_back(
        command != commands.end() ? from_command(*command, absolute)
                                  : Job{file, "", plain.flags, plain.architecture}
    );
  }
  if (request.files.empty()) {
    for (const CompileCommand& command : commands) {
      const bool is_cuda = command.file.ends_with(".cu") ||
                           std::ranges::any_of(command.words, [](const std::string& word) {
                             return word == "cu" || word == "cuda" || word == "-xcuda" ||
                                    word == "-x=cu" || word == "--x=cu";
                           });
      const bool known =
          std::ranges::any_of(jobs, [&](const Job& job) { return job.file == command.file; });
      if (is_cuda && !known) {
        jobs.push_back(from_command(command, command.file));
      }
    }
  }
  return jobs;
}

/// A comment in a header that suppresses nothing in one file may do so in another that includes it:
/// there something is found in the header, and nobody says that the comment is unused.
void leave_out_used_markers(std::vector<FileResult>& results) {
  using Place = std::pair<std::string, std::uint32_t>;
  constexpr std::string_view unused = "unused_suppression";
  std::set<Place> used;
  for (const FileResult& one : results) {
    std::set<std::string> files;
    std::set<Place> idle;
    for (const report::StaticFinding& finding : one.findings) {
      if (finding.key == unused) {
        idle.insert({finding.place.file, finding.place.line});
      } else {
        files.insert(finding.place.file);
      }
    }
    for (const FileResult& other : results) {
      for (const report::StaticFinding& finding : other.findings) {
        const Place place{finding.place.file, finding.place.line};
        if (finding.key == unused && files.contains(place.first) && !idle.contains(place)) {
          used.insert(place);
        }
      }
    }
  }
  for (FileResult& one : results) {
    std::erase_if(one.findings, [&](const report::StaticFinding& finding) {
      return finding.key == unused && used.contains({finding.place.file, finding.place.line});
    });
  }
}

} // namespace

const std::vector<report::StaticRule>& all_rules() {
  using enum report::Severity;
  static const std::vector<report::StaticRule> rules = {
#define HEDDLE_LINT_KEY(key, rule, name, severity, page, description)                              \
  {key, rule, name, description, "docs/lint/" page ".md", severity},
#include "lint/rules.def"
  };
  return rules;
}

std::string explain_rule(const std::string& rule) {
  static constexpr std::pair<std::string_view, std::string_view> pages[] = {
#include "lint_pages.inc"
  };
  std::string out;
  std::string page;
  for (const report::StaticRule& one : all_rules()) {
    if (equal_names(one.rule, rule) || one.key == rule) {
      out += out.empty() ? fmt::format("{} [{}]\n\n", one.rule, one.name) : "";
      out += fmt::format("  {}\n      {}\n", one.key, one.description);
      page = one.page;
      if (one.key == rule) {
        break;
      }
    }
  }
  const auto* text = std::ranges::find(pages, page, [](const auto& one) { return one.first; });
  if (text != std::end(pages)) {
    out += "\n" + std::string(text->second);
  }
  return out;
}

Result<report::StaticReport> lint(const LintRequest& request) {
  report::StaticReport report;
  report.version = request.version;
  report.rules = all_rules();
  report.root = fs::current_path().string();
  TRY(const std::vector<Job> jobs, jobs_of(request));
  if (jobs.empty()) {
    return input_error(fmt::format("-p {}: the database names no CUDA file", request.database));
  }
  const std::string toolkit = find_toolkit(request.toolkit);
  if (!toolkit.empty() && !fs::exists(fs::path(toolkit) / "include" / "cuda_runtime.h")) {
    return input_error(
        fmt::format(
            "--cuda-path {}: no CUDA toolkit (it has no include/cuda_runtime.h); 'none' reads "
            "with Heddle's own declarations",
            toolkit
        )
    );
  }
  if (toolkit.empty() && request.toolkit != "none") {
    report.notes.emplace_back(
        "no CUDA toolkit was found; sources are read with Heddle's own declarations of CUDA "
        "(--cuda-path FOLDER)"
    );
  }
  if (!knows_architecture(request.architecture)) {
    return input_error(
        fmt::format(
            "--arch: '{}' is no architecture that Clang knows (sm_90)",
            request.architecture
        )
    );
  }
  std::vector<std::optional<Result<FileResult>>> results(jobs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      results[i] = lint_file(request, jobs[i], toolkit);
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < std::min<std::size_t>(request.jobs, jobs.size()); ++i) {
    others.emplace_back(work);
  }
  work();
  for (std::thread& one : others) {
    one.join();
  }
  std::vector<FileResult> judged;
  for (auto& result : results) {
    TRY(FileResult one, std::move(*result));
    judged.push_back(std::move(one));
  }
  leave_out_used_markers(judged);
  // A header that several files include reports once.
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t, std::string>> seen;
  for (FileResult& one : judged) {
    report.files.push_back(std::move(one.time));
    for (report::StaticFinding& finding : one.findings) {
      if (seen.insert({finding.place.file, finding.place.line, finding.place.column, finding.key})
              .second) {
        report.findings.push_back(std::move(finding));
      }
    }
  }
  return report;
}

} // namespace heddle::lint
