// Modules: the device code that the process's objects registered, and what becomes of it.
//
// nvcc's start-up code registers each fat binary with its kernels and variables before main.
// Nothing is read then: a fat binary is decoded, parsed and linked when one of its kernels or
// variables is used for the first time, once for each device, so that programs with much device
// code start fast. Each fat binary is a program of its own (its symbols are invisible to others),
// as with nvcc; with -rdc=true one fat binary stands for all units, which are linked together.
#pragma once

#include "base/result.h"
#include "isa/program.h"
#include "runtime/cudart.h"
#include "runtime/registration/fatbin.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle::runtime {

struct FatBinary;

/// A kernel as the host knows it. Its address serves as cudaKernel_t and cudaFunction_t.
struct Function {
  FatBinary* owner = nullptr;
  std::string name;           // mangled
  const void* host = nullptr; // what host code calls it by; nullptr: it has no such name
  // What cudaFuncSetAttribute sets.
  std::atomic<int> max_dynamic_shared{-1}; // -1: what needs no opting in
  std::atomic<int> carveout{-1};
  std::atomic<bool> non_portable_cluster{false};
  std::atomic<int> required_cluster[3]{0, 0, 0};
  std::atomic<int> cluster_scheduling{0};
  std::atomic<int> limits{-1};           // of cudaLimit, that a launch of it fixes; -1: not known
  std::atomic<bool> refusal_told{false}; // that a launch of it was refused has been printed
};

struct Variable {
  FatBinary* owner = nullptr;
  std::string name;
  std::size_t bytes = 0;
  bool constant = false;
  void** managed_host = nullptr; // __managed__: the pointer that host code goes through
};

struct FatBinary {
  const void* wrapper = nullptr; // null: handed over by a load call
  std::size_t number = 0;        // in order of registration
  /// What a load call made: a module of one device, or a library (none: for every device).
  std::optional<int> device;
  std::map<std::string, Function*> functions_by_name; // of load calls: those that were asked for
  std::vector<Variable*> managed;
  std::mutex mutex;                                      // guards what follows
  std::vector<std::shared_ptr<const ptx::Module>> units; // empty: not read yet
  std::map<int, std::shared_ptr<isa::Program>> programs; // by device
  /// With several devices: the first program, whose managed variables all use. It outlives a reset
  /// of its device, so managed variables keep their values then.
  std::shared_ptr<isa::Program> managed_owner;
  bool failed = false;
  cudaError_t failure = cudaSuccess;
};

/// Says once why device code cannot be used, and answers `code`, or cudaErrorNotSupported where
/// that is Heddle's fault.
cudaError_t report_load_failure(const Error& error, cudaError_t code);

/// 90 of "sm_90a", as `.target` of PTX says it.
int arch_of_target(const std::string& target);

/// What becomes of calls of device functions: ptx/inline_calls.h.
enum class Calls : std::uint8_t {
  AsWritten,
  Inlined
};

/// Thread safe.
class Modules {
public:
  Modules(memory::AddressSpace& space, int arch, int devices, Calls calls);

  FatBinary* add(const void* wrapper);
  void add_function(FatBinary& owner, const void* host, std::string name);
  void add_variable(
      FatBinary& owner,
      const void* host,
      std::string name,
      std::size_t bytes,
      bool constant,
      bool defined
  );
  void add_managed(FatBinary& owner, void** host, std::string name, std::size_t bytes);

  /// Device code that the program hands over while it runs; parsed at once. `device`: none for a
  /// library. Input error: the text is no PTX, or for a newer architecture.
  Result<FatBinary*> load(const std::vector<std::string>& texts, std::optional<int> device);
  /// Its kernels and variables are gone.
  void unload(FatBinary& owner);
  /// nullptr: no such module or library, or it was unloaded.
  FatBinary* loaded(const void* handle) const;
  /// A kernel of a loaded module by its name; nullptr: it has none of this name.
  Function* function_named(FatBinary& owner, const std::string& name);
  /// The names of all kernels, in the order of the text.
  std::vector<std::string> kernel_names(FatBinary& owner);
  /// A variable of a loaded module.
  tl::expected<isa::Program::VariablePlace, cudaError_t>
  place(FatBinary& owner, const std::string& name, int device);

  /// By host stub, or by handle. nullptr: neither.
  Function* function(const void* host_or_handle) const;
  Function* function_of_host(const void* host) const;
  Variable* variable(const void* host) const;
  std::vector<Function*> functions_of(const FatBinary& owner) const;

  /// Reads, parses and links on first use. A failure is printed once, with its reason, and stays.
  tl::expected<std::shared_ptr<isa::Program>, cudaError_t> program(FatBinary& owner, int device);
  struct LoadedKernel {
    std::shared_ptr<isa::Program> program;
    const isa::Kernel* kernel = nullptr;
  };
  tl::expected<LoadedKernel, cudaError_t> kernel(const Function& function, int device);
  tl::expected<isa::Program::VariablePlace, cudaError_t>
  place(const Variable& variable, int device);
  /// Makes the managed variables of a fat binary usable by the host.
  cudaError_t initialise_managed(FatBinary& owner);
  /// cudaDeviceReset: variables get their initial values again.
  void reset(int device);

private:
  Result<void> read_units(FatBinary& owner);
  using Units = std::vector<std::shared_ptr<const ptx::Module>>;
  Result<Units> complete(std::vector<std::unique_ptr<ptx::Module>> parsed) const;
  Function* add_function_locked(FatBinary& owner, std::string name);

  memory::AddressSpace& space_;
  const int arch_;
  const bool several_devices_;
  const Calls calls_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<FatBinary>> fatbins_;
  std::set<const FatBinary*> loaded_; // by load calls, and still there
  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<std::unique_ptr<Variable>> variables_;
  std::unordered_map<const void*, Function*> function_by_host_;
  std::unordered_map<const void*, Function*> function_by_handle_;
  std::unordered_map<const void*, Variable*> variable_by_host_;
};

} // namespace heddle::runtime
