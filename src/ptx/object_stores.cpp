// Implements object_stores.h.
#include "ptx/object_stores.h"

#include "ptx/effect.h"
#include "ptx/origins.h"

namespace heddle::ptx {

BitVector stores_into_known_objects(const Function& function) {
  BitVector result(function.body.size());
  if (!function.entry) {
    return result; // where the parameters of a function point is its caller's business
  }
  const Origins origins(function);
  for (std::size_t n = 0; n < function.body.size(); ++n) {
    const Instruction& i = function.body[n];
    const Effect& effect = effect_of(i);
    const bool of_thread = i.has(Mod::Local) || i.has(Mod::Param);
    if (effect.is(Effect::Kind::Store) && !effect.is_strong() && !of_thread &&
        origins.of(i.operands[0]).kind == Origin::Kind::Object) {
      result.set(n);
    }
  }
  return result;
}

} // namespace heddle::ptx
