// f16, bf16 and their packed forms: comparisons and arithmetic (PTX ISA 9.0, 9.7.4 and 9.7.5).
#include "isa/lower_arithmetic.h"
#include "isa/ops_half.h"

namespace heddle::isa {

Result<void> lower_half(Form& form) {
  return form.unsupported_form();
}

Relations half_relations(ptx::Type, bool) {
  return {};
}

} // namespace heddle::isa
