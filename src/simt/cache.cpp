// Implements cache.h.
#include "simt/cache.h"

#include "isa/lower_memory_address.h"
#include "isa/ops_address.h"
#include "ptx/effect.h"

#include <bit>
#include <cstring>

namespace heddle::simt {
namespace {

using ptx::Mod;

/// Does the instruction access memory by an address that may be one of global memory?
bool may_be_global(const ptx::Instruction& i, const isa::Op& op) {
  const auto space = i.one_of(ptx::Category::Space);
  return (!space || *space == Mod::Global || *space == Mod::Generic) &&
         (op.imm2 & isa::FrameRelative) == 0;
}

/// The scope is larger than the block, which has the cache in common.
bool beyond_block(const ptx::Instruction& i) {
  return !i.has(Mod::Cta);
}

bool is_plain_read(const ptx::Instruction& i) {
  const bool past_it = i.has(Mod::Cg) || i.has(Mod::Cv);
  const ptx::Effect& effect = ptx::effect_of(i);
  return effect.is(ptx::Effect::Kind::Load) && !effect.is_strong() && !past_it;
}

std::uint32_t bytes_of(const ptx::Instruction& i) {
  std::uint32_t elements = 1;
  for (const ptx::Operand& operand : i.operands) {
    if (operand.kind == ptx::OperandKind::Vector) {
      elements = static_cast<std::uint32_t>(operand.elements.size());
    }
  }
  const auto type = i.type();
  return type ? elements * static_cast<std::uint32_t>(ptx::type_bits(*type)) / 8 : 0;
}

} // namespace

void Cache::before(isa::Exec& exec, const isa::Op& op) {
  const isa::Code& code = exec.code();
  if (op.instruction >= code.function->body.size()) {
    return;
  }
  const ptx::Instruction& i = code.function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  const bool fence = effect.is(ptx::Effect::Kind::Fence);
  // [SIMT-FENCE]; an acquire has the effect of one.
  forget_ = beyond_block(i) && (fence || i.has(Mod::Acquire) || i.has(Mod::AcqRel));
  const bool writes = effect.is_access() && effect.writes();
  const bool reads = is_plain_read(i);
  const std::uint32_t bytes = reads || writes ? bytes_of(i) : 0;
  if (bytes == 0 || !may_be_global(i, op)) {
    return;
  }
  std::uint64_t address[isa::warp_size];
  isa::addresses<isa::Space::Generic>(exec, op, address);
  exec.each([&](int lane) {
    const std::uint64_t a = address[lane];
    if (isa::in_window(a)) {
      return;
    }
    // Accesses are aligned and no larger than a line, so they lie in one.
    auto* at = static_cast<std::byte*>(exec.space().host_pointer(a, bytes));
    const auto in_line = reinterpret_cast<std::uintptr_t>(at) % line_bytes;
    if (at == nullptr || in_line + bytes > line_bytes) {
      return; // a fault, which the instruction reports
    }
    if (reads) {
      read(at, at - in_line, bytes);
    } else {
      lines_.erase(at - in_line);
    }
  });
}

// [SIMT-READ]
void Cache::read(std::byte* at, std::byte* line, std::uint32_t bytes) {
  const auto [entry, missed] = lines_.try_emplace(line);
  if (missed) {
    std::memcpy(entry->second.data(), line, line_bytes);
    return;
  }
  const std::byte* old = entry->second.data() + (at - line);
  if (std::memcmp(old, at, bytes) != 0) {
    Swapped& swapped = swapped_.emplace_back();
    swapped.at = at;
    swapped.bytes = bytes;
    std::memcpy(swapped.fresh.data(), at, bytes);
    std::memcpy(at, old, bytes);
    ++stale_;
  }
}

void Cache::after() {
  while (!swapped_.empty()) { // the last first: two lanes may have read the same bytes
    std::memcpy(swapped_.back().at, swapped_.back().fresh.data(), swapped_.back().bytes);
    swapped_.pop_back();
  }
  if (forget_) {
    lines_.clear();
    forget_ = false;
  }
}

void Cache::save(std::vector<std::byte>& bytes) const {
  const auto put = [&bytes](const auto& value) {
    const auto* p = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof value);
  };
  put(lines_.size());
  for (const auto& [at, line] : lines_) {
    put(at);
    put(line);
  }
}

const std::byte* Cache::load(const std::byte* bytes) {
  const auto get = [&bytes](auto& value) {
    std::memcpy(&value, bytes, sizeof value);
    bytes += sizeof value;
  };
  lines_.clear();
  std::size_t count = 0;
  get(count);
  for (; count > 0; --count) {
    std::byte* at = nullptr;
    get(at);
    get(lines_[at]);
  }
  return bytes;
}

} // namespace heddle::simt
