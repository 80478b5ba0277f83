// Target: bytes that are no image of compiled code are refused, and of one nothing
// outside of its code is called. Inputs have room for the two fields that no mutation finds, the
// build and the hash of the kernel's code, which are written into them if the first byte says so.
#include "isa/program.h"
#include "jit/code_hash.h"
#include "jit/loader.h"
#include "memory/address_space.h"
#include "ptx/parse.h"

#include "fuzzed.h"

#include <cstring>
#include <memory>
#include <vector>

namespace {

using namespace heddle;

struct OneKernel {
  OneKernel() {
    auto module = ptx::parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k() { .reg .u32 %r<3>; mov.u32 %r1, 1; add.u32 %r2, %r1, %r1; ret; }\n",
        "kernel"
    );
    fuzz::expect(module.has_value(), "the kernel of the target");
    auto linked = isa::Program::link({std::move(*module)}, space, /*device=*/0);
    fuzz::expect(linked.has_value(), "the program of the target");
    program = std::move(*linked);
    const auto found = program->kernel("k");
    fuzz::expect(found.has_value(), "the kernel of the target is not found");
    kernel = *found;
    for (const auto& [address, code] : kernel->functions) {
      hash = jit::hash_code(*code);
    }
  }
  memory::AddressSpace space;
  std::shared_ptr<isa::Program> program;
  const isa::Kernel* kernel = nullptr;
  Hash128 hash;
};

} // namespace

int heddle::fuzz::jit_image(const std::uint8_t* data, std::size_t size) {
  static const OneKernel one; // made once
  if (size == 0) {
    return 0;
  }
  std::vector<std::byte> bytes(size - 1);
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), data + 1, bytes.size());
  }
  const auto put = [&](std::size_t at, const auto& value) {
    if (bytes.size() >= at + sizeof value) {
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  };
  if ((data[0] & 1U) != 0) {
    put(offsetof(jit::ImageHeader, magic), jit::image_magic);
    put(offsetof(jit::ImageHeader, build), jit::build_hash());
  }
  if ((data[0] & 2U) != 0) {
    put(sizeof(jit::ImageHeader) + offsetof(jit::ImageFunction, code), one.hash);
  }
  const auto image = jit::read_image(bytes);
  if (!image) {
    return 0;
  }
  for (const jit::ImageFunction& function : image->functions) {
    fuzz::expect(function.offset < image->code.size(), "a function outside of the code");
    fuzz::expect(
        std::uint64_t{function.first_entry} + function.entries <= image->entries.size(),
        "entries that are not there"
    );
  }
  static unsigned installed = 0; // each stays mapped
  constexpr unsigned most_installed = 20'000;
  if (installed < most_installed) {
    const auto done = jit::install_image(*one.kernel, bytes);
    installed += done && *done != 0 ? 1 : 0;
  }
  return 1;
}
