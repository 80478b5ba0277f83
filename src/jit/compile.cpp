// Implements compile.h.
#include "jit/compile.h"

#include "jit/code_hash.h"
#include "jit/handlers.h"
#include "jit/image.h"
#include "jit/lane_function.h"
#include "jit/object.h"
#include "jit/region_builder.h"
#include "ptx/parse.h"

#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace heddle::jit {
namespace {

/// BuiltRegion::size of all of an image. What is beyond it is left to the interpreter: compiling it
/// would take more than some six seconds.
constexpr std::size_t largest_image = 15'000;

template <class T> void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* p = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), p, p + sizeof value);
}

/// For whoever works on the compiler: HEDDLE_JIT_SHOW=left, built, optimised or times.
bool wants(std::string_view what) {
  const char* wanted = std::getenv("HEDDLE_JIT_SHOW");
  return wanted != nullptr && wanted == what;
}

void show(const llvm::Module& module, const char* when) {
  if (wants(when)) {
    module.print(llvm::errs(), nullptr);
  }
}

void show_left(const isa::Code& code, const BuiltRegion& region) {
  const auto& body = code.function->body;
  const auto print = [&](const std::vector<std::uint32_t>& ops, const char* what) {
    for (const std::uint32_t op : ops) {
      const std::uint32_t i = code.ops[op].instruction;
      fmt::print(
          stderr,
          "{}: op {} {}: {}\n",
          code.function->name,
          op,
          what,
          i < body.size() ? ptx::print(*code.module, *code.function, body[i]) : "end"
      );
    }
  };
  fmt::print(
      stderr,
      "{}: {} ops, {} entries, size {}\n",
      code.function->name,
      code.ops.size(),
      region.entries.size(),
      region.size
  );
  print(region.left, "left");
  print(region.interpreted, "interpreted");
}

/// Processor time since the last call.
void show_time(const char* what) {
  static std::clock_t last = 0;
  const std::clock_t now = std::clock();
  if (wants("times")) {
    fmt::print(stderr, "{:8} {:6} us\n", what, (now - last) / (CLOCKS_PER_SEC / 1'000'000));
  }
  last = now;
}

} // namespace

Result<std::vector<std::byte>>
compile_kernel(const Handlers& handlers, const isa::Kernel& kernel, const LaunchShape& shape) {
  show_time("before");
  llvm::LLVMContext context;
  TRY(auto bitcode, handlers.bitcode(context));
  llvm::Module module(kernel.name, context);
  module.setTargetTriple(bitcode->getTargetTriple());
  module.setDataLayout(bitcode->getDataLayout());
  RegionFunctions region_functions{
      LaneFunctions(handlers, *bitcode),
      AccessFunctions(module, shape.lanes, shape.checks)
  };
  struct Part {
    const isa::Code* code;
    BuiltRegion region;
  };
  std::vector<Part> parts;
  std::size_t size = 0;
  for (const auto& [address, code] : kernel.functions) {
    if (code->ops.empty()) {
      continue;
    }
    BuiltRegion region = build_region(
        module,
        region_functions,
        *code,
        shape,
        fmt::format("region{}", parts.size()),
        largest_image - size
    );
    if (wants("left")) {
      show_left(*code, region);
    }
    if (region.built) {
      size += region.size;
      parts.push_back({code, std::move(region)});
    }
  }
  if (parts.empty()) {
    return unsupported(fmt::format("compiling '{}'", kernel.name));
  }
  show_time("build");
  show(module, "built");
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems)) {
    return unexpected({ErrorKind::Internal, "malformed IR: " + problem});
  }
  optimise(module);
  show_time("optimise");
  show(module, "optimised");
  TRY(const FlatCode code, emit(module));
  show_time("emit");

  ImageHeader header;
  header.build = build_hash();
  std::vector<ImageFunction> functions;
  std::vector<std::uint32_t> entries;
  for (const Part& part : parts) {
    ImageFunction function;
    function.code = hash_code(*part.code);
    function.offset = code.functions.at(part.region.name);
    function.first_entry = static_cast<std::uint32_t>(entries.size());
    function.entries = static_cast<std::uint32_t>(part.region.entries.size());
    entries.insert(entries.end(), part.region.entries.begin(), part.region.entries.end());
    functions.push_back(function);
  }
  header.functions = static_cast<std::uint32_t>(functions.size());
  header.entries = static_cast<std::uint32_t>(entries.size());
  const std::size_t head = sizeof header + functions.size() * sizeof(ImageFunction) +
                           entries.size() * sizeof(std::uint32_t);
  header.code_offset = (head + 4095) / 4096 * 4096;
  header.code_bytes = code.bytes.size();
  std::vector<std::byte> image;
  append(image, header);
  for (const ImageFunction& function : functions) {
    append(image, function);
  }
  for (const std::uint32_t entry : entries) {
    append(image, entry);
  }
  image.resize(header.code_offset);
  image.insert(image.end(), code.bytes.begin(), code.bytes.end());
  return image;
}

} // namespace heddle::jit
