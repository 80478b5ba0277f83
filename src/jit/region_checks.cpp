// One check for several accesses: those of ops that follow each other, by one register and constant
// distances from it. It asks whether the bytes of all of them lie in the range of the first one (or
// in shared memory); where they do, none of them asks again. Where they do not, each does, as if
// there were no such check: so what is wrong is found by the access that is wrong.
//
// Only for regular addresses. Between the first and the last one the register keeps its value, and
// nobody comes in.
#include "jit/region_builder_impl.h"

#include <algorithm>
#include <tuple>

namespace heddle::jit {

namespace {

/// An access by a register and a distance.
struct Form {
  isa::Space space{};
  unsigned argument = 0;
  std::int64_t offset = 0;
  std::uint32_t bytes = 0;
  bool store = false;
};

std::optional<Form> form_of(const llvm::Function& f) {
  const llvm::Instruction* reach = nullptr;
  for (const llvm::Instruction& i : f.getEntryBlock()) {
    if (is_reach(i)) {
      if (reach != nullptr) {
        return std::nullopt;
      }
      reach = &i;
    }
  }
  if (reach == nullptr || is_update(*reach) || is_alone(*reach)) {
    return std::nullopt;
  }
  Form form{space_of(*reach), 0, 0, bytes_of(*reach), is_store(*reach)};
  const llvm::Value* address = reach->getOperand(0);
  if (form.space == isa::Space::Shared) {
    const auto* wide = llvm::dyn_cast<llvm::ZExtInst>(address);
    address = wide != nullptr ? wide->getOperand(0) : nullptr;
  } else if (form.space != isa::Space::Generic) {
    return std::nullopt;
  }
  if (const auto* sum = llvm::dyn_cast_or_null<llvm::BinaryOperator>(address);
      sum != nullptr && sum->getOpcode() == llvm::Instruction::Add) {
    const auto* distance = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1));
    if (distance == nullptr) {
      return std::nullopt;
    }
    form.offset = distance->getSExtValue();
    address = sum->getOperand(0);
  }
  const auto* argument = llvm::dyn_cast_or_null<llvm::Argument>(address);
  const unsigned bits = form.space == isa::Space::Shared ? 32 : 64;
  if (argument == nullptr || !argument->getType()->isIntegerTy(bits)) {
    return std::nullopt;
  }
  form.argument = argument->getArgNo();
  return form;
}

} // namespace

void RegionBuilder::find_checks(const std::vector<std::uint32_t>& entries) {
  constexpr std::int64_t most = 1 << 20;
  const auto count = static_cast<std::uint32_t>(code_.ops.size());
  check_of_.assign(count, nullptr);
  offset_in_check_.assign(count, 0);
  std::vector<bool> come_in(count);
  for (std::uint32_t k = 0; k < count; ++k) {
    if (ops_[k].kind == Kind::Branch) {
      come_in[ops_[k].target] = true;
    }
    come_in[k] =
        come_in[k] || uniformity_->waiting().is_place(k) || std::ranges::binary_search(entries, k);
  }
  std::vector<CommonCheck*> open;
  for (std::uint32_t k = 0; k < count; ++k) {
    // What is called may free memory.
    const Kind kind = ops_[k].kind;
    if (come_in[k] || kind == Kind::Leave || kind == Kind::Branch || kind == Kind::Return ||
        is_call(code_, code_.ops[k])) {
      open.clear();
    }
    const bool reaches = ops_[k].kind == Kind::Lanes && ops_[k].lane->reaches && !ops_[k].stack;
    const std::optional<Form> form =
        reaches ? form_of(*ops_[k].lane->function) : std::optional<Form>();
    if (form && form->argument < ops_[k].operands.inputs.size()) {
      const std::uint32_t index =
          registers_.frame_register(ops_[k].operands.inputs[form->argument]);
      const bool fits = index != registers_.count() && uniformity_->constant(index) == nullptr &&
                        shape(index).is_regular() && shape(index).stride % form->bytes == 0 &&
                        form->offset % form->bytes == 0 && form->offset > -most &&
                        form->offset < most;
      if (fits) {
        const auto it = std::ranges::find_if(open, [&](const CommonCheck* c) {
          return c->base == index && c->space == form->space;
        });
        CommonCheck* check = it != open.end() ? *it : nullptr;
        if (check == nullptr) {
          check = &checks_.emplace_back();
          check->space = form->space;
          check->base = index;
          check->first = k;
          check->begin = form->offset;
          check->end = form->offset;
          open.push_back(check);
        }
        check->begin = std::min(check->begin, form->offset);
        check->end = std::max(check->end, form->offset + form->bytes);
        check->align = std::max(check->align, form->bytes);
        check->store = check->store || form->store;
        check_of_[k] = check;
        offset_in_check_[k] = form->offset;
        ++check->accesses;
      }
    }
    for (const std::uint32_t index : registers_.writes(k)) {
      std::erase_if(open, [&](const CommonCheck* c) { return c->base == index; });
    }
  }
  for (const CommonCheck*& check : check_of_) {
    if (check != nullptr && check->accesses < 2) {
      check = nullptr;
    }
  }
}

/// In front of its first op.
void RegionBuilder::emit_check(std::uint32_t k) {
  if (check_of_[k] == nullptr || check_of_[k]->first != k) {
    return;
  }
  CommonCheck& check = *std::ranges::find(checks_, k, &CommonCheck::first);
  check.begin &= -static_cast<std::int64_t>(check.align);
  Access access(b_, lanes_, active_, nullptr, access_context(k));
  const LaneValue base = read(check.base);
  std::tie(check.good, check.pointer) =
      access.reach_together(base, check.begin, check.end, check.align, check.space, check.store);
}

} // namespace heddle::jit
