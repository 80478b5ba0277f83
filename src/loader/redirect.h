// Redirects the functions of a runtime library that is linked into a program or library.
#pragma once

#include <cstdint>

namespace heddle::loader {

/// `path`: the file that was mapped at `base` (the difference of its addresses to those in the
/// file). `bind`: where heddle_bind_first stands once it is known; nothing is called before that.
/// Does nothing for a file without a symbol table or without a runtime library of NVIDIA's.
void redirect_static_runtime(const char* path, std::uintptr_t base, void* const* bind);

} // namespace heddle::loader
