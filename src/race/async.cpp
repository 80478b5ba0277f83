// Implements block.h: asynchronous copies, multiplications by warpgroups and mbarriers (PTX
// ISA 9.0, 9.7.9.25, 9.7.15 and 9.7.13.15).
//
// The interpreter carries a copy out when it is issued; here its accesses are by somebody of its
// own, of whom nobody knows anything before the copy has been waited for: the lanes of a pseudo
// block for cp.async (its tick is the number of the group), a pseudo block for each bulk copy. It
// knows what its issuer knew. Waiting for a group, or for the phase of the mbarrier that counts its
// bytes, is learning of them. wgmma reads shared memory in the same way, as one for each warp.
//
// Approximations, in the direction of missing races: proxy fences are not asked for; what arrives
// at an mbarrier for a later phase counts for an earlier one if that is still waited for.
#include "isa/lower_collective_wgmma.h"
#include "isa/lower_tensor.h"
#include "isa/ops_address.h"
#include "isa/ops_mbarrier.h"
#include "race/block.h"

#include <algorithm>

namespace heddle::race {

using isa::LaneMask;

namespace {

template <class F> void each(LaneMask lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) {
    f(static_cast<std::size_t>(std::countr_zero(lanes)));
  }
}

} // namespace

std::uint32_t BlockRaces::lane_agent(std::size_t w, Agent::Kind kind, std::uint32_t thread) {
  Agent agent = races_.agent(number_);
  agent.kind = kind;
  agent.warp = static_cast<std::uint16_t>(kind == Agent::Kind::Bulk ? thread : w);
  return races_.new_agent(std::move(agent));
}

std::uint32_t BlockRaces::bulk_agent(std::size_t index) {
  return lane_agent(0, Agent::Kind::Bulk, static_cast<std::uint32_t>(index));
}

// --- cp.async ----------------------------------------------------------------------------------

BlockRaces::WarpCopies& BlockRaces::copies(std::size_t w) {
  if (copies_[w] == nullptr) {
    copies_[w] = std::make_unique<WarpCopies>();
    copies_[w]->agent = lane_agent(w, Agent::Kind::Copies, 0);
    copies_[w]->tick.fill(1);
  }
  return *copies_[w];
}

void BlockRaces::wait_for_copies(std::size_t w, LaneMask lanes, std::size_t left) {
  WarpCopies& mine = copies(w);
  std::array<std::uint32_t, isa::warp_size> done{};
  const std::size_t first = w * isa::warp_size + static_cast<std::size_t>(std::countr_zero(lanes));
  const auto first_lane = static_cast<std::size_t>(std::countr_zero(lanes));
  bool alike = lanes == live(w);
  each(lanes, [&](std::size_t lane) {
    auto& groups = mine.groups[lane];
    if (groups.size() > left) {
      const auto end = groups.end() - static_cast<std::ptrdiff_t>(left);
      done[lane] = *std::prev(end);
      auto& waited = mine.waited_at[lane];
      waited.resize(std::max<std::size_t>(waited.size(), done[lane] + 1));
      for (auto group = groups.begin(); group != end; ++group) {
        waited[*group] = now_[w * isa::warp_size + lane].tick;
      }
      groups.erase(groups.begin(), end);
    }
    const Thread& thread = threads_[w * isa::warp_size + lane];
    alike = alike && done[lane] == done[first_lane] && thread.others.same(threads_[first].others);
  });
  if (alike) { // as nearly always: one clock for all
    Clock others = threads_[first].others;
    others.learn_warp(mine.agent, 0, done[first_lane]);
    each(lanes, [&](std::size_t lane) { threads_[w * isa::warp_size + lane].others = others; });
    return;
  }
  each(lanes, [&](std::size_t lane) {
    if (done[lane] != 0) {
      threads_[w * isa::warp_size + lane].others.learn(
          {mine.agent, static_cast<std::uint16_t>(lane)},
          done[lane]
      );
    }
  });
}

const isa::Op*
BlockRaces::run_copy(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w) {
  const LaneMask lanes = exec.mask();
  WarpCopies& mine = copies(w);
  const auto commit = [&] {
    each(lanes, [&](std::size_t lane) { mine.groups[lane].push_back(mine.tick[lane]++); });
  };
  if (site.kind == SiteKind::CopyCommit) {
    commit();
    return site.handler(exec, op);
  }
  if (site.kind == SiteKind::CopyWait) {
    const ptx::Instruction& i = site.code->function->body[op.instruction];
    if (i.has(ptx::Mod::WaitAll)) {
      commit();
      wait_for_copies(w, lanes, 0);
    } else {
      wait_for_copies(w, lanes, i.operands.empty() ? 0 : i.operands[0].bits);
    }
    return site.handler(exec, op);
  }
  // As run_copy of isa/lower_async.cpp: op.a to, op.b from, op.imm bytes, op.c, op.e what to read.
  const isa::Op* next = site.handler(exec, op);
  if (next == nullptr) {
    return next;
  }
  const auto* to = exec.in<std::uint64_t>(op.a);
  const auto* from = exec.in<std::uint64_t>(op.b);
  const auto bytes = static_cast<std::uint64_t>(op.imm);
  LaneMask ignore = op.e.none() ? 0 : exec.predicate(op.e);
  if ((op.imm2 & 1) != 0) {
    ignore = ~ignore;
  }
  each(lanes, [&](std::size_t lane) {
    const std::size_t index = w * isa::warp_size + lane;
    std::uint64_t read = bytes;
    if (!op.c.none()) {
      read = std::min<std::uint64_t>(bytes, exec.in<std::uint32_t>(op.c)[lane]);
    }
    if ((ignore >> lane & 1) != 0) {
      read = 0;
    }
    Access by = access_of(site, op.target, index);
    by.block = mine.agent;
    by.thread = static_cast<std::uint16_t>(lane);
    by.tick = mine.tick[lane];
    by.flags = Read;
    if (const Place source = place(from[lane], false); source.shadow != nullptr && read != 0) {
      touch(source, read, by, index);
    }
    by.flags = Write;
    if (const Place target = place(to[lane], true); target.shadow != nullptr) {
      touch(target, bytes, by, index);
    }
  });
  return next;
}

// --- Bulk copies -------------------------------------------------------------------------------

void BlockRaces::wait_for_bulk(std::size_t w, LaneMask lanes, std::size_t left, bool reads_only) {
  each(lanes, [&](std::size_t lane) {
    Thread& thread = threads_[w * isa::warp_size + lane];
    if (thread.extra == nullptr) {
      return;
    }
    const auto wait = [&](std::deque<std::vector<std::uint32_t>>& groups) {
      while (groups.size() > left) {
        for (const std::uint32_t agent : groups.front()) {
          thread.others.learn_block(agent, 1);
        }
        groups.pop_front();
      }
    };
    wait(thread.extra->bulk_reading);
    if (!reads_only) {
      wait(thread.extra->bulk_groups);
    }
  });
}

const isa::Op*
BlockRaces::run_bulk(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w) {
  const LaneMask lanes = exec.mask();
  if (site.kind == SiteKind::BulkCommit) {
    each(lanes, [&](std::size_t lane) {
      Extra& extra = threads_[w * isa::warp_size + lane].more();
      extra.bulk_groups.push_back(std::exchange(extra.bulk_group, {}));
      extra.bulk_reading.push_back(std::exchange(extra.bulk_reads, {}));
    });
    return site.handler(exec, op);
  }
  if (site.kind == SiteKind::BulkWait) {
    const ptx::Instruction& i = site.code->function->body[op.instruction];
    wait_for_bulk(w, lanes, i.operands.empty() ? 0 : i.operands[0].bits, site.read_only);
    return site.handler(exec, op);
  }
  const auto* to = exec.in<std::uint64_t>(op.a);
  const auto* from = exec.in<std::uint64_t>(op.b);
  const auto* bytes = exec.in<std::uint32_t>(op.c);
  const bool multicast = site.kind == SiteKind::BulkMulticast;
  constexpr std::uint64_t in_block = (std::uint64_t{1} << memory::shared_rank_shift) - 1;
  each(lanes, [&](std::size_t lane) {
    const std::size_t index = w * isa::warp_size + lane;
    Access by = access_of(site, op.target, index);
    by.thread = 0;
    by.tick = 1;
    const std::uint32_t reader = bulk_agent(index);
    const std::uint32_t writer = bulk_agent(index);
    by.block = reader;
    by.flags = Read;
    if (const Place source = place(from[lane], site.from_shared); source.shadow != nullptr) {
      touch(source, bytes[lane], by, index);
    }
    by.block = writer;
    by.flags = site.flags;
    if (!multicast) {
      if (const Place target = place(to[lane], site.shared); target.shadow != nullptr) {
        touch(target, bytes[lane], by, index);
      }
    } else {
      for (std::uint32_t blocks = exec.in<std::uint16_t>(op.e)[lane]; blocks != 0;
           blocks &= blocks - 1) {
        const std::uint64_t rank = (static_cast<std::uint64_t>(std::countr_zero(blocks)) + 1)
                                   << memory::shared_rank_shift;
        if (const Place target = place(rank | (to[lane] & in_block), true); target.shadow) {
          touch(target, bytes[lane], by, index);
        }
        const auto* object = exec.in<std::uint64_t>(op.d);
        if (Mbarrier* barrier = mbarrier(place(rank | (object[lane] & in_block), true))) {
          barrier->arriving.learn_block(reader, 1);
          barrier->arriving.learn_block(writer, 1);
        }
      }
    }
    if (site.tells_bytes) {
      if (!multicast) {
        bulk_arrivals_[lane].push_back(reader);
        bulk_arrivals_[lane].push_back(writer);
      }
    } else {
      Extra& extra = threads_[index].more();
      extra.bulk_group.push_back(writer);
      extra.bulk_reads.push_back(reader);
    }
  });
  const isa::Op* next = site.handler(exec, op);
  if (multicast && next != nullptr) {
    each(lanes, [&](std::size_t lane) {
      const auto* object = exec.in<std::uint64_t>(op.d);
      for (std::uint32_t blocks = exec.in<std::uint16_t>(op.e)[lane]; blocks != 0;
           blocks &= blocks - 1) {
        const std::uint64_t rank = (static_cast<std::uint64_t>(std::countr_zero(blocks)) + 1)
                                   << memory::shared_rank_shift;
        look_at_phase(place(rank | (object[lane] & in_block), true));
      }
    });
  }
  return next;
}

// --- Copies of tensors: what they do in shared memory ------------------------------------------

const isa::Op*
BlockRaces::run_tensor(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w) {
  const LaneMask lanes = exec.mask();
  const bool load = site.kind == SiteKind::TensorLoad;
  constexpr std::uint64_t in_block = (std::uint64_t{1} << memory::shared_rank_shift) - 1;
  // Calls f(place, object) for each block that gets the box; object: who counts its bytes.
  const auto each_target = [&](std::size_t lane, auto&& f) {
    const std::uint64_t at = exec.in<std::uint64_t>(op.a)[lane];
    const std::uint64_t object = load ? exec.in<std::uint64_t>(op.d)[lane] : 0;
    if (op.c.none()) {
      f(place(at, true), object);
      return;
    }
    for (std::uint32_t blocks = exec.in<std::uint16_t>(op.c)[lane]; blocks != 0;
         blocks &= blocks - 1) {
      const std::uint64_t rank = (static_cast<std::uint64_t>(std::countr_zero(blocks)) + 1)
                                 << memory::shared_rank_shift;
      f(place(rank | (at & in_block), true), rank | (object & in_block));
    }
  };
  each(lanes, [&](std::size_t lane) {
    const std::uint64_t bytes = isa::tensor_box_bytes(exec, op, static_cast<int>(lane));
    if (bytes == 0) {
      return; // it will be a fault
    }
    const std::size_t index = w * isa::warp_size + lane;
    Access by = access_of(site, op.target, index);
    by.thread = 0;
    by.tick = 1;
    by.block = bulk_agent(index);
    each_target(lane, [&](const Place& target, std::uint64_t object) {
      if (target.shadow != nullptr) {
        touch(target, bytes, by, index);
      }
      if (Mbarrier* barrier = load ? mbarrier(place(object, true)) : nullptr) {
        barrier->arriving.learn_block(by.block, 1);
      }
    });
    if (!load) {
      threads_[index].more().bulk_reads.push_back(by.block);
    }
  });
  const isa::Op* next = site.handler(exec, op);
  if (load && next != nullptr) {
    each(lanes, [&](std::size_t lane) {
      each_target(lane, [&](const Place&, std::uint64_t object) {
        look_at_phase(place(object, true));
      });
    });
  }
  return next;
}

// --- wgmma -------------------------------------------------------------------------------------

BlockRaces::WarpProducts& BlockRaces::products(std::size_t w) {
  if (products_[w] == nullptr) {
    products_[w] = std::make_unique<WarpProducts>();
    const std::size_t first =
        w / isa::warpgroup_warps * isa::warpgroup_warps; // one for the warpgroup
    products_[w]->agent =
        w == first ? lane_agent(w, Agent::Kind::Products, 0) : products(first).agent;
  }
  return *products_[w];
}

void BlockRaces::wait_for_products(std::size_t w, LaneMask lanes, std::size_t left) {
  WarpProducts& mine = products(w);
  std::uint32_t done = 0;
  for (; mine.groups.size() > left; mine.groups.pop_front()) {
    done = mine.groups.front();
  }
  if (done == 0) {
    return;
  }
  const Thread* before = nullptr; // lanes that have known the same share a clock afterwards, too
  Clock known;
  each(lanes, [&](std::size_t lane) {
    Thread& thread = threads_[w * isa::warp_size + lane];
    if (before == nullptr || !thread.others.same(known)) {
      known = thread.others;
      Clock learnt = known;
      learnt.learn_warp(mine.agent, 0, done);
      thread.others = learnt;
      before = &thread;
    } else {
      thread.others = before->others;
    }
  });
}

/// Lanes come together or one by one; whoever brings lane 0 along speaks for the warp.
const isa::Op*
BlockRaces::run_product(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w) {
  const LaneMask lanes = exec.mask();
  const bool speaks = (lanes & 1) != 0;
  std::vector<std::uint64_t> reads;
  if (speaks && site.kind == SiteKind::Product) {
    reads = isa::wgmma_reads(exec, op);
  }
  const isa::Op* next = site.handler(exec, op);
  if (next == nullptr && (exec.why() == isa::Stop::Fault || exec.why() == isa::Stop::Unsupported)) {
    return next;
  }
  WarpProducts& mine = products(w);
  if (site.kind == SiteKind::ProductWait) {
    const ptx::Instruction& i = site.code->function->body[op.instruction];
    if (speaks) {
      wait_for_products(w, live(w), i.operands.empty() ? 0 : i.operands[0].bits);
    }
    return next;
  }
  if (site.kind == SiteKind::ProductCommit) {
    if (speaks) {
      mine.groups.push_back(mine.tick++);
    }
    return next;
  }
  // What the warpgroup reads is read when the first of its warps comes.
  const std::size_t group = w / isa::warpgroup_warps * isa::warpgroup_warps;
  std::uint64_t others = 0;
  for (std::size_t other = group; speaks && other < group + isa::warpgroup_warps; ++other) {
    others = std::max(others, products(other).issued);
  }
  if (!speaks || mine.issued++ < others) {
    return next;
  }
  const std::size_t first = w * isa::warp_size;
  Access by = access_of(site, op.target, first);
  by.block = mine.agent;
  by.thread = 0;
  by.tick = mine.tick;
  // It begins when all lanes have come: what one of them knows comes before.
  const auto before = [&](const Access& access) {
    for (std::size_t lane = 0; lane < isa::warp_size; ++lane) {
      if (ordered(access, first + lane)) {
        return true;
      }
    }
    return false;
  };
  for (const std::uint64_t at : reads) {
    const Place where = place(at, true);
    where.shadow->touch(
        where.address,
        isa::wgmma_unit,
        by,
        before,
        [&](const Access& access, std::uint64_t address, std::uint32_t length) {
          return race(access, by, where, address, length);
        }
    );
  }
  return next;
}

// --- mbarrier ----------------------------------------------------------------------------------

BlockRaces::Mbarrier* BlockRaces::mbarrier(const Place& place) {
  return place.owner != nullptr ? &place.owner->mbarriers_[place.address] : nullptr;
}

void BlockRaces::look_at_phase(const Place& place) {
  if (place.owner == nullptr || place.address + 8 > place.owner->block_.shared_bytes()) {
    return;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, place.owner->block_.shared() + place.address, sizeof word);
  Mbarrier& barrier = place.owner->mbarriers_[place.address];
  const std::uint32_t phase = isa::ops::Mbarrier::unpack(word).phase;
  if (phase != barrier.phase) {
    barrier.phase = phase;
    barrier.complete.learn(barrier.arriving);
  }
}

const isa::Op*
BlockRaces::run_mbarrier(isa::Exec& exec, const isa::Op& op, const Site& site, std::size_t w) {
  const LaneMask lanes = exec.mask();
  std::uint64_t address[isa::warp_size];
  if (site.kind == SiteKind::CopyArrive) {
    std::memcpy(address, exec.in<std::uint64_t>(op.a), sizeof address);
  } else {
    addresses(exec, op, site, address);
  }
  std::array<Place, isa::warp_size> where;
  bool one_object = true;
  each(lanes, [&](std::size_t lane) {
    where[lane] = place(address[lane], site.shared);
    one_object = one_object && address[lane] == address[std::countr_zero(lanes)];
  });
  const Place& first = where[static_cast<std::size_t>(std::countr_zero(lanes))];
  // What arrives is there before the phase completes.
  if (site.release && one_object && first.owner != nullptr) {
    hand_over_warp(w, lanes, mbarrier(first)->arriving);
  } else {
    each(lanes, [&](std::size_t lane) {
      const std::size_t index = w * isa::warp_size + lane;
      Mbarrier* barrier = mbarrier(where[lane]);
      if (barrier == nullptr) {
        return;
      }
      if (site.release) {
        hand_over(index, barrier->arriving);
        ++now_[index].tick;
      } else if (site.kind == SiteKind::CopyArrive) {
        WarpCopies& mine = copies(w);
        mine.arrives = true;
        barrier->arriving.learn({mine.agent, static_cast<std::uint16_t>(lane)}, mine.tick[lane]++);
      } else if (site.kind == SiteKind::BytesArrive) {
        for (const std::uint32_t agent : std::exchange(bulk_arrivals_[lane], {})) {
          barrier->arriving.learn_block(agent, 1);
        }
      } else if (const Extra* extra = threads_[index].extra.get()) {
        if (extra->fence[0].tick != 0) {
          hand_over(extra->fence[0], index, barrier->arriving); // a fence, then something relaxed
        }
        if (extra->shared_fence.tick != 0) {
          hand_over(extra->shared_fence, index, first_of_cluster().known_of_shared_);
        }
      }
    });
  }
  const isa::Op* next = site.handler(exec, op);
  if (next == nullptr && (exec.why() == isa::Stop::Fault || exec.why() == isa::Stop::Unsupported)) {
    return next;
  }
  const LaneMask passed = site.kind == SiteKind::BarrierTest ? exec.predicate(op.d) : 0;
  each(lanes, [&](std::size_t lane) {
    const std::size_t index = w * isa::warp_size + lane;
    Mbarrier* barrier = mbarrier(where[lane]);
    if (barrier == nullptr) {
      return;
    }
    if (site.kind == SiteKind::BarrierInit) {
      *barrier = {};
    }
    look_at_phase(where[lane]);
    if ((passed >> lane & 1) != 0) {
      if (site.acquire) {
        threads_[index].others.learn(barrier->complete);
      } else {
        Message message;
        message.clock = barrier->complete;
        message.head = name(index);
        message.several = true;
        message.site = op.target;
        threads_[index].more().observed.push_back(std::move(message));
      }
    }
    if (site.kind != SiteKind::BytesArrive && site.kind != SiteKind::CopyArrive &&
        site.flags != 0) {
      touch(where[lane], 8, access_of(site, op.target, index), index);
    }
  });
  return next;
}

} // namespace heddle::race
