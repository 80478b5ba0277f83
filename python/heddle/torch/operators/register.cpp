// Puts the CPU's kernels in the place of PyTorch's CUDA kernels, which the wheel holds as machine
// code. What only allocates, views or moves bytes stays PyTorch's own: it calls CUDA's API.
#include "operator_call.h"
#include "own_kernels.h"
#include <ATen/ops/copy_native.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace heddle_torch {
namespace {

/// Kernels of the CUDA key that call CUDA's API only.
bool stays(const c10::FunctionSchema& schema) {
  static constexpr std::string_view all[] = {
      "aten::empty",
      "aten::empty_strided",
      "aten::resize_",
      "aten::set_",
      "aten::record_stream",
      "aten::is_pinned",
      "aten::_pin_memory",
      "aten::_local_scalar_dense",
      "aten::is_set_to",
      "aten::as_strided",
      "aten::view",
      "aten::_reshape_alias",
      "aten::unfold",
      "aten::alias",
      "aten::_nested_view_from_buffer",
      "aten::_resize_output_",
      "aten::_cudnn_init_dropout_state"
  };
  if (std::find(std::begin(all), std::end(all), schema.name()) != std::end(all)) {
    return true;
  }
  return std::any_of(schema.returns().begin(), schema.returns().end(), [](const c10::Argument& r) {
    return r.alias_info() != nullptr && !r.alias_info()->isWrite(); // a view
  });
}

void copy(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::size_t n = stack->size();
  const at::Tensor from = (*stack)[n - 2].toTensor();
  at::Tensor to = (*stack)[n - 3].toTensor();
  const bool same_device = to.is_cuda() && to.device() == from.device();
  const bool bytes = to.scalar_type() == from.scalar_type() && to.sizes() == from.sizes() &&
                     to.strides() == from.strides() && to.is_conj() == from.is_conj() &&
                     to.is_neg() == from.is_neg() && to.is_non_overlapping_and_dense();
  if (same_device && !bytes) {
    run_on_cpu(op, stack);
    return;
  }
  const at::AutoDispatchBelowADInplaceOrView below;
  at::native::copy_(to, from, (*stack)[n - 1].toBool());
  torch::jit::drop(*stack, 3);
  stack->emplace_back(std::move(to));
}

/// Is a closed library to be used?
void answer_no(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, op.schema().arguments().size());
  stack->emplace_back(false);
}

/// PyTorch warns of each kernel that is registered in the place of another.
struct Silence : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

void take_over() {
  static std::vector<c10::RegistrationHandleRAII> registrations;
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto put = [&](const c10::OperatorName& name, c10::KernelFunction kernel) {
    registrations.push_back(dispatcher.registerImpl(
        name,
        c10::DispatchKey::CUDA,
        std::move(kernel),
        std::nullopt,
        nullptr,
        "heddle"
    ));
  };
  // Composite operators that choose a closed library by the device.
  static constexpr std::string_view more[] = {"aten::convolution", "aten::convolution_backward"};
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    if (!op || name.name.rfind("aten::", 0) != 0 || stays(op->schema())) {
      continue;
    }
    const bool chosen = name.overload_name.empty() &&
                        std::find(std::begin(more), std::end(more), name.name) != std::end(more);
    if (name.name == "aten::copy_") {
      put(name, c10::KernelFunction::makeFromBoxedFunction<&copy>());
    } else if (name.name.rfind("aten::_use_", 0) == 0) {
      put(name, c10::KernelFunction::makeFromBoxedFunction<&answer_no>());
    } else if (chosen || op->hasKernelForDispatchKey(c10::DispatchKey::CUDA)) {
      put(name, c10::KernelFunction::makeFromBoxedFunction<&run_on_cpu>());
    }
  }
  put_own_kernels();
  at::globalContext().setUserEnabledCuDNN(false);
  // Attention is made of products and softmax.
  at::globalContext().setSDPUseFlash(false);
  at::globalContext().setSDPUseMemEfficient(false);
  at::globalContext().setSDPUseCuDNN(false);
}

[[maybe_unused]] const bool taken_over = (take_over(), true);

} // namespace
} // namespace heddle_torch
