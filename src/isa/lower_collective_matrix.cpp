// Lowers ldmatrix, stmatrix and movmatrix on 8×8 matrices of 16-bit elements (PTX
// ISA 9.0, 9.7.14.5.15 to 9.7.14.5.17). The forms of sm_100 (.m16n16, .b8 and narrower elements)
// are unsupported.
//
// In registers, lane t holds the elements 2·(t mod 4) and the next of row t / 4 of each matrix (the
// low half first), or with .trans of column t / 4. In memory, lane 8·k + r has the address of row r
// of matrix k, 16 bytes that must be aligned. Memory is accessed when all lanes have arrived.
#include "isa/lower_collective_matrix.h"

#include "isa/lower_memory_address.h"
#include "isa/matrix_memory.h"
#include "isa/ops_memory.h"

#include <array>

namespace heddle::isa {
namespace {

using ptx::Mod;

constexpr std::uint32_t row_bytes = 16;

/// Where element (row, column) of a matrix is kept: lane and half of its register.
struct Element {
  int lane = 0;
  unsigned shift = 0;
};
constexpr Element element_at(int row, int column, bool transposed) {
  const int outer = transposed ? column : row;
  const int inner = transposed ? row : column;
  return {outer * 4 + inner / 2, inner % 2 == 0 ? 0U : 16U};
}

/// The lanes whose addresses count: eight per matrix.
LaneMask addressing_lanes(const Op& op) {
  return op.count >= 4 ? all_lanes : (LaneMask{1} << (8 * op.count)) - 1;
}

/// Faults are found before anybody waits: false, with fault() filled in.
template <Space S> bool check_rows(Exec& exec, const Op& op, bool store) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  for (LaneMask m = exec.mask() & addressing_lanes(op); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (host<S>(exec, op, lane, address[lane], row_bytes, store) == nullptr) {
      return false;
    }
  }
  return true;
}

template <Space S> void contribute_addresses(Exec& exec, const Op& op, Exchange& exchange) {
  std::uint64_t address[warp_size];
  addresses<S>(exec, op, address);
  exec.each([&](int lane) { exchange.value[static_cast<std::size_t>(lane)] = address[lane]; });
}

/// ldmatrix: op.count registers from op.list.
template <Space S, bool Transposed> struct LoadMatrix {
  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    contribute_addresses<S>(exec, op, exchange);
  }
  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    for (int k = 0; k < op.count; ++k) {
      std::uint16_t element[8][8] = {};
      for (int row = 0; row < 8; ++row) {
        const int lane = k * 8 + row;
        if ((exchange.lanes >> lane & 1) == 0) {
          continue;
        }
        const std::byte* p = host<S>(
            exec,
            op,
            lane,
            exchange.value[static_cast<std::size_t>(lane)],
            row_bytes,
            false
        );
        if (p != nullptr) {
          std::memcpy(element[row], p, row_bytes);
        }
      }
      auto* d = exec.out<std::uint32_t>(exec.code().refs[op.list + static_cast<std::size_t>(k)]);
      exec.each([&](int lane) {
        const int outer = lane / 4;
        const int inner = lane % 4 * 2;
        const std::uint32_t low = Transposed ? element[inner][outer] : element[outer][inner];
        const std::uint32_t high =
            Transposed ? element[inner + 1][outer] : element[outer][inner + 1];
        d[lane] = low | high << 16;
      });
    }
  }
};

/// stmatrix: op.count registers from op.list.
template <Space S, bool Transposed> struct StoreMatrix {
  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    contribute_addresses<S>(exec, op, exchange);
    exec.each([&](int lane) {
      std::uint32_t* words = words_of(exchange, lane, op.count);
      for (std::size_t k = 0; k < op.count; ++k) {
        words[k] = exec.in<std::uint32_t>(exec.code().refs[op.list + k])[lane];
      }
    });
  }
  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    for (LaneMask m = exec.mask() & addressing_lanes(op); m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      std::uint16_t element[8];
      for (int column = 0; column < 8; ++column) {
        const Element from = element_at(lane % 8, column, Transposed);
        element[column] = static_cast<std::uint16_t>(
            words_of(exchange, from.lane, op.count)[lane / 8] >> from.shift
        );
      }
      std::byte* p =
          host<S>(exec, op, lane, exchange.value[static_cast<std::size_t>(lane)], row_bytes, true);
      if (p != nullptr) {
        std::memcpy(p, element, row_bytes);
      }
    }
  }
};

/// movmatrix: op.a transposed into op.d.
struct MoveMatrix {
  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    const auto* a = exec.in<std::uint32_t>(op.a);
    exec.each([&](int lane) { exchange.value[static_cast<std::size_t>(lane)] = a[lane]; });
  }
  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    auto* d = exec.out<std::uint32_t>(op.d);
    const auto element = [&](int row, int column) {
      const Element from = element_at(row, column, /*transposed=*/false);
      return static_cast<std::uint16_t>(
          exchange.value[static_cast<std::size_t>(from.lane)] >> from.shift
      );
    };
    exec.each([&](int lane) {
      const int column = lane / 4;
      const int row = lane % 4 * 2;
      d[lane] = element(row, column) | static_cast<std::uint32_t>(element(row + 1, column)) << 16;
    });
  }
};

template <template <Space, bool> class T, Space S, bool Transposed, bool Store>
const Op* run_matrix(Exec& exec, const Op& op) {
  if (!check_rows<S>(exec, op, Store)) {
    return access_fault(exec, op);
  }
  return collect_matrix<T<S, Transposed>>(exec, op);
}

template <template <Space, bool> class T, bool Store> Handler select(Space space, bool transposed) {
  if (space == Space::Shared) {
    return transposed ? run_matrix<T, Space::Shared, true, Store>
                      : run_matrix<T, Space::Shared, false, Store>;
  }
  if (space == Space::Generic) {
    return transposed ? run_matrix<T, Space::Generic, true, Store>
                      : run_matrix<T, Space::Generic, false, Store>;
  }
  return nullptr;
}

Result<void> lower_matrix(Lowering& l, const ptx::Instruction& i, bool store) {
  if (!i.has(Mod::M8n8) || !i.has(Mod::B16)) {
    return unsupported("ldmatrix and stmatrix of anything but 8x8 matrices of .b16");
  }
  Op op = l.op(i);
  TRY(const Space space, lower_access(l, i.operands.at(store ? 0 : 1), space_of(i), op));
  op.flags |= Visible;
  const ptx::Operand& registers = i.operands.at(store ? 1 : 0);
  std::vector<Ref> refs;
  if (registers.kind == ptx::OperandKind::Vector) {
    for (const ptx::Operand& element : registers.elements) {
      refs.push_back(store ? l.source(element, Mod::B32) : l.destination(element));
    }
  } else {
    refs.push_back(store ? l.source(registers, Mod::B32) : l.destination(registers));
  }
  for (const Ref ref : refs) {
    if (ref.none()) {
      return unsupported("a matrix without a register");
    }
  }
  op.count = static_cast<std::uint16_t>(refs.size());
  op.list = l.list(refs);
  const bool transposed = i.has(Mod::Trans);
  op.execute = store ? select<StoreMatrix, true>(space, transposed)
                     : select<LoadMatrix, false>(space, transposed);
  if (op.execute == nullptr || op.count > 4) {
    return unsupported("ldmatrix and stmatrix outside shared memory");
  }
  l.emit(op);
  return {};
}

Result<void> lower_ldmatrix(Lowering& l, const ptx::Instruction& i) {
  return lower_matrix(l, i, /*store=*/false);
}
Result<void> lower_stmatrix(Lowering& l, const ptx::Instruction& i) {
  return lower_matrix(l, i, /*store=*/true);
}

Result<void> lower_movmatrix(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.flags |= Visible;
  op.d = l.destination(i.operands.at(0));
  op.a = l.source(i.operands.at(1), Mod::B32);
  if (op.d.none()) {
    return unsupported("a matrix without a register");
  }
  op.execute = collect_matrix<MoveMatrix>;
  l.emit(op);
  return {};
}

} // namespace

std::optional<memory::AccessValue> stored_row(const Exec& exec, const Op& op, std::size_t lane) {
  const ptx::Instruction& i = exec.code().function->body[op.instruction];
  if (i.opcode != ptx::Opcode::Stmatrix || exec.mask() != all_lanes ||
      (addressing_lanes(op) >> lane & 1) == 0) {
    return std::nullopt;
  }
  const auto* registers = exec.in<std::uint32_t>(exec.code().refs[op.list + lane / 8]);
  std::array<std::uint16_t, row_bytes / 2> elements{};
  for (std::size_t column = 0; column < elements.size(); ++column) {
    const Element from =
        element_at(static_cast<int>(lane % 8), static_cast<int>(column), i.has(Mod::Trans));
    elements[column] = static_cast<std::uint16_t>(registers[from.lane] >> from.shift);
  }
  return memory::AccessValue::at(elements.data(), row_bytes);
}

void register_matrix(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Ldmatrix] = lower_ldmatrix;
  table[Opcode::Stmatrix] = lower_stmatrix;
  table[Opcode::Movmatrix] = lower_movmatrix;
}

} // namespace heddle::isa
