(* The lockstep warp of spec/simt.md for a core language, and its safety.

   The machine has no program counter per lane, as the hardware had none: a stack of tokens decides
   who executes what. A thread of its own is defined beside it. The theorem [simulation] says that
   whatever the machine does, each lane has done a prefix of what its thread does alone, and stands
   in the stack where the thread stands. The three safety statements are its corollaries:

     safe_a   a lane executes only instructions that its thread would execute next   [SIMT-SAFE-A]
     safe_b   a lane that has ended is in no token and executes nothing any more     [SIMT-SAFE-B]
     safe_c   what it executes is its thread's instructions, in order, none left out [SIMT-SAFE-C]

   Shared memory is in the language for liveness.v; the safety theorems are about programs without
   atomics, whose threads do not influence each other. Constructors of [step] have the names of the
   rules of spec/simt.md. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.

Definition lane := nat.
Definition pc := nat.
Definition mask := lane -> bool.

Section Machine.

Variable R : Type. (* registers of a lane *)
Variable M : Type. (* memory *)

Inductive instruction :=
| Assign (f : R -> R)
| Branch (taken : R -> bool) (target : pc)
| Call (entry : pc)
| Return
| Barrier
| Exit
| Atomic (f : M -> R -> M * R).

Variable code : pc -> instruction.
Variable join : pc -> option pc. (* where the ways from a branch meet; any choice is safe *)

(* --- One thread alone ------------------------------------------------------------------------- *)

Record thread := Thread {
  t_regs : R;
  t_pc : pc;
  t_calls : list pc; (* where each call under way returns to, innermost first *)
  t_live : bool;
  t_trace : list pc (* what it has executed, latest first *)
}.

Definition thread_step (x : thread) : thread :=
  if t_live x then
    let tr := t_pc x :: t_trace x in
    match code (t_pc x) with
    | Assign f => Thread (f (t_regs x)) (S (t_pc x)) (t_calls x) true tr
    | Branch b y => Thread (t_regs x) (if b (t_regs x) then y else S (t_pc x)) (t_calls x) true tr
    | Call e => Thread (t_regs x) e (S (t_pc x) :: t_calls x) true tr
    | Return =>
        match t_calls x with
        | [] => Thread (t_regs x) (t_pc x) [] false tr
        | r :: calls => Thread (t_regs x) r calls true tr
        end
    | Barrier => Thread (t_regs x) (S (t_pc x)) (t_calls x) true tr
    | Exit => Thread (t_regs x) (t_pc x) (t_calls x) false tr
    | Atomic _ => x
    end
  else x.

Fixpoint steps (n : nat) (x : thread) : thread :=
  match n with
  | 0 => x
  | S n' => thread_step (steps n' x)
  end.

(* --- The warp --------------------------------------------------------------------------------- *)

(* The activation of a token is its list of return addresses: lanes of one token have it in common. *)
Record token := Token {
  members : mask;
  at_pc : pc;
  meets : option pc;
  calls : list pc
}.

Record warp := Warp {
  stack : list token;
  regs : lane -> R;
  trace : lane -> list pc;
  memory : M;
  waits : bool
}.

Definition move (t : token) (p : pc) : token := Token (members t) p (meets t) (calls t).
Definition without (m : mask) (t : token) : token :=
  Token (fun l => members t l && negb (m l)) (at_pc t) (meets t) (calls t).

Definition same_calls (a b : list pc) : bool := if list_eq_dec Nat.eq_dec a b then true else false.

(* The lanes m leave the tokens of one activation; all tokens. *)
Definition strip (m : mask) (a : list pc) (s : list token) : list token :=
  map (fun t => if same_calls (calls t) a then without m t else t) s.
Definition kill (m : mask) (s : list token) : list token := map (without m) s.

Definition update {A} (m : mask) (f : lane -> A) (old : lane -> A) : lane -> A :=
  fun l => if m l then f l else old l.
Definition log (t : token) (tr : lane -> list pc) : lane -> list pc :=
  update (members t) (fun l => at_pc t :: tr l) tr.

Definition side (m : mask) (t : token) (p : pc) (r : option pc) : list token :=
  match r with
  | Some j => if Nat.eqb p j then [] else [Token m p r (calls t)]
  | None => [Token m p r (calls t)]
  end.
Definition same_meeting (a b : option pc) : bool :=
  match a, b with
  | Some x, Some y => Nat.eqb x y
  | None, None => true
  | _, _ => false
  end.
(* Where the sides of a branch meet: at its join, or where the token would have met the one below. *)
Definition meeting (t : token) : option pc :=
  match join (at_pc t) with Some j => Some j | None => meets t end.
Definition waiting (t : token) : list token :=
  if same_meeting (meeting t) (meets t) then []
  else match meeting t with Some j => [move t j] | None => [] end.

(* Lanes that perform an atomic operation one after the other. *)
Fixpoint serially (f : M -> R -> M * R) (order : list lane) (m : M) (r : lane -> R)
  : M * (lane -> R) :=
  match order with
  | [] => (m, r)
  | l :: rest =>
      let (m', x) := f m (r l) in
      serially f rest m' (fun k => if Nat.eqb k l then x else r k)
  end.

Definition executes (w : warp) (t : token) (s : list token) : Prop :=
  stack w = t :: s /\ waits w = false /\ meets t <> Some (at_pc t) /\ exists l, members t l = true.

Inductive step : warp -> warp -> Prop :=
| EXECUTE w t s f :
    executes w t s -> code (at_pc t) = Assign f ->
    step w (Warp (move t (S (at_pc t)) :: s)
      (update (members t) (fun l => f (regs w l)) (regs w)) (log t (trace w)) (memory w) false)
| BRANCH w t s c target (b : bool) :
    executes w t s -> code (at_pc t) = Branch c target ->
    (forall l, members t l = true -> c (regs w l) = b) ->
    step w (Warp (move t (if b then target else S (at_pc t)) :: s)
      (regs w) (log t (trace w)) (memory w) false)
| DIVERGE w t s c target (first : bool) :
    executes w t s -> code (at_pc t) = Branch c target ->
    (exists l, members t l = true /\ c (regs w l) = true) ->
    (exists l, members t l = true /\ c (regs w l) = false) ->
    step w
      (let yes := side (fun l => members t l && c (regs w l)) t target (meeting t) in
       let no := side (fun l => members t l && negb (c (regs w l))) t (S (at_pc t)) (meeting t) in
       Warp ((if first then yes ++ no else no ++ yes) ++ waiting t ++ s)
         (regs w) (log t (trace w)) (memory w) false)
| RECONVERGE w t s :
    stack w = t :: s -> waits w = false -> meets t = Some (at_pc t) ->
    step w (Warp s (regs w) (trace w) (memory w) false)
| CALL w t s entry :
    executes w t s -> code (at_pc t) = Call entry ->
    step w (Warp (Token (members t) entry None (S (at_pc t) :: calls t) ::
                  move t (S (at_pc t)) :: s)
      (regs w) (log t (trace w)) (memory w) false)
| RETURN w t s r rest :
    executes w t s -> code (at_pc t) = Return -> calls t = r :: rest ->
    step w (Warp (strip (members t) (calls t) s) (regs w) (log t (trace w)) (memory w) false)
| EXIT w t s :
    executes w t s ->
    (code (at_pc t) = Exit \/ (code (at_pc t) = Return /\ calls t = [])) ->
    step w (Warp (kill (members t) s) (regs w) (log t (trace w)) (memory w) false)
| ARRIVE w t s :
    executes w t s -> code (at_pc t) = Barrier ->
    step w (Warp (move t (S (at_pc t)) :: s) (regs w) (log t (trace w)) (memory w) true)
| RELEASE w :
    waits w = true ->
    step w (Warp (stack w) (regs w) (trace w) (memory w) false)
| ATOMIC w t s f order :
    executes w t s -> code (at_pc t) = Atomic f ->
    NoDup order -> (forall l, In l order <-> members t l = true) ->
    step w (let (m, r) := serially f order (memory w) (regs w) in
      Warp (move t (S (at_pc t)) :: s) r (log t (trace w)) m false)
| EMPTY w t s : (* tokens without lanes vanish *)
    stack w = t :: s -> (forall l, members t l = false) ->
    step w (Warp s (regs w) (trace w) (memory w) (waits w)).

Inductive reachable (w0 : warp) : warp -> Prop :=
| reach_start : reachable w0 w0
| reach_step w w' : reachable w0 w -> step w w' -> reachable w0 w'.

Definition initial (lanes : mask) (entry : pc) (r : lane -> R) (m : M) : warp :=
  Warp [Token lanes entry None []] r (fun _ => []) m false.
Definition initial_thread (entry : pc) (r : R) : thread := Thread r entry [] true [].

(* --- Where a lane stands ----------------------------------------------------------------------- *)

(* By the topmost token that holds it. *)
Fixpoint place (s : list token) (l : lane) : option (pc * list pc) :=
  match s with
  | [] => None
  | t :: s' => if members t l then Some (at_pc t, calls t) else place s' l
  end.

(* The stack without one activation. *)
Definition drop (a : list pc) (s : list token) : list token :=
  filter (fun t => negb (same_calls (calls t) a)) s.

(* What a token with meeting point r and calls c may rely on, for lane l, in the stack s below it:
   the lane waits at r; behind the call that made the activation; and no deeper activation. *)
Definition rests (r : option pc) (c : list pc) (s : list token) (l : lane) : Prop :=
  (forall j, r = Some j -> place s l = Some (j, c)) /\
  (forall p rest, c = p :: rest -> place (drop c s) l = Some (p, rest)) /\
  (forall u, In u s -> members u l = true -> length (calls u) <= length c).

Fixpoint well_formed (s : list token) : Prop :=
  match s with
  | [] => True
  | t :: s' =>
      well_formed s' /\ forall l, members t l = true -> rests (meets t) (calls t) s' l
  end.

Lemma same_calls_refl a : same_calls a a = true.
Proof. unfold same_calls. destruct (list_eq_dec Nat.eq_dec a a); congruence. Qed.

Lemma same_calls_true a b : same_calls a b = true -> a = b.
Proof. unfold same_calls. destruct (list_eq_dec Nat.eq_dec a b); congruence. Qed.

Lemma same_calls_false a b : a <> b -> same_calls a b = false.
Proof. unfold same_calls. destruct (list_eq_dec Nat.eq_dec a b); congruence. Qed.

Lemma place_drop s l p c a :
  place s l = Some (p, c) -> c <> a -> place (drop a s) l = Some (p, c).
Proof.
  induction s as [|t s IH]; simpl; [discriminate|].
  destruct (members t l) eqn:E.
  - intros H N. injection H as <- <-. rewrite same_calls_false by congruence. simpl. now rewrite E.
  - intros H N. destruct (same_calls (calls t) a); simpl; [auto|]. rewrite E. auto.
Qed.

(* Taking lanes out of tokens. *)

Lemma calls_without m t : calls (without m t) = calls t.
Proof. reflexivity. Qed.

Lemma place_kill_out m s l : m l = false -> place (kill m s) l = place s l.
Proof.
  intros H. induction s as [|t s IH]; simpl; [reflexivity|].
  rewrite H, andb_true_r, IH. reflexivity.
Qed.

Lemma place_kill_in m s l : m l = true -> place (kill m s) l = None.
Proof.
  intros H. induction s as [|t s IH]; simpl; [reflexivity|].
  rewrite H, andb_false_r. exact IH.
Qed.

Lemma drop_kill a m s : drop a (kill m s) = kill m (drop a s).
Proof.
  induction s as [|t s IH]; simpl; [reflexivity|].
  destruct (same_calls (calls t) a); simpl; now rewrite IH.
Qed.

Lemma well_formed_kill m s : well_formed s -> well_formed (kill m s).
Proof.
  induction s as [|t s IH]; simpl; [auto|]. intros [W H]. split; [auto|].
  intros l L. apply andb_prop in L as [L N]. apply negb_true_iff in N.
  destruct (H l L) as (A & B & C). repeat split.
  - intros j E. rewrite place_kill_out by exact N. auto.
  - intros p rest E. rewrite drop_kill, place_kill_out by exact N. auto.
  - intros u I. unfold kill in I. apply in_map_iff in I as (v & <- & I). simpl.
    intros V. apply andb_prop in V as [V _]. eauto.
Qed.

Lemma place_strip_out m a s l : m l = false -> place (strip m a s) l = place s l.
Proof.
  intros H. induction s as [|t s IH]; simpl; [reflexivity|].
  destruct (same_calls (calls t) a); simpl; rewrite ?H, ?andb_true_r, IH; reflexivity.
Qed.

Lemma place_strip_in m a s l : m l = true -> place (strip m a s) l = place (drop a s) l.
Proof.
  intros H. induction s as [|t s IH]; simpl; [reflexivity|].
  destruct (same_calls (calls t) a); simpl.
  - rewrite H, andb_false_r. exact IH.
  - now rewrite IH.
Qed.

Lemma drop_strip b m a s : drop b (strip m a s) = strip m a (drop b s).
Proof.
  induction s as [|t s IH]; simpl; [reflexivity|].
  destruct (same_calls (calls t) a) eqn:A; simpl; destruct (same_calls (calls t) b) eqn:B; simpl;
    rewrite ?A, ?IH; reflexivity.
Qed.

Lemma well_formed_strip m a s :
  well_formed s ->
  (forall l u, m l = true -> In u s -> members u l = true -> length (calls u) <= length a) ->
  well_formed (strip m a s).
Proof.
  induction s as [|t s IH]; simpl; [auto|]. intros [W H] Deep. split.
  - apply IH; [exact W|]. intros l u L I. exact (Deep l u L (or_intror I)).
  - intros l L.
    (* The token as it was: same meeting point, same calls, and it held l. *)
    assert (L0 : members t l = true /\ (m l = true -> calls t <> a)).
    { destruct (same_calls (calls t) a) eqn:E; simpl in L.
      - apply andb_prop in L as [L N]. apply negb_true_iff in N. split; [exact L|congruence].
      - split; [exact L|]. intros _ F. subst a. rewrite same_calls_refl in E. discriminate. }
    destruct L0 as [L0 N].
    assert (S : rests (meets t) (calls t) (strip m a s) l).
    { destruct (H l L0) as (A & B & C). destruct (m l) eqn:ML.
      - specialize (N eq_refl). repeat split.
        + intros j E. rewrite place_strip_in by exact ML. apply place_drop; auto.
        + intros p rest E. rewrite drop_strip, place_strip_in by exact ML.
          apply place_drop; [auto|]. intros F.
          (* The caller would be the activation that is returned from: too deep. *)
          specialize (Deep l t ML (or_introl eq_refl) L0). rewrite E, <- F in Deep.
          simpl in Deep. lia.
        + intros u I V. unfold strip in I. apply in_map_iff in I as (v & <- & I).
          destruct (same_calls (calls v) a); simpl in *; [apply andb_prop in V as [V _]|]; eauto.
      - repeat split.
        + intros j E. rewrite place_strip_out by exact ML. auto.
        + intros p rest E. rewrite drop_strip, place_strip_out by exact ML. auto.
        + intros u I V. unfold strip in I. apply in_map_iff in I as (v & <- & I).
          destruct (same_calls (calls v) a); simpl in *; [apply andb_prop in V as [V _]|]; eauto. }
    destruct (same_calls (calls t) a); exact S.
Qed.

(* Pushing the sides of a branch. *)

Lemma place_side_out m t p r b l : m l = false -> place (side m t p r ++ b) l = place b l.
Proof.
  intros H. unfold side. destruct r as [j|]; [destruct (Nat.eqb p j)|]; simpl; now rewrite ?H.
Qed.

Lemma place_side_in m t p r b l :
  m l = true -> rests r (calls t) b l -> place (side m t p r ++ b) l = Some (p, calls t).
Proof.
  intros H (A & _). unfold side. destruct r as [j|]; simpl; [|now rewrite H].
  destruct (Nat.eqb_spec p j) as [->|]; simpl; [auto|now rewrite H].
Qed.

Lemma rests_side m t p r b l :
  m l = false -> rests r (calls t) b l -> rests r (calls t) (side m t p r ++ b) l.
Proof.
  intros H (A & B & C). repeat split.
  - intros j E. rewrite place_side_out by exact H. auto.
  - intros q rest E. rewrite <- (B q rest E). unfold side.
    destruct r as [j|]; [destruct (Nat.eqb p j)|]; simpl; rewrite ?same_calls_refl; reflexivity.
  - intros u I V. apply in_app_or in I as [I|I]; [|eauto].
    unfold side in I. destruct r as [j|]; [destruct (Nat.eqb p j)|]; simpl in I;
      repeat (destruct I as [<-|I]; [simpl; lia|]); contradiction.
Qed.

Lemma well_formed_side m t p r b :
  well_formed b -> (forall l, m l = true -> rests r (calls t) b l) ->
  well_formed (side m t p r ++ b).
Proof.
  intros W H. unfold side. destruct r as [j|]; [destruct (Nat.eqb p j)|]; simpl; auto.
Qed.

(* What is below the sides: the token that waits at the meeting point, or nothing if the one below
   does. *)
Lemma below_sides t s :
  well_formed (t :: s) ->
  well_formed (waiting t ++ s) /\
  (forall l, members t l = true -> rests (meeting t) (calls t) (waiting t ++ s) l) /\
  (forall l, members t l = false -> place (waiting t ++ s) l = place s l).
Proof.
  intros [W H]. unfold waiting.
  destruct (same_meeting (meeting t) (meets t)) eqn:E.
  - assert (meeting t = meets t) as ->.
    { destruct (meeting t), (meets t); simpl in E; try discriminate; [|reflexivity].
      apply Nat.eqb_eq in E. congruence. }
    simpl. auto.
  - destruct (meeting t) as [j|] eqn:J.
    2:{ unfold meeting in J. destruct (join (at_pc t)); [discriminate|]. rewrite J in E. discriminate. }
    simpl. split; [split; [exact W|exact H]|]. split.
    + intros l L. split; [|split].
      * intros i F. injection F as <-. unfold move; simpl. now rewrite L.
      * intros p rest F. unfold drop, move; simpl. rewrite same_calls_refl. simpl.
        destruct (H l L) as (_ & B & _). exact (B p rest F).
      * intros u [<-|I] V; [simpl; lia|]. destruct (H l L) as (_ & _ & D). auto.
    + intros l L. unfold move; simpl. now rewrite L.
Qed.

(* --- The simulation ----------------------------------------------------------------------------- *)

Definition agrees (w : warp) (l : lane) (x : thread) : Prop :=
  t_regs x = regs w l /\ t_trace x = trace w l /\
  match place (stack w) l with
  | Some (p, c) => t_live x = true /\ t_pc x = p /\ t_calls x = c
  | None => t_live x = false
  end.

Definition good (start : lane -> thread) (lanes : mask) (w : warp) : Prop :=
  well_formed (stack w) /\
  forall l, lanes l = true -> exists n, agrees w l (steps n (start l)).

Definition no_atomics : Prop := forall p f, code p <> Atomic f.

(* Lanes outside of the topmost token: nothing happens to them if their place stays. *)
Lemma agrees_outside w t w' l x :
  members t l = false -> agrees w l x ->
  regs w' l = regs w l -> trace w' = log t (trace w) -> place (stack w') l = place (stack w) l ->
  agrees w' l x.
Proof.
  intros N (A & B & C) E F G. unfold agrees. rewrite E, F, G. unfold log, update. rewrite N. auto.
Qed.

(* A lane of the topmost token executes: its thread takes the same step. *)
Lemma thread_of w t s l x :
  stack w = t :: s -> members t l = true -> agrees w l x ->
  x = Thread (regs w l) (at_pc t) (calls t) true (trace w l).
Proof.
  intros E L (A & B & C). rewrite E in C. simpl in C. rewrite L in C.
  destruct x as [a b c d e], C as (? & ? & ?). simpl in *. congruence.
Qed.

Ltac outside n :=
  exists n; eapply agrees_outside; eauto; simpl; try reflexivity;
  try (match goal with E : stack _ = _ |- _ => rewrite E end; simpl;
       repeat match goal with N : members _ _ = false |- _ => rewrite N end; reflexivity).

Theorem preserved start lanes w w' :
  no_atomics -> good start lanes w -> step w w' -> good start lanes w'.
Proof.
  intros NA [W G] S. destruct S as
    [w t s f X C | w t s c target b X C U | w t s c target first X C Y N | w t s E Q M0
    | w t s entry X C | w t s r rest X C K | w t s X C | w t s X C | w Q | w t s f order X C ND O
    | w t s E N].
  - (* EXECUTE *)
    destruct X as (E & _). rewrite E in W. split; [exact W|]. intros l L.
    destruct (G l L) as [n A]. destruct (members t l) eqn:I.
    + exists (S n). simpl. rewrite (thread_of _ _ _ _ _ E I A).
      unfold thread_step, agrees, update, log, update. simpl. rewrite C, I. simpl. auto.
    + outside n. unfold update. now rewrite I.
  - (* BRANCH *)
    destruct X as (E & _). rewrite E in W. split; [exact W|]. intros l L.
    destruct (G l L) as [n A]. destruct (members t l) eqn:I.
    + exists (S n). simpl. rewrite (thread_of _ _ _ _ _ E I A).
      unfold thread_step, agrees, log, update. simpl. rewrite C, I, (U l I). simpl. auto.
    + outside n.
  - (* DIVERGE *)
    destruct X as (E & _). rewrite E in W. destruct (below_sides t s W) as (W' & B & Out).
    set (yes := fun l => members t l && c (regs w l)).
    set (no := fun l => members t l && negb (c (regs w l))).
    assert (Yes : forall l, yes l = true -> members t l = true /\ c (regs w l) = true /\ no l = false).
    { unfold yes, no. intros l I. apply andb_prop in I as [I J]. rewrite I, J. auto. }
    assert (No : forall l, no l = true -> members t l = true /\ c (regs w l) = false /\ yes l = false).
    { unfold yes, no. intros l I. apply andb_prop in I as [I J]. apply negb_true_iff in J.
      rewrite I, J. auto. }
    split.
    + simpl. destruct first; rewrite <- app_assoc; apply well_formed_side;
        try (apply well_formed_side; [exact W'|]); intros l I; try apply rests_side;
        firstorder.
    + intros l L. destruct (G l L) as [n A]. destruct (members t l) eqn:I.
      * exists (S n). simpl. rewrite (thread_of _ _ _ _ _ E I A).
        unfold thread_step, agrees, log, update. simpl. rewrite C, I. simpl.
        split; [reflexivity|]. split; [reflexivity|].
        destruct (c (regs w l)) eqn:T.
        -- assert (Y1 : yes l = true) by (unfold yes; rewrite I, T; reflexivity).
           assert (N1 : no l = false) by (unfold no; rewrite I, T; reflexivity).
           destruct first; rewrite <- app_assoc.
           ++ rewrite place_side_in; auto. apply rests_side; auto.
           ++ rewrite place_side_out by exact N1. rewrite place_side_in; auto.
        -- assert (Y1 : yes l = false) by (unfold yes; rewrite I, T; reflexivity).
           assert (N1 : no l = true) by (unfold no; rewrite I, T; reflexivity).
           destruct first; rewrite <- app_assoc.
           ++ rewrite place_side_out by exact Y1. rewrite place_side_in; auto.
           ++ rewrite place_side_in; auto. apply rests_side; auto.
      * exists n. eapply agrees_outside; eauto. simpl. rewrite E. simpl. rewrite I.
        assert (Y1 : yes l = false) by (unfold yes; rewrite I; reflexivity).
        assert (N1 : no l = false) by (unfold no; rewrite I; reflexivity).
        destruct first; rewrite <- app_assoc, ?place_side_out; auto;
          rewrite ?place_side_out; auto.
  - (* RECONVERGE *)
    rewrite E in W. destruct W as [W H]. split; [exact W|]. intros l L.
    destruct (G l L) as [n (A & B & C)]. exists n. split; [exact A|]. split; [exact B|]. simpl.
    rewrite E in C. simpl in C. destruct (members t l) eqn:I; [|exact C].
    destruct (H l I) as (P & _). rewrite (P _ M0). exact C.
  - (* CALL *)
    destruct X as (E & _). rewrite E in W. destruct W as [W H]. split.
    + simpl. split; [split; [exact W|exact H]|]. intros l I. destruct (H l I) as (_ & _ & D).
      repeat split.
      * discriminate.
      * intros p rest F. injection F as <- <-. unfold drop, move; simpl. rewrite same_calls_false.
        -- simpl. now rewrite I.
        -- intros F. apply (f_equal (@length pc)) in F. simpl in F. lia.
      * intros u [<-|J] V; simpl; [lia|]. specialize (D u J V). simpl. lia.
    + intros l L. destruct (G l L) as [n A]. destruct (members t l) eqn:I.
      * exists (S n). simpl. rewrite (thread_of _ _ _ _ _ E I A).
        unfold thread_step, agrees, log, update. simpl. rewrite C, I. simpl. auto.
      * outside n.
  - (* RETURN *)
    destruct X as (E & _). rewrite E in W. destruct W as [W H]. split.
    + simpl. apply well_formed_strip; [exact W|]. intros l u I J V. now apply (H l I).
    + intros l L. destruct (G l L) as [n A]. destruct (members t l) eqn:I.
      * exists (S n). simpl. rewrite (thread_of _ _ _ _ _ E I A).
        unfold thread_step, agrees, log, update. simpl. rewrite C, I, K. simpl.
        rewrite place_strip_in by exact I. destruct (H l I) as (_ & P & _).
        rewrite K in P. rewrite (P _ _ eq_refl). auto.
      * exists n. eapply agrees_outside; eauto. simpl. rewrite E. simpl. rewrite I.
        now apply place_strip_out.
  - (* EXIT *)
    destruct X as (E & _). rewrite E in W. destruct W as [W H]. split.
    + simpl. now apply well_formed_kill.
    + intros l L. destruct (G l L) as [n A]. destruct (members t l) eqn:I.
      * exists (S n). simpl. rewrite (thread_of _ _ _ _ _ E I A).
        unfold thread_step, agrees, log, update. simpl. rewrite I, place_kill_in by exact I.
        destruct C as [C|[C K]]; rewrite C; simpl; rewrite ?K; simpl; auto.
      * exists n. eapply agrees_outside; eauto. simpl. rewrite E. simpl. rewrite I.
        now apply place_kill_out.
  - (* ARRIVE *)
    destruct X as (E & _). rewrite E in W. split; [exact W|]. intros l L.
    destruct (G l L) as [n A]. destruct (members t l) eqn:I.
    + exists (S n). simpl. rewrite (thread_of _ _ _ _ _ E I A).
      unfold thread_step, agrees, log, update. simpl. rewrite C, I. simpl. auto.
    + outside n.
  - (* RELEASE *) split; [exact W|exact G].
  - (* ATOMIC *) destruct (NA _ _ C).
  - (* EMPTY *)
    rewrite E in W. destruct W as [W _]. split; [exact W|]. intros l L.
    destruct (G l L) as [n A]. exists n. unfold agrees in *. rewrite E in A. simpl in A.
    rewrite (N l) in A. exact A.
Qed.

Lemma good_initial lanes entry r m :
  good (fun l => initial_thread entry (r l)) lanes (initial lanes entry r m).
Proof.
  split.
  - simpl. split; [exact I|]. intros l _. repeat split; [discriminate|discriminate|].
    intros u [].
  - intros l L. exists 0. unfold agrees. simpl. rewrite L. auto.
Qed.

Section Safety.

Variables (lanes : mask) (entry : pc) (r : lane -> R) (m : M).
Hypothesis pure : no_atomics.
Let thread_after (n : nat) (l : lane) : thread := steps n (initial_thread entry (r l)).

Theorem simulation w :
  reachable (initial lanes entry r m) w ->
  forall l, lanes l = true -> exists n, agrees w l (thread_after n l).
Proof.
  intros H. enough (G : good (fun l => initial_thread entry (r l)) lanes w) by apply G.
  induction H as [|w w' _ IH S]; [apply good_initial|]. eapply preserved; eauto.
Qed.

(* [SIMT-SAFE-A] Whoever is in the token that executes stands, as a thread of its own, at the very
   instruction that is executed, in the same calls, with the same registers, and has not ended. *)
Theorem safe_a w t s l :
  reachable (initial lanes entry r m) w -> stack w = t :: s ->
  lanes l = true -> members t l = true ->
  exists n, thread_after n l = Thread (regs w l) (at_pc t) (calls t) true (trace w l).
Proof.
  intros H E L I. destruct (simulation w H l L) as [n A]. exists n.
  exact (thread_of w t s l _ E I A).
Qed.

(* [SIMT-SAFE-B] A lane has ended as a thread exactly if it is in no token, and then no step of the
   machine executes anything for it. *)
Theorem safe_b w l :
  reachable (initial lanes entry r m) w -> lanes l = true ->
  exists n, trace w l = t_trace (thread_after n l) /\
            (t_live (thread_after n l) = false <-> forall t, In t (stack w) -> members t l = false).
Proof.
  intros H L. destruct (simulation w H l L) as [n (A & B & C)]. exists n. split; [now symmetry|].
  assert (P : place (stack w) l = None <-> forall t, In t (stack w) -> members t l = false).
  { clear. induction (stack w) as [|t s IH]; simpl; [firstorder|].
    destruct (members t l) eqn:I; split.
    - discriminate.
    - intros F. rewrite (F t (or_introl eq_refl)) in I. discriminate.
    - intros F u [<-|J]; [exact I|]. now apply IH.
    - intros F. apply IH. auto. }
  rewrite <- P. destruct (place (stack w) l) as [[p c]|]; [|tauto].
  destruct C as (C & _). rewrite C. split; discriminate.
Qed.

Theorem safe_b_for_ever w w' l :
  step w w' -> (forall t, In t (stack w) -> members t l = false) -> trace w' l = trace w l.
Proof.
  intros S N.
  assert (Top : forall t s, stack w = t :: s -> log t (trace w) l = trace w l).
  { intros t s E. unfold log, update. rewrite (N t); [reflexivity|]. rewrite E. now left. }
  destruct S; simpl; try reflexivity;
    try (match goal with X : executes _ _ _ |- _ => destruct X as (E & _) end; eapply Top; exact E).
  destruct (serially f order (memory w) (regs w)). simpl. destruct H as (E & _). eapply Top; exact E.
Qed.

(* [SIMT-SAFE-C] What a lane has executed is what its thread executes, from its first instruction on,
   in order and without a gap; when the machine has ended, it is all of it. *)
Theorem safe_c w l :
  reachable (initial lanes entry r m) w -> lanes l = true ->
  exists n, trace w l = t_trace (thread_after n l) /\ regs w l = t_regs (thread_after n l) /\
            (stack w = [] -> t_live (thread_after n l) = false).
Proof.
  intros H L. destruct (simulation w H l L) as [n (A & B & C)]. exists n.
  repeat split; auto. intros E. rewrite E in C. exact C.
Qed.

End Safety.

End Machine.
