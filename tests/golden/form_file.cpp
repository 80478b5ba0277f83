// Reading and writing of golden families: see form_file.h.
#include "form_file.h"

#include <cstring>
#include <sstream>

namespace heddle::golden {
namespace {

constexpr std::string_view magic = "HEDGOLD1";

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> result;
  for (std::string word; in >> word;) {
    result.push_back(word);
  }
  return result;
}

/// The fields between " | ".
std::vector<std::string> fields(std::string_view line) {
  std::vector<std::string> result;
  constexpr std::string_view separator = " | ";
  for (std::size_t at = 0; at <= line.size();) {
    std::size_t end = line.find(separator, at);
    if (end == std::string_view::npos) {
      end = line.size();
    }
    result.emplace_back(line.substr(at, end - at));
    at = end + separator.size();
  }
  return result;
}

bool read_form(std::string_view line, Form& form) {
  auto parts = fields(line);
  if (parts.size() != 6) {
    return false;
  }
  form.name = parts[0];
  form.text = parts[1];
  form.compare = parts[4];
  form.tuples = static_cast<std::uint32_t>(std::strtoul(parts[5].c_str(), nullptr, 10));
  auto ins = words(parts[2]);
  auto outs = words(parts[3]);
  if (ins.empty() || ins[0] != "in" || outs.size() < 2 || outs[0] != "out" ||
      form.tuples < 2 * stored_tuples || form.tuples % stored_tuples != 0) {
    return false;
  }
  for (std::size_t i = 1; i < ins.size(); ++i) {
    auto kind = find_kind(ins[i]);
    if (!kind) {
      return false;
    }
    form.inputs.push_back(*kind);
  }
  for (std::size_t i = 1; i < outs.size(); ++i) {
    unsigned bytes = outs[i] == "pred"  ? 1
                     : outs[i] == "b16" ? 2
                     : outs[i] == "b32" ? 4
                     : outs[i] == "b64" ? 8
                                        : 0;
    if (bytes == 0) {
      return false;
    }
    form.out_bytes.push_back(bytes);
  }
  return true;
}

void put(std::string& out, std::uint64_t value, unsigned bytes) {
  out.append(reinterpret_cast<const char*>(&value), bytes);
}

} // namespace

std::vector<Form> read_forms(std::string_view ptx, std::string& error) {
  constexpr std::string_view start = "// form ";
  std::vector<Form> forms;
  for (std::size_t at = 0; at < ptx.size();) {
    std::size_t end = ptx.find('\n', at);
    if (end == std::string_view::npos) {
      end = ptx.size();
    }
    std::string_view line = ptx.substr(at, end - at);
    at = end + 1;
    if (line.substr(0, start.size()) != start) {
      continue;
    }
    Form form;
    if (!read_form(line.substr(start.size()), form)) {
      error = "bad description: " + std::string(line);
      return forms;
    }
    forms.push_back(std::move(form));
  }
  return forms;
}

std::uint32_t chunk_begin(const Form& form, std::uint32_t c) {
  std::uint32_t each = (form.tuples - stored_tuples) / (chunks - 1);
  return c == 0 ? 0 : stored_tuples + (c - 1) * each;
}

Digest digest(
    const Form& form,
    const std::vector<std::uint64_t>& inputs,
    const std::vector<std::uint64_t>& results
) {
  Digest d;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    sum += mix(inputs[i] + (i + 1) * 0x9e3779b97f4a7c15ULL);
  }
  d.inputs = static_cast<std::uint32_t>(sum >> 32);
  for (std::uint32_t c = 0; c < chunks; ++c) {
    sum = 0;
    for (std::uint32_t t = chunk_begin(form, c); t < chunk_begin(form, c + 1); ++t) {
      for (std::size_t j = 0; j < form.out_bytes.size(); ++j) {
        sum +=
            mix(results[j * form.tuples + t] +
                (std::uint64_t{t} * 8 + j + 1) * 0x9e3779b97f4a7c15ULL);
      }
    }
    d.results[c] = static_cast<std::uint32_t>(sum >> 32);
  }
  return d;
}

std::string write_recorded(const std::vector<Form>& forms, const Recorded& recorded) {
  std::string out(magic);
  put(out, recorded.header.size(), 4);
  out += recorded.header;
  for (const Digest& d : recorded.digests) {
    put(out, d.inputs, 4);
    for (std::uint32_t r : d.results) {
      put(out, r, 4);
    }
  }
  for (std::size_t f = 0; f < forms.size(); ++f) {
    for (std::size_t j = 0; j < forms[f].out_bytes.size(); ++j) {
      for (std::uint32_t t = 0; t < stored_tuples; ++t) {
        put(out, recorded.results[f][j * stored_tuples + t], forms[f].out_bytes[j]);
      }
    }
  }
  return out;
}

Recorded read_recorded(const std::vector<Form>& forms, std::string_view bytes, std::string& error) {
  Recorded recorded;
  std::size_t at = 0;
  auto take = [&](unsigned n) -> std::uint64_t {
    std::uint64_t value = 0;
    if (bytes.size() - at < n) {
      error = "truncated";
      at = bytes.size();
      return 0;
    }
    std::memcpy(&value, bytes.data() + at, n);
    at += n;
    return value;
  };
  if (bytes.substr(0, magic.size()) != magic) {
    error = "not a golden file";
    return recorded;
  }
  at = magic.size();
  std::size_t header = take(4);
  recorded.header = bytes.substr(at, header);
  at += recorded.header.size();
  for (std::size_t f = 0; f < forms.size() && error.empty(); ++f) {
    Digest& d = recorded.digests.emplace_back();
    d.inputs = static_cast<std::uint32_t>(take(4));
    for (std::uint32_t& r : d.results) {
      r = static_cast<std::uint32_t>(take(4));
    }
  }
  for (std::size_t f = 0; f < forms.size() && error.empty(); ++f) {
    auto& results = recorded.results.emplace_back(forms[f].out_bytes.size() * stored_tuples);
    for (std::size_t j = 0; j < forms[f].out_bytes.size(); ++j) {
      for (std::uint32_t t = 0; t < stored_tuples; ++t) {
        results[j * stored_tuples + t] = take(forms[f].out_bytes[j]);
      }
    }
  }
  if (error.empty() && at != bytes.size()) {
    error = "longer than its forms: PTX and results do not belong together";
  }
  return recorded;
}

} // namespace heddle::golden
