// asserted.h: which powers of two divide numbers, as assertions say.
//
//   assert(n % 32 == 0);   static_assert(size % 64 == 0);     // of a parameter of the template
//   asserted.even_part(n)                                      // 32
//
// An assertion is believed everywhere, also before it stands: whoever fails it ends the kernel. It
// may miss findings in code before an assertion that fails.
#pragma once

#include "lint/dataflow.h"

#include <map>

namespace heddle::lint {

class Asserted {
public:
  explicit Asserted(const Dataflow& flow);

  /// The largest power of two that is known to divide the canonical value: 1, 2, 4, …
  std::int64_t even_part(ValueId id) const;

private:
  void add(const Dataflow& flow, ValueId condition, bool holds);

  std::map<ValueId, std::int64_t> even_parts_;
};

} // namespace heddle::lint
