// Program: modules linked for one device: symbols have addresses, functions have code.
//
//   TRY(auto program, isa::Program::link(modules, space, /*device=*/0));
//   TRY(const isa::Kernel* k, program->kernel("_Z3addPfS_"));
//
// Linking follows PTX: .extern is resolved by a .visible or .weak definition of another module, the
// first .weak one wins, .common merges. Variables are allocated and initialised at link time; code
// is lowered per kernel, on first use (lazy loading), because static shared memory is laid out per
// kernel.
#pragma once

#include "base/result.h"
#include "isa/lowering.h"
#include "memory/address_space.h"
#include "ptx/module.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace heddle::isa {

struct KernelParameter {
  std::uint32_t offset = 0; // in the parameter block
  std::uint32_t bytes = 0;
};

struct SharedVariable {
  std::uint32_t offset = 0; // in the block's shared memory
  std::uint32_t bytes = 0;
  std::string name;
};

/// A kernel ready to run. Immutable.
struct Kernel {
  std::string name;
  const ptx::Function* function = nullptr;
  const Code* code = nullptr;
  std::vector<KernelParameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::vector<SharedVariable> shared_variables; // static ones
  std::uint32_t static_shared_bytes = 0; // dynamic shared memory starts at the next multiple of 16
  std::uint32_t dynamic_shared_offset = 0;
  bool calls = false;                               // has calls or alloca: lanes need a real stack
  std::map<memory::Address, const Code*> functions; // by the address that indirect calls use
};

class Program : public std::enable_shared_from_this<Program> {
public:
  /// `managed_owner`: the program of the same modules on another device, whose managed variables
  /// are shared; they live as long as one of the programs that use them.
  static Result<std::shared_ptr<Program>> link(
      std::vector<std::shared_ptr<const ptx::Module>> modules,
      memory::AddressSpace& space,
      int device,
      const Program* managed_owner = nullptr
  );
  ~Program();

  struct VariablePlace {
    memory::Address address = 0;
    std::uint64_t bytes = 0;
    bool managed = false;
    bool constant = false;
  };
  std::optional<VariablePlace> variable(std::string_view name) const;
  /// Lowers on first use; thread safe. Input error if there is no such kernel.
  Result<const Kernel*> kernel(std::string_view name);
  const ptx::Function* find_kernel(std::string_view name) const; // without lowering
  const std::vector<std::shared_ptr<const ptx::Module>>& modules() const;
  /// The same for programs of the same text whose variables lie at the same addresses, in every
  /// process.
  std::uint64_t content() const;

private:
  struct Impl;
  explicit Program(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

} // namespace heddle::isa
