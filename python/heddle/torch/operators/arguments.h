// The arguments of an operator's call, with its tensors taken out: the same call can be made on the
// meta device (for the results' shapes) and on the CPU (for the results).
#pragma once

#include "placed.h"
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle_torch {

/// What it overwrites without reading it.
inline bool only_writes(const c10::FunctionSchema& schema) {
  static constexpr std::string_view all[] = {
      "aten::copy_",
      "aten::zero_",
      "aten::fill_",
      "aten::normal_",
      "aten::uniform_",
      "aten::random_",
      "aten::exponential_",
      "aten::geometric_",
      "aten::cauchy_",
      "aten::log_normal_",
      "aten::bernoulli_"
  };
  return std::find(std::begin(all), std::end(all), schema.name()) != std::end(all);
}

class Arguments {
public:
  Arguments(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
    const std::size_t n = schema.arguments().size();
    const std::size_t begin = stack.size() - n;
    for (std::size_t i = 0; i < n; ++i) {
      const c10::IValue& value = stack[begin + i];
      const c10::Argument& argument = schema.arguments()[i];
      const auto* alias = argument.alias_info();
      const bool written = alias != nullptr && alias->isWrite();
      const Access access = !written                                   ? Access::Read
                            : argument.is_out() || only_writes(schema) ? Access::Write
                                                                       : Access::ReadWrite;
      const char* name = argument.name().c_str();
      Entry entry;
      if (value.isTensor()) {
        entry.kind = Kind::Tensor;
        entry.tensors = {add(value.toTensor(), name, access)};
        if (argument.is_out() && entry.tensors.front() >= 0) {
          tensors_[static_cast<std::size_t>(entry.tensors.front())].out = true;
        }
      } else if (value.isTensorList()) {
        entry.kind = Kind::List;
        for (const at::Tensor& t : value.toTensorVector()) {
          entry.tensors.push_back(add(t, name, access));
        }
      } else if (value.isOptionalTensorList()) {
        entry.kind = Kind::OptionalList;
        for (const auto& t : value.toOptionalTensorVector()) {
          entry.tensors.push_back(t ? add(*t, name, access) : -1);
        }
      } else if (value.isDevice()) {
        entry.kind = Kind::Device;
        device_ = device_ ? device_ : value.toDevice();
      } else if (value.isGenerator()) {
        entry.kind = Kind::Generator;
        generator_ = value.toGenerator();
      } else {
        entry.value = value;
        if (value.isNone() && is_generator(argument)) {
          entry.kind = Kind::Generator;
        }
      }
      takes_generator_ |= entry.kind == Kind::Generator;
      entries_.push_back(std::move(entry));
    }
  }

  /// The stack for a call on `device`, whose tensors are those.
  torch::jit::Stack stack(
      const std::vector<at::Tensor>& tensors,
      c10::Device device,
      std::optional<at::Generator> generator
  ) const {
    torch::jit::Stack result;
    result.reserve(entries_.size());
    for (const Entry& entry : entries_) {
      switch (entry.kind) {
      case Kind::Plain:
        result.push_back(entry.value);
        break;
      case Kind::Tensor:
        result.emplace_back(at_or_none(tensors, entry.tensors.front()));
        break;
      case Kind::List: {
        c10::List<at::Tensor> list;
        for (const int i : entry.tensors) {
          list.push_back(at_or_none(tensors, i));
        }
        result.emplace_back(std::move(list));
        break;
      }
      case Kind::OptionalList: {
        c10::List<std::optional<at::Tensor>> list;
        for (const int i : entry.tensors) {
          list.push_back(i < 0 ? std::nullopt : std::optional(tensors[i]));
        }
        result.emplace_back(std::move(list));
        break;
      }
      case Kind::Device:
        result.emplace_back(device);
        break;
      case Kind::Generator:
        result.emplace_back(generator ? c10::IValue(*generator) : c10::IValue());
        break;
      }
    }
    return result;
  }

  std::vector<at::Tensor> metas() const {
    std::vector<at::Tensor> result;
    for (const Known& known : tensors_) {
      const bool number = !known.placed && known.kept.dim() == 0; // stays on the CPU, as with CUDA
      result.push_back(
          known.placed ? known.placed->meta()
          : number     ? known.kept
                       : Placed(known.kept).meta()
      );
    }
    return result;
  }
  /// Names all that shapes of results depend on; nullopt: something that has no short name.
  std::optional<std::string> shape_key(const std::string& name) const {
    std::string key = name;
    const auto add = [&key](auto value) {
      key.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    for (const Entry& entry : entries_) {
      add(entry.kind);
      add(entry.tensors.size());
      for (const int tensor : entry.tensors) {
        add(tensor);
      }
      const c10::IValue& value = entry.value;
      if (value.isInt()) {
        add('i'), add(value.toInt());
      } else if (value.isDouble()) {
        add('d'), add(value.toDouble());
      } else if (value.isBool()) {
        add('b'), add(value.toBool());
      } else if (value.isIntList()) {
        add('l'), add(value.toIntVector().size());
        for (const std::int64_t i : value.toIntVector()) {
          add(i);
        }
      } else if (value.isNone()) {
        add('n');
      } else {
        return std::nullopt;
      }
    }
    for (const Known& known : tensors_) {
      if (known.placed) {
        known.placed->name(key);
      } else {
        Placed(known.kept).name(key);
      }
      add(known.placed ? 'p' : 'k');
    }
    return key;
  }
  bool has_out() const {
    return std::any_of(tensors_.begin(), tensors_.end(), [](const Known& k) { return k.out; });
  }
  /// On the CPU, on the bytes that `at` says for `memory`.
  std::vector<at::Tensor> on_host(std::byte* const* at) const {
    std::vector<at::Tensor> result;
    for (const Known& known : tensors_) {
      result.push_back(known.placed ? known.placed->on_host(at[known.memory]) : known.kept);
    }
    return result;
  }

  /// The program's tensors, in the order of metas(); only until let_go().
  const std::vector<at::Tensor>& originals() const { return originals_; }
  std::vector<at::Tensor> let_go() { return std::exchange(originals_, {}); }
  /// After some of them have moved.
  void place_again() {
    std::vector<Memory> moved;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      Known& known = tensors_[i];
      if (known.placed) {
        const Memory before = memory_[known.memory];
        known.placed.emplace(originals_[i]);
        known.memory = moved.size();
        known.placed->add_memory(before.name, before.access, moved);
        known.memory_end = moved.size();
      }
    }
    memory_ = std::move(moved);
  }

  /// Is the tensor given for a result (`out=`)?
  bool is_out(std::size_t i) const { return tensors_[i].out; }

  const std::vector<Memory>& memory() const { return memory_; }
  std::optional<c10::Device> device() const { return device_; }
  std::optional<at::Generator> generator() const { return generator_; }
  bool takes_generator() const { return takes_generator_; }

private:
  enum class Kind {
    Plain,
    Tensor,
    List,
    OptionalList,
    Device,
    Generator
  };
  struct Entry {
    Kind kind = Kind::Plain;
    c10::IValue value;        // Plain
    std::vector<int> tensors; // indices into tensors_; -1: none
  };
  struct Known {
    std::optional<Placed> placed;           // on the device
    std::size_t memory = 0, memory_end = 0; // of memory_
    bool out = false;                       // given for a result
    at::Tensor kept; // of the CPU; a copy, since the program may change it meanwhile
  };

  static bool is_generator(const c10::Argument& argument) {
    const auto* optional = argument.type()->castRaw<c10::OptionalType>();
    return optional != nullptr &&
           optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
  }

  static at::Tensor at_or_none(const std::vector<at::Tensor>& tensors, int i) {
    return i < 0 ? at::Tensor() : tensors[i];
  }

  int add(const at::Tensor& t, const char* name, Access access) {
    if (!t.defined()) {
      return -1;
    }
    for (std::size_t i = 0; i < originals_.size(); ++i) {
      if (originals_[i].is_same(t)) {
        for (std::size_t m = tensors_[i].memory; m < tensors_[i].memory_end; ++m) {
          memory_[m].access = memory_[m].access == access ? access : Access::ReadWrite;
        }
        return static_cast<int>(i);
      }
    }
    Known known;
    if (t.is_cuda()) {
      device_ = t.device();
      known.placed.emplace(t);
      known.memory = memory_.size();
      known.placed->add_memory(name, access, memory_);
      known.memory_end = memory_.size();
    } else {
      known.kept = t.is_meta() ? t : t.clone();
      if (t.unsafeGetTensorImpl()->is_wrapped_number()) {
        known.kept.unsafeGetTensorImpl()->set_wrapped_number(true);
      }
    }
    originals_.push_back(t);
    tensors_.push_back(std::move(known));
    return static_cast<int>(tensors_.size()) - 1;
  }

  std::vector<Entry> entries_;
  std::vector<Known> tensors_;
  std::vector<at::Tensor> originals_;
  std::vector<Memory> memory_;
  std::optional<c10::Device> device_;
  std::optional<at::Generator> generator_;
  bool takes_generator_ = false;
};

} // namespace heddle_torch
