// Implements site.h.
//
// A vector access counts as one scalar access per element, in the order in which PTX leaves them
// open. Volatile accesses are relaxed ones of system scope, .mmio likewise. Not classified, and so
// not seen: the side of tensors' copies that lies in global memory (misses),
// what vprintf, malloc and free of the device do.
#include "race/site.h"

#include "isa/lower_memory_address.h"
#include "ptx/effect.h"

namespace heddle::race {
namespace {

using ptx::Mod;
using ptx::Opcode;

Scope scope_of(const ptx::Instruction& i, Scope otherwise) {
  if (i.has(Mod::Sys) || i.has(Mod::Volatile)) {
    return Scope::Sys;
  }
  if (i.has(Mod::Gpu)) {
    return Scope::Gpu;
  }
  if (i.has(Mod::Cluster)) {
    return Scope::Cluster;
  }
  return i.has(Mod::Cta) ? Scope::Cta : otherwise;
}

bool is_shared(Mod mod) {
  return mod == Mod::Shared || mod == Mod::SharedCta || mod == Mod::SharedCluster;
}

/// The n-th state space among the modifiers is shared memory.
bool shared_space(const ptx::Instruction& i, int n) {
  for (const Mod mod : i.modifiers) {
    if (ptx::category(mod) == ptx::Category::Space && n-- == 0) {
      return is_shared(mod);
    }
  }
  return false;
}

/// Are there more ops of the same instruction that touch memory behind this one?
bool last_of_instruction(const isa::Code& code, const isa::Op& op) {
  const auto next = static_cast<std::size_t>(&op - code.ops.data()) + 1;
  for (std::size_t at = next; at < code.ops.size(); ++at) {
    if (code.ops[at].instruction != op.instruction) {
      break;
    }
    if ((code.ops[at].flags & isa::Visible) != 0) {
      return false;
    }
  }
  return true;
}

void set_element(Site& site, const ptx::Instruction& i) {
  if (const auto type = i.type()) {
    site.element = static_cast<std::uint8_t>(std::max(1, ptx::type_bits(*type) / 8));
  }
}

bool classify_access(const ptx::Instruction& i, Site& site) {
  if (i.has(Mod::Local) || i.has(Mod::Param) || i.has(Mod::ParamEntry) || i.has(Mod::ParamFunc)) {
    return false;
  }
  site.shared = shared_space(i, 0);
  set_element(site, i);
  if (i.has(Mod::Bulk)) {
    site.kind = SiteKind::BulkStoreZeros;
    site.flags = Write;
    return true;
  }
  const bool store = ptx::effect_of(i).writes();
  site.kind = store ? SiteKind::Store : SiteKind::Load;
  site.flags = store ? Write : Read;
  const ptx::Operand& value = i.operands.at(store ? 1 : 0);
  site.count = static_cast<std::uint8_t>(std::max<std::size_t>(1, value.elements.size()));
  site.acquire = i.has(Mod::Acquire);
  site.release = i.has(Mod::Release);
  site.is_volatile = i.has(Mod::Volatile);
  if (ptx::effect_of(i).is_strong()) {
    site.flags |= Strong;
    site.scope = scope_of(i, Scope::Sys);
  }
  return true;
}

void classify_update(const ptx::Instruction& i, Site& site) {
  site.kind = SiteKind::Update;
  site.flags = Read | Write | Strong; // without an order: relaxed; without a scope: gpu
  site.shared = shared_space(i, 0);
  site.scope = scope_of(i, Scope::Gpu);
  const bool both = i.has(Mod::AcqRel);
  site.acquire = both || i.has(Mod::Acquire);
  site.release = both || i.has(Mod::Release);
  site.compares = i.one_of(ptx::Category::Operation) == Mod::Cas;
  set_element(site, i);
  for (const ptx::Operand& operand : i.operands) {
    if (!operand.elements.empty()) {
      site.count = static_cast<std::uint8_t>(operand.elements.size());
    }
  }
}

bool classify_fence(const ptx::Instruction& i, Site& site) {
  site.kind = SiteKind::Fence;
  const bool old = i.opcode == Opcode::Membar;
  if (old) {
    if (!i.has(Mod::Cta) && !i.has(Mod::Gl) && !i.has(Mod::Sys)) {
      return false; // membar.proxy
    }
    site.scope = i.has(Mod::Cta) ? Scope::Cta : i.has(Mod::Gl) ? Scope::Gpu : Scope::Sys;
    site.acquire = site.release = site.in_order = true;
    return true;
  }
  site.scope = scope_of(i, Scope::Sys);
  site.in_order = i.has(Mod::Sc);
  site.acquire = !i.has(Mod::Release);
  site.release = !i.has(Mod::Acquire);
  // fence.mbarrier_init is about initial values of mbarriers, which are such objects.
  site.only_shared = i.has(Mod::SyncRestrictSharedCta) || i.has(Mod::SyncRestrictSharedCluster) ||
                     i.has(Mod::MbarrierInit);
  // fence.proxy.* without an order and a scope only connects proxies.
  return i.has(Mod::Cta) || i.has(Mod::Cluster) || i.has(Mod::Gpu) || i.has(Mod::Sys);
}

void classify_mbarrier(const ptx::Instruction& i, Site& site) {
  site.shared = shared_space(i, 0);
  site.element = 8;
  site.scope = Scope::Sys; // of the race test: the object is only used by its own operations
  const bool relaxed = i.has(Mod::Relaxed);
  if (i.has(Mod::Init) || i.has(Mod::Inval)) {
    site.kind = SiteKind::BarrierInit;
    // An object is given up when nobody uses it any more; libcu++ leaves open who finds that out.
    site.flags = i.has(Mod::Init) ? Write : 0;
  } else if (i.has(Mod::TestWait) || i.has(Mod::TryWait)) {
    site.kind = SiteKind::BarrierTest;
    site.flags = Read | Strong;
    site.acquire = !relaxed;
  } else {
    site.kind = SiteKind::BarrierArrive;
    site.flags = Read | Write | Strong;
    site.release = (i.has(Mod::Arrive) || i.has(Mod::ArriveDrop)) && !relaxed;
  }
}

void classify_copy(const ptx::Instruction& i, Site& site) {
  site.shared = shared_space(i, 0);
  site.from_shared = shared_space(i, 1);
  const bool bulk = i.has(Mod::Bulk);
  if (i.has(Mod::Tensor)) {
    const bool load = i.has(Mod::MbarrierCompleteTxBytes);
    site.kind = load ? SiteKind::TensorLoad : SiteKind::TensorStore;
    site.flags = load ? Write : Read;
    site.element = 16;
    return;
  }
  if (i.has(Mod::CommitGroup)) {
    site.kind = bulk ? SiteKind::BulkCommit : SiteKind::CopyCommit;
  } else if (i.has(Mod::WaitGroup) || i.has(Mod::WaitAll)) {
    site.kind = bulk ? SiteKind::BulkWait : SiteKind::CopyWait;
    site.read_only = i.has(Mod::Read);
  } else if (i.has(Mod::Mbarrier)) {
    site.kind = SiteKind::CopyArrive;
  } else if (bulk) {
    site.kind = i.has(Mod::Reduce)             ? SiteKind::BulkUpdate
                : i.has(Mod::MulticastCluster) ? SiteKind::BulkMulticast
                                               : SiteKind::BulkCopy;
    site.flags = Write;
    if (site.kind == SiteKind::BulkUpdate) {
      set_element(site, i);
      site.flags = Read | Write | Strong;
      site.scope = Scope::Gpu;
    }
  } else {
    site.kind = SiteKind::Copy;
    site.flags = Write;
  }
}

bool classify_product(const ptx::Instruction& i, Site& site) {
  site.kind = i.has(Mod::MmaAsync)      ? SiteKind::Product
              : i.has(Mod::CommitGroup) ? SiteKind::ProductCommit
                                        : SiteKind::ProductWait;
  site.flags = Read;
  site.element = 16;
  site.shared = true;
  return !i.has(Mod::Fence);
}

bool is_of_texels(const ptx::Instruction& i) {
  return i.opcode == Opcode::Tex || i.opcode == Opcode::Tld4 || i.opcode == Opcode::Suld ||
         i.opcode == Opcode::Sust;
}

/// Such an instruction makes its lanes wait for each other, and orders none of their accesses.
bool classify_matrix(const ptx::Instruction& i, Site& site) {
  const ptx::Effect& effect = ptx::effect_of(i);
  if (!effect.reads() && !effect.writes()) {
    return false;
  }
  site.kind = SiteKind::Matrix;
  site.flags = effect.writes() ? Write : Read;
  site.shared = shared_space(i, 0);
  if (i.opcode == Opcode::Wmma) {
    set_element(site, i);
  } else {
    site.element = 16; // a row
  }
  return true;
}

} // namespace

std::optional<Site> classify(const isa::Code& code, const isa::Op& op) {
  if (op.instruction >= code.function->body.size()) {
    return std::nullopt;
  }
  const ptx::Instruction& i = code.function->body[op.instruction];
  const ptx::Effect& effect = ptx::effect_of(i);
  const bool group = effect.is(ptx::Effect::Kind::Copy) && !effect.reads(); // of copies: no access
  // No thread writes constant memory, but the host does.
  const std::size_t next = static_cast<std::size_t>(&op - code.ops.data()) + 1;
  const bool last = next == code.ops.size() || code.ops[next].instruction != op.instruction;
  const bool constant = effect.is(ptx::Effect::Kind::Load) && i.has(Mod::Const) && last;
  const bool texels = is_of_texels(i) && last;
  if ((op.flags & isa::Visible) == 0 && !group && !constant && !texels) {
    return std::nullopt;
  }
  Site site;
  site.handler = op.execute;
  site.code = &code;
  site.op = &op;
  bool known = true;
  using Kind = ptx::Effect::Kind;
  switch (effect.kind) {
  case Kind::Load:
  case Kind::Store:
    known = classify_access(i, site);
    break;
  case Kind::Update:
    classify_update(i, site);
    break;
  case Kind::Fence:
    known = classify_fence(i, site);
    break;
  case Kind::Barrier:
    site.kind = SiteKind::WarpBarrier;
    known = effect.meets == ptx::Effect::Meets::Warp;
    break;
  case Kind::Mbarrier:
    effect.is_async() ? classify_copy(i, site) : classify_mbarrier(i, site);
    break;
  case Kind::Copy:
    classify_copy(i, site);
    break;
  case Kind::Object:
    known = texels;
    site.kind = SiteKind::Texels;
    site.flags = effect.writes() ? Write : Read;
    break;
  case Kind::WarpWide:
    known = i.opcode == Opcode::Wgmma ? classify_product(i, site) : classify_matrix(i, site);
    break;
  default:
    known = false;
  }
  if (!known) {
    return std::nullopt;
  }
  site.tells_bytes = i.has(Mod::MbarrierCompleteTxBytes);
  if (site.tells_bytes && site.kind != SiteKind::BulkMulticast &&
      site.kind != SiteKind::TensorLoad && last_of_instruction(code, op)) {
    site.kind = SiteKind::BytesArrive;
    site.shared = shared_space(i, 0);
    site.element = 8;
    site.flags = Read | Write | Strong;
    site.scope = Scope::Sys;
  }
  return site;
}

} // namespace heddle::race
