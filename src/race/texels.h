// Texels: what an instruction for textures or surfaces accesses, found as it is carried out.
//
//   const Texels texels(exec, op, site.handler, first); // the number of the warp's first thread
//   for (const Texels::Access& one : texels.accesses) …
//   return texels.next;
//
// The object's description is not watched.
#pragma once

#include "isa/exec.h"
#include "memory/address_space.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::race {

class Texels final : isa::AccessWatch {
public:
  struct Access {
    std::size_t thread;
    memory::Address address;
    std::uint32_t bytes;
  };

  Texels(isa::Exec& exec, const isa::Op& op, isa::Handler handler, std::size_t first);

  std::vector<Access> accesses;
  const isa::Op* next;

private:
  std::size_t first_;

  void accessed(int lane, std::byte* at, std::uint32_t bytes, bool store) override;
};

} // namespace heddle::race
