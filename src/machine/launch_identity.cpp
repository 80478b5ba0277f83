// Implements launch_identity.h.
#include "machine/launch_identity.h"

#include "base/hash.h"

#include <algorithm>

namespace heddle::machine {

namespace {

using ptx::OperandKind;

/// Calls f for each symbol that an operand names, with the Address that it is in or nullptr.
template <class F>
void each_symbol(const ptx::Operand& operand, const ptx::Operand* address, const F& f) {
  if (operand.kind == OperandKind::Symbol) {
    f(operand, address);
  }
  for (const ptx::Operand& element : operand.elements) {
    each_symbol(element, operand.kind == OperandKind::Address ? &operand : address, f);
  }
}

/// How many bytes a load reads; 0: that is not clear.
std::uint64_t bytes_loaded(const ptx::Instruction& load) {
  const auto type = load.type();
  if (!type || load.operands.empty()) {
    return 0;
  }
  const ptx::Operand& target = load.operands.front();
  const std::uint64_t count = target.kind == OperandKind::Vector ? target.elements.size() : 1;
  return count * static_cast<std::uint64_t>(ptx::type_bits(*type)) / 8;
}

} // namespace

std::vector<ByteRange> parameter_bytes_read(const isa::Kernel& kernel) {
  std::vector<ByteRange> found;
  const ptx::Function& function = *kernel.function;
  for (const ptx::Instruction& i : function.body) {
    const std::uint64_t loaded = i.opcode == ptx::Opcode::Ld ? bytes_loaded(i) : 0;
    for (const ptx::Operand& operand : i.operands) {
      each_symbol(operand, nullptr, [&](const ptx::Operand& symbol, const ptx::Operand* address) {
        const auto named =
            std::ranges::find(function.parameters, symbol.name, &ptx::Variable::name);
        if (named == function.parameters.end()) {
          return;
        }
        const isa::KernelParameter& all =
            kernel.parameters[static_cast<std::size_t>(named - function.parameters.begin())];
        const ByteRange whole{all.offset, std::uint64_t{all.offset} + all.bytes};
        const auto offset =
            static_cast<std::uint64_t>(symbol.offset + (address != nullptr ? address->offset : 0));
        const ByteRange part{all.offset + offset, all.offset + offset + loaded};
        const bool clear =
            address != nullptr && loaded != 0 && part.begin >= whole.begin && part.end <= whole.end;
        found.push_back(clear ? part : whole);
      });
    }
  }
  std::ranges::sort(found, std::less<>(), &ByteRange::begin);
  std::vector<ByteRange> result;
  for (const ByteRange& range : found) {
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

namespace {

bool asks_for_grid(const ptx::Operand& operand) {
  return (operand.kind == OperandKind::Special && operand.name.starts_with("%gridid")) ||
         std::ranges::any_of(operand.elements, asks_for_grid);
}

bool asks_for_grid(const ptx::Function& function) {
  return std::ranges::any_of(function.body, [](const ptx::Instruction& i) {
    return std::ranges::any_of(i.operands, [](const auto& o) { return asks_for_grid(o); });
  });
}

bool asks_for_grid(const Grid& grid) {
  if (!grid.kernel().calls) {
    return asks_for_grid(*grid.kernel().function);
  }
  return std::ranges::any_of(grid.program()->modules(), [](const auto& module) {
    return std::ranges::any_of(module->functions, [](const auto& f) { return asks_for_grid(*f); });
  });
}

} // namespace

std::uint64_t launch_identity(Grid& grid) {
  Hasher hasher;
  hasher.text(grid.kernel().name);
  hasher.value(grid.program()->content());
  const LaunchConfig& config = grid.config();
  for (const Dim3& shape : {config.grid, config.block, config.cluster}) {
    hasher.value(shape);
  }
  hasher.value(config.explicit_cluster);
  hasher.value(config.cooperative);
  hasher.value(config.programmatic);
  hasher.value(config.dynamic_shared);
  hasher.value(grid.device());
  hasher.value(grid.depth());
  hasher.value(grid.cooperative_workspace());
  hasher.value(asks_for_grid(grid) ? grid.id() : 0);
  for (const ByteRange& read : parameter_bytes_read(grid.kernel())) {
    hasher.bytes(grid.parameters() + read.begin, read.end - read.begin);
  }
  return hasher.finish().low;
}

} // namespace heddle::machine
