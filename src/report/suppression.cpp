// Implements suppression.h.
#include "report/suppression.h"

#include "base/glob.h"
#include "report/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace heddle::report {
namespace {

std::string absolute(const std::string& file) {
  if (file.empty()) {
    return {};
  }
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::absolute(file, failure);
  return failure ? file : path.lexically_normal().string();
}

std::string source_line(const std::string& file, std::uint32_t number) {
  SourceCache sources;
  const std::string_view line = sources.line(file, number).value_or("");
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos
             ? ""
             : std::string(line.substr(first, line.find_last_not_of(" \t") - first + 1));
}

bool is_function(const std::string& pattern, const std::string& name) {
  return pattern == name || matches(pattern, name) || matches(pattern, bare_name(name));
}

/// libcu++ has no folder and no name space of its own name.
bool belongs_to_libcudacxx(const std::string& path) {
  return path.find("/cuda/std/") != std::string::npos || path.find("/cuda/__") != std::string::npos;
}

struct Key {
  std::string_view name;
  std::string Suppression::* member;
};
constexpr Key keys[] = {
    {"code", &Suppression::code},
    {"file", &Suppression::file},
    {"function", &Suppression::function},
    {"library", &Suppression::library},
    {"text", &Suppression::text},
    {"program", &Suppression::program},
    {"reason", &Suppression::reason},
    {"written", &Suppression::written}
};

} // namespace

/// What entries go by.
struct Suppressions::Subject {
  std::string code, rule;
  std::string file; // absolute
  std::string text;
  std::vector<std::string> functions;
  std::vector<std::string> paths; // of all its places, and what its labels say of libraries
};

Suppressions::Subject Suppressions::subject_of(const Diagnostic& finding) {
  Subject subject{
      std::string(describe(finding.finding).code),
      std::string(finding.rule_id()),
      absolute(finding.place.file),
      source_line(finding.place.file, finding.place.line),
      finding.functions,
      {}
  };
  subject.paths.push_back(subject.file);
  for (const Label& label : finding.labels) {
    subject.paths.push_back(absolute(label.place.file));
    constexpr std::string_view in = ", in "; // "a read, in cub/agent/agent_scan.cuh:123"
    if (const std::size_t at = label.text.rfind(in); at != std::string::npos) {
      subject.paths.push_back("/" + label.text.substr(at + in.size()));
    }
  }
  return subject;
}

Suppressions::Subject Suppressions::subject_of(const StaticFinding& finding) {
  Subject subject{
      finding.key,
      finding.rule,
      absolute(finding.place.file),
      source_line(finding.place.file, finding.place.line),
      {finding.function},
      {}
  };
  subject.paths.push_back(subject.file);
  return subject;
}

bool Suppressions::names(const Suppression& one, const Subject& subject) {
  const auto in_library = [&] {
    const bool libcudacxx = one.library == "libcu++" || one.library == "libcudacxx";
    return std::ranges::any_of(
               subject.paths,
               [&](const std::string& path) {
                 return path.find("/" + one.library + "/") != std::string::npos ||
                        (libcudacxx && belongs_to_libcudacxx(path));
               }
           ) ||
           std::ranges::any_of(subject.functions, [&](const std::string& function) {
             return outer_name_space(function) == one.library;
           });
  };
  const auto in_function = [&] {
    return std::ranges::any_of(subject.functions, [&](const std::string& function) {
      return !function.empty() && is_function(one.function, function);
    });
  };
  return (one.code.empty() || one.code == subject.code || one.code == subject.rule) &&
         (one.text.empty() || one.text == subject.text) &&
         (one.file.empty() || (!subject.file.empty() && matches(one.file, subject.file))) &&
         (one.function.empty() || in_function()) && (one.library.empty() || in_library());
}

template <class Finding> bool Suppressions::apply_to(Finding& finding) {
  if (all_.empty()) {
    return false;
  }
  const Subject subject = subject_of(finding);
  const auto found =
      std::ranges::find_if(all_, [&](const Suppression& one) { return names(one, subject); });
  if (found == all_.end()) {
    return false;
  }
  found->used = true;
  finding.suppressed = found->reason;
  finding.suppressed_by = found->written;
  return true;
}

// [SCOPE] A gap of Heddle is not for the project to live with: nothing was looked at behind it.
bool Suppressions::apply(Diagnostic& finding) {
  return describe(finding.finding).group != FindingGroup::Gap && apply_to(finding);
}

bool Suppressions::apply(StaticFinding& finding) {
  return apply_to(finding);
}

void Suppressions::apply(Report& report) {
  std::vector<Diagnostic> rest;
  for (Diagnostic& finding : report.findings) {
    (apply(finding) ? report.suppressed : rest).push_back(std::move(finding));
  }
  report.findings = std::move(rest);
}

void Suppressions::apply(StaticReport& report) {
  for (StaticFinding& finding : report.findings) {
    if (finding.suppressed.empty()) {
      apply(finding);
    }
  }
}

void Suppressions::keep_for(const std::string& program) {
  const std::string path = absolute(program);
  std::erase_if(all_, [&](const Suppression& one) {
    return !one.program.empty() && !matches(one.program, path);
  });
}

std::vector<const Suppression*> Suppressions::unused() const {
  std::vector<const Suppression*> result;
  for (const Suppression& one : all_) {
    if (!one.used) {
      result.push_back(&one);
    }
  }
  return result;
}

namespace {

Suppression entry(std::string code, const Place& place, const std::vector<std::string>& functions) {
  Suppression one;
  one.code = std::move(code);
  one.file = place.file;
  one.text = source_line(place.file, place.line);
  one.function = functions.empty() ? "" : functions.front();
  one.baseline = true;
  return one;
}

} // namespace

Suppression baseline_entry(const Diagnostic& finding) {
  return entry(std::string(describe(finding.finding).code), finding.place, finding.functions);
}

Suppression baseline_entry(const StaticFinding& finding) {
  return entry(finding.key, finding.place.place(), {finding.function});
}

std::string to_lines(const Suppressions& suppressions) {
  std::string text;
  for (const Suppression& one : suppressions.all()) {
    text += "entry\n";
    for (const Key& key : keys) {
      if (std::string value = one.*key.member; !value.empty()) {
        std::ranges::replace(value, '\n', ' ');
        text += fmt::format("{}\t{}\n", key.name, value);
      }
    }
  }
  return text;
}

Suppressions suppressions_from_lines(std::string_view text) {
  Suppressions result;
  Suppression one;
  bool open = false;
  const auto finish = [&] {
    if (open) {
      result.add(std::move(one));
    }
    one = {};
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line == "entry") {
      finish();
      open = true;
      continue;
    }
    const std::size_t tab = std::min(line.find('\t'), line.size());
    for (const Key& key : keys) {
      if (line.substr(0, tab) == key.name && tab < line.size()) {
        one.*key.member = line.substr(tab + 1);
      }
    }
  }
  finish();
  return result;
}

} // namespace heddle::report
