// Implements context.h.
#include "runtime/driver/context.h"

namespace heddle::runtime {

Contexts::Contexts(int devices) {
  for (int i = 0; i < devices; ++i) {
    create(i, 0).primary = true;
  }
}

Context& Contexts::create(int device, unsigned flags) {
  const std::lock_guard lock(mutex_);
  auto context = std::make_unique<Context>();
  context->id = all_.size() + 1;
  context->device = device;
  context->flags = flags;
  all_.push_back(std::move(context));
  return *all_.back();
}

Context* Contexts::find(const void* handle) const {
  const std::lock_guard lock(mutex_);
  for (const auto& context : all_) {
    if (context.get() == handle) {
      return context->alive ? context.get() : nullptr;
    }
  }
  return nullptr;
}

Context* Contexts::current(ThreadState& thread) {
  if (!thread.contexts.empty()) {
    return thread.contexts.back();
  }
  return thread.uses_primary ? &primary(thread.device) : nullptr;
}

void Contexts::push(ThreadState& thread, Context& context) {
  if (Context* below = current(thread); below != nullptr && thread.contexts.empty()) {
    thread.contexts.push_back(below);
  }
  thread.contexts.push_back(&context);
  thread.device = context.device;
}

Context* Contexts::pop(ThreadState& thread) {
  Context* top = current(thread);
  thread.uses_primary = false;
  if (!thread.contexts.empty()) {
    thread.contexts.pop_back();
  }
  if (!thread.contexts.empty()) {
    thread.device = thread.contexts.back()->device;
  }
  return top;
}

void Contexts::set_current(ThreadState& thread, Context* context) {
  pop(thread);
  if (context != nullptr) {
    thread.contexts.push_back(context);
    thread.device = context->device;
  }
}

} // namespace heddle::runtime
