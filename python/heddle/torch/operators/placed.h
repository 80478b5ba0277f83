// A tensor on the device as a command needs it: where its bytes are and how they are arranged, but
// no reference. Whether the memory is still there when the command runs is the program's business.
#pragma once

#include "cudart.h"
#include <ATen/core/DimVector.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace heddle_torch {

/// So many stretches a tensor is taken apart into; one that has more counts as one stretch from its
/// first byte to its last one, with what lies between.
constexpr std::int64_t most_stretches = 4096;

class Placed {
public:
  explicit Placed(const at::Tensor& t)
      : data_(t.const_data_ptr()),
        sizes_(t.sizes().begin(), t.sizes().end()),
        strides_(t.strides().begin(), t.strides().end()),
        type_(t.scalar_type()),
        conjugate_(t.is_conj()),
        negative_(t.is_neg()),
        wrapped_(t.unsafeGetTensorImpl()->is_wrapped_number()) {}

  at::Tensor meta() const {
    return dressed(at::empty_strided(sizes_, strides_, options(at::kMeta)));
  }
  /// `bytes`: where the host reaches data().
  at::Tensor on_host(std::byte* bytes) const {
    return dressed(at::from_blob(bytes, sizes_, strides_, options(at::kCPU)));
  }

  /// Copies what was computed to there.
  void fill(std::byte* bytes, const at::Tensor& from) const {
    const bool same = from.scalar_type() == type_ && from.sizes() == at::IntArrayRef(sizes_) &&
                      from.strides() == at::IntArrayRef(strides_) && from.is_conj() == conjugate_ &&
                      from.is_neg() == negative_ && !from._is_zerotensor() &&
                      from.is_non_overlapping_and_dense();
    if (same) { // most of the time, and cheaper than an operator
      std::memcpy(bytes, from.const_data_ptr(), from.nbytes());
    } else {
      on_host(bytes).copy_(from);
    }
  }

  /// Appends what shapes of results depend on.
  void name(std::string& to) const {
    const auto add = [&to](auto value) {
      to.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    add(sizes_.size());
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      add(sizes_[i]);
      add(strides_[i]);
    }
    add(type_);
    add(static_cast<char>(conjugate_ | negative_ << 1 | wrapped_ << 2));
  }
  bool is_empty() const { return std::find(sizes_.begin(), sizes_.end(), 0) != sizes_.end(); }

  /// Appends what of the device's memory it occupies; the first entry begins with its first
  /// element.
  void add_memory(const char* name, Access access, std::vector<Memory>& to) const {
    std::uint64_t width = c10::elementSize(type_);
    std::vector<std::pair<std::int64_t, std::int64_t>> outer; // {stride in bytes, size}
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i] == 0) {
        to.push_back({name, nullptr, 0, 0, 0, access, false});
        return;
      }
      if (sizes_[i] != 1 && strides_[i] != 0) {
        outer.emplace_back(strides_[i] * static_cast<std::int64_t>(width), sizes_[i]);
      }
    }
    std::sort(outer.begin(), outer.end());
    std::size_t inner = 0;
    while (inner < outer.size() && outer[inner].first == static_cast<std::int64_t>(width)) {
      width *= outer[inner++].second;
    }
    outer.erase(outer.begin(), outer.begin() + static_cast<std::ptrdiff_t>(inner));
    std::uint64_t count = 1;
    std::uint64_t pitch = width;
    if (!outer.empty()) {
      pitch = outer.front().first;
      count = outer.front().second;
      outer.erase(outer.begin());
      while (!outer.empty() && outer.front().first == static_cast<std::int64_t>(pitch * count)) {
        count *= outer.front().second;
        outer.erase(outer.begin());
      }
    }
    std::int64_t stretches = 1;
    std::uint64_t last = pitch * (count - 1) + width;
    for (const auto& [stride, size] : outer) {
      stretches *= size;
      last += stride * (size - 1);
    }
    const auto* first = static_cast<const std::byte*>(data_);
    if (stretches > most_stretches) {
      to.push_back({name, first, last, 1, last, access, false});
      return;
    }
    for (std::int64_t n = 0; n < stretches; ++n) {
      std::int64_t rest = n;
      const std::byte* at = first;
      for (const auto& [stride, size] : outer) {
        at += stride * (rest % size);
        rest /= size;
      }
      to.push_back({name, at, width, count, pitch, access, false});
    }
  }

private:
  at::TensorOptions options(at::DeviceType device) const {
    return at::TensorOptions().dtype(type_).device(device);
  }
  at::Tensor dressed(at::Tensor t) const {
    if (conjugate_) {
      t._set_conj(true);
    }
    if (negative_) {
      t._set_neg(true);
    }
    if (wrapped_) {
      t.unsafeGetTensorImpl()->set_wrapped_number(true);
    }
    return t;
  }

  const void* data_;
  at::DimVector sizes_, strides_; // most have few dimensions: no allocation
  at::ScalarType type_;
  bool conjugate_, negative_, wrapped_;
};

} // namespace heddle_torch
