// Which element of a matrix a register of a lane holds, in mma, wmma and wgmma alike.
//
// The registers of a warp hold elements of lines: rows of A, C and D, columns of B. One register of
// all lanes is a block of eight lines; lane l has its share of line l / 4. Of A, B and f16 results
// that is one word along the line, low bits first, behind those of the lanes below; of 32- and
// 64-bit results two registers after each other make up such a block. So it is in PTX for mma
// (9.7.14.5) and, for the 16 rows of each warp, for wgmma (9.7.15.5.1). PTX leaves wmma open
// (9.7.14.4): here it is as an H200 has it (tests/golden/facts.md), the same for each 16 rows of A
// and eight columns of B; in m8n32 rows and columns change places.
#pragma once

#include "isa/op.h"
#include "isa/ops_matrix_columns.h"
#include "isa/vector_words.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace heddle::isa {

inline constexpr int block_lines = 8;
inline constexpr int lanes_per_line = warp_size / block_lines;

struct LinePlace {
  int line = 0;
  int along = 0;
};

/// A matrix of an instruction as its registers hold it.
struct FragmentLayout {
  int lines = 0;  // a multiple of 8
  int length = 0; // elements of a line
  int bits = 0;   // of an element
  /// A block is followed by the next one along its line; else each two lines of blocks alternate.
  bool along_first = false;
  /// Two registers share the lines of a block, one element each at a time: 32- and 64-bit results.
  bool in_pairs = false;

  /// Elements that a lane has in one register.
  int elements() const { return 1 << log2_elements(); }
  /// Registers that hold the matrix once. In wmma there may be more, which hold it again.
  int registers() const { return lines * length >> log2_elements() >> log2(warp_size); }
  /// The first element of the block that register `r`, which is below registers(), belongs to.
  LinePlace block(int r) const {
    const int number = in_pairs ? r / 2 : r;
    const int log2_length = log2_share() + log2(lanes_per_line);
    if (!along_first && lines <= 2 * block_lines) {
      return {number % 2 * block_lines, number / 2 << log2_length};
    }
    const int blocks = length >> log2_length; // along a line: a power of two
    const int log2_blocks = log2(blocks);
    const int line =
        along_first ? number >> log2_blocks : (number >> (log2_blocks + 1)) * 2 + number % 2;
    const int at = (along_first ? number : number / 2) & (blocks - 1);
    return {line * block_lines, at << log2_length};
  }
  /// Element `e` of register `r`, which may be above registers(), of a lane.
  LinePlace place(int lane, int r, int e) const {
    const int once = r % registers();
    const LinePlace first = block(once);
    return {
        first.line + lane / lanes_per_line,
        first.along + (lane % lanes_per_line << log2_share()) + e + (in_pairs ? once % 2 : 0)
    };
  }

private:
  // Shifts, since all of this is asked for each register.
  static constexpr int log2(int power) { return std::countr_zero(static_cast<unsigned>(power)); }
  int log2_elements() const { return bits >= 32 ? 0 : log2(32) - log2(bits); }
  /// Of neighbouring elements of a lane and, in pairs, of the other register.
  int log2_share() const { return in_pairs ? 1 : log2_elements(); }
};

/// Four words of each of two registers, in turns, and back.
template <class Word> void put_in_turns(const Word* even, const Word* odd, std::byte* to) {
  using Four = ops::Vector<Word, lanes_per_line>;
  Four first;
  Four second;
  std::memcpy(&first, even, sizeof first);
  std::memcpy(&second, odd, sizeof second);
  const Four low = __builtin_shufflevector(first, second, 0, 4, 1, 5);
  const Four high = __builtin_shufflevector(first, second, 2, 6, 3, 7);
  std::memcpy(to, &low, sizeof low);
  std::memcpy(to + sizeof low, &high, sizeof high);
}
template <class Word> void take_in_turns(const std::byte* from, Word* even, Word* odd) {
  using Four = ops::Vector<Word, lanes_per_line>;
  Four low;
  Four high;
  std::memcpy(&low, from, sizeof low);
  std::memcpy(&high, from + sizeof low, sizeof high);
  const Four first = __builtin_shufflevector(low, high, 0, 2, 4, 6);
  const Four second = __builtin_shufflevector(low, high, 1, 3, 5, 7);
  std::memcpy(even, &first, sizeof first);
  std::memcpy(odd, &second, sizeof second);
}

/// The packed lines of a matrix, which begin `step` bytes after each other, from its registers, of
/// which a lane has `count`; `register_of(r)`: those of all lanes, each a Word.
template <class Word, class RegisterOf>
void registers_to_lines(
    const FragmentLayout& f,
    int count,
    RegisterOf&& register_of,
    std::byte* lines,
    std::ptrdiff_t step
) {
  count = std::min(count, f.registers());
  for (int r = 0; r < count; r += f.in_pairs ? 2 : 1) {
    const LinePlace at = f.block(r);
    std::byte* to = lines + at.line * step + at.along * f.bits / 8;
    const Word* from = register_of(r);
    if (f.in_pairs) {
      const Word* odd = register_of(r + 1);
      for (int g = 0; g < warp_size; g += lanes_per_line, to += step) {
        put_in_turns(from + g, odd + g, to);
      }
    } else {
      for (int g = 0; g < warp_size; g += lanes_per_line, to += step) {
        std::memcpy(to, from + g, lanes_per_line * sizeof(Word));
      }
    }
  }
}

/// The other way round: put(r, words) gets register r of all lanes.
template <class Word, class Put>
void lines_to_registers(
    const FragmentLayout& f,
    int count,
    const std::byte* lines,
    std::ptrdiff_t step,
    Put&& put
) {
  const int all = f.registers();
  for (int r = 0; r < count; r += f.in_pairs ? 2 : 1) {
    const LinePlace at = f.block(r % all);
    const std::byte* from = lines + at.line * step + at.along * f.bits / 8;
    Word words[warp_size];
    if (f.in_pairs) {
      Word odd[warp_size];
      for (int g = 0; g < warp_size; g += lanes_per_line, from += step) {
        take_in_turns(from, words + g, odd + g);
      }
      put(r, words);
      put(r + 1, odd);
    } else {
      for (int g = 0; g < warp_size; g += lanes_per_line, from += step) {
        std::memcpy(words + g, from, lanes_per_line * sizeof(Word));
      }
      put(r, words);
    }
  }
}

/// C as Product takes it: f16 as f32.
template <class RegisterOf>
void registers_to_addends(
    const FragmentLayout& f,
    int count,
    RegisterOf&& register_of,
    std::int32_t* addends
) {
  // Halves go to the upper half of the room, each eight before their place is taken.
  const int elements = f.lines * f.length;
  auto* const packed = reinterpret_cast<std::byte*>(addends) + elements * (32 - f.bits) / 8;
  registers_to_lines<std::uint32_t>(f, count, register_of, packed, f.length * f.bits / 8);
  for (int at = 0; f.bits == 16 && at < elements; at += ops::columns_at_once) {
    ops::HalfColumns eight;
    std::memcpy(&eight, packed + static_cast<std::size_t>(at) * sizeof(_Float16), sizeof eight);
    const auto floats = __builtin_convertvector(eight, ops::FloatColumns);
    std::memcpy(addends + at, &floats, sizeof floats);
  }
}

/// D from what Product gives, which is used up.
template <class Put>
void results_to_registers(const FragmentLayout& f, int count, std::int32_t* results, Put&& put) {
  auto* const packed = reinterpret_cast<std::byte*>(results);
  for (int at = 0; f.bits == 16 && at < f.lines * f.length; at += ops::columns_at_once) {
    ops::Columns eight;
    std::memcpy(&eight, results + at, sizeof eight);
    const auto halves = __builtin_convertvector(eight, ops::HalfWords);
    std::memcpy(packed + static_cast<std::size_t>(at) * sizeof(_Float16), &halves, sizeof halves);
  }
  lines_to_registers<std::uint32_t>(f, count, packed, f.length * f.bits / 8, put);
}

} // namespace heddle::isa
