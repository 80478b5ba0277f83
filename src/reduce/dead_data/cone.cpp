// Implements cone.h.
#include "reduce/dead_data/cone.h"

#include "base/hash.h"
#include "memory/usual_address.h"
#include "ptx/effect.h"
#include "reduce/dead_data/memory_object.h"
#include "reduce/independence/owned.h"

#include <algorithm>
#include <utility>

namespace heddle::reduce {

using Kind = ptx::Effect::Kind;
using memory::AllocationKind;

namespace {

/// Could anybody but device threads and copies read it?
bool only_of_devices(AllocationKind kind) {
  return kind == AllocationKind::Device || kind == AllocationKind::Global;
}

/// Variables in shared memory that are told apart, at most: the bits of a word.
constexpr std::size_t most_in_shared = 64;
/// Allocations are this far apart, at least.
constexpr std::uint64_t apart = 256;

std::uint64_t bucket_of(const memory::Allocation& allocation) {
  return std::uint64_t{1} << (memory::usual_address(allocation.base) / apart % 64);
}

/// Which member of Learned::kept the variable is.
std::uint64_t bucket_in_shared(const isa::Kernel& kernel, std::size_t variable) {
  Hasher name;
  name.text(kernel.name);
  return std::uint64_t{1} << ((name.finish().low + variable) % 64);
}

} // namespace

void Cone::look_again() {
  std::vector<Data> before = std::exchange(data_, {});
  space_.each_live([&](const memory::Allocation& allocation) {
    const std::uint64_t bucket = bucket_of(allocation);
    if (only_of_devices(allocation.kind) && (learned_.kept & bucket) == 0) {
      const std::byte* const begin = bytes_of(allocation).data();
      const auto known = std::ranges::find(before, begin, &Data::begin);
      data_.push_back(
          {begin, begin + allocation.size, bucket, known != before.end() && known->written}
      );
    }
  });
  std::ranges::sort(data_, std::less<>(), &Data::begin);
}

Cone::Data* Cone::find(const void* at) {
  const auto* byte = static_cast<const std::byte*>(at);
  const auto behind = std::ranges::upper_bound(data_, byte, std::less<>(), &Data::begin);
  return behind != data_.begin() && byte < std::prev(behind)->end ? &*std::prev(behind) : nullptr;
}

Cone::Data* Cone::find(memory::Address at) {
  const memory::Range range = space_.find_range(at);
  return range.size == 0
             ? nullptr
             : find(reinterpret_cast<const void*>(at + static_cast<std::uint64_t>(range.delta)));
}

void Cone::in_block(const isa::Kernel* kernel, const std::byte* shared) {
  kernel_ = kernel;
  shared_ = shared;
}

std::uint64_t Cone::data_in_shared(const isa::Kernel& kernel) const {
  std::uint64_t result = 0;
  for (std::size_t v = 0; v < std::min(kernel.shared_variables.size(), most_in_shared); ++v) {
    result |= (learned_.kept & bucket_in_shared(kernel, v)) == 0 ? std::uint64_t{1} << v : 0;
  }
  return result;
}

Cone::Data* Cone::find_in_shared(const std::byte* at) {
  if (kernel_ == nullptr || at < shared_) {
    return nullptr;
  }
  const auto variable = shared_variable_at(*kernel_, static_cast<std::uint64_t>(at - shared_));
  if (!variable || *variable >= most_in_shared) {
    return nullptr;
  }
  in_shared_ = {.bucket = bucket_in_shared(*kernel_, *variable)};
  return (learned_.kept & in_shared_.bucket) == 0 ? &in_shared_ : nullptr;
}

void Cone::accessed(int, std::byte* at, std::uint32_t, bool store) {
  const isa::Op& op = *exec_.current();
  const isa::Code& code = exec_.code();
  Data* data = find(at);
  if (data == nullptr) {
    data = find_in_shared(at);
  }
  if (store && data != nullptr) {
    data->written = true;
  }
  if (live_.at(code, op).only_data) {
    if (store && data == nullptr && mutant_ != Mutant::ConeForgetsStores) {
      refuted_.deciding |= std::uint64_t{1} << store_bucket_of(*code.function, op.instruction);
    }
    return;
  }
  const ptx::Effect& effect = ptx::effect_of(code.function->body[op.instruction]);
  const bool only_writes = effect.is(Kind::Store) && !effect.is_strong();
  if (data != nullptr && !only_writes && mutant_ != Mutant::ConeForgetsReads) {
    refuted_.kept |= data->bucket;
  }
}

void Cone::carried_out(const Command& command) {
  if (!command.touches) {
    if (command.kind == CommandKind::Copy || command.kind == CommandKind::Set ||
        command.kind == CommandKind::Empty) {
      host_gets(all_written());
    }
    return;
  }
  for (const Command::Region& to : *command.touches) {
    if (Data* data = to.write ? find(to.begin) : nullptr) {
      data->written = true; // with what the host, or some other memory, held
    }
  }
  for (const Command::Region& from : *command.touches) {
    const Data* data = from.write ? nullptr : find(from.begin);
    for (const Command::Region& to : *command.touches) {
      if (data == nullptr || !data->written || !to.write) {
        continue;
      }
      if (space_.find_range(to.begin).size == 0) {
        host_gets(data->bucket);
      } else if (find(to.begin) == nullptr) {
        refuted_.kept |= data->bucket; // what is kept comes from it
      }
    }
  }
}

/// Data in these buckets.
void Cone::host_gets(std::uint64_t buckets) {
  host_got_data_ = host_got_data_ || buckets != 0;
  refuted_.kept |= host_decides_ ? buckets : 0;
}

std::uint64_t Cone::all_written() const {
  std::uint64_t buckets = 0;
  for (const Data& data : data_) {
    buckets |= data.written ? data.bucket : 0;
  }
  return buckets;
}

void Cone::decided_by(memory::Address at) {
  if (const Data* data = find(at)) {
    refuted_.kept |= data->bucket;
  }
}

void Cone::decided_by_anything() {
  for (const Data& data : data_) {
    refuted_.kept |= data.bucket;
  }
}

} // namespace heddle::reduce
