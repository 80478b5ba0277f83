// Implements order_data.h.
#include "reduce/independence/order_data.h"

#include "ptx/effect.h"
#include "reduce/dead_data/memory_object.h"

#include <algorithm>

namespace heddle::reduce {

using Kind = ptx::Effect::Kind;

OrderData::Function& OrderData::function(const ptx::Function& f) {
  const analysis::ValueFlow::Options options{
      .any_guess = mutant_ == Mutant::RetriesTakeAnyGuess,
      .forgets_local = mutant_ == Mutant::DataOrderForgetsLocal,
      .forgets_lanes = mutant_ == Mutant::DataOrderForgetsLanes
  };
  return functions_.try_emplace(&f, f, options).first->second;
}

namespace {

/// Does what it finds in memory go into registers?
bool gives_result(const ptx::Instruction& i) {
  return !i.operands.empty() && i.operands[0].kind != ptx::OperandKind::Address;
}

} // namespace

bool OrderData::only_data(const isa::Code& code, const isa::Op& op) {
  const ptx::Effect& effect = ptx::effect_of(code.function->body[op.instruction]);
  if (!effect.is_access()) {
    return false;
  }
  return !effect.reads() || !decides(function(*code.function).flow.from(op.instruction));
}

OrderData::Memory OrderData::memory_of(Cluster& cluster, std::size_t block) {
  Block& running = cluster.block(block);
  const bool alone = cluster.size() == 1;
  return {
      .shared = alone ? running.all_shared() : std::span<const std::byte>(),
      .local = running.local(),
      .kernel = &cluster.grid().kernel()
  };
}

void OrderData::in_block(const Memory& memory) {
  constexpr int offset_bits = 32;
  constexpr Place no_address = Place{1} << 63;
  if (memory.kernel != memory_.kernel) {
    const Place next = no_address | Place{names_.size()} << offset_bits;
    shared_name_ = names_.try_emplace(memory.kernel, next).first->second;
  }
  memory_ = memory;
}

OrderData::Place OrderData::place_of(const std::byte* at) const {
  return is_shared(at) ? shared_name_ + static_cast<Place>(at - memory_.shared.data())
                       : reinterpret_cast<Place>(at);
}

void OrderData::accessed(int, std::byte* at, std::uint32_t bytes, bool store) {
  if (unordered_ == 0) {
    return;
  }
  const isa::Op& op = *exec_.current();
  const isa::Code& code = exec_.code();
  const std::uint32_t n = op.instruction;
  Function& f = function(*code.function);
  const ptx::Instruction& i = code.function->body[n];
  const ptx::Effect& effect = ptx::effect_of(i);
  if (!store || !effect.is(Kind::Store)) {
    std::uint64_t read = all_marks_ == 0 ? 0 : marks_of(at, bytes);
    if (effect.is_access() && effect.is_strong() && gives_result(i)) {
      const std::uint64_t bucket = std::uint64_t{1} << bucket_of(*code.function, n);
      read |= only_data(code, op) ? unordered_ & bucket : 0;
    }
    if ((read & ~f.read[n]) != 0) {
      has_read(f, n, read);
    }
  }
  if (!store) {
    return;
  }
  const bool copies = effect.is(Kind::Copy);
  if (const std::uint64_t stored = f.stored[n] | (copies ? f.read[n] : 0); stored != 0) {
    if (!is_local(at)) {
      mark(at, bytes, stored);
    } else if (!f.flow.follows_local()) {
      decided_by_ |= stored;
    }
  }
  f.owed.erase(n);
  if (f.placed[n] != 0) {
    mark_around(at, f.placed[n]);
  }
}

void OrderData::has_read(Function& f, std::uint32_t n, std::uint64_t buckets) {
  f.read[n] |= buckets;
  news_ = true;
  const ptx::Instruction& i = f.flow.function().body[n];
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is(Kind::Copy) || (effect.is_access() && !gives_result(i))) {
    return; // nothing goes on in registers
  }
  if (!effect.is_access()) { // matrices, and whatever else reads memory
    decided_by_ |= buckets;
    return;
  }
  const analysis::ValueFlow::Reach& reach = f.flow.from(n);
  decided_by_ |= decides(reach) ? buckets : 0;
  saw_retries_ = saw_retries_ || reach.retries;
  reach.stored.each([&](std::size_t store) { f.stored[store] |= buckets; });
  reach.placed.each([&](std::size_t store) { f.placed[store] |= buckets; });
  reach.maybe.each([&](std::size_t store) {
    f.owed[static_cast<std::uint32_t>(store)] |= buckets;
    f.placed[store] |= buckets;
  });
}

std::uint64_t OrderData::marks_of(const std::byte* at, std::uint64_t bytes) const {
  const Place begin = place_of(at);
  std::uint64_t result = 0;
  for (std::uint64_t g = begin / granule; g <= (begin + bytes - 1) / granule; ++g) {
    const auto known = marks_.find(g);
    result |= known == marks_.end() ? 0 : known->second;
  }
  for (const Region& region : regions_) {
    result |= begin < region.end && begin + bytes > region.begin ? region.buckets : 0;
  }
  return result;
}

void OrderData::mark(const std::byte* at, std::uint64_t bytes, std::uint64_t buckets) {
  constexpr std::size_t many = 1 << 18; // granules
  if ((buckets & ~marks_of(at, bytes)) == 0) {
    return;
  }
  if (marks_.size() > many) {
    mark_around(at, buckets);
    return;
  }
  all_marks_ |= buckets;
  news_ = true;
  const Place begin = place_of(at);
  for (std::uint64_t g = begin / granule; g <= (begin + bytes - 1) / granule; ++g) {
    marks_[g] |= buckets;
  }
}

void OrderData::copied(const std::byte* from, std::uint64_t bytes, const std::byte* to) {
  if (const std::uint64_t buckets = all_marks_ == 0 ? 0 : marks_of(from, bytes); buckets != 0) {
    mark_around(to, buckets);
  }
}

/// The variable or allocation that has the byte.
void OrderData::mark_around(const std::byte* at, std::uint64_t buckets) {
  const Place place = place_of(at);
  for (const Region& region : regions_) {
    if (place >= region.begin && place < region.end && (buckets & ~region.buckets) == 0) {
      return;
    }
  }
  if (is_shared(at)) {
    const std::uint64_t offset = place - shared_name_;
    if (const auto n = shared_variable_at(*memory_.kernel, offset)) {
      const isa::SharedVariable& variable = memory_.kernel->shared_variables[*n];
      const Place begin = shared_name_ + variable.offset;
      mark_region(begin, begin + variable.bytes, buckets);
      return;
    }
    const std::uint64_t dynamic = memory_.kernel->dynamic_shared_offset;
    mark_region(
        shared_name_ + (offset < dynamic ? 0 : dynamic),
        shared_name_ + memory_.shared.size(),
        buckets
    );
    return;
  }
  bool found = false;
  space_.each_live([&](const memory::Allocation& allocation) {
    const std::span<const std::byte> bytes = bytes_of(allocation);
    if (at >= bytes.data() && at < bytes.data() + bytes.size()) {
      found = true;
      const Place begin = reinterpret_cast<Place>(bytes.data());
      mark_region(begin, begin + bytes.size(), buckets);
    }
  });
  if (!found) { // local memory, or another block's
    decided_by_ |= buckets;
  }
}

void OrderData::mark_region(Place begin, Place end, std::uint64_t buckets) {
  all_marks_ |= buckets;
  news_ = true;
  for (Region& region : regions_) {
    if (region.begin == begin && region.end == end) {
      region.buckets |= buckets;
      return;
    }
  }
  regions_.push_back({begin, end, buckets});
}

void OrderData::ended(const isa::Kernel& kernel) {
  if (unordered_ == 0) {
    return;
  }
  for (const auto& [store, buckets] : function(*kernel.function).owed) {
    decided_by_ |= buckets;
  }
}

void OrderData::called_library() {
  decided_by_ |= all_marks_;
}

} // namespace heddle::reduce
