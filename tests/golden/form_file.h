// A family of golden vectors on disk: PTX text whose comments describe the forms, and result bits.
//
//   data/<family>.ptx.zst     the PTX; above every .entry a line
//       // form NAME | PTX TEXT | in KIND… | out b16|b32|b64|pred … | exact | TUPLES
//   data/<family>.bits.zst    "HEDGOLD1", u32 size and text of a header (who recorded it), then for
//   each
//       form in the order of the PTX a Digest, then for each form and each result the 256 stored
//       values at their width (pred: one byte). Little endian.
#pragma once

#include "inputs.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::golden {

struct Form {
  std::string name;
  std::string text; // what is executed
  std::vector<Kind> inputs;
  std::vector<unsigned> out_bytes; // 2, 4, 8; 1 for a predicate
  std::string compare;             // "exact" or "approximate FUNCTION"
  std::uint32_t tuples = 0;
};

/// The forms described in a PTX text, in order. Malformed descriptions make `error` non-empty.
std::vector<Form> read_forms(std::string_view ptx, std::string& error);

/// Hashes of everything a form got and gave: chunk 0 is the stored tuples, the others divide the
/// rest.
inline constexpr std::uint32_t chunks = 17;
struct Digest {
  std::uint32_t inputs = 0;
  std::array<std::uint32_t, chunks> results{};
};
/// First tuple of chunk c; chunk_begin(form, chunks) is the end.
std::uint32_t chunk_begin(const Form& form, std::uint32_t c);

/// results[j * tuples + t]: result j of tuple t in the low bytes, the others zero.
Digest digest(
    const Form& form,
    const std::vector<std::uint64_t>& inputs,
    const std::vector<std::uint64_t>& results
);

struct Recorded {
  std::string header;
  std::vector<Digest> digests;                     // per form
  std::vector<std::vector<std::uint64_t>> results; // per form: [j * 256 + t]
};
std::string write_recorded(const std::vector<Form>& forms, const Recorded& recorded);
/// Makes `error` non-empty if the bytes do not fit the forms.
Recorded read_recorded(const std::vector<Form>& forms, std::string_view bytes, std::string& error);

} // namespace heddle::golden
