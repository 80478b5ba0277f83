// Matrices spread over the registers of a warp: registers of the rows in the lowering table, and
// the way in, collect_matrix<T>.
#pragma once

#include "isa/lower_collective.h"

#include <cstring>

namespace heddle::isa {

void register_matrix(LowerTable&); // ldmatrix stmatrix movmatrix
void register_mma(LowerTable&);    // mma.sync
void register_wmma(LowerTable&);   // wmma
void register_wgmma(LowerTable&);  // wgmma

/// A collective whose at_once is contribute and conclude one after the other.
template <class T> struct ThroughExchange {
  static constexpr CollectiveKind kind = CollectiveKind::Matrix;
  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    T::contribute(exec, op, exchange);
  }
  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    T::conclude(exec, op, exchange);
  }
  static void at_once(Exec& exec, const Op& op) {
    Exchange exchange;
    exchange.lanes = exec.mask();
    T::contribute(exec, op, exchange);
    T::conclude(exec, op, exchange);
  }
};

/// These instructions name no lanes: all of the warp take part (op.imm2 is free then).
template <class T> const Op* collect_matrix(Exec& exec, const Op& op) {
  if (exec.mask() == exec.warp().live) {
    if constexpr (requires { T::at_once(exec, op); }) {
      T::at_once(exec, op);
    } else {
      ThroughExchange<T>::at_once(exec, op);
    }
    return &op + 1;
  }
  static constexpr Collective collective{
      CollectiveKind::Matrix,
      ThroughExchange<T>::contribute,
      ThroughExchange<T>::conclude
  };
  static constexpr std::array<std::uint32_t, warp_size> everybody = [] {
    std::array<std::uint32_t, warp_size> result{};
    result.fill(all_lanes);
    return result;
  }();
  return exec.environment().collective(exec, op, collective, everybody.data());
}

/// Words of a lane in Exchange::words, `count` per lane.
inline std::uint32_t* words_of(Exchange& exchange, int lane, std::size_t count) {
  if (exchange.words.size() < count * warp_size) {
    exchange.words.resize(count * warp_size);
  }
  return exchange.words.data() + static_cast<std::size_t>(lane) * count;
}
inline const std::uint32_t* words_of(const Exchange& exchange, int lane, std::size_t count) {
  return exchange.words.data() + static_cast<std::size_t>(lane) * count;
}

/// Registers of all lanes from what those that take part have handed over, from word `first` on;
/// others' are zero.
class HandedOver {
public:
  HandedOver(const Exchange& exchange, std::size_t words_of_lane, std::size_t first)
      : exchange_(exchange),
        words_of_lane_(words_of_lane),
        first_(first) {}

  const std::uint32_t* operator()(int r) { return lanes<std::uint32_t>(r); }
  const std::uint64_t* doubles(int r) { return lanes<std::uint64_t>(r); }

private:
  template <class Word> const Word* lanes(int r) {
    auto* to = reinterpret_cast<Word*>(room_[r % 2]);
    const std::size_t at = first_ + static_cast<std::size_t>(r) * (sizeof(Word) / 4);
    for (int lane = 0; lane < warp_size; ++lane) {
      to[lane] = 0;
      if ((exchange_.lanes >> lane & 1) != 0) {
        std::memcpy(to + lane, words_of(exchange_, lane, words_of_lane_) + at, sizeof(Word));
      }
    }
    return to;
  }

  const Exchange& exchange_;
  std::size_t words_of_lane_;
  std::size_t first_;
  std::uint64_t room_[2][warp_size];
};

/// Writes the executing lanes' register from `words`, one for each lane of the warp.
template <class Word> void write_register(const Exec& exec, Ref ref, const Word* words) {
  Word* to = exec.out<Word>(ref);
  if (exec.mask() == all_lanes) {
    std::memcpy(to, words, warp_size * sizeof(Word));
  } else {
    exec.each([&](int lane) { to[lane] = words[lane]; });
  }
}

} // namespace heddle::isa
