(* The spin lock of docs/lockstep.md: two threads that take turns end, two lanes of a lockstep warp
   never do, whatever the order of the sides of the branch and of the lanes in the atomic.

       0: old := exchange(lock, 1)      all lanes that stand here, one after the other
       1: if old <> 0 goto 0            the lanes part; they meet at 2
       2: exchange(lock, 0)
       3: exit

   The lane that has got the lock waits at 2 for the other one, which waits for the lock
   ([SIMT-LIVENESS]). *)

From Coq Require Import List Arith Lia Bool.
Require Import simt.
Import ListNotations.

Definition lock (p : pc) : instruction nat nat :=
  match p with
  | 0 => Atomic nat nat (fun m _ => (1, m))
  | 1 => Branch nat nat (fun old => negb (Nat.eqb old 0)) 0
  | 2 => Atomic nat nat (fun _ r => (0, r))
  | _ => Exit nat nat
  end.
Definition meet (p : pc) : option pc := if Nat.eqb p 1 then Some 2 else None.

Definition both : mask := fun l => Nat.eqb l 0 || Nat.eqb l 1.
Definition start : warp nat nat := initial nat nat both 0 (fun _ => 0) 0.

(* --- Independent threads that take turns end ----------------------------------------------------- *)

(* One thread of its own, with the memory that all share. *)
Definition alone (m : nat) (x : nat * pc) : nat * (nat * pc) :=
  let (r, p) := x in
  match lock p with
  | Atomic _ _ f => let (m', r') := f m r in (m', (r', S p))
  | Branch _ _ c t => (m, (r, if c r then t else S p))
  | _ => (m, (r, p))
  end.
Definition turn (state : nat * (nat * pc) * (nat * pc)) : nat * (nat * pc) * (nat * pc) :=
  let '(m, a, b) := state in
  let (m, a) := alone m a in
  let (m, b) := alone m b in (m, a, b).
Fixpoint turns (n : nat) state := match n with 0 => state | S k => turns k (turn state) end.

Theorem independent_threads_end :
  let '(_, (_, a), (_, b)) := turns 6 (0, (0, 0), (0, 0)) in lock a = Exit _ _ /\ lock b = Exit _ _.
Proof. vm_compute. auto. Qed.

(* --- The warp never does ------------------------------------------------------------------------- *)

Definition only (k : lane) : mask := Nat.eqb k.
Definition has_lanes (m : mask) (t : token) : Prop := forall l, members t l = m l.

(* The states that the warp can be in: both lanes at 0; both at 1, one of them with the lock; or the
   one without it in the loop and, below, the token that waits at 2. *)
Inductive spinning (w : warp nat nat) : Prop :=
| begin t :
    stack _ _ w = [t] -> has_lanes both t -> at_pc t = 0 -> meets t = None -> memory _ _ w = 0 ->
    spinning w
| decided t v k :
    stack _ _ w = [t] -> has_lanes both t -> at_pc t = 1 -> meets t = None ->
    (v = 0 /\ k = 1 \/ v = 1 /\ k = 0) -> regs _ _ w v = 0 -> regs _ _ w k = 1 ->
    memory _ _ w = 1 -> spinning w
| loops t u v k :
    stack _ _ w = [t; u] -> has_lanes (only k) t -> (at_pc t = 0 \/ at_pc t = 1) ->
    meets t = Some 2 -> has_lanes both u -> at_pc u = 2 ->
    (v = 0 /\ k = 1 \/ v = 1 /\ k = 0) -> (at_pc t = 1 -> regs _ _ w k = 1) ->
    memory _ _ w = 1 -> spinning w.

Definition holds (w : warp nat nat) : Prop := spinning w /\ waits _ _ w = false.

Lemma order_of_both order :
  NoDup order -> (forall l, In l order <-> both l = true) -> order = [0; 1] \/ order = [1; 0].
Proof.
  intros N H.
  assert (E : forall l, In l order -> l = 0 \/ l = 1).
  { intros l I. apply H in I. unfold both in I. apply orb_prop in I.
    destruct I as [I|I]; apply Nat.eqb_eq in I; auto. }
  assert (I0 : In 0 order) by now apply H.
  assert (I1 : In 1 order) by now apply H.
  destruct order as [|a [|b [|c rest]]].
  - destruct I0.
  - simpl in *. lia.
  - destruct (E a), (E b); simpl; auto; subst; auto;
      inversion N as [|? ? X]; simpl in X; exfalso; auto.
  - exfalso. destruct (E a), (E b), (E c); simpl; auto; subst;
      inversion N as [|? ? X Y]; inversion Y as [|? ? X' Y']; simpl in *; intuition.
Qed.

Lemma order_of_one k order :
  NoDup order -> (forall l, In l order <-> only k l = true) -> order = [k].
Proof.
  intros N H.
  assert (E : forall l, In l order -> l = k).
  { intros l I. apply H in I. unfold only in I. apply Nat.eqb_eq in I. auto. }
  assert (I : In k order) by (apply H; apply Nat.eqb_refl).
  destruct order as [|a [|b rest]].
  - destruct I.
  - rewrite (E a); simpl; auto.
  - exfalso. assert (a = k) by (apply E; simpl; auto). assert (b = k) by (apply E; simpl; auto).
    subst. inversion N as [|? ? X]. apply X. simpl. auto.
Qed.

Lemma stack_cons (w : warp nat nat) t s t' s' :
  stack _ _ w = t :: s -> stack _ _ w = t' :: s' -> t' = t /\ s' = s.
Proof. intros A B. rewrite A in B. injection B as -> ->. auto. Qed.

Ltac same_stack E :=
  match goal with
  | X : executes _ _ ?w ?t ?s |- _ =>
      let E' := fresh in
      destruct X as (E' & _); destruct (stack_cons _ _ _ _ _ E E') as [-> ->]; clear E'
  end.

Lemma lock_atomic_0 f : lock 0 = Atomic nat nat f -> forall m r, f m r = (1, m).
Proof. simpl. intros H. injection H as <-. auto. Qed.

Lemma lock_branch_1 c y :
  lock 1 = Branch nat nat c y -> y = 0 /\ forall r, c r = negb (Nat.eqb r 0).
Proof. simpl. intros H. injection H as <- <-. auto. Qed.

Theorem preserved_spinning w w' : holds w -> step nat nat lock meet w w' -> holds w'.
Proof.
  intros [Sp Q] S.
  destruct Sp as [t E HM P MT MM | t v k E HM P MT VK RV RK MM | t u v k E HM P MT HU PU VK RK MM].
  - (* both at 0 *)
    inversion S; subst; try congruence;
      try (same_stack E; rewrite P in *; simpl in *; discriminate).
    + same_stack E. rewrite P in H0. destruct H0 as [H0|[H0 _]]; discriminate.
    + same_stack E. rewrite P in H0. assert (F := lock_atomic_0 _ H0).
      assert (O : order = [0; 1] \/ order = [1; 0]).
      { apply order_of_both; [assumption|]. intros l. rewrite H2, HM. tauto. }
      rewrite MM. destruct O as [-> | ->]; simpl; rewrite !F; simpl.
      * split; [|reflexivity]. eapply (decided _ _ 0 1); simpl; auto. rewrite P. reflexivity.
      * split; [|reflexivity]. eapply (decided _ _ 1 0); simpl; auto. rewrite P. reflexivity.
    + destruct (stack_cons _ _ _ _ _ E H) as [-> ->]. specialize (H0 0). rewrite HM in H0.
      discriminate.
  - (* both at 1, one with the lock *)
    assert (Mv : members t v = true) by (rewrite HM; destruct VK as [[-> _]|[-> _]]; reflexivity).
    assert (Mk : members t k = true) by (rewrite HM; destruct VK as [[_ ->]|[_ ->]]; reflexivity).
    inversion S; subst; try congruence;
      try (same_stack E; rewrite P in *; simpl in *; discriminate).
    + same_stack E. rewrite P in H0. destruct (lock_branch_1 _ _ H0) as [-> C].
      assert (A := H1 v Mv). assert (B := H1 k Mk). rewrite C in A, B. rewrite RV in A.
      rewrite RK in B. simpl in A, B. congruence.
    + same_stack E. rewrite P in H0. destruct (lock_branch_1 _ _ H0) as [-> C].
      assert (MG : meeting meet t = Some 2) by (unfold meeting; rewrite P; reflexivity).
      unfold waiting. rewrite MG, MT. simpl. rewrite P.
      split; [|reflexivity].
      assert (HL : has_lanes (only k) (Token (fun l => members t l && c (regs _ _ w l)) 0 (Some 2) (calls t))).
      { intros l. simpl. rewrite C, HM. unfold both, only.
        destruct VK as [[-> ->]|[-> ->]]; destruct l as [|[|l]]; simpl; rewrite ?RV, ?RK; reflexivity. }
      destruct first; eapply (loops _ _ _ v k); simpl; auto; discriminate.
    + same_stack E. rewrite P in H0. destruct H0 as [H0|[H0 _]]; discriminate.
  - (* one in the loop *)
    assert (Mk : members t k = true) by (rewrite HM; apply Nat.eqb_refl).
    inversion S; subst; try congruence;
      try (same_stack E; destruct P as [P|P]; rewrite P in *; simpl in *; discriminate).
    + same_stack E. destruct P as [P|P]; rewrite P in H0; [discriminate|].
      destruct (lock_branch_1 _ _ H0) as [-> C].
      assert (B := H1 k Mk). rewrite C, (RK P) in B. simpl in B. subst b.
      split; [|reflexivity]. eapply (loops _ _ _ v k); simpl; eauto.
    + same_stack E. destruct P as [P|P]; rewrite P in H0; [discriminate|].
      destruct (lock_branch_1 _ _ H0) as [-> C]. destruct H2 as (l & Ml & B).
      rewrite HM in Ml. unfold only in Ml. apply Nat.eqb_eq in Ml. subst l.
      rewrite C, (RK P) in B. discriminate.
    + destruct (stack_cons _ _ _ _ _ E H) as [-> ->]. destruct P as [P|P]; congruence.
    + same_stack E. destruct P as [P|P]; rewrite P in H0;
        (destruct H0 as [H0|[H0 _]]; discriminate).
    + same_stack E. destruct P as [P|P]; rewrite P in H0; [|discriminate].
      assert (F := lock_atomic_0 _ H0).
      assert (O : order = [k]).
      { apply order_of_one; [assumption|]. intros l. rewrite H2, HM. tauto. }
      subst order. simpl. rewrite F, MM. simpl. split; [|reflexivity].
      eapply (loops _ _ _ v k); simpl; eauto.
      * rewrite P. auto.
      * intros _. rewrite Nat.eqb_refl. reflexivity.
Qed.

Lemma start_spins : holds start.
Proof. split; [|reflexivity]. eapply begin; simpl; try reflexivity. intros l. reflexivity. Qed.

Theorem always_spinning w : reachable nat nat lock meet start w -> holds w.
Proof.
  intros H. induction H as [|w w' _ IH S]; [exact start_spins|]. eapply preserved_spinning; eauto.
Qed.

(* It never ends: the stack is never empty. *)
Theorem never_ends w : reachable nat nat lock meet start w -> stack _ _ w <> [].
Proof. intros H. destruct (always_spinning w H) as [[] _]; congruence. Qed.

(* Nor is it ever stuck: there is always a step, so it runs for ever. *)
Theorem never_stuck w : reachable nat nat lock meet start w -> exists w', step nat nat lock meet w w'.
Proof.
  intros H. destruct (always_spinning w H) as [Sp Q].
  destruct Sp as [t E HM P MT MM | t v k E HM P MT VK RV RK MM | t u v k E HM P MT HU PU VK RK MM].
  - eexists. eapply (ATOMIC _ _ _ _ _ t [] _ [0; 1]).
    + repeat split; auto; [congruence|]. exists 0. now rewrite HM.
    + rewrite P. reflexivity.
    + repeat constructor; simpl; intuition discriminate.
    + intros l. rewrite HM. unfold both. simpl. rewrite orb_true_iff, !Nat.eqb_eq. intuition.
  - eexists. eapply (DIVERGE _ _ _ _ _ t [] _ 0 true).
    + repeat split; auto; [congruence|]. exists 0. now rewrite HM.
    + rewrite P. reflexivity.
    + exists k. rewrite HM, RK. destruct VK as [[_ ->]|[_ ->]]; auto.
    + exists v. rewrite HM, RV. destruct VK as [[-> _]|[-> _]]; auto.
  - destruct P as [P|P].
    + eexists. eapply (ATOMIC _ _ _ _ _ t [u] _ [k]).
      * repeat split; auto; [rewrite MT, P; discriminate|]. exists k. rewrite HM. apply Nat.eqb_refl.
      * rewrite P. reflexivity.
      * repeat constructor. simpl. tauto.
      * intros l. rewrite HM. unfold only. rewrite Nat.eqb_eq. simpl. intuition.
    + eexists. eapply (BRANCH _ _ _ _ _ t [u] _ 0 true).
      * repeat split; auto; [rewrite MT, P; discriminate|]. exists k. rewrite HM. apply Nat.eqb_refl.
      * rewrite P. reflexivity.
      * intros l Ml. rewrite HM in Ml. unfold only in Ml. apply Nat.eqb_eq in Ml. subst l.
        now rewrite (RK P).
Qed.

(* The lane with the lock stands at 2 and is never moved again: liveness is violated, although its
   thread could take a step at any time. *)
Theorem holder_starves w :
  reachable nat nat lock meet start w -> memory _ _ w = 1 ->
  exists v, both v = true /\ forall w', step nat nat lock meet w w' ->
    (exists t, stack _ _ w = [t] /\ at_pc t = 1) \/ trace _ _ w' v = trace _ _ w v.
Proof.
  intros H M. destruct (always_spinning w H) as [Sp Q].
  destruct Sp as [t E HM P MT MM | t v k E HM P MT VK RV RK MM | t u v k E HM P MT HU PU VK RK MM].
  - congruence.
  - exists v. split; [destruct VK as [[-> _]|[-> _]]; reflexivity|]. eauto.
  - exists v. split; [destruct VK as [[-> _]|[-> _]]; reflexivity|]. intros w' S. right.
    assert (N : members t v = false).
    { rewrite HM. unfold only. destruct VK as [[-> ->]|[-> ->]]; reflexivity. }
    destruct S; simpl; try reflexivity;
      try (same_stack E; unfold log, update; now rewrite N).
    same_stack E. destruct (serially nat nat f order (memory _ _ w) (regs _ _ w)). simpl.
    unfold log, update. now rewrite N.
Qed.
