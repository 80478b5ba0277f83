// Implements module.h.
#include "runtime/module.h"

#include "explore/explorer.h"
#include "ptx/parse.h"
#include "runtime/outcome.h"

#include <fmt/format.h>

#include <cerrno>

namespace heddle::runtime {
namespace {

cudaError_t report_failure(const Error& error, cudaError_t code) {
  explore::stop_unsupported(error.message); // no verdict on a program whose kernels cannot be read
  if (error.kind == ErrorKind::Unsupported) {
    record_outcome(Outcome::Unsupported);
    complain_once("unsupported: " + error.message);
    return cudaErrorNotSupported;
  }
  record_outcome(Outcome::Usage);
  complain_once("error: " + error.message);
  return code;
}

/// Is this unit of a -rdc=true program NVIDIA's library for device-side launches? nvcc adds it to
/// every program that is linked with -lcudadevrt; its PTX is for the newest architecture only.
bool is_device_runtime(const std::vector<FatbinEntry>& entries) {
  for (const FatbinEntry& entry : entries) {
    if (entry.kind == static_cast<std::uint16_t>(FatbinKind::Ptx)) {
      const Result<std::string> text = decode(entry);
      return text && text->find("cuda_device_runtime") != std::string::npos;
    }
  }
  return false;
}

} // namespace

Modules::Modules(memory::AddressSpace& space, int arch, int devices)
    : space_(space),
      arch_(arch),
      several_devices_(devices > 1) {}

FatBinary* Modules::add(const void* wrapper) {
  const std::lock_guard lock(mutex_);
  auto fatbin = std::make_unique<FatBinary>();
  fatbin->wrapper = wrapper;
  fatbin->number = fatbins_.size();
  fatbins_.push_back(std::move(fatbin));
  return fatbins_.back().get();
}

void Modules::add_function(FatBinary& owner, const void* host, std::string name) {
  const std::lock_guard lock(mutex_);
  auto function = std::make_unique<Function>();
  function->owner = &owner;
  function->name = std::move(name);
  // The stub of an inline or template kernel is one function however many objects contain it; each
  // registers it with its own copy of the device code. The first one serves.
  function_by_host_.emplace(host, function.get());
  function_by_handle_.emplace(function.get(), function.get());
  functions_.push_back(std::move(function));
}

void Modules::add_variable(
    FatBinary& owner,
    const void* host,
    std::string name,
    std::size_t bytes,
    bool constant,
    bool defined
) {
  const std::lock_guard lock(mutex_);
  auto variable = std::make_unique<Variable>();
  variable->owner = &owner;
  variable->name = std::move(name);
  variable->bytes = bytes;
  variable->constant = constant;
  if (defined) {
    variable_by_host_[host] = variable.get();
  } else {
    variable_by_host_.emplace(host, variable.get());
  }
  variables_.push_back(std::move(variable));
}

void Modules::add_managed(FatBinary& owner, void** host, std::string name, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto variable = std::make_unique<Variable>();
  variable->owner = &owner;
  variable->name = std::move(name);
  variable->bytes = bytes;
  variable->managed_host = host;
  owner.managed.push_back(variable.get());
  variable_by_host_.emplace(host, variable.get());
  variables_.push_back(std::move(variable));
}

Function* Modules::function(const void* host_or_handle) const {
  if (Function* found = function_of_host(host_or_handle)) {
    return found;
  }
  const std::lock_guard lock(mutex_);
  const auto it = function_by_handle_.find(host_or_handle);
  return it == function_by_handle_.end() ? nullptr : it->second;
}

Function* Modules::function_of_host(const void* host) const {
  const std::lock_guard lock(mutex_);
  const auto it = function_by_host_.find(host);
  return it == function_by_host_.end() ? nullptr : it->second;
}

Variable* Modules::variable(const void* host) const {
  const std::lock_guard lock(mutex_);
  const auto it = variable_by_host_.find(host);
  if (it != variable_by_host_.end()) {
    return it->second;
  }
  // In host code the name of a managed variable means what its pointer points to.
  for (const auto& variable : variables_) {
    if (variable->managed_host != nullptr && host != nullptr && *variable->managed_host == host) {
      return variable.get();
    }
  }
  return nullptr;
}

std::vector<Function*> Modules::functions_of(const FatBinary& owner) const {
  const std::lock_guard lock(mutex_);
  std::vector<Function*> result;
  for (const auto& function : functions_) {
    if (function->owner == &owner) {
      result.push_back(function.get());
    }
  }
  return result;
}

Result<void> Modules::read_units(FatBinary& owner) {
  TRY(const auto fatbins, fatbins_of_wrapper(owner.wrapper));
  std::vector<std::shared_ptr<const ptx::Module>> units;
  for (std::size_t i = 0; i < fatbins.size(); ++i) {
    TRY(const auto entries, parse_fatbin(fatbins[i]));
    const Result<std::string> selected = select_ptx(entries, arch_);
    if (!selected && fatbins.size() > 1 && is_device_runtime(entries)) {
      continue; // a launch by a kernel then calls a function that nobody defines, and is reported
    }
    TRY(const std::string text, selected);
    std::string name = fmt::format("{}.{}", program_invocation_short_name, owner.number + 1);
    if (fatbins.size() > 1) {
      name += fmt::format(".{}", i + 1);
    }
    TRY(std::unique_ptr<ptx::Module> module, ptx::parse(text, name + ".ptx"));
    units.push_back(std::move(module));
  }
  owner.units = std::move(units);
  return {};
}

tl::expected<std::shared_ptr<isa::Program>, cudaError_t>
Modules::program(FatBinary& owner, int device) {
  const std::lock_guard lock(owner.mutex);
  if (owner.failed) {
    return tl::unexpected(owner.failure);
  }
  if (const auto it = owner.programs.find(device); it != owner.programs.end()) {
    return it->second;
  }
  const auto fail = [&](const Error& error, cudaError_t code) {
    owner.failed = true;
    owner.failure = report_failure(error, code);
    return tl::unexpected(owner.failure);
  };
  if (owner.units.empty()) {
    if (const Result<void> read = read_units(owner); !read) {
      return fail(read.error(), cudaErrorNoKernelImageForDevice);
    }
  }
  Result<std::shared_ptr<isa::Program>> program =
      isa::Program::link(owner.units, space_, device, owner.managed_owner.get());
  if (!program) {
    return fail(program.error(), cudaErrorInvalidKernelImage);
  }
  owner.programs.emplace(device, *program);
  if (owner.managed_owner == nullptr && several_devices_) {
    owner.managed_owner = *program;
  }
  for (Variable* variable : owner.managed) {
    if (const auto place = (*program)->variable(variable->name); place && place->managed) {
      *variable->managed_host = reinterpret_cast<void*>(place->address);
    }
  }
  return *program;
}

tl::expected<Modules::LoadedKernel, cudaError_t>
Modules::kernel(const Function& function, int device) {
  const auto loaded = program(*function.owner, device);
  if (!loaded) {
    return tl::unexpected(loaded.error());
  }
  const Result<const isa::Kernel*> kernel = (*loaded)->kernel(function.name);
  if (!kernel) {
    return tl::unexpected(report_failure(kernel.error(), cudaErrorInvalidDeviceFunction));
  }
  return LoadedKernel{*loaded, *kernel};
}

tl::expected<isa::Program::VariablePlace, cudaError_t>
Modules::place(const Variable& variable, int device) {
  const auto loaded = program(*variable.owner, device);
  if (!loaded) {
    return tl::unexpected(loaded.error());
  }
  const auto place = (*loaded)->variable(variable.name);
  if (!place) {
    // nvcc drops a variable that no kernel uses and still registers it.
    return tl::unexpected(cudaErrorInvalidSymbol);
  }
  return *place;
}

cudaError_t Modules::initialise_managed(FatBinary& owner) {
  const auto loaded = program(owner, 0); // any device would do
  return loaded ? cudaSuccess : loaded.error();
}

void Modules::reset(int device) {
  std::vector<FatBinary*> fatbins;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& fatbin : fatbins_) {
      fatbins.push_back(fatbin.get());
    }
  }
  for (FatBinary* fatbin : fatbins) {
    const std::lock_guard lock(fatbin->mutex);
    fatbin->programs.erase(device);
  }
}

} // namespace heddle::runtime
