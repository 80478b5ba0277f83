// How much of the PTX in the wild executes: data/opcodes.tsv lists, for 627 programs (Rodinia,
// cuda-samples, HeCBench), how many of them use each opcode and each opcode with its modifiers.
//
// A row counts as executed if some form of the table takes its modifiers, with types filled in, is
// marked Run or Part, and the opcode has a lowering. Misses nothing that is wrong *inside* a form:
// that is the business of the golden vectors.
#include "isa/lowering.h"
#include "ptx/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace heddle;

struct Row {
  std::string name; // "atom.global.add"
  std::uint64_t programs = 0;
};

std::vector<Row> read_section(const std::string& title) {
  std::ifstream in(HEDDLE_SOURCE_DIR "/data/opcodes.tsv");
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# section: ")) {
      inside = line == "# section: " + title;
      std::getline(in, line); // column titles
      continue;
    }
    std::istringstream fields(line);
    Row row;
    if (inside && std::getline(fields, row.name, '\t') && fields >> row.programs) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<ptx::Mod> all_types() {
  std::vector<ptx::Mod> types;
  for (const char* word :
       {"u8",  "u16", "u32", "u64", "s8",    "s16",  "s32",  "s64",    "b8",   "b16", "b32",
        "b64", "f16", "f32", "f64", "f16x2", "bf16", "b128", "bf16x2", "tf32", "pred"}) {
    if (const auto mod = ptx::find_modifier(word)) {
      types.push_back(*mod);
    }
  }
  return types;
}

bool runs(ptx::Opcode opcode, const std::vector<ptx::Mod>& modifiers) {
  for (const ptx::Form& form : ptx::form_table().of(opcode)) {
    if (form.status != ptx::FormStatus::Parse && form.match_modifiers(modifiers).ok()) {
      return true;
    }
  }
  return false;
}

/// Whether some form takes `modifiers` and up to `more` types besides.
bool runs_with_types(ptx::Opcode opcode, std::vector<ptx::Mod>& modifiers, int more) {
  if (runs(opcode, modifiers)) {
    return true;
  }
  static const std::vector<ptx::Mod> types = all_types();
  for (std::size_t i = 0; more > 0 && i < types.size(); ++i) {
    modifiers.push_back(types[i]);
    const bool found = runs_with_types(opcode, modifiers, more - 1);
    modifiers.pop_back();
    if (found) {
      return true;
    }
  }
  return false;
}

/// Of a row with modifiers, whether it executes; of an opcode alone, whether any form of it does.
bool executes(const std::string& name, bool any_form) {
  std::istringstream words(name);
  std::string word;
  std::getline(words, word, '.');
  const auto opcode = ptx::find_opcode(word);
  if (!opcode || !isa::lower_table().contains(*opcode)) {
    return false;
  }
  if (any_form) {
    const auto forms = ptx::form_table().of(*opcode);
    return std::ranges::any_of(forms, [](const auto& f) {
      return f.status != ptx::FormStatus::Parse;
    });
  }
  std::vector<ptx::Mod> modifiers;
  while (std::getline(words, word, '.')) {
    const auto mod = ptx::find_modifier(word);
    if (!mod) {
      return false;
    }
    modifiers.push_back(*mod);
  }
  return runs_with_types(*opcode, modifiers, 3);
}

bool is_texture_or_tensor(const std::string& name) {
  for (const char* prefix :
       {"tex",
        "tld4",
        "txq",
        "suld",
        "sust",
        "sured",
        "suq",
        "wmma",
        "mma",
        "wgmma",
        "ldmatrix",
        "stmatrix",
        "tcgen05"}) {
    const std::string_view base = std::string_view(name).substr(0, name.find('.'));
    if (base == prefix) {
      return true;
    }
  }
  return false;
}

void print(const std::string& title, bool any_form) {
  const auto rows = read_section(title);
  std::uint64_t all = 0, done = 0, plain = 0, plain_done = 0;
  std::string missing;
  for (const Row& row : rows) {
    const bool yes = executes(row.name, any_form);
    all += row.programs;
    done += yes ? row.programs : 0;
    if (!is_texture_or_tensor(row.name)) {
      plain += row.programs;
      plain_done += yes ? row.programs : 0;
      if (!yes) {
        missing += fmt::format("  {} ({})", row.name, row.programs);
      }
    }
  }
  const auto percent = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  fmt::print(
      "{}: {} rows; weighted by programs {:.2f} % execute, without textures and tensor cores "
      "{:.2f} %\n",
      title,
      rows.size(),
      percent(done, all),
      percent(plain_done, plain)
  );
  if (!missing.empty()) {
    fmt::print("  missing (programs):{}\n", missing);
  }
}

} // namespace

int main() {
  print("opcode", /*any_form=*/true);
  print("opcode+modifiers (types removed)", /*any_form=*/false);
  return 0;
}
