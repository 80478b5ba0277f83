// Implements module.h.
#include "runtime/registration/module.h"

#include "explore/search/explorer.h"
#include "ptx/inline_calls.h"
#include "runtime/diagnostics/caveat.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/registration/built_in.h"
#include "runtime/registration/orders.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <span>
#include <utility>

namespace heddle::runtime {

cudaError_t report_load_failure(const Error& error, cudaError_t code) {
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

int arch_of_target(const std::string& target) {
  int arch = 0;
  const auto digits = target.find_first_of("0123456789");
  if (digits != std::string::npos) {
    std::from_chars(target.data() + digits, target.data() + target.size(), arch);
  }
  return arch;
}

Modules::Modules(memory::AddressSpace& space, int arch, int devices, Calls calls)
    : space_(space),
      arch_(arch),
      several_devices_(devices > 1),
      calls_(calls) {}

FatBinary* Modules::add(const void* wrapper) {
  const std::lock_guard lock(mutex_);
  auto fatbin = std::make_unique<FatBinary>();
  fatbin->wrapper = wrapper;
  fatbin->number = fatbins_.size();
  fatbins_.push_back(std::move(fatbin));
  return fatbins_.back().get();
}

Function* Modules::add_function_locked(FatBinary& owner, std::string name) {
  auto function = std::make_unique<Function>();
  function->owner = &owner;
  function->name = std::move(name);
  function_by_handle_.emplace(function.get(), function.get());
  functions_.push_back(std::move(function));
  return functions_.back().get();
}

void Modules::add_function(FatBinary& owner, const void* host, std::string name) {
  const std::lock_guard lock(mutex_);
  // The stub of an inline or template kernel is one function however many objects contain it; each
  // registers it with its own copy of the device code. The first one serves.
  Function* function = add_function_locked(owner, std::move(name));
  if (function_by_host_.emplace(host, function).second) {
    function->host = host;
  }
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

namespace {

/// Does no other unit define a function of the same name as one of these?
bool stands_alone(const ptx::Module& module, std::span<const std::unique_ptr<ptx::Module>> units) {
  return std::ranges::all_of(units, [&](const auto& unit) {
    return unit.get() == &module || std::ranges::none_of(unit->functions, [&](const auto& f) {
             const ptx::Function* ours = f->defined ? module.find_function(f->name) : nullptr;
             return ours != nullptr && ours->defined;
           });
  });
}

} // namespace

/// What is linked: with the functions that Heddle provides.
Result<Modules::Units> Modules::complete(std::vector<std::unique_ptr<ptx::Module>> parsed) const {
  if (calls_ == Calls::Inlined) {
    for (const auto& module : parsed) {
      ptx::inline_calls(*module, stands_alone(*module, parsed));
    }
  }
  Units units;
  for (auto& module : parsed) {
    units.push_back(std::move(module));
  }
  TRY_VOID(add_built_in(units));
  return units;
}

/// An instruction that Heddle does not know is an error. One that it knows may have got another
/// meaning: that is not likely, and this version has not been tried.
static void warn_of_version(const ptx::Module& module) {
  constexpr std::pair newest{9, 5}; // docs/toolkits.md
  if (std::pair(module.version_major, module.version_minor) > newest) {
    announce_caveat(
        fmt::format(
            "the program has PTX {}.{}, and Heddle is tested with versions up to {}.{}",
            module.version_major,
            module.version_minor,
            newest.first,
            newest.second
        )
    );
  }
}

/// The shared library that this is in; nullopt: it is in the program itself.
static std::optional<std::string> library_with(const void* data) {
  Dl_info info{};
  void* found = nullptr;
  if (::dladdr1(data, &info, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr) {
    return std::nullopt;
  }
  const std::string path = static_cast<const link_map*>(found)->l_name;
  return path.empty() ? std::nullopt : std::optional(path);
}

/// Who uses a library with machine code alone asks its build system, which is seldom nvcc's command
/// line.
static Result<void>
refuse_machine_code(const std::vector<FatbinEntry>& entries, const void* wrapper, int arch) {
  const auto is = [](FatbinKind kind) {
    return
        [kind](const FatbinEntry& entry) { return entry.kind == static_cast<std::uint16_t>(kind); };
  };
  if (std::ranges::none_of(entries, is(FatbinKind::Cubin)) ||
      std::ranges::any_of(entries, is(FatbinKind::Ptx))) {
    return {};
  }
  const auto library = library_with(wrapper);
  if (!library) {
    return {};
  }
  return unsupported(
      fmt::format(
          "'{0}' contains only SASS (machine code of a GPU) and no PTX; build it with "
          "TORCH_CUDA_ARCH_LIST=\"{1}.{2}+PTX\" (extensions of PyTorch), "
          "-DCMAKE_CUDA_ARCHITECTURES={3} (CMake) or -gencode arch=compute_{3},code=compute_{3} "
          "(nvcc)",
          *library,
          arch / 10,
          arch % 10,
          arch
      )
  );
}

Result<void> Modules::read_units(FatBinary& owner) {
  TRY(const auto fatbins, fatbins_of_wrapper(owner.wrapper));
  std::vector<std::unique_ptr<ptx::Module>> units;
  for (std::size_t i = 0; i < fatbins.size(); ++i) {
    TRY(const auto entries, parse_fatbin(fatbins[i]));
    if (fatbins.size() > 1 && is_device_runtime(entries)) {
      continue; // a call of what Heddle does not have of it is reported
    }
    TRY_VOID(refuse_machine_code(entries, owner.wrapper, arch_));
    TRY(const std::string text, select_ptx(entries, arch_));
    std::string name = fmt::format("{}.{}", program_invocation_short_name, owner.number + 1);
    if (fatbins.size() > 1) {
      name += fmt::format(".{}", i + 1);
    }
    TRY(std::unique_ptr<ptx::Module> module, parse_with_orders(text, name + ".ptx"));
    warn_of_version(*module);
    units.push_back(std::move(module));
  }
  TRY(owner.units, complete(std::move(units)));
  return {};
}

Result<FatBinary*> Modules::load(const std::vector<std::string>& texts, std::optional<int> device) {
  FatBinary* owner = add(nullptr);
  owner->device = device;
  std::vector<std::unique_ptr<ptx::Module>> units;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string name = fmt::format("module {}", owner->number + 1);
    if (texts.size() > 1) {
      name += fmt::format(".{}", i + 1);
    }
    TRY(std::unique_ptr<ptx::Module> module, parse_with_orders(texts[i], name + ".ptx"));
    warn_of_version(*module);
    if (const int wanted = arch_of_target(module->target); wanted > arch_) {
      return input_error(
          fmt::format(
              "the PTX that the program loads is for sm_{0} and later, but the virtual device is "
              "sm_{1}; run with --device sm_{0} or make the PTX for compute_{1}",
              wanted,
              arch_
          )
      );
    }
    units.push_back(std::move(module));
  }
  TRY(owner->units, complete(std::move(units)));
  const std::lock_guard lock(mutex_);
  loaded_.insert(owner);
  return owner;
}

void Modules::unload(FatBinary& owner) {
  {
    const std::lock_guard lock(mutex_);
    loaded_.erase(&owner);
    for (const auto& [name, function] : owner.functions_by_name) {
      function_by_handle_.erase(function);
    }
  }
  // Kernels under way keep what they need.
  const std::lock_guard lock(owner.mutex);
  owner.programs.clear();
  owner.managed_owner.reset();
  owner.units.clear();
  owner.failed = true;
  owner.failure = cudaErrorInvalidResourceHandle;
}

FatBinary* Modules::loaded(const void* handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = loaded_.find(static_cast<const FatBinary*>(handle));
  return it == loaded_.end() ? nullptr : const_cast<FatBinary*>(*it);
}

std::vector<std::string> Modules::kernel_names(FatBinary& owner) {
  const std::lock_guard lock(owner.mutex);
  std::vector<std::string> names;
  for (const auto& unit : owner.units) {
    for (const auto& function : unit->functions) {
      if (function->entry && function->defined) {
        names.push_back(function->name);
      }
    }
  }
  return names;
}

Function* Modules::function_named(FatBinary& owner, const std::string& name) {
  const std::vector<std::string> known = kernel_names(owner);
  if (std::ranges::find(known, name) == known.end()) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  auto& slot = owner.functions_by_name[name];
  if (slot == nullptr) {
    slot = add_function_locked(owner, name);
  }
  return slot;
}

tl::expected<isa::Program::VariablePlace, cudaError_t>
Modules::place(FatBinary& owner, const std::string& name, int device) {
  const auto linked = program(owner, device);
  if (!linked) {
    return tl::unexpected(linked.error());
  }
  const auto place = (*linked)->variable(name);
  if (!place) {
    return tl::unexpected(cudaErrorSymbolNotFound);
  }
  return *place;
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
    owner.failure = report_load_failure(error, code);
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
    return tl::unexpected(report_load_failure(kernel.error(), cudaErrorInvalidDeviceFunction));
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
