// replay_test: every golden form through Heddle's interpreter, compared with what an H200 answered.
//
//   replay_test                       all families; exit code 1 if any form differs
//   replay_test --family half         one family
//   replay_test --form add_f16        forms whose name contains the text
//   replay_test --show add_f16 [N]    inputs and recorded results of the first N tuples (and
//   Heddle's) replay_test --list                every form that differs, not only the first 20 of a
//   family
//
// Exact forms: 256 stored results bit by bit, the other tuples by 16 hashes. Approximate forms: all
// tuples within the documented error; NaN, infinity and zero bit by bit where stored.
#include "ptx/equal.h"
#include "ptx/parse.h"

#include "form_file.h"
#include "reference.h"
#include "replay.h"
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using namespace heddle::golden;

constexpr std::string_view families[] = {
    "integer",
    "bits",
    "compare",
    "video",
    "single",
    "double",
    "half",
    "approximate",
    "convert_integer",
    "convert_float",
    "convert_packed",
    "move",
    "control",
    "warp",
    "memory",
    "atomic",
    "block"
};

struct Options {
  std::filesystem::path data = std::filesystem::path(HEDDLE_SOURCE_DIR) / "tests/golden/data";
  std::string family, form, show;
  std::uint32_t show_tuples = 32;
  bool list = false;
};

struct Totals {
  std::size_t forms = 0, passed = 0, approximate = 0, not_run = 0;
  std::uint64_t tuples = 0, instructions = 0;
};

std::string read_zst(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream stream;
  stream << in.rdbuf();
  std::string packed = stream.str();
  unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return {};
  }
  std::string text(size, '\0');
  std::size_t got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  return ZSTD_isError(got) != 0U ? std::string() : text;
}

std::string
tuple_text(const Form& form, const std::vector<std::uint64_t>& inputs, std::uint32_t t) {
  std::string text;
  for (std::size_t k = 0; k < form.inputs.size(); ++k) {
    text += fmt::format(
        "{}{:0{}x}",
        k == 0 ? "" : " ",
        inputs[k * form.tuples + t],
        2 * width_bytes(form.inputs[k])
    );
  }
  return text;
}

std::string result_text(
    const Form& form,
    const std::vector<std::uint64_t>& results,
    std::uint32_t stride,
    std::uint32_t t
) {
  std::string text;
  for (std::size_t j = 0; j < form.out_bytes.size(); ++j) {
    text += fmt::format(
        "{}{:0{}x}",
        j == 0 ? "" : " ",
        results[j * stride + t],
        form.out_bytes[j] == 1 ? 1 : 2 * form.out_bytes[j]
    );
  }
  return text;
}

/// What is different, or empty.
std::string compare_exact(
    const Form& form,
    const std::vector<std::uint64_t>& inputs,
    const std::vector<std::uint64_t>& mine,
    const std::vector<std::uint64_t>& stored,
    const Digest& recorded
) {
  std::uint32_t bad = 0, first = 0;
  for (std::uint32_t t = stored_tuples; t-- > 0;) {
    for (std::size_t j = 0; j < form.out_bytes.size(); ++j) {
      if (mine[j * form.tuples + t] != stored[j * stored_tuples + t]) {
        ++bad;
        first = t;
        break;
      }
    }
  }
  if (bad != 0) {
    return fmt::format(
        "{} of 256, first tuple {}: ({}) gives {}, H200 {}",
        bad,
        first,
        tuple_text(form, inputs, first),
        result_text(form, mine, form.tuples, first),
        result_text(form, stored, stored_tuples, first)
    );
  }
  Digest own = digest(form, inputs, mine);
  for (std::uint32_t c = 1; c < chunks; ++c) {
    if (own.results[c] != recorded.results[c]) {
      auto differing = std::count_if(own.results.begin(), own.results.end(), [&](const auto& r) {
        return r != recorded.results[static_cast<std::size_t>(&r - own.results.data())];
      });
      return fmt::format(
          "{} of 16 hashed chunks, first: tuples {} to {}",
          differing,
          chunk_begin(form, c),
          chunk_begin(form, c + 1) - 1
      );
    }
  }
  return {};
}

std::string compare_approximate(
    const Form& form,
    const std::vector<std::uint64_t>& inputs,
    const std::vector<std::uint64_t>& mine,
    const std::vector<std::uint64_t>& stored
) {
  for (std::uint32_t t = 0; t < form.tuples; ++t) {
    std::vector<std::uint64_t> operands;
    for (std::size_t k = 0; k < form.inputs.size(); ++k) {
      operands.push_back(inputs[k * form.tuples + t]);
    }
    bool same = t < stored_tuples && mine[t] == stored[t];
    bool special = t < stored_tuples && is_special_result(form, operands, stored[t]);
    if (!same && (special || !within_documented_error(form, operands, mine[t]))) {
      return fmt::format(
          "tuple {}: ({}) gives {}{}",
          t,
          tuple_text(form, inputs, t),
          result_text(form, mine, form.tuples, t),
          t < stored_tuples ? ", H200 " + result_text(form, stored, stored_tuples, t) : ""
      );
    }
    if (t < stored_tuples && !special && !within_documented_error(form, operands, stored[t])) {
      return fmt::format(
          "the H200's own result is out of bounds: tuple {}: ({}) gives {}",
          t,
          tuple_text(form, inputs, t),
          result_text(form, stored, stored_tuples, t)
      );
    }
  }
  return {};
}

void show(
    const Options& options,
    const Form& form,
    const std::vector<std::uint64_t>& inputs,
    const std::vector<std::uint64_t>& mine,
    const std::vector<std::uint64_t>& stored,
    const std::string& problem
) {
  fmt::print("{}: {}\n", form.name, form.text);
  if (!problem.empty()) {
    fmt::print("  Heddle: {}\n", problem);
  }
  for (std::uint32_t t = 0; t < std::min(options.show_tuples, stored_tuples); ++t) {
    std::string hardware = result_text(form, stored, stored_tuples, t);
    std::string own = problem.empty() ? result_text(form, mine, form.tuples, t) : "";
    fmt::print(
        "  {:3}  {}  ->  {}{}\n",
        t,
        tuple_text(form, inputs, t),
        hardware,
        own.empty() || own == hardware ? "" : "   Heddle: " + own
    );
  }
}

/// The family's PTX must survive printing and parsing again.
std::string print_and_parse(std::string_view family, std::string_view text) {
  auto module = heddle::ptx::parse(text, std::string(family) + ".ptx");
  if (!module) {
    return module.error().message;
  }
  auto again =
      heddle::ptx::parse(heddle::ptx::print(**module), std::string(family) + ".ptx (printed)");
  if (!again) {
    return again.error().message;
  }
  return heddle::ptx::difference(**module, **again).value_or("");
}

bool run_family(std::string_view family, const Options& options, Totals& totals) {
  std::string ptx = read_zst(options.data / fmt::format("{}.ptx.zst", family));
  std::string bits = read_zst(options.data / fmt::format("{}.bits.zst", family));
  std::string error;
  auto forms = read_forms(ptx, error);
  if (forms.empty() && error.empty()) {
    error = "no data";
  }
  Recorded recorded;
  if (error.empty()) {
    recorded = read_recorded(forms, bits, error);
  }
  if (!error.empty()) {
    fmt::print("{}: {}\n", family, error);
    return false;
  }
  Replayer replayer(ptx);
  std::vector<std::string> problems;
  std::string printing = print_and_parse(family, ptx);
  if (!printing.empty()) {
    fmt::print("{}: printed and parsed again: {}\n", family, printing);
  }
  std::size_t tried = 0;
  for (std::size_t f = 0; f < forms.size(); ++f) {
    const Form& form = forms[f];
    if ((!options.form.empty() && form.name.find(options.form) == std::string::npos) ||
        (!options.show.empty() && form.name != options.show)) {
      continue;
    }
    ++tried;
    auto inputs = make_inputs(form.inputs, form.tuples);
    std::vector<std::uint64_t> mine;
    std::string problem = replayer.run(form, inputs, mine);
    bool ran = problem.empty();
    if (!options.show.empty()) {
      show(options, form, inputs, mine, recorded.results[f], problem);
      continue;
    }
    if (ran) {
      if (digest(form, inputs, mine).inputs != recorded.digests[f].inputs) {
        problem = "inputs are not those that were recorded: record again";
      } else if (form.compare == "exact") {
        problem = compare_exact(form, inputs, mine, recorded.results[f], recorded.digests[f]);
      } else {
        problem = compare_approximate(form, inputs, mine, recorded.results[f]);
        ++totals.approximate;
      }
      totals.tuples += form.tuples;
    } else {
      ++totals.not_run;
    }
    if (!problem.empty()) {
      problems.push_back(fmt::format("  {}: {}\n      {}\n", form.name, problem, form.text));
    }
  }
  totals.forms += tried;
  totals.passed += tried - problems.size();
  totals.instructions += replayer.executed();
  if (tried != 0 && options.show.empty()) {
    fmt::print("{:16} {:4} forms, {:4} differ\n", family, tried, problems.size());
  }
  std::size_t shown = options.list ? problems.size() : std::min<std::size_t>(problems.size(), 20);
  for (std::size_t i = 0; i < shown; ++i) {
    fmt::print("{}", problems[i]);
  }
  if (shown < problems.size()) {
    fmt::print("  … and {} more (--list)\n", problems.size() - shown);
  }
  return problems.empty() && printing.empty();
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (argument == "--family") {
      options.family = value();
    } else if (argument == "--form") {
      options.form = value();
    } else if (argument == "--data") {
      options.data = value();
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument == "--show") {
      options.show = value();
      if (i + 1 < argc) {
        options.show_tuples =
            static_cast<std::uint32_t>(std::strtoul(value().c_str(), nullptr, 10));
      }
    } else {
      fmt::print(
          stderr,
          "usage: replay_test [--family F] [--form TEXT] [--show FORM [N]] [--list] [--data DIR]\n"
      );
      return 2;
    }
  }
  auto start = std::chrono::steady_clock::now();
  Totals totals;
  bool good = true;
  for (std::string_view family : families) {
    if (options.family.empty() || options.family == family) {
      good = run_family(family, options, totals) && good;
    }
  }
  if (!options.show.empty()) {
    return 0;
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print(
      "{} forms, {} agree with the H200 ({} of the run forms by error bound), {} could not run; "
      "{} tuples, {} thread instructions, {:.1f} s\n",
      totals.forms,
      totals.passed,
      totals.approximate,
      totals.not_run,
      totals.tuples,
      totals.instructions,
      seconds
  );
  return good ? 0 : 1;
}
