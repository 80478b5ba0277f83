// Block::vprintf: printf of device code. CUDA C++ Programming Guide, "Formatted Output": the format
// is read by the device's rules (no %n), arguments lie in a buffer at their natural alignment, at
// most 32 of them; the result is the number of arguments, -1 for a null format.
#include "machine/block.h"

#include <cstdio>
#include <cstring>

namespace heddle::machine {
namespace {

/// Formats one value with the C library; `spec` is a complete conversion of that type.
template <class T> std::string format_one(const std::string& spec, T value) {
  char small[64];
  const int n = std::snprintf(small, sizeof small, spec.c_str(), value);
  if (n < 0) {
    return spec;
  }
  if (static_cast<std::size_t>(n) < sizeof small) {
    return {small, static_cast<std::size_t>(n)};
  }
  std::string text(static_cast<std::size_t>(n) + 1, '\0');
  std::snprintf(text.data(), text.size(), spec.c_str(), value);
  text.pop_back();
  return text;
}

/// Reads the argument buffer of one call.
class Arguments {
public:
  Arguments(isa::Exec& exec, int lane, memory::Address at) : exec_(exec), lane_(lane), at_(at) {}

  template <class T> bool next(T& value) {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    const std::byte* p = exec_.translate(lane_, at_, sizeof(T), /*store=*/false);
    if (p == nullptr) {
      return false;
    }
    std::memcpy(&value, p, sizeof(T));
    at_ += sizeof(T);
    ++count_;
    return true;
  }
  bool text(std::string& value) {
    memory::Address from = 0;
    if (!next(from)) {
      return false;
    }
    return read_text(from, value);
  }
  bool read_text(memory::Address from, std::string& value) {
    if (from == 0) {
      value = "(null)";
      return true;
    }
    for (;; ++from) {
      const std::byte* p = exec_.translate(lane_, from, 1, /*store=*/false);
      if (p == nullptr) {
        return false;
      }
      if (*p == std::byte{0}) {
        return true;
      }
      value += static_cast<char>(*p);
    }
  }
  int count() const { return count_; }

private:
  isa::Exec& exec_;
  int lane_;
  memory::Address at_;
  int count_ = 0;
};

} // namespace

int Block::vprintf(isa::Exec& exec, int lane, memory::Address format, memory::Address arguments) {
  if (format == 0) {
    return -1;
  }
  Arguments values(exec, lane, arguments);
  std::string pattern;
  if (!values.read_text(format, pattern)) {
    (void)exec.stop_fault();
    return -1;
  }
  std::string out;
  for (std::size_t i = 0; i < pattern.size();) {
    if (pattern[i] != '%') {
      out += pattern[i++];
      continue;
    }
    std::string spec = "%";
    ++i;
    const auto take = [&](const char* set) {
      while (i < pattern.size() && std::strchr(set, pattern[i]) != nullptr) {
        spec += pattern[i++];
      }
    };
    bool ok = true;
    const auto number = [&] { // digits, or * with its argument
      if (i < pattern.size() && pattern[i] == '*') {
        ++i;
        std::int32_t value = 0;
        ok = ok && values.next(value);
        spec += std::to_string(value);
      } else {
        take("0123456789");
      }
    };
    take("-+ #0");
    number();
    if (i < pattern.size() && pattern[i] == '.') {
      spec += pattern[i++];
      number();
    }
    std::string length;
    while (i < pattern.size() && std::strchr("hlLqjzt", pattern[i]) != nullptr) {
      length += pattern[i++];
    }
    if (i >= pattern.size()) {
      out += spec + length; // an unfinished conversion is printed as it stands
      break;
    }
    const char conversion = pattern[i++];
    const bool wide = length.find_first_of("lqjzt") != std::string::npos;
    switch (conversion) {
    case '%':
      out += '%';
      break;
    case 'c': {
      std::int32_t value = 0;
      ok = ok && values.next(value);
      out += format_one(spec + 'c', value);
      break;
    }
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': {
      if (wide) {
        long long value = 0;
        ok = ok && values.next(value);
        out += format_one(spec + "ll" + conversion, value);
      } else {
        std::int32_t value = 0;
        ok = ok && values.next(value);
        out += format_one(spec + length + conversion, value);
      }
      break;
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      double value = 0;
      ok = ok && values.next(value);
      out += format_one(spec + conversion, value);
      break;
    }
    case 'p': {
      std::uint64_t value = 0;
      ok = ok && values.next(value);
      out += format_one(spec + 'p', reinterpret_cast<void*>(value));
      break;
    }
    case 's': {
      std::string value;
      ok = ok && values.text(value);
      out += format_one(spec + 's', value.c_str());
      break;
    }
    default:
      out += spec + length + conversion;
      break;
    }
    if (!ok) {
      (void)exec.stop_fault();
      return -1;
    }
  }
  grid_.services().print(std::move(out));
  return values.count();
}

} // namespace heddle::machine
