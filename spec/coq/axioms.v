(* What the theorems rest on: each line must print "Closed under the global context". *)
Require Import simt liveness.
Print Assumptions safe_a.
Print Assumptions safe_b.
Print Assumptions safe_b_for_ever.
Print Assumptions safe_c.
Print Assumptions independent_threads_end.
Print Assumptions never_ends.
Print Assumptions never_stuck.
Print Assumptions holder_starves.
