#include "ptx/form.h"

#include "base/check.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>

namespace heddle::ptx {
namespace {

struct Row {
  Opcode opcode;
  std::string_view modifiers;
  std::string_view operands;
  FormStatus status;
};

constexpr Row rows[] = {
#define HEDDLE_FORM(opcode, modifiers, operands, status)                                           \
  {Opcode::opcode, modifiers, operands, FormStatus::status},
#include "ptx/opcode.def"
#undef HEDDLE_FORM
};

struct SetRow {
  std::string_view name;
  std::string_view members;
};

constexpr SetRow set_rows[] = {
#define HEDDLE_FORM_SET(name, members) {#name, members},
#include "ptx/form_set.def"
#undef HEDDLE_FORM_SET
};

constexpr std::string_view category_names[] = {
#define HEDDLE_CATEGORY(name) #name,
#include "ptx/category.def"
#undef HEDDLE_CATEGORY
};

std::string_view next_part(std::string_view& rest, char separator) {
  std::size_t at = rest.find(separator);
  std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') {
    s.remove_prefix(1);
  }
  while (!s.empty() && s.back() == ' ') {
    s.remove_suffix(1);
  }
  return s;
}

Mod modifier_of_row(std::string_view word) {
  auto mod = find_modifier(word);
  HEDDLE_CHECK(
      mod,
      "opcode.def or form_set.def names '.{}', which modifier.def does not have",
      word
  );
  return *mod;
}

class Compiler {
public:
  Compiler() {
    for (std::size_t c = 0; c < std::size(category_names); ++c) {
      std::string name(category_names[c]);
      name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
      ModSet members;
      for (std::size_t m = 0; m < modifier_count; ++m) {
        members[m] = is(static_cast<Mod>(m), static_cast<Category>(c));
      }
      sets_[name] = members;
    }
    for (std::size_t m = 0; m < modifier_count; ++m) {
      types_[m] = category(static_cast<Mod>(m)) == Category::Type;
    }
    // A named set hides a category of the same name (half: f16 types, not halves of products).
    for (const SetRow& row : set_rows) {
      sets_[std::string(row.name)] = alternatives(row.members);
    }
  }

  ModSet alternatives(std::string_view text) const {
    ModSet set;
    while (!text.empty()) {
      std::string_view item = next_part(text, '|');
      if (item.starts_with('.')) {
        set.set(static_cast<std::size_t>(modifier_of_row(item.substr(1))));
        continue;
      }
      auto found = sets_.find(item);
      HEDDLE_CHECK(found != sets_.end(), "no set '{}' in form_set.def", item);
      set |= found->second;
    }
    return set;
  }

  std::vector<Slot> slots(std::string_view text) const {
    std::vector<Slot> result;
    while (!text.empty()) {
      std::string_view element = next_part(text, ' ');
      if (element.empty()) {
        continue;
      }
      bool optional = element.starts_with('?');
      if (optional) {
        element.remove_prefix(1);
      }
      bool first = true;
      while (!element.empty()) {
        // An element is one slot, or several written together: "a|.b.c|.d" is "a|.b" then ".c|.d".
        std::size_t stop = 1;
        while (stop < element.size() && !(element[stop] == '.' && element[stop - 1] != '|')) {
          ++stop;
        }
        Slot slot;
        slot.text = element.substr(0, stop);
        slot.accepts = alternatives(slot.text);
        slot.optional = optional;
        slot.type = (slot.accepts & types_).any();
        slot.after_previous = !first;
        result.push_back(slot);
        first = false;
        element.remove_prefix(stop);
      }
    }
    return result;
  }

  std::vector<OperandRule> rules(std::string_view text) const {
    static constexpr std::string_view kinds = "doepariskKDSmMvwlfLTx";
    std::vector<OperandRule> result;
    while (!text.empty()) {
      std::string_view item = trim(next_part(text, ','));
      HEDDLE_CHECK(!item.empty(), "empty operand rule in '{}'", text);
      OperandRule rule;
      if (item.front() == '?') {
        rule.optional = true;
        item.remove_prefix(1);
      } else if (item.front() == '(') {
        std::size_t close = item.find(')');
        HEDDLE_CHECK(close != std::string_view::npos, "operand rule '{}' lacks ')'", item);
        rule.conditional = true;
        rule.when = alternatives(item.substr(1, close - 1));
        item.remove_prefix(close + 1);
      }
      HEDDLE_CHECK(
          !item.empty() && kinds.find(item.front()) != std::string_view::npos,
          "operand rule '{}' has no kind",
          item
      );
      rule.kind = item.front();
      item.remove_prefix(1);
      if (item.starts_with('~')) {
        rule.loose = true;
        item.remove_prefix(1);
      }
      if (item.empty()) {
        result.push_back(rule);
        continue;
      }
      HEDDLE_CHECK(item.front() == ':', "operand rule: '{}' left over", item);
      item.remove_prefix(1);
      if (item == "2x") {
        rule.type_rule = TypeRule::Double;
      } else if (item == "any") {
        rule.type_rule = TypeRule::Any;
      } else if (item.size() == 2 && item[0] == 't' && item[1] >= '0' && item[1] <= '9') {
        rule.type_index = static_cast<std::uint8_t>(item[1] - '0');
      } else {
        rule.type_rule = TypeRule::Fixed;
        rule.type = modifier_of_row(item);
      }
      result.push_back(rule);
    }
    return result;
  }

private:
  std::map<std::string, ModSet, std::less<>> sets_;
  ModSet types_;
};

} // namespace

ModifierMatch Form::match_modifiers(std::span<const Mod> written) const {
  ModifierMatch result;
  // A slot takes at most one modifier; `filled[s]` is its position + 1.
  std::array<std::uint8_t, 32> filled{};
  std::size_t next_type = 0; // slots of types before this one are passed
  for (std::size_t w = 0; w < written.size(); ++w) {
    std::size_t s = 0;
    for (; s < slots.size(); ++s) {
      const Slot& slot = slots[s];
      if (filled[s] == 0 && slot.accepts[static_cast<std::size_t>(written[w])] &&
          (!slot.after_previous || filled[s - 1] != 0) && (!slot.type || s >= next_type)) {
        break;
      }
    }
    if (s == slots.size() || w >= 255) {
      return result;
    }
    filled[s] = static_cast<std::uint8_t>(w + 1);
    next_type = slots[s].type ? s + 1 : next_type;
    ++result.matched;
  }
  result.accepted = true;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    bool joined = slots[s].after_previous && filled[s - 1] != 0;
    if (filled[s] == 0 && (!slots[s].optional || joined)) {
      result.missing = &slots[s];
      break;
    }
  }
  return result;
}

bool Form::takes(Mod mod) const {
  return std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) {
    return slot.accepts[static_cast<std::size_t>(mod)];
  });
}

FormTable::FormTable() {
  Compiler compiler;
  forms_.reserve(std::size(rows));
  // Grouped by opcode; within an opcode in the table's order.
  std::vector<const Row*> order;
  for (const Row& row : rows) {
    order.push_back(&row);
  }
  std::sort(order.begin(), order.end(), [](const Row* a, const Row* b) {
    return a->opcode != b->opcode ? a->opcode < b->opcode : a < b;
  });
  for (const Row* row : order) {
    Form form;
    form.opcode = row->opcode;
    form.status = row->status;
    form.modifiers = row->modifiers;
    form.operands = row->operands;
    form.slots = compiler.slots(row->modifiers);
    form.rules = compiler.rules(row->operands);
    HEDDLE_CHECK(form.slots.size() <= 32, "too many modifiers in a row of {}", text(row->opcode));
    forms_.push_back(std::move(form));
  }
  first_.assign(opcode_count + 1, 0);
  for (std::size_t i = 0; i < forms_.size(); ++i) {
    forms_[i].id = static_cast<std::uint16_t>(i);
    ++first_[static_cast<std::size_t>(forms_[i].opcode) + 1];
  }
  for (std::size_t i = 1; i < first_.size(); ++i) {
    first_[i] += first_[i - 1];
  }
}

std::span<const Form> FormTable::of(Opcode opcode) const {
  auto i = static_cast<std::size_t>(opcode);
  return std::span(forms_).subspan(first_[i], first_[i + 1] - first_[i]);
}

const FormTable& form_table() {
  static const FormTable table;
  return table;
}

} // namespace heddle::ptx
