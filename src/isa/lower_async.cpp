// Lowers asynchronous copies (PTX ISA 9.0, 9.7.9.25): not yet.
#include "isa/lower_async.h"

namespace heddle::isa {

void register_async(LowerTable&) {}
Result<void> lower_async_store(Lowering&, const ptx::Instruction&) {
  return unsupported("st.async");
}
Result<void> lower_async_red(Lowering&, const ptx::Instruction&) {
  return unsupported("red.async");
}

} // namespace heddle::isa
