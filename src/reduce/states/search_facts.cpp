#include "reduce/states/search_facts.h"

namespace heddle::reduce {

SearchFacts facts_of(const StepperParts& parts) {
  const Independence& independence = parts.independence;
  const SeenOperations& operations = independence.operations().seen();
  const Cone& cone = parts.dead_data.cone();
  SearchFacts facts{
      .dependency = parts.seen.dependency,
      .choice = parts.seen.choice,
      .plain_access = operations.plain_access,
      .unordered = independence.accesses().sums().saw_unordered() ||
                   (cone.host_got_data() && !parts.options.dead_data.host_decides),
      .retries = independence.order().saw_retries(),
      .host_got_data = cone.host_got_data(),
      .more_orders = parts.machine.warp_choices.left_out(),
      .more_looks = parts.seen.left_out_looks,
      .more_active = parts.seen.left_out_active,
      .late_arrivals = operations.bytes_at_once,
      .reductions_at_once = operations.sums_at_once,
      .vectors_at_once = operations.vectors_at_once,
      .times = independence.operations().clocks().data().left_out(),
  };
  if (parts.weak) {
    facts.same_value = parts.weak->order().saw_same_value();
    facts.more_old_values = parts.weak->order().left_out_messages();
    facts.sc_fences = parts.weak->order().sc_fences();
  }
  return facts;
}

} // namespace heddle::reduce
