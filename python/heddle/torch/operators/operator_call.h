// One call of an operator on CUDA tensors. The CPU's kernel of the same PyTorch computes it, on the
// bytes of the device's memory, as a command of the current stream.
//
//   run_on_cpu(op, stack)   what stands in for the operator's CUDA kernel
//
// The shapes of the results are those that the operator has on the meta device; the call returns
// before anything is computed. Where the meta device does not know (the shape depends on data, or
// the result is a number) the call waits for the stream, as CUDA's kernels do then.
//
// May be wrong: an operator that reads or writes only some elements of a tensor, chosen by data
// (index, scatter), counts as one that accesses all of it (false reports of races where programs
// rely on disjoint indices).
#pragma once

#include "arguments.h"
#include "shapes.h"
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>

namespace heddle_torch {

inline std::string full_name(const c10::OperatorHandle& op) {
  const auto& name = op.operator_name();
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

/// What a random operator draws from: the state of the device's generator, which moves on.
inline std::uint64_t draw(const std::optional<at::Generator>& given, c10::Device device) {
  at::Generator generator = given ? *given : at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  const std::uint64_t seed = generator.current_seed();
  if (generator.device().type() == at::kCPU) {
    return seed;
  }
  const std::uint64_t offset = generator.get_offset();
  generator.set_offset(offset + 4); // a multiple of 4, as Philox wants
  std::uint64_t mixed = seed + 0x9e3779b97f4a7c15 * (offset + 1);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  return mixed ^ (mixed >> 27);
}

class OperatorCall : public std::enable_shared_from_this<OperatorCall> {
public:
  OperatorCall(const c10::OperatorHandle& op, const torch::jit::Stack& stack)
      : op_(op),
        name_(full_name(op)),
        arguments_(op.schema(), stack) {
    device_ = arguments_.device().value_or(c10::Device(at::kCUDA));
    const c10::impl::VirtualGuardImpl guard(at::kCUDA);
    if (!device_.has_index()) {
      device_ = guard.getDevice();
    }
    stream_ = guard.getStream(device_).native_handle();
    if (op.hasTag(at::Tag::nondeterministic_seeded) || arguments_.takes_generator()) {
      seed_ = draw(arguments_.generator(), device_);
    }
  }

  c10::Device device() const { return device_; }

  /// The call's results, if its shapes can be told before it is made.
  std::optional<torch::jit::Stack> begin() {
    std::vector<at::Tensor> metas; // empty: shapes are known from an earlier call
    const auto shapes = Shapes::find(op_, name_, arguments_, metas, unknown_because_);
    if (!shapes) {
      return std::nullopt;
    }
    resize_changed(metas);
    std::vector<Memory> memory = arguments_.memory();
    torch::jit::Stack results;
    for (const ResultShape& result : *shapes) {
      if (!result.list) {
        results.emplace_back(real(result.tensors.front(), memory));
        continue;
      }
      c10::List<at::Tensor> list;
      for (const Shape& shape : result.tensors) {
        list.push_back(real(shape, memory));
      }
      results.emplace_back(std::move(list));
    }
    const auto originals = arguments_.let_go(); // freed here, not by a thread of the engine
    submit(memory, &OperatorCall::compute);
    return results;
  }

  /// The call's results, when the stream has come to it.
  torch::jit::Stack wait() {
    int capturing = 0;
    cudart().capturing(stream_, &capturing);
    TORCH_CHECK(
        capturing == 0,
        name_,
        ": its results are known only when it has been computed, which a graph that is "
        "being captured does not do: ",
        unknown_because_
    );
    const std::vector<at::Tensor> originals = arguments_.let_go();
    submit(arguments_.memory(), &OperatorCall::compute_and_keep);
    cudart().synchronize(stream_);
    if (missing_) { // said here, where the call is
      cudart().unsupported(name_.c_str());
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    TORCH_CHECK(computed_, name_, " has not been computed: see what Heddle reported before");
    torch::jit::Stack results;
    std::vector<Memory> memory;
    for (const c10::IValue& result : kept_) {
      if (result.isTensor()) {
        results.emplace_back(uploaded(result.toTensor(), originals, memory));
      } else if (result.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& t : result.toTensorVector()) {
          list.push_back(uploaded(t, originals, memory));
        }
        results.emplace_back(std::move(list));
      } else {
        results.push_back(result);
      }
    }
    if (!memory.empty()) {
      submit(memory, &OperatorCall::write_kept);
    }
    return results;
  }

private:
  struct Output {
    Placed placed;
    std::size_t memory;
  };

  using Compute = void (OperatorCall::*)(std::byte* const*);
  /// What the command needs beside the call.
  struct Submitted {
    std::shared_ptr<OperatorCall> call;
    Compute compute;
    std::vector<std::size_t> order;
  };

  /// A monitor for uninitialised memory takes a write that follows reads for a copy of what was
  /// read. That is so of an operator that works element by element. Of others, what is written
  /// counts as initialised, so the writes stand first.
  void submit(std::vector<Memory> memory, Compute compute) {
    const bool by_element = op_.hasTag(at::Tag::pointwise);
    std::vector<std::size_t> order(memory.size());
    std::iota(order.begin(), order.end(), 0);
    if (!by_element) {
      std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
        return memory[i].access != Access::Read;
      });
    }
    std::vector<Memory> ordered;
    for (const std::size_t i : order) {
      ordered.push_back(memory[i]);
      if (!by_element && memory[i].access == Access::ReadWrite) {
        ordered.back().access = Access::Write;
      }
    }
    const int error = cudart().work(
        stream_,
        name_.c_str(),
        ordered.data(),
        ordered.size(),
        [](void* data, std::byte* const* at) {
          const auto& work = *static_cast<Submitted*>(data);
          std::vector<std::byte*> places(work.order.size());
          for (std::size_t i = 0; i < places.size(); ++i) {
            places[work.order[i]] = at[i];
          }
          ((*work.call).*work.compute)(places.data());
        },
        new Submitted{shared_from_this(), compute, order},
        [](void* data) { delete static_cast<Submitted*>(data); }
    );
    TORCH_CHECK(
        error == 0,
        "CUDA error ",
        error,
        " in ",
        name_,
        ": see what Heddle reported before"
    );
  }

  /// `out=` takes the results' shape.
  void resize_changed(const std::vector<at::Tensor>& metas) {
    bool any = false;
    for (std::size_t i = 0; i < metas.size(); ++i) {
      at::Tensor t = arguments_.originals()[i];
      if (t.is_cuda() && metas[i].sizes() != t.sizes()) {
        t.resize_(metas[i].sizes());
        t.as_strided_(metas[i].sizes(), metas[i].strides());
        any = true;
      }
    }
    if (any) {
      arguments_.place_again();
    }
  }

  at::Tensor real(const Shape& shape, std::vector<Memory>& memory) {
    if (!shape.defined || shape.argument >= 0) {
      written_.push_back(std::nullopt);
      return shape.defined ? arguments_.originals()[static_cast<std::size_t>(shape.argument)]
                           : at::Tensor();
    }
    const auto options = at::TensorOptions().dtype(shape.type).device(device_);
    at::Tensor made = at::empty_strided(shape.sizes, shape.strides, options);
    written_.push_back(Output{Placed(made), memory.size()});
    written_.back()->placed.add_memory("the result", Access::Write, memory);
    return made;
  }

  at::Tensor uploaded(
      const at::Tensor& t,
      const std::vector<at::Tensor>& originals,
      std::vector<Memory>& memory
  ) {
    if (!t.defined()) {
      written_.push_back(std::nullopt);
      return t;
    }
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      if (hosts_[i].is_same(t)) {
        at::Tensor known = originals[i];
        if (!arguments_.is_out(i)) {
          written_.push_back(std::nullopt);
          return known;
        }
        if (known.sizes() != t.sizes()) {
          known.resize_(t.sizes());
          known.as_strided_(t.sizes(), t.strides());
        }
        written_.push_back(Output{Placed(known), memory.size()});
        written_.back()->placed.add_memory("the result", Access::Write, memory);
        return known;
      }
    }
    at::Tensor made = at::empty_strided(t.sizes(), t.strides(), t.options().device(device_));
    written_.push_back(Output{Placed(made), memory.size()});
    written_.back()->placed.add_memory("the result", Access::Write, memory);
    return made;
  }

  /// `waits`: nobody knows how large results will be, so those that are given get memory of the
  /// host's.
  torch::jit::Stack
  call_on_cpu(std::byte* const* at, std::vector<at::Tensor>& hosts, bool waits) const {
    const at::AutoDispatchBelowADInplaceOrView below;
    hosts = arguments_.on_host(at);
    for (std::size_t i = 0; waits && i < hosts.size(); ++i) {
      if (arguments_.is_out(i)) {
        hosts[i] = at::empty({0}, hosts[i].options());
      }
    }
    std::optional<at::Generator> generator;
    if (arguments_.takes_generator()) {
      generator = at::detail::createCPUGenerator(seed_);
    }
    torch::jit::Stack stack = arguments_.stack(hosts, at::kCPU, generator);
    op_.callBoxed(&stack);
    return stack;
  }

  template <class Use> static void each_tensor(const torch::jit::Stack& stack, Use use) {
    for (const c10::IValue& value : stack) {
      if (value.isTensor()) {
        use(value.toTensor());
      } else if (value.isTensorList()) {
        for (const at::Tensor& t : value.toTensorVector()) {
          use(t);
        }
      }
    }
  }

  void write(const torch::jit::Stack& results, std::byte* const* at) const {
    const at::AutoDispatchBelowADInplaceOrView below;
    std::size_t n = 0;
    each_tensor(results, [&](const at::Tensor& result) {
      const std::optional<Output>& output = written_.at(n++);
      if (output && result.defined() && !output->placed.is_empty()) {
        output->placed.fill(at[output->memory], result);
      }
    });
  }

  void compute(std::byte* const* at) {
    try {
      std::vector<at::Tensor> hosts;
      write(call_on_cpu(at, hosts, /*waits=*/false), at);
    } catch (const c10::NotImplementedError&) {
      cudart().unsupported(name_.c_str());
    } catch (const c10::Error& error) {
      cudart().failed(name_.c_str(), error.what_without_backtrace());
    } catch (const std::exception& error) {
      cudart().failed(name_.c_str(), error.what());
    }
  }

  void compute_and_keep(std::byte* const* at) {
    try {
      kept_ = call_on_cpu(at, hosts_, /*waits=*/true);
      computed_ = true;
    } catch (const c10::NotImplementedError&) {
      missing_ = true;
      failure_ = std::current_exception();
    } catch (const std::exception&) {
      failure_ = std::current_exception();
    }
  }

  void write_kept(std::byte* const* at) { write(kept_, at); }

  c10::OperatorHandle op_;
  std::string name_;
  Arguments arguments_;
  c10::Device device_{at::kCUDA};
  void* stream_ = nullptr;
  std::uint64_t seed_ = 0;
  std::vector<std::optional<Output>> written_; // for each tensor of the results
  // wait()
  std::vector<at::Tensor> hosts_;
  torch::jit::Stack kept_;
  bool computed_ = false, missing_ = false;
  std::string unknown_because_;
  std::exception_ptr failure_;
};

inline void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView below;
  const auto call = std::make_shared<OperatorCall>(op, *stack);
  const c10::OptionalDeviceGuard guard(call->device());
  auto results = call->begin();
  if (!results) {
    results = call->wait();
  }
  torch::jit::drop(*stack, op.schema().arguments().size());
  for (c10::IValue& result : *results) {
    stack->push_back(std::move(result));
  }
}

} // namespace heddle_torch
