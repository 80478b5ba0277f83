// Operators that PyTorch has for CUDA only, or whose CPU kernel would be the wrong one: made of
// others.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <memory>

namespace heddle_torch {

/// The CPU's draws from the default generator, which is not the device's.
inline std::tuple<at::Tensor, at::Tensor>
native_dropout(const at::Tensor& input, double p, std::optional<bool> train) {
  if (!train.value_or(true) || p == 0) {
    return {input.clone(), at::ones_like(input, input.options().dtype(at::kBool))};
  }
  const at::Tensor mask = at::empty_like(input, input.options().dtype(at::kBool)).bernoulli_(1 - p);
  return {input.mul(mask).mul(p == 1 ? 0.0 : 1 / (1 - p)), mask};
}

inline at::Tensor added(const at::Tensor& gates, const std::optional<at::Tensor>& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(
    const at::Tensor& input_gates,
    const at::Tensor& hidden_gates,
    const at::Tensor& cell,
    const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias
) {
  const at::Tensor gates = added(input_gates, input_bias) + added(hidden_gates, hidden_bias);
  const auto parts = gates.chunk(4, 1);
  const at::Tensor in = parts[0].sigmoid();
  const at::Tensor forget = parts[1].sigmoid();
  const at::Tensor value = parts[2].tanh();
  const at::Tensor out = parts[3].sigmoid();
  const at::Tensor next = forget * cell + in * value;
  return {out * next.tanh(), next, at::cat({in, forget, value, out}, 1)};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const std::optional<at::Tensor>& grad_hidden,
    const std::optional<at::Tensor>& grad_cell,
    const at::Tensor& cell,
    const at::Tensor& next,
    const at::Tensor& workspace,
    bool has_bias
) {
  const auto parts = workspace.chunk(4, 1);
  const at::Tensor tanh = next.tanh();
  const at::Tensor gh = grad_hidden && grad_hidden->defined() ? *grad_hidden : at::zeros_like(next);
  at::Tensor gc = gh * parts[3] * (1 - tanh * tanh);
  if (grad_cell && grad_cell->defined()) {
    gc = gc + *grad_cell;
  }
  const auto slope = [](const at::Tensor& s) { return s * (1 - s); };
  const at::Tensor gates = at::cat(
      {gc * parts[2] * slope(parts[0]),
       gc * cell * slope(parts[1]),
       gc * parts[0] * (1 - parts[2] * parts[2]),
       gh * tanh * slope(parts[3])},
      1
  );
  return {gates, gc * parts[1], has_bias ? gates.sum(0) : at::Tensor()};
}

inline void put_own_kernels() {
  static const auto library = std::make_unique<torch::Library>(
      torch::Library::IMPL,
      "aten",
      c10::DispatchKey::CUDA,
      __FILE__,
      __LINE__
  );
  library->impl("native_dropout", &native_dropout);
  library->impl("_thnn_fused_lstm_cell", &lstm_cell);
  library->impl("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
}

} // namespace heddle_torch
