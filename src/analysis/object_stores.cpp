// Implements object_stores.h.
#include "analysis/object_stores.h"

#include "analysis/origins.h"
#include "ptx/effect.h"

namespace heddle::analysis {

BitVector stores_into_known_objects(const ptx::Function& function) {
  BitVector result(function.body.size());
  if (!function.entry) {
    return result; // where the parameters of a function point is its caller's business
  }
  const Origins origins(function);
  for (std::size_t n = 0; n < function.body.size(); ++n) {
    const ptx::Instruction& i = function.body[n];
    const ptx::Effect& effect = effect_of(i);
    const bool of_thread = i.has(ptx::Mod::Local) || i.has(ptx::Mod::Param);
    if (effect.is(ptx::Effect::Kind::Store) && !effect.is_strong() && !of_thread &&
        origins.of(i.operands[0]).kind == Origin::Kind::Object) {
      result.set(n);
    }
  }
  return result;
}

} // namespace heddle::analysis
