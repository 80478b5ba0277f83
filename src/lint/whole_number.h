// whole_number.h: floating-point expressions whose value is a whole number.
//
//   i < ceil(n / 128.0f) * 128        // is_whole(ceil(…)): the product is a multiple of 128
//
// May answer no where the value is one; never the other way round, but for rounding beyond 2^24.
#pragma once

#include <clang/AST/Expr.h>

namespace heddle::lint {

bool is_whole(const clang::Expr* expression);

} // namespace heddle::lint
