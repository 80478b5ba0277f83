// compiled(): engine options with which every kernel is machine code before its first turn.
//
//   KernelRunner runner(ptx, compiled());
//
// A kernel of which nothing can be compiled is interpreted; CompiledKernels counts both.
#pragma once

#include "isa/region.h"
#include "jit/compile.h"
#include "jit/handlers.h"
#include "jit/loader.h"
#include "machine/engine.h"
#include "machine/grid.h"

#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>

namespace heddle::test {

class CompiledKernels {
public:
  void worked(const isa::Kernel& kernel, std::uint32_t row) {
    const std::lock_guard lock(mutex_);
    if (!seen_.insert(&kernel).second) {
      return;
    }
    if (image_.empty() && !compile(kernel, row)) {
      return;
    }
    const auto done = jit::install_image(kernel, image_);
    if (!keeps_image) {
      image_.clear();
    }
    if (!done || *done == 0) {
      throw std::runtime_error(done ? "an image that does not fit" : done.error().message);
    }
    ++compiled;
  }
  /// Makes the image with which kernels of the same code begin, if keeps_image: of one that nobody
  /// watches, for a monitor changes handlers. False: nothing can be compiled.
  bool compile(const isa::Kernel& kernel, std::uint32_t row) {
    jit::LaunchShape shape = jit::LaunchShape::of(kernel, row, watch);
    shape.guesses = guesses;
    shape.checks = checks;
    auto image = jit::compile_kernel(handlers(), kernel, shape);
    if (!image && image.error().kind != ErrorKind::Unsupported) {
      throw std::runtime_error(image.error().message);
    }
    image_ = image ? std::move(*image) : std::vector<std::byte>{};
    return image.has_value();
  }
  /// Kernels are freed with their program; others may come to lie there.
  void forget() { seen_.clear(); }

  bool guesses = true;      // LaunchShape::guesses
  bool checks = true;       // LaunchShape::checks
  bool keeps_image = false; // all kernels are one and the same
  jit::LaunchShape::Watch watch = jit::LaunchShape::Watch::Nothing;
  int compiled = 0;

private:
  static const jit::Handlers& handlers() {
    static const auto loaded = jit::Handlers::load();
    if (!loaded) {
      throw std::runtime_error(loaded.error().message);
    }
    return *loaded;
  }
  std::vector<std::byte> image_;
  std::mutex mutex_;
  std::set<const isa::Kernel*> seen_;
};

inline machine::EngineOptions
compiled(const std::shared_ptr<CompiledKernels>& kernels = std::make_shared<CompiledKernels>()) {
  machine::EngineOptions options;
  options.worked = [kernels](const machine::Grid& grid, const machine::Worked&) {
    const machine::Dim3& block = grid.config().block;
    kernels->worked(grid.kernel(), isa::region_row(block.x, block.y, block.z));
  };
  return options;
}

} // namespace heddle::test
