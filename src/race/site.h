// Site: one instruction that accesses memory or orders accesses, as the race monitor sees it.
//
// Classifies PTX's memory and synchronisation instructions by the memory consistency model (PTX ISA
// 9.0, chapter 8): whether an access is weak or strong, its scope, and whether it acquires or
// releases. Sites are numbered. The op's otherwise unused `target` holds the number; the monitor
// replaces the op's handler by its own (access.cpp), which calls the original handler.
#pragma once

#include "isa/op.h"
#include "race/shadow.h"

#include <deque>
#include <optional>

namespace heddle::race {

enum class SiteKind : std::uint8_t {
  Load,
  Store,
  Update,         // atom, red
  Fence,          // fence, membar
  WarpBarrier,    // bar.warp.sync
  BarrierInit,    // mbarrier.init, .inval
  BarrierArrive,  // mbarrier.arrive, .arrive_drop, .expect_tx, .complete_tx
  BarrierTest,    // mbarrier.test_wait, .try_wait
  BytesArrive,    // the complete-tx at the end of st.async, red.async, cp.async.bulk
  Copy,           // cp.async
  CopyCommit,     // cp.async.commit_group
  CopyWait,       // cp.async.wait_group, .wait_all
  CopyArrive,     // cp.async.mbarrier.arrive
  BulkCopy,       // cp.async.bulk
  BulkMulticast,  // the same to several blocks
  BulkUpdate,     // cp.reduce.async.bulk
  BulkCommit,     // cp.async.bulk.commit_group
  BulkWait,       // cp.async.bulk.wait_group{.read}
  BulkStoreZeros, // st.bulk
  TensorLoad,     // cp.async.bulk.tensor to shared memory
  TensorStore,    // the same from shared memory, and cp.reduce.async.bulk.tensor
  Matrix,         // ldmatrix, stmatrix, wmma.load, wmma.store
  Texels,         // tex, tld4, suld, sust
  Product,        // wgmma.mma_async
  ProductCommit,  // wgmma.commit_group
  ProductWait     // wgmma.wait_group
};

struct Site {
  isa::Handler handler = nullptr; // the original
  const isa::Code* code = nullptr;
  const isa::Op* op = nullptr;
  SiteKind kind{};
  bool shared = false;      // addresses are offsets in the shared window
  bool from_shared = false; // copies: the source
  bool acquire = false;
  bool release = false;
  bool in_order = false;    // fence.sc, membar: one total order
  bool only_shared = false; // Fence: for objects in shared memory only
  bool compares = false;    // cas: writes only where it succeeds
  bool read_only = false;   // BulkWait: .read
  bool tells_bytes = false; // completes by complete-tx on an mbarrier
  bool is_volatile = false; // Load, Store
  // An update of which nobody uses the result, or that counts, a volatile load whose value is
  // stored and decides nothing, or …
  bool is_data = false;
  bool updates = false;         // … is changed and written back to the same place
  bool decides = false;         // a read on which it depends which accesses follow
  bool waits_for_reads = false; // a strong write in a kernel that has such reads of what is strong
  std::uint8_t element = 4;     // bytes
  std::uint8_t count = 1;       // elements
  std::uint8_t flags = 0;       // AccessFlags
  Scope scope = Scope::Sys;

  /// Does it store what lanes hold in registers (isa/stored_value.h)?
  bool stores() const { return kind == SiteKind::Store || kind == SiteKind::Matrix; }
};

/// May a thread go by what it has read there? A counter of which nobody waits for the host may
/// decide.
inline bool tells(const Site& site) {
  return !site.is_data || site.decides;
}

/// The site of `op`; none if it neither accesses memory nor orders accesses.
std::optional<Site> classify(const isa::Code& code, const isa::Op& op);

} // namespace heddle::race
