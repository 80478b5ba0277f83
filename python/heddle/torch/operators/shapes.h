// What an operator's results look like, from a call on the meta device, which is kept: many
// operators have their shape functions in Python, which take longer than most operators.
#pragma once

#include "arguments.h"

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle_torch {

/// One tensor of the results.
struct Shape {
  bool defined = true;
  int argument = -1; // it is this tensor of the arguments
  std::vector<std::int64_t> sizes, strides;
  at::ScalarType type = at::kFloat;
};

struct ResultShape {
  bool list = false;
  std::vector<Shape> tensors;
};

using ResultShapes = std::vector<ResultShape>;

class Shapes {
public:
  /// nullptr: known only when it is computed; then `why` says more, if there is more. `metas` are
  /// the arguments afterwards: `out=` may have another shape.
  static std::shared_ptr<const ResultShapes> find(
      const c10::OperatorHandle& op,
      const std::string& name,
      const Arguments& arguments,
      std::vector<at::Tensor>& metas,
      std::string& why
  ) {
    for (const c10::Argument& result : op.schema().returns()) {
      const auto kind = result.type()->kind();
      if (kind != c10::TypeKind::TensorType && kind != c10::TypeKind::ListType) {
        return nullptr;
      }
    }
    static Shapes all;
    const std::optional<std::string> key = arguments.shape_key(name);
    {
      const std::lock_guard lock(all.mutex_);
      if (all.unknown_.count(name) != 0) {
        return nullptr;
      }
      if (const auto found = key ? all.known_.find(*key) : all.known_.end();
          found != all.known_.end()) {
        return found->second;
      }
    }
    metas = arguments.metas();
    torch::jit::Stack results = arguments.stack(metas, at::kMeta, std::nullopt);
    try {
      op.callBoxed(&results);
    } catch (const c10::NotImplementedError&) {
      const std::lock_guard lock(all.mutex_);
      all.unknown_.insert(name);
      return nullptr;
    } catch (const std::exception& error) { // the CPU's kernel will say it, or not mind
      why = error.what();
      return nullptr;
    }
    ResultShapes shapes;
    for (const c10::IValue& result : results) {
      ResultShape shape;
      if (result.isTensor()) {
        shape.tensors.push_back(shape_of(result.toTensor(), metas));
      } else if (result.isTensorList()) {
        shape.list = true;
        for (const at::Tensor& t : result.toTensorVector()) {
          shape.tensors.push_back(shape_of(t, metas));
        }
      } else {
        return nullptr;
      }
      shapes.push_back(std::move(shape));
    }
    auto found = std::make_shared<const ResultShapes>(std::move(shapes));
    if (key && !arguments.has_out()) {
      const std::lock_guard lock(all.mutex_);
      constexpr std::size_t most = 100'000;
      if (all.known_.size() < most) {
        all.known_.emplace(*key, found);
      }
    }
    return found;
  }

private:
  static Shape shape_of(const at::Tensor& meta, const std::vector<at::Tensor>& metas) {
    Shape shape;
    shape.defined = meta.defined();
    for (std::size_t i = 0; shape.defined && i < metas.size(); ++i) {
      if (metas[i].is_same(meta)) {
        shape.argument = static_cast<int>(i);
        return shape;
      }
    }
    if (shape.defined) {
      shape.sizes = meta.sizes().vec();
      shape.strides = meta.strides().vec();
      shape.type = meta.scalar_type();
    }
    return shape;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const ResultShapes>> known_;
  std::set<std::string> unknown_; // operators that have no kernel for the meta device
};

} // namespace heddle_torch
