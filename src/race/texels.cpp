// Implements texels.h.
#include "race/texels.h"

#include "isa/texture.h"

namespace heddle::race {

Texels::Texels(isa::Exec& exec, const isa::Op& op, isa::Handler handler, std::size_t first)
    : first_(first) {
  const isa::Watching watching(exec, *this);
  next = handler(exec, op);
}

void Texels::accessed(int lane, std::byte* at, std::uint32_t bytes, bool /*store*/) {
  if (bytes != isa::TextureDescriptor::allocation_bytes) {
    const memory::Address address = memory::AddressSpace::device_address(at);
    accesses.push_back({first_ + static_cast<std::size_t>(lane), address, bytes});
  }
}

} // namespace heddle::race
