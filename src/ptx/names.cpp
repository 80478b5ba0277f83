// Names of a function: scopes, parameterised registers, and unique names for the flat lists.
//
// PTX ISA 9.0 sections 4.4, 5.4.6, 6.4: a name declared in an inner { } hides outer ones until the
// block ends. The flat lists of ptx::Function hold all scopes, so hidden names get a "$<n>" suffix.
#include "ptx/parser.h"

#include <fmt/format.h>

#include <charconv>

namespace heddle::ptx {
namespace {

std::string_view stem_of(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') {
    name.remove_suffix(1);
  }
  return name;
}

bool numbered(std::string_view name) {
  return name.size() > 1 && name.front() == '%' && name.back() >= '0' && name.back() <= '9';
}

/// The number behind `stem`, unless it is written with leading zeros or too large.
std::optional<std::uint32_t> number_behind(std::string_view name, std::size_t stem) {
  std::string_view digits = name.substr(stem);
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) {
    return std::nullopt;
  }
  std::uint32_t value = 0;
  auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || stop != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

} // namespace

void Names::reset() {
  *this = Names();
}

void Names::open_scope() {
  marks_.push_back(
      {static_cast<std::uint32_t>(bindings_.size()), static_cast<std::uint32_t>(ranges_.size())}
  );
}

void Names::close_scope() {
  Mark mark = marks_.back();
  marks_.pop_back();
  while (bindings_.size() > mark.bindings) {
    const Binding& binding = bindings_.back();
    if (binding.previous == 0) {
      heads_.erase(binding.name);
    } else {
      heads_[binding.name] = binding.previous;
    }
    numbered_ -= numbered(binding.name) ? 1 : 0;
    bindings_.pop_back();
  }
  ranges_.resize(mark.ranges);
}

bool Names::bind(std::string_view name, Entity entity) {
  if (find_here(name) != nullptr) {
    return false;
  }
  std::uint32_t& head = heads_[name];
  bindings_.push_back({name, entity, static_cast<std::uint32_t>(depth()), head});
  head = static_cast<std::uint32_t>(bindings_.size());
  numbered_ += numbered(name) ? 1 : 0;
  return true;
}

bool Names::bind_range(std::string_view prefix, std::uint32_t count, std::uint32_t first) {
  for (std::size_t r = marks_.back().ranges; r < ranges_.size(); ++r) {
    if (ranges_[r].prefix == prefix) {
      return false;
    }
  }
  ranges_.push_back({prefix, count, first, static_cast<std::uint32_t>(depth())});
  return true;
}

const Entity* Names::find(std::string_view name) {
  std::uint32_t scope = 0;
  const Entity* found = nullptr;
  bool ends_in_digit = !name.empty() && name.back() >= '0' && name.back() <= '9';
  // Nearly every operand is %r123: skip the hash table where no single name looks like that.
  if (!numbered(name) || numbered_ != 0) {
    auto head = heads_.find(name);
    if (head != heads_.end()) {
      const Binding& binding = bindings_[head->second - 1];
      found = &binding.entity;
      scope = binding.scope;
    }
  }
  if (ends_in_digit) {
    for (std::size_t r = ranges_.size(); r-- > 0 && ranges_[r].scope > scope;) {
      const Range& range = ranges_[r];
      if (name.size() <= range.prefix.size() || !name.starts_with(range.prefix)) {
        continue;
      }
      auto number = number_behind(name, range.prefix.size());
      if (number && *number < range.count) {
        found_ = Entity{Entity::Kind::Register, 1, range.first + *number};
        return &found_;
      }
    }
  }
  return found;
}

const Entity* Names::find_here(std::string_view name) {
  auto head = heads_.find(name);
  if (head != heads_.end() && bindings_[head->second - 1].scope == depth()) {
    return &bindings_[head->second - 1].entity;
  }
  return nullptr;
}

bool Names::taken(std::string_view name) const {
  if (flat_.find(name) != flat_.end()) {
    return true;
  }
  if (!flat_prefixes_.empty() && !name.empty() && name.back() >= '0' && name.back() <= '9') {
    for (std::size_t length = stem_of(name).size(); length < name.size(); ++length) {
      auto prefix = flat_prefixes_.find(name.substr(0, length));
      if (prefix != flat_prefixes_.end()) {
        auto number = number_behind(name, length);
        if (number && *number < prefix->second) {
          return true;
        }
      }
    }
  }
  return false;
}

std::string Names::unique(std::string_view name) {
  std::string result(name);
  if (taken(result)) {
    std::uint32_t& suffix = next_suffix_[result];
    do {
      result = fmt::format("{}${}", name, ++suffix);
    } while (taken(result));
  }
  flat_.insert(result);
  std::string_view stem = stem_of(result);
  if (stem.size() != result.size()) {
    ++stems_[std::string(stem)];
  }
  return result;
}

std::string Names::unique_prefix(std::string_view prefix, std::uint32_t count) {
  std::string result(prefix);
  // A prefix that itself ends in digits (%a1<4> and %a<20>) could meet another one half-way.
  auto clashes = [&] {
    std::string_view stem = stem_of(result);
    return flat_prefixes_.contains(result) || stems_.contains(stem) ||
           (stem.size() != result.size() && flat_prefixes_.contains(stem));
  };
  if (clashes()) {
    std::uint32_t& suffix = next_suffix_[result];
    do {
      result = fmt::format("{}${}$", prefix, ++suffix);
    } while (clashes());
  }
  flat_prefixes_[result] = count;
  if (stem_of(result).size() != result.size()) {
    ++stems_[std::string(stem_of(result))];
  }
  return result;
}

} // namespace heddle::ptx
