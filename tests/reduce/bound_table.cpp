// All bounds: which programs there are. (What a bound's numbers stand for: bounds.cpp.)
#include "reduce/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heddle::enumeration {

std::span<const Bound> bounds() {
  using enum Kind;
  const std::vector<Shape> all{Shape::Blocks, Shape::Block, Shape::Cluster, Shape::Cooperative};
  const std::vector<Kind> accesses{Load, Store, Sum, Exchange, Increment, CompareAndSwap, Wait};
  const std::vector<Kind> of_block{
      Load,
      Store,
      Exchange,
      Increment,
      Wait,
      Barrier,
      Vote,
      Active,
      Arrive,
      WaitPhase,
      End
  };
  const std::vector<Value> who{Value::One, Value::Who, Value::Last};
  const std::vector<Place> own{Place::P, Place::Q, Place::Own};
  Bound::Size alike{.kinds = accesses, .shapes = all, .places = own, .values = who, .rounds = 3};
  const Bound::Size roles{.alike = false, .kinds = accesses, .shapes = all, .places = own};
  const Bound::Size tickets{
      .operations = 3,
      .kinds = {Load, Store, Exchange},
      .shapes = {Shape::Blocks},
      .ticket = true
  };
  static const std::vector<Bound> table = [&] {
    std::vector<Bound> result;
    const auto add =
        [&](std::string name, Bound::Size size, std::uint8_t actors, std::uint8_t operations) {
          size.name = fmt::format("{}-{}x{}", name, actors, operations);
          size.actors = actors;
          size.operations = operations;
          result.emplace_back(std::move(size));
        };
    add("alike", alike, 2, 1);
    add("roles", roles, 2, 1);
    Bound::Size retries = roles;
    retries.kinds = {Store, Sum, Increment, Retry, Lock};
    retries.shapes = {Shape::Blocks, Shape::Block};
    add("retries", retries, 2, 1);
    add("retries", retries, 2, 2);
    Bound::Size heap{.kinds = {Load, Store, Increment, Allocate, Free}, .shapes = all};
    add("heap", heap, 2, 2);
    Bound::Size block = alike;
    block.kinds = of_block;
    block.shapes = {Shape::Block};
    block.rounds = 0;
    add("block", block, 2, 2);
    Bound::Size shared = alike;
    shared.shapes = {Shape::Block};
    shared.places = {Place::P, Place::Shared};
    shared.whose_operations = false;
    add("shared", shared, 2, 2);
    Bound::Size cluster{
        .kinds = {Load, Store, Increment, Wait, Barrier, Neighbour, End},
        .shapes = {Shape::Cluster}
    };
    add("cluster", cluster, 2, 2);
    Bound::Size ranks = cluster;
    ranks.alike = false;
    ranks.results = 2;
    add("ranks", ranks, 2, 2);
    Bound::Size last = tickets; // … and the last ones do something else
    last.kinds = {Load, Store};
    last.places = {Place::Q};
    last.values = {Value::Who};
    last.whose_operations = false;
    add("last", last, 3, 3);
    add("last", last, 4, 3);
    add("last", last, 5, 3);
    // Some is done before the cluster is owed anything, and some behind.
    Bound::Size owed{
        .alike = false,
        .kinds = {Load, Store, Wait},
        .shapes = {Shape::Blocks},
        .places = own,
        .first_operations = 2,
        .results = 2,
        .may_hang = false
    };
    add("owed", owed, 2, 3);
    // Reads that find nothing new, and then wait.
    Bound::Size polls = owed;
    polls.shapes = {Shape::Blocks, Shape::Block};
    polls.places = {Place::P, Place::Q};
    polls.results = 1;
    polls.may_hang = true;
    add("polls", polls, 2, 3);
    // One goes round, others change what it and they find.
    Bound::Size loops = owed;
    loops.kinds = {Load, Store, Retry, Wait};
    loops.places = {Place::P, Place::Q};
    loops.values = {Value::One, Value::Two};
    loops.shapes = {Shape::Block, Shape::Cooperative}; // where somebody is owed the end
    loops.polls = true;
    add("loops", loops, 2, 3);
    // What others cannot come before, and what they can; behind it an update that everybody meets.
    Bound::Size movers = roles;
    movers.kinds = {Load, Store, Increment};
    movers.shapes = {Shape::Block};
    movers.places = {Place::P, Place::Q};
    movers.first_operations = 2;
    movers.results = 2;
    add("movers", movers, 2, 3);
    Bound::Size generations{
        .kinds = {Load, Store, Increment, Wait},
        .shapes = {Shape::Cooperative, Shape::Block},
        .whose_hang = false,
        .whose_operations = false,
        .results = 2
    };
    add("generations", generations, 2, 4);
    // Several blocks of several threads: what one does changes what the others are to a search.
    Bound::Size pairs{
        .kinds = {Load, Store, Barrier},
        .shapes = {Shape::Pairs},
        .places = {Place::P},
        .values = {Value::One, Value::Two},
        .rounds = 2,
        .whose_hang = false,
        .whose_operations = false
    };
    add("pairs", pairs, 4, 3);
    // Data takes its way through one's own memory, and then something is decided by it.
    Bound::Size data{
        .kinds = {Load, Store, Exchange, Increment, PlainLoad, PlainStore},
        .shapes = {Shape::Blocks, Shape::Block},
        .places = {Place::P, Place::Own},
        .values = {Value::One, Value::Last},
        .whose_operations = false
    };
    add("data", data, 2, 3);
    // The same with something visible in between, and tickets that say who came first.
    Bound::Size cone = data;
    cone.kinds = {Load, PlainLoad, PlainStore};
    cone.values = {Value::One, Value::First};
    cone.ticket = true;
    add("cone", cone, 2, 4);
    // A variable of the block that is written again before anybody reads it, or perhaps not.
    Bound::Size published{
        .kinds = {Publish, PublishSome, Republish, Observe},
        .shapes = {Shape::Block},
        .places = {Place::P},
        .values = {Value::One, Value::First},
        .ticket = true,
        .whose_operations = false,
        .results = 2
    };
    add("published", published, 2, 4);
    Bound::Size phases{
        .kinds = {Load, Store, Arrive, WaitPhase, Ask},
        .shapes = {Shape::Block},
        .whose_hang = false
    };
    add("phases", phases, 2, 3);
    Bound::Size arrivals{
        // one may complete several phases
        .alike = false,
        .kinds = {Load, Arrive, WaitPhase, Ask},
        .shapes = {Shape::Block},
        .places = {Place::P},
        .first_operations = 2,
        .results = 2,
        .arrivals = 1
    };
    add("arrivals", arrivals, 2, 3);
    // Host code beside a kernel, and host functions.
    Bound::Size hosts{
        .kinds = {Load, Store, Wait},
        .shapes = {Shape::Blocks},
        .places = {Place::P},
        .whose_hang = false,
        .whose_operations = false,
        .results = 2,
        .host =
            {HostKind::CallFlag,
             HostKind::CallStore,
             HostKind::Store,
             HostKind::HangIfP,
             HostKind::HangIfFlag},
        .host_operations = 3
    };
    add("hosts", hosts, 1, 1);
    add("hosts", hosts, 1, 2);
    // Calls that need not return while a device thread makes progress.
    Bound::Size calls = hosts;
    calls.host = {HostKind::Launch, HostKind::SetBefore, HostKind::Set, HostKind::Store};
    calls.host_operations = 4;
    calls.launch_first = calls.prompt = false;
    add("calls", calls, 1, 1);
    // Calls that ask whether something is done.
    Bound::Size questions = hosts;
    questions.host = {
        HostKind::HangIfDone,
        HostKind::AskUntilDone,
        HostKind::LaunchBeside,
        HostKind::SetBefore,
        HostKind::CallStore,
        HostKind::Store,
        HostKind::HangIfP
    };
    add("questions", questions, 1, 2);
    questions.prompt = false;
    add("questions-that-stay", questions, 1, 1);
    // Two streams that wait for each other by events, or for a value.
    Bound::Size events = hosts;
    events.host = {
        HostKind::LaunchBeside,
        HostKind::SetBefore,
        HostKind::Set,
        HostKind::Record,
        HostKind::RecordCopies,
        HostKind::Await,
        HostKind::AwaitBefore,
        HostKind::HangIfEvent,
        HostKind::WaitEvent,
        HostKind::HangIfP,
        HostKind::Store
    };
    events.host_operations = 4;
    add("events", events, 1, 1);
    Bound::Size value_waits = hosts;
    value_waits.places = {Place::P, Place::Q};
    value_waits.host = {
        HostKind::AwaitP,
        HostKind::AwaitPBefore,
        HostKind::SetIf,
        HostKind::LaunchBeside,
        HostKind::Set,
        HostKind::SetTwo,
        HostKind::SetBefore,
        HostKind::CallStore,
        HostKind::Store,
        HostKind::HangIfQ
    };
    value_waits.host_operations = 3;
    add("value-waits", value_waits, 1, 1);
    Bound::Size floats{
        .alike = false,
        .kinds = {Load, Barrier, SumFloat, SumLarge, SumLess},
        .shapes = {Shape::Block},
        .places = {Place::P},
        .first_operations = 2,
        .results = 1
    };
    add("floats", floats, 2, 3);
    // What kernels launch.
    Bound::Size children{
        .kinds =
            {Load,
             Exchange,
             Increment,
             Wait,
             Kind::Launch,
             Kind::LaunchFree,
             Kind::LaunchTail,
             Kind::CopyToQ,
             Kind::CopyToP},
        .shapes = {Shape::Blocks, Shape::Block},
        .values = {Value::One, Value::Last},
        .whose_hang = false,
        .results = 3
    };
    add("children", children, 1, 3);
    add("children", children, 2, 2);
    children.host = {HostKind::Copy, HostKind::SetBefore, HostKind::HangIfP, HostKind::WaitAll};
    children.host_operations = 2;
    add("children-and-host", children, 1, 2);
    // Memory as in PTX: which accesses have one message, and which updates one order.
    Bound::Size weak{
        .kinds = {Load, Store, Sum, Increment, Wait, Barrier},
        .shapes = {Shape::Blocks, Shape::Block},
        .places = own,
        .whose_hang = false,
        .weak = true
    };
    add("weak", weak, 2, 2);
    add("weak", weak, 3, 2); // some come to a barrier first, others to a choice
    Bound::Size weak_roles = weak;
    weak_roles.alike = false;
    weak_roles.kinds = {Load, Store, Sum, Exchange, Wait};
    add("weak-roles", weak_roles, 2, 2);
    // What is passed on, or is not: then there is a data race.
    Bound::Size passes{
        .alike = false,
        .kinds = {Load, Sum, Increment, PlainLoad, PlainStore},
        .shapes = {Shape::Blocks, Shape::Block},
        .whose_hang = false,
        .whose_operations = false,
        .results = 2,
        .may_hang = false,
        .weak = true,
        .passes = true
    };
    add("weak-passes", passes, 2, 2);
    Bound::Size narrow = passes; // … to threads of the block only
    narrow.narrow = true;
    narrow.shapes = {Shape::Blocks, Shape::Block, Shape::Warps};
    add("weak-narrow", narrow, 2, 2);
    Bound::Size fenced = passes;
    fenced.kinds = {Load, Sum, PlainLoad, PlainStore, Kind::Fence};
    add("weak-fenced", fenced, 2, 3);
    Bound::Size ordered = fenced;
    ordered.kinds = {Load, Sum, PlainLoad, PlainStore, Kind::OrderedFence};
    add("weak-ordered", ordered, 2, 3);
    Bound::Size weak_hosts = hosts;
    weak_hosts.kinds = {Exchange, Store};
    weak_hosts.values = {Value::One, Value::Two};
    weak_hosts.weak = true;
    add("weak-hosts", weak_hosts, 1, 2);
    // Two grids at the same time.
    Bound::Size grids = hosts;
    grids.kinds = {Load, Store, Sum, Increment, Wait};
    grids.shapes = {Shape::Blocks, Shape::Block};
    grids.results = 3;
    grids.host = {HostKind::LaunchBeside, HostKind::Store, HostKind::HangIfP};
    grids.host_operations = 2;
    add("grids", grids, 1, 2);
    add("grids", grids, 2, 1);
    // The same kernel again, with fewer blocks: they may ask how many they are.
    Bound::Size launches{
        .kinds = {Size, Exchange, Increment},
        .shapes = {Shape::Blocks},
        .places = {Place::P},
        .whose_hang = false,
        .whose_operations = false,
        .host = {HostKind::LaunchOne, HostKind::WaitAll},
        .host_operations = 3
    };
    add("launches", launches, 2, 2);
    // Waits with a deadline.
    Bound::Size deadlines{
        .alike = false,
        .kinds = {Load, Store, Exchange, WaitOrLate},
        .shapes = {Shape::Blocks, Shape::Block},
        .places = {Place::P},
        .results = 2
    };
    add("deadlines", deadlines, 2, 2);
    add("clocks", decided_by_clocks(), 1, 3);
    add("clock-limits", decided_by_clocks({Begin, Passed, PassedLong, End}), 1, 4);
    add("clock-times", decided_by_clocks({Begin, BeginOther, Passed, PassedOther}), 1, 4);
    // Copies and sets beside a kernel.
    Bound::Size copies{
        .kinds = {Load, Store, Sum, Exchange, Increment, Wait},
        .shapes = {Shape::Blocks, Shape::Block},
        .whose_hang = false,
        .host = {HostKind::Copy, HostKind::Set, HostKind::HangIfQ, HostKind::WaitCopies},
        .host_operations = 3
    };
    add("copies", copies, 2, 1);
    add("few-words", looks_at_few_words(), 1, 2);
    add("lockstep-few-words", looks_at_few_words(Looks::Lockstep), 1, 2);
    add("weak-few-words", looks_at_few_words(Looks::Weak), 1, 2);
    // Copies and sets in two streams, beside each other, which meet at the same places.
    Bound::Size streams = hosts;
    streams.kinds = {Load, Wait};
    streams.places = {Place::P, Place::Q}; // a kernel that meets a command decides first
    streams.host = {
        HostKind::Set,
        HostKind::SetTwo,
        HostKind::Copy,
        HostKind::CopyBack,
        HostKind::HangIfP,
        HostKind::HangIfQ,
        HostKind::WaitAll
    };
    streams.results = 3;
    streams.host_operations = 4;
    add("streams", streams, 1, 1);
    add("alike", alike, 2, 2);
    // An instruction that goes to several places, and meets others at one of them.
    Bound::Size places = tickets;
    places.kinds = {Load, Store, Exchange, Increment};
    places.shapes = {Shape::Blocks, Shape::Block};
    places.places = {Place::Either, Place::Found};
    places.rounds = 3;
    places.whose_hang = places.whose_operations = false;
    add("places", places, 2, 3);
    // Accesses of different sizes, which overlap.
    Bound::Size widths = roles;
    widths.kinds = {Load, Store, Increment, LoadBoth, StoreBoth};
    widths.shapes = {Shape::Blocks, Shape::Block};
    widths.places = {Place::P, Place::Behind};
    widths.results = 2;
    add("widths", widths, 2, 2);
    // Threads of a block in warps of their own.
    Bound::Size warps = block;
    warps.kinds = {Load, Store, Exchange, Increment, Wait, Barrier, Active, End};
    warps.shapes = {Shape::Warps};
    add("warps", warps, 2, 2);
    Bound::Size warp_phases = phases;
    warp_phases.kinds = {Load, Store, Barrier, Arrive, WaitPhase, Ask};
    warp_phases.shapes = {Shape::Warps};
    add("warp-phases", warp_phases, 2, 2);
    Bound::Size warp_roles = roles;
    warp_roles.kinds = {Load, Store, Sum, Exchange, Increment, Wait};
    warp_roles.places = {Place::P, Place::Q, Place::Shared};
    warp_roles.shapes = {Shape::Warps};
    warp_roles.first_operations = 1;
    add("warp-roles", warp_roles, 2, 2);
    // Several lanes of several warps: what one instruction does for one of them, and for all.
    Bound::Size lanes{
        .kinds = {Load, Store, Exchange, Increment, Barrier, Vote, Active},
        .shapes = {Shape::Lanes},
        .places = {Place::P, Place::Shared},
        .whose_hang = false,
        .whose_operations = false,
        .results = 3
    };
    add("lanes", lanes, 4, 2);
    Bound::Size lane_roles = lanes;
    lane_roles.alike = false;
    lane_roles.kinds = {Load, Store, Exchange, Increment, Wait}; // a barrier in one role is misused
    lane_roles.results = 2;
    add("lane-roles", lane_roles, 4, 1);
    // Barriers of some threads, at which some only arrive.
    Bound::Size named{
        .kinds = {Load, Store, Increment, ArriveNamed, WaitNamed, Barrier, End},
        .shapes = {Shape::Warps},
        .places = {Place::P},
        .results = 2
    };
    add("named", named, 2, 3);
    Bound::Size named_roles = named;
    named_roles.alike = false;
    named_roles.kinds = {Load, Store, ArriveNamed, WaitNamed, Wait};
    add("named-roles", named_roles, 2, 2);
    // The same for lanes, of which a part may come, and the rest end.
    Bound::Size named_lanes = named_roles;
    named_lanes.kinds = {Load, Store, ArriveNamed, WaitNamed};
    named_lanes.shapes = {Shape::Lanes};
    named_lanes.may_hang = false;
    add("named-lanes", named_lanes, 4, 1);
    add("named-lanes", named_lanes, 4, 2);
    // What lies in the shared memory of a neighbour.
    Bound::Size neighbours{
        .kinds = {Load, Store, Sum, Exchange, Increment, CompareAndSwap, Wait, Barrier, End},
        .shapes = {Shape::Cluster},
        .places = {Place::P, Place::OfFirst},
        .values = {Value::One, Value::Who},
        .whose_hang = false
    };
    add("neighbours", neighbours, 2, 2);
    // Accesses of vectors, which overlap with words.
    Bound::Size vectors = widths;
    vectors.kinds = {Load, Store, Increment, LoadVector, StoreVector};
    add("vectors", vectors, 2, 2);
    // Every width in every state space.
    const std::vector<Width> every_width = [] {
      std::vector<Width> each(enumeration::widths);
      std::ranges::generate(each, [n = 0]() mutable { return static_cast<Width>(n++); });
      return each;
    }();
    Bound::Size of_widths{
        .alike = false,
        .kinds = {Load, Store, Exchange, CompareAndSwap, Wait},
        .shapes = {Shape::Blocks, Shape::Block, Shape::Cluster, Shape::Warps},
        .places = {Place::P, Place::Q, Place::Shared, Place::OfFirst, Place::InShared},
        .results = 2,
        .widths = every_width,
        .strengths = {Strength::Relaxed, Strength::Ordered, Strength::Volatile}
    };
    add("of-widths", of_widths, 2, 2);
    Bound::Size alike_widths = of_widths;
    alike_widths.alike = true;
    alike_widths.values = {Value::One, Value::Who, Value::Last};
    alike_widths.rounds = 2;
    add("alike-widths", alike_widths, 2, 2);
    // … in loops of several reads that find nothing new.
    Bound::Size polled_widths = of_widths;
    polled_widths.kinds = {Load, Store, Wait};
    polled_widths.first_operations = 2;
    polled_widths.polls = true;
    add("polled-widths", polled_widths, 2, 3);
    // … of one's own memory.
    Bound::Size local_widths = of_widths;
    local_widths.kinds = {Load, Store, Wait, PlainLoad, PlainStore};
    local_widths.places = {Place::P, Place::Local, Place::InLocal};
    local_widths.values = {Value::One, Value::Last};
    add("local-widths", local_widths, 2, 3);
    Bound::Size lockstep_widths = of_widths;
    lockstep_widths.shapes = {Shape::Block, Shape::Warps};
    lockstep_widths.places = {Place::P, Place::Shared, Place::InShared};
    lockstep_widths.lockstep = true;
    add("lockstep-widths", lockstep_widths, 2, 2);
    Bound::Size weak_widths = of_widths;
    weak_widths.shapes = {Shape::Blocks, Shape::Block};
    weak_widths.places = {Place::P, Place::Q, Place::Shared};
    weak_widths.strengths = {Strength::Relaxed, Strength::Ordered};
    weak_widths.weak = true;
    add("weak-widths", weak_widths, 2, 2);
    // A grid that begins before the one before it is over.
    Bound::Size early{
        .kinds = {Load, Store, Increment, Wait, Dependents, WaitGrids},
        .shapes = {Shape::Blocks, Shape::Block},
        .places = {Place::P},
        .whose_hang = false,
        .whose_operations = false,
        .host = {HostKind::LaunchEarly, HostKind::SetBefore, HostKind::Store, HostKind::HangIfP},
        .host_operations = 2
    };
    add("early", early, 1, 3);
    add("early", early, 2, 2);
    // What the lanes of a warp do together: those that are named, or those that activemask names.
    Bound::Size collectives{
        .kinds =
            {Load, Store, Increment, Wait, Ballot, BallotActive, Shuffle, Match, Elect, Vote, End},
        .shapes = {Shape::Block, Shape::Lanes},
        .places = {Place::P},
        .values = {Value::One, Value::Who, Value::Last},
        .whose_hang = false
    };
    add("collectives", collectives, 2, 2);
    add("collectives", collectives, 2, 3);
    Bound::Size collective_roles = collectives;
    collective_roles.alike = false;
    collective_roles.shapes = {Shape::Block};
    add("collective-roles", collective_roles, 2, 2);
    // Warps in lockstep: which side of a branch goes first, and in which order lanes do.
    Bound::Size lockstep{
        .kinds = {Load, Store, Sum, Exchange, Increment, CompareAndSwap, Wait, Barrier, Vote, End},
        .shapes = {Shape::Block, Shape::Pairs},
        .values = {Value::One, Value::Who},
        .rounds = 3,
        .whose_hang = false,
        .lockstep = true
    };
    add("lockstep", lockstep, 2, 2);
    lockstep.rounds = 0;
    lockstep.shapes = {Shape::Pairs, Shape::Lanes};
    lockstep.places = {Place::P, Place::Shared};
    lockstep.values = {Value::One};
    lockstep.whose_operations = false;
    add("lockstep", lockstep, 4, 2);
    Bound::Size lockstep_collectives = collectives;
    lockstep_collectives.lockstep = true;
    add("lockstep-collectives", lockstep_collectives, 2, 2);
    Bound::Size lockstep_roles = roles;
    lockstep_roles.shapes = {Shape::Block, Shape::Warps};
    lockstep_roles.lockstep = true;
    add("lockstep-roles", lockstep_roles, 2, 2);
    // Barriers that count.
    Bound::Size counts = named;
    counts.kinds = {Load, Store, Increment, Count, CountNamed, WaitNamed, ArriveNamed, End};
    counts.values = {Value::One, Value::Who, Value::Last};
    add("counts", counts, 2, 2);
    // A cluster's barrier in two parts.
    Bound::Size parts = cluster;
    parts.kinds = {Load, Store, Increment, Wait, ClusterArrive, ClusterWait, End};
    parts.places = {Place::P, Place::OfFirst};
    add("parts", parts, 2, 3);
    parts.alike = false;
    parts.results = 2;
    add("part-roles", parts, 2, 3);
    parts.alike = true;
    parts.kinds = {Load, Increment, Barrier, ClusterArrive, ClusterWait, End};
    parts.shapes = {Shape::ClusterPairs};
    parts.whose_hang = false;
    add("part-pairs", parts, 4, 3);
    // mbarriers: two phases, tokens, actors that leave, asynchronous copies.
    Bound::Size mbarriers{
        .kinds = {Load, Store, Arrive, Drop, WaitPhase, WaitSecond, Ask, AskOwn, CopyArrive, End},
        .shapes = {Shape::Block, Shape::Warps},
        .places = {Place::P},
        .whose_hang = false,
        .results = 2
    };
    add("mbarriers", mbarriers, 2, 3);
    Bound::Size bulk = mbarriers;
    bulk.alike = false;
    bulk.kinds = {Load, Store, Arrive, WaitPhase, WaitSecond, Ask, Expect, Bulk, ExpectBulk};
    add("bulk", bulk, 2, 3);
    bulk.arrivals = 1;
    add("bulk-of-one", bulk, 2, 3);
    // One asks one of two.
    Bound::Size peeks = mbarriers;
    peeks.alike = false;
    peeks.arrivals = 1;
    peeks.kinds = {Load, Store, Arrive, ArriveOther, WaitPhase, WaitOther, Ask, AskOwn};
    add("peeks", peeks, 2, 3);
    // … and goes round, or not, by the answer.
    peeks.kinds = {Arrive, Ask, Spin};
    peeks.shapes = {Shape::Block};
    peeks.may_hang = false;
    add("peek-loops", peeks, 2, 3);
    // … and those of a neighbour.
    Bound::Size remote = bulk;
    remote.arrivals = 0;
    remote.kinds = {Load, Arrive, ArriveOf, WaitPhase, Ask, Expect, StoreAsync, Barrier, End};
    remote.shapes = {Shape::Cluster};
    add("remote", remote, 2, 3);
    remote.kinds = {Load, Arrive, WaitPhase, Ask, Expect, Multicast, Barrier, End};
    add("multicast", remote, 2, 3);
    remote.alike = true;
    remote.kinds = {Load, Arrive, ArriveOf, WaitPhase, StoreAsync, ClusterArrive, ClusterWait, End};
    remote.shapes = {Shape::ClusterPairs};
    remote.whose_hang = false;
    add("remote-pairs", remote, 4, 2);
    // The barrier that cooperative groups makes of memory.
    Bound::Size grid{
        .kinds = {Load, Store, Increment, Wait, GridArrive, GridWait, GridSync, End},
        .shapes = {Shape::Cooperative},
        .places = {Place::P},
        .whose_hang = false,
        .results = 2
    };
    add("grid-barriers", grid, 2, 3);
    grid.alike = false;
    add("grid-barrier-roles", grid, 2, 3);
    // … of a tile of several warps.
    Bound::Size tile{
        .kinds = {Load, Store, Increment, Wait, TileSync, TileLast, End},
        .shapes = {Shape::Warps},
        .places = {Place::P},
        .values = {Value::One, Value::Last},
        .results = 2
    };
    add("tiles", tile, 2, 3);
    add("tiles", tile, 3, 2);
    tile.alike = false;
    add("tile-roles", tile, 2, 2);
    tile.alike = true;
    tile.shapes = {Shape::WarpPairs};
    tile.whose_hang = tile.whose_operations = false;
    add("tile-pairs", tile, 4, 2);
    // Other promises of progress.
    Bound::Size models = alike;
    models.kinds = {Load, Store, Sum, Exchange, Increment, Wait, Barrier};
    models.shapes = {Shape::Blocks, Shape::Block, Shape::Cluster, Shape::Cooperative, Shape::Pairs};
    models.models =
        {model::ProgressModel::Fair, model::ProgressModel::Hsa, model::ProgressModel::Lobe};
    add("models", models, 2, 2);
    models.whose_hang = models.whose_operations = false;
    add("models", models, 3, 2);
    models.kinds = {Load, Store, Increment, Wait};
    models.shapes = {Shape::Blocks, Shape::Block};
    models.alike = false;
    models.results = 2;
    add("model-roles", models, 2, 2);
    models.results = 3;
    models.host = grids.host;
    models.host_operations = 2;
    models.alike = true;
    add("model-grids", models, 2, 1);
    // Updates of several kinds at one place, of one word or two.
    Bound::Size updates = roles;
    updates.kinds = {Load, Sum, Maximum, Toggle, Increment, Exchange, SumBoth, LoadBoth};
    updates.shapes = {Shape::Blocks, Shape::Block};
    updates.places = {Place::P, Place::Behind};
    updates.values = {Value::One, Value::Two};
    updates.results = 4;
    add("updates", updates, 2, 2);
    updates.alike = true;
    updates.whose_hang = false;
    add("updates", updates, 3, 2);
    // Data that takes its way through local memory, and instructions that go to several state
    // spaces.
    Bound::Size local = data;
    local.places = {Place::P, Place::Local, Place::InLocal};
    add("local", local, 2, 3);
    Bound::Size spaces = alike;
    spaces.shapes = {Shape::Block, Shape::Warps, Shape::Pairs};
    spaces.places = {Place::P, Place::Shared, Place::InShared};
    spaces.rounds = 0;
    spaces.whose_operations = false;
    add("spaces", spaces, 2, 2);
    // Operations in functions, called directly or through a pointer.
    Bound::Size functions = alike;
    functions.functions = true;
    add("functions", functions, 2, 2);
    functions.rounds = 0;
    functions.alike = false;
    functions.values = {Value::One};
    add("function-roles", functions, 2, 2);
    functions.alike = true;
    functions.kinds = {Load, Store, Increment, Barrier, Vote, Active, End};
    functions.shapes = {Shape::Lanes, Shape::WarpPairs};
    functions.whose_operations = functions.whose_hang = false;
    add("function-lanes", functions, 4, 2);
    // Several blocks of several warps, and several clusters.
    Bound::Size warp_pairs{
        .kinds = {Load, Store, Exchange, Increment, Wait, Barrier, Count, WaitNamed, End},
        .shapes = {Shape::WarpPairs},
        .places = {Place::P, Place::Shared},
        .whose_hang = false,
        .results = 2
    };
    add("warp-pairs", warp_pairs, 4, 2);
    Bound::Size clusters = warp_pairs;
    clusters.kinds = {Load, Store, Increment, Wait, Barrier, ClusterArrive, ClusterWait, End};
    clusters.shapes = {Shape::Clusters};
    clusters.places = {Place::P, Place::OfFirst};
    add("clusters", clusters, 4, 2);
    // mbarriers of lanes, and of several blocks.
    Bound::Size lane_mbarriers = mbarriers;
    lane_mbarriers.shapes = {Shape::Lanes, Shape::Pairs, Shape::WarpPairs};
    lane_mbarriers.whose_operations = false;
    add("lane-mbarriers", lane_mbarriers, 4, 2);
    // Programs that fail in some orders.
    Bound::Size faults = roles;
    faults.kinds = {Load, Store, Increment, Wait, Trap, BadAccess};
    faults.places = {Place::P};
    add("faults", faults, 2, 2);
    // Two host threads.
    Bound::Size two_hosts = hosts;
    two_hosts.host = {
        HostKind::Store,
        HostKind::CallStore,
        HostKind::LaunchBeside,
        HostKind::Set,
        HostKind::HangIfP,
        HostKind::WaitAll
    };
    two_hosts.host_operations = 2;
    two_hosts.beside = 2;
    add("two-hosts", two_hosts, 1, 1);
    two_hosts.host = {
        HostKind::CallFlag,
        HostKind::HangIfFlag,
        HostKind::HangIfDone,
        HostKind::AskUntilDone,
        HostKind::SetBefore,
        HostKind::Copy,
        HostKind::WaitCopies
    };
    two_hosts.beside = 1;
    add("two-hosts-that-ask", two_hosts, 1, 1);
    two_hosts.prompt = false;
    add("two-hosts-that-stay", two_hosts, 1, 1);
    // Whatever two things can meet: of each kind of operation, everywhere.
    Bound::Size anything{
        .shapes = {Shape::Blocks, Shape::Block, Shape::Cluster, Shape::Cooperative, Shape::Warps},
        .places =
            {Place::P,
             Place::Q,
             Place::Own,
             Place::Shared,
             Place::Either,
             Place::Found,
             Place::Behind,
             Place::OfFirst,
             Place::InShared},
        .values = {Value::One, Value::Who, Value::Last},
        .rounds = 2
    };
    for (auto kind = Load; kind <= End; kind = static_cast<Kind>(static_cast<int>(kind) + 1)) {
      if (!meets(kind) && kind != Neighbour && kind != Dependents && kind != WaitGrids &&
          kind != Clock) {
        anything.kinds.push_back(kind);
      }
    }
    add("anything", anything, 2, 3);
    add("anything", anything, 3, 2);
    anything.rounds = 0;
    const std::vector<Shape> of_any_number = anything.shapes;
    anything.shapes =
        {Shape::Pairs, Shape::Lanes, Shape::ClusterPairs, Shape::WarpPairs, Shape::Clusters};
    anything.whose_hang = false;
    add("anything", anything, 4, 2);
    anything.shapes = of_any_number;
    anything.alike = false;
    anything.values = {Value::One, Value::Last};
    add("anything-of-each", anything, 2, 2);
    Bound::Size rounds = tickets;
    rounds.shapes = {Shape::Blocks, Shape::Block};
    rounds.values = {Value::One, Value::Two};
    rounds.rounds = 3;
    rounds.whose_hang = false;
    add("tickets", rounds, 2, 3);
    Bound::Size told_apart{
        .kinds = {Load, Exchange, Increment},
        .shapes = {Shape::Block},
        .whose_hang = false
    };
    add("exchanges", told_apart, 2, 3);
    add("roles", roles, 3, 1);
    add("alike", alike, 3, 2);
    add("roles", roles, 2, 2);
    return result;
  }();
  return table;
}

} // namespace heddle::enumeration
