// Implements program.h: symbol tables over modules, variables with addresses, kernels lowered on
// demand.
#include "isa/program.h"

#include "base/check.h"
#include "base/environment.h"
#include "base/hash.h"
#include "base/outside.h"
#include "isa/lower_device_runtime.h"
#include "isa/usual_layout.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <unordered_map>

namespace heddle::isa {
namespace {

// Addresses of functions: nothing is mapped there; a call looks the function up.
constexpr memory::Address function_base = 0x0000'1e00'0000'0000ULL;
constexpr memory::Address function_stride = 16;

std::uint32_t round_up(std::uint32_t value, std::uint32_t align) {
  return (value + align - 1) / align * align;
}

bool is_local(ptx::Linkage linkage) {
  return linkage == ptx::Linkage::Internal;
}

struct LinkedFunction {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
};
struct LinkedVariable {
  const ptx::Module* module = nullptr;
  const ptx::Variable* variable = nullptr;
  memory::Address address = 0;
  std::uint64_t bytes = 0;
  bool shared = false; // a managed variable that another device's program owns
};

/// One kernel with everything that is lowered for it.
struct KernelImage {
  Kernel kernel;
  std::map<const ptx::Function*, std::unique_ptr<Code>> codes;
  std::map<const ptx::Variable*, std::uint32_t> shared; // offset in the block's shared memory
};

} // namespace

struct Program::Impl {
  std::vector<std::shared_ptr<const ptx::Module>> modules;
  memory::AddressSpace& space;
  int device;
  std::shared_ptr<const Impl> managed_owner; // whose managed variables these are; null: our own
  // Symbols that all modules see, and those of one module only.
  std::map<std::string, LinkedFunction, std::less<>> functions;
  std::map<std::string, LinkedVariable, std::less<>> variables;
  std::map<std::pair<const ptx::Module*, std::string>, LinkedFunction> local_functions;
  std::map<std::pair<const ptx::Module*, std::string>, LinkedVariable> local_variables;
  std::vector<LinkedFunction> by_address; // as address_of() has them
  std::map<const ptx::Function*, std::size_t> address_index;
  std::set<const ptx::Function*> address_taken;
  std::vector<std::pair<void*, std::size_t>> managed; // mmapped
  std::vector<memory::Address> allocated;
  std::mutex mutex; // kernels
  std::map<std::string, std::unique_ptr<KernelImage>, std::less<>> kernels;

  Impl(memory::AddressSpace& s, int d) : space(s), device(d) {}
  ~Impl();

  Result<void> link();
  Result<void> place(const ptx::Module& module, const ptx::Variable& variable);
  Result<void> initialise(const LinkedVariable& variable);
  std::optional<LinkedFunction> find_function(const ptx::Module& m, std::string_view name) const;
  const LinkedVariable* find_variable(const ptx::Module& m, std::string_view name) const;
  memory::Address address_of(const ptx::Function* f) {
    const std::size_t index = address_index.at(f);
    const bool descend = is_other(SystemAnswer::DeviceAddresses);
    return function_base + (descend ? by_address.size() - index : index) * function_stride;
  }
  void collect_symbols(
      const ptx::Operand& operand,
      const std::function<void(const std::string&)>& f
  ) const;
  Result<void> lower(KernelImage& image, const LinkedFunction& entry);
};

namespace {

struct Placed { // a variable in shared memory
  std::uint32_t offset = 0, bytes = 0;
  std::uint32_t usual = 0; // offset in a search
};

/// One behind the other; where the last one ends.
std::uint32_t place_in_order(std::span<const ptx::Variable* const> variables, auto&& place) {
  std::uint32_t offset = 0;
  for (const ptx::Variable* v : variables) {
    if (v->byte_size() != 0) {
      offset = round_up(offset, v->alignment());
      place(v, offset);
      offset += static_cast<std::uint32_t>(v->byte_size());
    }
  }
  return offset;
}

/// Of all kernels of this process.
class UsualLayouts {
public:
  void note(const Code* code, std::vector<Placed> variables, std::int64_t dynamic_moved) {
    const std::lock_guard lock(mutex_);
    layouts_[code] = {std::move(variables), dynamic_moved};
  }
  UsualPlace find(const Code* code, std::uint64_t offset, unsigned bytes) {
    const std::lock_guard lock(mutex_);
    const auto known = layouts_.find(code);
    if (known == layouts_.end()) {
      return {offset, bytes};
    }
    for (const Placed& variable : known->second.variables) {
      if (const std::uint64_t inside = offset - variable.offset; inside < variable.bytes) {
        const std::uint64_t left = variable.bytes - inside;
        return {
            variable.usual + inside,
            static_cast<unsigned>(std::min<std::uint64_t>(bytes, left))
        };
      }
    }
    return {offset - static_cast<std::uint64_t>(known->second.dynamic_moved), bytes};
  }

private:
  struct Layout {
    std::vector<Placed> variables;
    std::int64_t dynamic_moved = 0;
  };
  std::mutex mutex_;
  std::unordered_map<const Code*, Layout> layouts_;
};

UsualLayouts& usual_layouts() {
  static UsualLayouts layouts; // programs are never taken down before their process
  return layouts;
}

/// Static shared memory first, dynamic behind it. In which order the variables lie, nothing says.
void place_shared(KernelImage& image, const std::vector<const ptx::Variable*>& shared) {
  Kernel& kernel = image.kernel;
  std::uint32_t dynamic_align = 16;
  for (const ptx::Variable* v : shared) {
    dynamic_align = std::max(dynamic_align, v->byte_size() == 0 ? v->alignment() : 1);
  }
  std::uint32_t end = place_in_order(shared, [&](const ptx::Variable* v, std::uint32_t offset) {
    image.shared[v] = offset;
    const auto bytes = static_cast<std::uint32_t>(v->byte_size());
    kernel.shared_variables.push_back({offset, bytes, v->name});
  });
  if (is_other(SystemAnswer::DeviceAddresses)) {
    const std::uint32_t usual_end = end;
    const std::vector<const ptx::Variable*> backwards(shared.rbegin(), shared.rend());
    end = place_in_order(backwards, [&](const ptx::Variable* v, std::uint32_t offset) {
      image.shared[v] = offset;
    });
    std::vector<Placed> placed;
    auto variable = kernel.shared_variables.begin();
    for (const ptx::Variable* v : shared) {
      if (v->byte_size() != 0) {
        placed.push_back({image.shared[v], variable->bytes, variable->offset});
        (variable++)->offset = image.shared[v];
      }
    }
    const std::int64_t moved = std::int64_t{round_up(end, dynamic_align)} -
                               std::int64_t{round_up(usual_end, dynamic_align)};
    for (const auto& [function, code] : image.codes) {
      usual_layouts().note(code.get(), placed, moved);
    }
  }
  kernel.static_shared_bytes = end;
  kernel.dynamic_shared_offset = round_up(end, dynamic_align);
  for (const ptx::Variable* v : shared) {
    if (v->byte_size() == 0) {
      image.shared[v] = kernel.dynamic_shared_offset;
    }
  }
}

/// Symbols as one kernel sees them: its own layout of shared memory.
class KernelResolver final : public SymbolResolver {
public:
  KernelResolver(
      KernelImage& image,
      std::function<std::optional<LinkedFunction>(const ptx::Module&, std::string_view)>
          find_function,
      std::function<const LinkedVariable*(const ptx::Module&, std::string_view)> find_variable,
      std::function<memory::Address(const ptx::Function*)> address_of
  )
      : image_(image),
        find_function_(std::move(find_function)),
        find_variable_(std::move(find_variable)),
        address_of_(std::move(address_of)) {}

  Result<Symbol> resolve(
      const ptx::Module& module,
      const ptx::Function& function,
      std::string_view name
  ) override {
    const Code& code = *image_.codes.at(&function);
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      if (function.parameters[i].name == name) {
        return Symbol{
            function.entry ? Symbol::Kind::Param : Symbol::Kind::FunctionParam,
            code.parameter_offsets[i],
            &function.parameters[i]
        };
      }
    }
    for (std::size_t i = 0; i < function.returns.size(); ++i) {
      if (function.returns[i].name == name) {
        return Symbol{Symbol::Kind::FunctionParam, code.return_offsets[i], &function.returns[i]};
      }
    }
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
      const ptx::Variable& v = function.variables[i];
      if (v.name != name) {
        continue;
      }
      if (v.space == ptx::Mod::Local) {
        return Symbol{Symbol::Kind::Local, code.variable_offsets[i], &v};
      }
      if (v.space == ptx::Mod::Param) {
        return Symbol{Symbol::Kind::FunctionParam, code.variable_offsets[i], &v};
      }
      if (v.space == ptx::Mod::Shared) {
        return Symbol{Symbol::Kind::Shared, image_.shared.at(&v), &v};
      }
      break; // .global or .const: placed like a module's
    }
    if (const LinkedVariable* v = find_variable_(module, name)) {
      if (v->variable->space == ptx::Mod::Shared) {
        return Symbol{Symbol::Kind::Shared, image_.shared.at(v->variable), v->variable};
      }
      return Symbol{Symbol::Kind::Global, v->address, v->variable};
    }
    if (const auto f = find_function_(module, name)) {
      return Symbol{Symbol::Kind::Function, address_of_(f->function), nullptr};
    }
    return input_error(fmt::format("undefined symbol '{}'", name));
  }

  Result<const Code*> callee(const ptx::Module& module, std::string_view name) override {
    const auto f = find_function_(module, name);
    if (!f || !f->function->defined) {
      return nullptr;
    }
    return image_.codes.at(f->function).get();
  }

private:
  KernelImage& image_;
  std::function<std::optional<LinkedFunction>(const ptx::Module&, std::string_view)> find_function_;
  std::function<const LinkedVariable*(const ptx::Module&, std::string_view)> find_variable_;
  std::function<memory::Address(const ptx::Function*)> address_of_;
};

} // namespace

// --- Linking

Program::Impl::~Impl() {
  for (const memory::Address a : allocated) {
    (void)space.release(a); // the device may have been reset: then they are gone already
  }
  for (const auto& [p, bytes] : managed) {
    ::munmap(p, bytes);
  }
}

std::optional<LinkedFunction>
Program::Impl::find_function(const ptx::Module& m, std::string_view name) const {
  if (const auto it = local_functions.find({&m, std::string(name)}); it != local_functions.end()) {
    return it->second;
  }
  const auto it = functions.find(name);
  return it != functions.end() ? std::optional(it->second) : std::nullopt;
}

const LinkedVariable*
Program::Impl::find_variable(const ptx::Module& m, std::string_view name) const {
  if (const auto it = local_variables.find({&m, std::string(name)}); it != local_variables.end()) {
    return &it->second;
  }
  const auto it = variables.find(name);
  return it != variables.end() ? &it->second : nullptr;
}

Result<void> Program::Impl::place(const ptx::Module& module, const ptx::Variable& variable) {
  const bool local = is_local(variable.linkage);
  if (!local) {
    const auto it = variables.find(variable.name);
    if (it != variables.end()) {
      const ptx::Variable& known = *it->second.variable;
      const bool is_declaration = variable.linkage == ptx::Linkage::Extern;
      const bool was_declaration = known.linkage == ptx::Linkage::Extern;
      if (is_declaration || (!was_declaration && (variable.linkage == ptx::Linkage::Weak ||
                                                  variable.linkage == ptx::Linkage::Common))) {
        return {};
      }
      if (!was_declaration && known.linkage == ptx::Linkage::Visible) {
        return input_error(
            fmt::format(
                "multiple definition of '{}' (in {} and {})",
                variable.name,
                it->second.module->name,
                module.name
            )
        );
      }
    }
  }
  LinkedVariable linked{&module, &variable, 0, variable.byte_size()};
  if (local) {
    local_variables[{&module, variable.name}] = linked;
  } else {
    variables[variable.name] = linked;
  }
  return {};
}

Result<void> Program::Impl::initialise(const LinkedVariable& linked) {
  const ptx::Variable& v = *linked.variable;
  if (linked.bytes == 0 || linked.address == 0 || linked.shared) {
    return {};
  }
  auto* bytes = static_cast<std::byte*>(space.host_pointer(linked.address, linked.bytes));
  HEDDLE_CHECK(bytes != nullptr, "variable {} is not where it was placed", v.name);
  const std::size_t given = std::min<std::size_t>(v.init.size(), linked.bytes);
  std::ranges::copy(std::as_bytes(std::span(v.init).first(given)), bytes);
  for (const ptx::SymbolInit& init : v.symbols) {
    std::uint64_t value = 0;
    if (const LinkedVariable* target = find_variable(*linked.module, init.symbol)) {
      value = target->address;
    } else if (const auto f = find_function(*linked.module, init.symbol)) {
      value = address_of(f->function);
      address_taken.insert(f->function);
    } else {
      return input_error(
          fmt::format("undefined symbol '{}' in the initialiser of '{}'", init.symbol, v.name)
      );
    }
    value += static_cast<std::uint64_t>(init.addend);
    if (init.mask != ~0ULL && init.mask != 0) {
      value = (value & init.mask) >> std::countr_zero(init.mask);
    }
    if (init.byte_offset + init.bytes > linked.bytes) {
      return input_error(fmt::format("the initialiser of '{}' is too long", v.name));
    }
    std::memcpy(bytes + init.byte_offset, &value, std::min<std::uint32_t>(init.bytes, 8));
  }
  return {};
}

Result<void> Program::Impl::link() {
  for (const auto& module : modules) {
    for (const auto& f : module->functions) {
      const LinkedFunction linked{module.get(), f.get()};
      if (is_local(f->linkage) && f->defined && !f->entry) {
        local_functions[{module.get(), f->name}] = linked;
      } else {
        const auto it = functions.find(f->name);
        if (it == functions.end() || (!it->second.function->defined && f->defined)) {
          functions[f->name] = linked;
        } else if (
            f->defined && it->second.function->defined && f->linkage == ptx::Linkage::Visible &&
            it->second.function->linkage == ptx::Linkage::Visible
        ) {
          return input_error(
              fmt::format(
                  "multiple definition of '{}' (in {} and {})",
                  f->name,
                  it->second.module->name,
                  module->name
              )
          );
        }
      }
      address_index[f.get()] = by_address.size();
      by_address.push_back(linked);
      for (const ptx::Variable& v : f->variables) {
        if (v.space == ptx::Mod::Global || v.space == ptx::Mod::Const) {
          TRY_VOID(place(*module, v));
        }
      }
    }
    for (const ptx::Variable& v : module->variables) {
      TRY_VOID(place(*module, v));
    }
    for (const ptx::Alias& alias : module->aliases) {
      const ptx::Function* aliasee = module->find_function(alias.name);
      const auto it = functions.find(alias.name);
      if (aliasee != nullptr && aliasee->defined &&
          (it == functions.end() || !it->second.function->defined)) {
        functions[alias.name] = LinkedFunction{module.get(), aliasee};
      }
    }
  }
  // `other`: the same variable as the program that owns the managed variables has it.
  const auto allocate = [&](LinkedVariable& linked, const LinkedVariable* other) -> Result<void> {
    const ptx::Variable& v = *linked.variable;
    if (v.space != ptx::Mod::Global && v.space != ptx::Mod::Const) {
      return {};
    }
    if (v.linkage == ptx::Linkage::Extern && linked.bytes == 0) {
      return input_error(fmt::format("undefined variable '{}'", v.name));
    }
    if (std::ranges::find(v.attributes, "managed") != v.attributes.end()) {
      if (other != nullptr) {
        linked.address = other->address;
        linked.shared = true;
        return {};
      }
      const std::size_t bytes = (linked.bytes + 4095) / 4096 * 4096;
      void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (p == MAP_FAILED) {
        no_memory("managed variable " + v.name, bytes);
      }
      managed.emplace_back(p, bytes);
      TRY_VOID(space.add_host(p, linked.bytes, memory::AllocationKind::Managed, device));
      linked.address = reinterpret_cast<memory::Address>(p);
    } else {
      TRY(linked.address,
          space.allocate(
              linked.bytes,
              std::max<std::uint64_t>(v.alignment(), 16),
              v.space == ptx::Mod::Const ? memory::AllocationKind::Constant
                                         : memory::AllocationKind::Global,
              device,
              v.name
          ));
    }
    allocated.push_back(linked.address);
    return {};
  };
  for (auto& [name, linked] : variables) {
    TRY_VOID(
        allocate(linked, managed_owner != nullptr ? &managed_owner->variables.at(name) : nullptr)
    );
  }
  for (auto& [key, linked] : local_variables) {
    TRY_VOID(allocate(
        linked,
        managed_owner != nullptr ? &managed_owner->local_variables.at(key) : nullptr
    ));
  }
  for (auto& [name, linked] : variables) {
    TRY_VOID(initialise(linked));
  }
  for (auto& [key, linked] : local_variables) {
    TRY_VOID(initialise(linked));
  }
  return {};
}

// --- Kernels

void Program::Impl::collect_symbols(
    const ptx::Operand& operand,
    const std::function<void(const std::string&)>& f
) const {
  if (operand.kind == ptx::OperandKind::Symbol) {
    f(operand.name);
  }
  for (const ptx::Operand& element : operand.elements) {
    collect_symbols(element, f);
  }
}

Result<void> Program::Impl::lower(KernelImage& image, const LinkedFunction& entry) {
  // Which functions can run, and which shared variables they use.
  std::vector<LinkedFunction> todo = {entry};
  std::vector<const ptx::Variable*> shared;
  const auto use_shared = [&](const ptx::Variable* v) {
    if (std::ranges::find(shared, v) == shared.end()) {
      shared.push_back(v);
    }
  };
  const auto reach = [&](const LinkedFunction& f) {
    if (f.function->defined && !image.codes.contains(f.function)) {
      auto code = std::make_unique<Code>();
      code->kernel = image.kernel.function;
      code->module = f.module;
      code->device = device;
      code->function = f.function;
      image.codes.emplace(f.function, std::move(code));
      // Another kernel is launched, not called: it has a code of its own, and shared memory.
      if (!f.function->entry || f.function == entry.function) {
        todo.push_back(f);
      }
    }
  };
  todo.clear();
  reach(entry);
  bool indirect = false;
  while (!todo.empty()) {
    const LinkedFunction f = todo.back();
    todo.pop_back();
    for (const ptx::Variable& v : f.function->variables) {
      if (v.space == ptx::Mod::Shared) {
        use_shared(&v);
      }
    }
    for (const ptx::Instruction& i : f.function->body) {
      const bool call = i.opcode == ptx::Opcode::Call;
      image.kernel.calls = image.kernel.calls || i.opcode == ptx::Opcode::Alloca;
      if (call) {
        image.kernel.calls = true;
        const bool direct = std::ranges::any_of(i.operands, [&](const ptx::Operand& o) {
          return o.kind == ptx::OperandKind::Symbol && find_function(*f.module, o.name);
        });
        const bool launch = std::ranges::any_of(i.operands, [](const ptx::Operand& o) {
          return o.kind == ptx::OperandKind::Symbol && names_launched_kernel(o.name);
        });
        if ((!direct || launch) && !std::exchange(indirect, true)) {
          for (const ptx::Function* taken : address_taken) {
            reach(by_address[address_index.at(taken)]);
          }
        }
      }
      for (const ptx::Operand& o : i.operands) {
        collect_symbols(o, [&](const std::string& name) {
          if (f.function->find_variable(name) != nullptr) {
            return;
          }
          if (const LinkedVariable* v = find_variable(*f.module, name)) {
            if (v->variable->space == ptx::Mod::Shared) {
              use_shared(v->variable);
            }
          } else if (const auto g = find_function(*f.module, name)) {
            if (!call) {
              address_taken.insert(g->function);
            }
            reach(*g);
          }
        });
      }
    }
  }
  place_shared(image, shared);
  // Layout of parameters and local variables, then code.
  const auto launched = [&](const ptx::Function* f) { return f->entry && f != entry.function; };
  for (auto& [function, code] : image.codes) {
    if (launched(function)) {
      continue;
    }
    std::uint32_t param = 0;
    std::uint32_t local = 0;
    const auto place_in = [](std::uint32_t& end, const ptx::Variable& v) {
      end = round_up(end, std::max(1U, v.alignment()));
      const std::uint32_t at = end;
      end += static_cast<std::uint32_t>(v.byte_size());
      return at;
    };
    for (const ptx::Variable& v : function->returns) {
      code->return_offsets.push_back(place_in(local, v));
    }
    for (const ptx::Variable& v : function->parameters) {
      code->parameter_offsets.push_back(place_in(function->entry ? param : local, v));
    }
    for (const ptx::Variable& v : function->variables) {
      const bool in_frame = v.space == ptx::Mod::Local || v.space == ptx::Mod::Param;
      code->variable_offsets.push_back(in_frame ? place_in(local, v) : 0);
    }
    code->local_bytes = round_up(local, 16);
    if (function == entry.function) {
      for (std::size_t i = 0; i < function->parameters.size(); ++i) {
        image.kernel.parameters.push_back(
            {code->parameter_offsets[i],
             static_cast<std::uint32_t>(function->parameters[i].byte_size())}
        );
      }
      image.kernel.parameter_bytes = param;
    }
  }
  KernelResolver resolver(
      image,
      [this](const ptx::Module& m, std::string_view name) { return find_function(m, name); },
      [this](const ptx::Module& m, std::string_view name) { return find_variable(m, name); },
      [this](const ptx::Function* f) { return address_of(f); }
  );
  for (auto& [function, code] : image.codes) {
    if (launched(function)) {
      continue;
    }
    Lowering lowering(*code, resolver);
    TRY_VOID(lowering.run());
  }
  image.kernel.code = image.codes.at(entry.function).get();
  for (const auto& [function, code] : image.codes) {
    image.kernel.functions[address_of(function)] = code.get();
  }
  return {};
}

// --- Program

Program::Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;

Result<std::shared_ptr<Program>> Program::link(
    std::vector<std::shared_ptr<const ptx::Module>> modules,
    memory::AddressSpace& space,
    int device,
    const Program* managed_owner
) {
  auto impl = std::make_shared<Impl>(space, device);
  impl->modules = std::move(modules);
  if (managed_owner != nullptr) {
    impl->managed_owner = managed_owner->impl_;
  }
  TRY_VOID(impl->link());
  return std::shared_ptr<Program>(new Program(std::move(impl)));
}

std::optional<Program::VariablePlace> Program::variable(std::string_view name) const {
  const LinkedVariable* found = nullptr;
  if (const auto it = impl_->variables.find(name); it != impl_->variables.end()) {
    found = &it->second;
  } else {
    for (const auto& module : impl_->modules) {
      if (const auto local = impl_->local_variables.find({module.get(), std::string(name)});
          local != impl_->local_variables.end()) {
        found = &local->second;
        break;
      }
    }
  }
  if (found == nullptr || found->address == 0) {
    return std::nullopt;
  }
  const auto& attributes = found->variable->attributes;
  return VariablePlace{
      found->address,
      found->bytes,
      std::ranges::find(attributes, "managed") != attributes.end(),
      found->variable->space == ptx::Mod::Const
  };
}

const ptx::Function* Program::find_kernel(std::string_view name) const {
  const auto it = impl_->functions.find(name);
  return it != impl_->functions.end() && it->second.function->entry && it->second.function->defined
             ? it->second.function
             : nullptr;
}

UsualPlace usual_place(const Code& code, std::uint64_t offset, unsigned bytes) {
  return usual_layouts().find(&code, offset, bytes);
}

std::uint64_t Program::content() const {
  const auto name_of = [](std::uint64_t module, std::string_view name, memory::Address address) {
    Hasher hasher;
    hasher.value(module);
    hasher.text(name);
    hasher.value(address);
    return hasher.finish().low;
  };
  std::uint64_t sum = 0; // so that the order of modules, which are kept by place, does not count
  for (const auto& module : impl_->modules) {
    sum += name_of(module->content, "", 0);
  }
  for (const auto& [name, variable] : impl_->variables) {
    sum += name_of(0, name, variable.address);
  }
  for (const auto& [where, variable] : impl_->local_variables) {
    sum += name_of(where.first->content, where.second, variable.address);
  }
  return sum;
}

const std::vector<std::shared_ptr<const ptx::Module>>& Program::modules() const {
  return impl_->modules;
}

Result<const Kernel*> Program::kernel(std::string_view name) {
  std::lock_guard lock(impl_->mutex);
  const auto known = impl_->kernels.find(name);
  if (known != impl_->kernels.end()) {
    return &known->second->kernel;
  }
  const auto it = impl_->functions.find(name);
  if (it == impl_->functions.end() || !it->second.function->entry ||
      !it->second.function->defined) {
    return input_error(fmt::format("there is no kernel '{}'", name));
  }
  auto image = std::make_unique<KernelImage>();
  image->kernel.name = std::string(name);
  image->kernel.function = it->second.function;
  TRY_VOID(impl_->lower(*image, it->second));
  const Kernel* kernel = &image->kernel;
  impl_->kernels.emplace(std::string(name), std::move(image));
  return kernel;
}

} // namespace heddle::isa
