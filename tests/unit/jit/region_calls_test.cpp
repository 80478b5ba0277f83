// Calls of compiled code by compiled code (isa/region_calls.cpp): recursion that lanes leave at
// different depths, calls of other functions in neighbouring lanes, and every way in which such
// calls end in the middle: barriers, deep stacks, faults, used up fuel, memory of the device's
// heap.
#include "unit/jit/compared.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace heddle::test {
namespace {

// `fib` has its result behind a label where all lanes meet; `walk` returns in the middle, in a loop
// and behind its last ret; `even` and `odd` call each other.
constexpr const char* functions =
    ".func (.param .b32 o) odd(.param .b32 n);\n"
    ".func (.param .b32 o) fib(.param .b32 n)\n{ .reg .b32 %x<6>; .reg .pred %y;"
    "ld.param.u32 %x1, [n]; setp.lt.u32 %y, %x1, 2; @%y bra L; sub.u32 %x2, %x1, 1;"
    "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %x2; call (q), fib, (p);"
    "ld.param.b32 %x3, [q]; } sub.u32 %x2, %x1, 2;"
    "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %x2; call (q), fib, (p);"
    "ld.param.b32 %x4, [q]; } add.u32 %x1, %x3, %x4; L: st.param.b32 [o], %x1; ret; }\n"
    ".func (.param .b32 o) even(.param .b32 n)\n{ .reg .b32 %x<4>; .reg .pred %y;"
    "ld.param.u32 %x1, [n]; st.param.b32 [o], 1; setp.eq.u32 %y, %x1, 0; @%y ret;"
    "sub.u32 %x2, %x1, 1; { .param .b32 p; .param .b32 q; st.param.b32 [p], %x2;"
    "call (q), odd, (p); ld.param.b32 %x3, [q]; } st.param.b32 [o], %x3; ret; }\n"
    ".func (.param .b32 o) odd(.param .b32 n)\n{ .reg .b32 %x<4>; .reg .pred %y;"
    "ld.param.u32 %x1, [n]; st.param.b32 [o], 0; setp.eq.u32 %y, %x1, 0; @%y ret;"
    "sub.u32 %x2, %x1, 1; { .param .b32 p; .param .b32 q; st.param.b32 [p], %x2;"
    "call (q), even, (p); ld.param.b32 %x3, [q]; } mad.lo.u32 %x3, %x3, 3, %x1;"
    "st.param.b32 [o], %x3; ret; }\n"
    ".func (.param .b32 o) walk(.param .b32 n, .param .b32 m)\n{ .reg .b32 %x<9>; .reg .pred %y;"
    "ld.param.u32 %x1, [n]; ld.param.u32 %x2, [m]; mov.u32 %x3, 1; bra HEAD;"
    "BODY: mad.lo.u32 %x3, %x3, 5, %x1; st.param.b32 [o], %x3; and.b32 %x4, %x3, 31;"
    "setp.eq.u32 %y, %x4, 7; @%y ret; sub.u32 %x1, %x1, 1; and.b32 %x6, %x3, 3;"
    "setp.eq.u32 %y, %x6, 2; { .param .b32 p; .param .b32 r; .param .b32 q; st.param.b32 [p], %x1;"
    "st.param.b32 [r], %x3; @%y call (q), walk, (p, r); @%y ld.param.b32 %x5, [q]; }"
    "@%y xor.b32 %x3, %x3, %x5; bra HEAD; HEAD: setp.gt.s32 %y, %x1, 0; @%y bra BODY;"
    "xor.b32 %x3, %x3, %x2; and.b32 %x4, %x3, 1; setp.eq.u32 %y, %x4, 0; @%y bra LAST;"
    "st.param.b32 [o], %x3; ret;"
    "LAST: add.u32 %x3, %x3, 9; or.b32 %x2, %x3, 1; bra AGAIN;"
    "AGAIN: st.param.b32 [o], %x2; @%y ret; trap; }\n"
    ".func (.param .b32 o) deep(.param .b32 n)\n{ .reg .b32 %x<4>; .reg .pred %y;"
    "ld.param.u32 %x1, [n]; setp.eq.u32 %y, %x1, 0; mov.u32 %x3, 0; @%y bra L;"
    "sub.u32 %x2, %x1, 1; { .param .b32 p; .param .b32 q; st.param.b32 [p], %x2;"
    "call (q), deep, (p); ld.param.b32 %x3, [q]; } mad.lo.u32 %x3, %x3, 3, %x1;"
    "L: st.param.b32 [o], %x3; ret; }\n";

std::string call(const char* name, const char* argument, const char* result) {
  return fmt::format(
      "{{ .param .b32 p; .param .b32 q; st.param.b32 [p], {}; call (q), {}, (p);"
      "ld.param.b32 {}, [q]; }}\n",
      argument,
      name,
      result
  );
}

TEST(RegionCalls, LanesReturnFromDifferentDepths) {
  for (const char* name : {"fib", "even", "odd"}) {
    same_faults(
        "and.b32 %r1, %r0, 11; mov.u32 %r5, 3;" + call(name, "%r1", "%r2") +
            "add.u32 %r2, %r2, %r1; add.u32 %r2, %r2, %r5; st.global.u32 [%rd4], %r2;",
        functions
    );
  }
  EXPECT_EQ(
      both(call("fib", "13", "%r2") + "st.global.u32 [%rd4], %r2;", {.block = {64}}, functions)
          .out[40],
      233U
  );
}

TEST(RegionCalls, FunctionsThatReturnInManyPlaces) {
  for (const char* argument : {"and.b32 %r1, %r0, 7;", "mov.u32 %r1, 6;", "shr.u32 %r1, %r0, 3;"}) {
    same_faults(
        std::string(argument) +
            "{ .param .b32 p; .param .b32 r; .param .b32 q; st.param.b32 [p], %r1;"
            "st.param.b32 [r], %r0; call (q), walk, (p, r); ld.param.b32 %r2, [q]; }"
            "st.global.u32 [%rd4], %r2;",
        functions
    );
  }
}

// Lanes that part in the kernel call while others wait, in a loop; a call has a guard.
TEST(RegionCalls, WhileOthersWait) {
  same_faults(
      "and.b32 %r1, %r0, 5; mov.u32 %r4, 0; mov.u32 %r5, %r0;"
      "LOOP: and.b32 %r6, %r5, 3; setp.eq.u32 %p1, %r6, 0; @%p1 bra OTHER;" +
          call("fib", "%r6", "%r7") +
          "add.u32 %r4, %r4, %r7; bra NEXT; OTHER:" + call("odd", "%r1", "%r7") +
          "mad.lo.u32 %r4, %r4, 7, %r7; NEXT: setp.gt.u32 %p2, %r6, 1;"
          "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; @%p2 call (q), deep, (p);"
          "@%p2 ld.param.b32 %r7, [q]; } @%p2 add.u32 %r4, %r4, %r7;"
          "add.u32 %r5, %r5, 3; setp.lt.u32 %p3, %r5, 80; @%p3 bra LOOP;"
          "st.global.u32 [%rd4], %r4;",
      functions
  );
}

// More calls within each other than the host's stack is given for, and than a round has fuel.
TEST(RegionCalls, DeepAndLong) {
  same_faults(
      "and.b32 %r1, %r0, 3; mad.lo.u32 %r1, %r1, 300, 500;" + call("deep", "%r1", "%r2") +
          "st.global.u32 [%rd4], %r2;",
      functions
  );
  both(
      "and.b32 %r1, %r0, 1; add.u32 %r1, %r1, 15;" + call("fib", "%r1", "%r2") +
          "st.global.u32 [%rd4], %r2;",
      {.block = {64}},
      functions
  );
}

TEST(RegionCalls, AStackOverflowIsTheInterpreters) {
  const Ran r = both(
      "setp.lt.u32 %p1, %r0, 40; mov.u32 %r1, 20; @!%p1 mov.u32 %r1, -1;" +
          call("deep", "%r1", "%r2") + "st.global.u32 [%rd4], %r2;",
      {.block = {64}},
      functions
  );
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->fault.kind, isa::FaultKind::StackOverflow);
  EXPECT_EQ(r.fault->fault.lane, 8);
}

// The fault is that of a lane some calls deep, whose callers hold values in registers.
TEST(RegionCalls, AFaultInACalledFunction) {
  const std::string reads =
      ".func (.param .b32 o) reads(.param .b32 n, .param .b64 at)\n"
      "{ .reg .b32 %x<5>; .reg .pred %y; .reg .b64 %a<3>; ld.param.u32 %x1, [n];"
      "ld.param.u64 %a1, [at]; ld.global.u32 %x3, [%a1]; setp.eq.u32 %y, %x1, 0; @%y bra L;"
      "sub.u32 %x2, %x1, 1; add.s64 %a1, %a1, 1024; { .param .b32 p; .param .b64 r; .param .b32 q;"
      "st.param.b32 [p], %x2; st.param.b64 [r], %a1; call (q), reads, (p, r);"
      "ld.param.b32 %x4, [q]; } add.u32 %x3, %x3, %x4; L: st.param.b32 [o], %x3; ret; }\n";
  for (const char* depth : {"3", "4", "9"}) {
    same_faults(
        fmt::format(
            "setp.gt.u32 %p1, %r0, 5; mov.u32 %r1, 2; @%p1 mov.u32 %r1, {};"
            "{{ .param .b32 p; .param .b64 r; .param .b32 q; st.param.b32 [p], %r1;"
            "st.param.b64 [r], %rd4; call (q), reads, (p, r); ld.param.b32 %r2, [q]; }}"
            "st.global.u32 [%rd4], %r2;",
            depth
        ),
        reads
    );
  }
}

// Lanes of a warp call other functions, of which some call back by address.
TEST(RegionCalls, ByAddress) {
  const std::string table =
      std::string(functions) +
      ".global .align 8 .u64 table[4] = {fib, even, odd, deep};\n"
      ".func (.param .b32 o) again(.param .b32 n, .param .b64 f)\n"
      "{ .reg .b32 %x<5>; .reg .pred %y; .reg .b64 %a<3>; ld.param.u32 %x1, [n];"
      "ld.param.u64 %a1, [f]; { .param .b32 p; .param .b32 q; st.param.b32 [p], %x1;"
      "P: .callprototype (.param .b32 _) _ (.param .b32 _); call (q), %a1, (p), P;"
      "ld.param.b32 %x3, [q]; } setp.lt.u32 %y, %x1, 2; @%y bra L; sub.u32 %x2, %x1, 2;"
      "{ .param .b32 p; .param .b64 r; .param .b32 q; st.param.b32 [p], %x2;"
      "st.param.b64 [r], %a1; call (q), again, (p, r); ld.param.b32 %x4, [q]; }"
      "mad.lo.u32 %x3, %x3, 7, %x4; L: st.param.b32 [o], %x3; ret; }\n";
  const std::string address = // lanes from 45 on: of no function, if asked for
      "and.b32 %r1, %r0, {}; mul.wide.u32 %rd6, %r1, 8; mov.u64 %rd7, table;"
      "add.s64 %rd6, %rd6, %rd7; ld.global.u64 %rd8, [%rd6]; setp.gt.u32 %p1, %r0, {};"
      "@%p1 mov.u64 %rd8, 77; shr.u32 %r3, %r0, 2;";
  for (const char* lanes : {"3", "1", "0"}) {
    for (const char* last : {"99", "45"}) {
      same_faults(
          fmt::format(fmt::runtime(address), lanes, last) +
              "{ .param .b32 p; .param .b64 r; .param .b32 q; st.param.b32 [p], %r3;"
              "st.param.b64 [r], %rd8; call (q), again, (p, r); ld.param.b32 %r2, [q]; }"
              "st.global.u32 [%rd4], %r2;",
          table
      );
    }
  }
}

// All threads meet some calls deep; those of the first warp have values in the frames above.
TEST(RegionCalls, ABarrierInACalledFunction) {
  const std::string meets =
      ".shared .align 4 .b8 s[1024];\n"
      ".func (.param .b32 o) meets(.param .b32 n, .param .b32 t)\n"
      "{ .reg .b32 %x<9>; .reg .pred %y; ld.param.u32 %x1, [n]; ld.param.u32 %x2, [t];"
      "setp.eq.u32 %y, %x1, 0; mov.u32 %x3, 5; @%y bra L; mov.u32 %x4, s; shl.b32 %x5, %x2, 2;"
      "add.u32 %x5, %x5, %x4; st.shared.u32 [%x5], %x1; bar.sync 0; xor.b32 %x6, %x2, 33;"
      "shl.b32 %x6, %x6, 2; add.u32 %x6, %x6, %x4; ld.shared.u32 %x7, [%x6]; bar.sync 0;"
      "sub.u32 %x1, %x1, 1; { .param .b32 p; .param .b32 r; .param .b32 q; st.param.b32 [p], %x1;"
      "st.param.b32 [r], %x2; call (q), meets, (p, r); ld.param.b32 %x3, [q]; }"
      "mad.lo.u32 %x3, %x3, 3, %x7; add.u32 %x3, %x3, %x2; bar.sync 0;"
      "L: st.param.b32 [o], %x3; ret; }\n";
  both(
      "mov.u32 %r1, 4; mul.lo.u32 %r5, %r0, 3; bar.sync 0;"
      "{ .param .b32 p; .param .b32 r; .param .b32 q; st.param.b32 [p], %r1;"
      "st.param.b32 [r], %r0; call (q), meets, (p, r); ld.param.b32 %r2, [q]; }"
      "add.u32 %r2, %r2, %r5; bar.sync 0; st.global.u32 [%rd4], %r2;",
      {.grid = {2}, .block = {64}},
      meets
  );
}

// A thread recurses, without a loop, until another one of its warp, or of its block, says stop.
TEST(RegionCalls, EndlessRecursionLetsOthersGoOn) {
  const std::string waits =
      ".func (.param .b32 o) waits(.param .b32 n, .param .b64 at)\n"
      "{ .reg .b32 %x<5>; .reg .pred %y; .reg .b64 %a<3>; ld.param.u32 %x1, [n];"
      "ld.param.u64 %a1, [at]; ld.volatile.global.u32 %x3, [%a1]; setp.ne.u32 %y, %x3, 0;"
      "@%y bra L; setp.eq.u32 %y, %x1, 0; @%y bra L; sub.u32 %x2, %x1, 1;\n"
      "{ .param .b32 p; .param .b64 r; .param .b32 q; st.param.b32 [p], %x2;"
      "st.param.b64 [r], %a1; call (q), waits, (p, r); ld.param.b32 %x3, [q]; }\n"
      "{ .param .b32 p; .param .b64 r; .param .b32 q; st.param.b32 [p], %x2;"
      "st.param.b64 [r], %a1; call (q), waits, (p, r); ld.param.b32 %x3, [q]; }\n"
      "L: st.param.b32 [o], %x3; ret; }\n";
  for (const char* other : {"1", "33"}) {
    const Ran r = both(
        fmt::format(
            "setp.eq.u32 %p1, %r0, {}; @%p1 bra SAY; mov.u32 %r1, 200;"
            "{{ .param .b32 p; .param .b64 r; .param .b32 q; st.param.b32 [p], %r1;"
            "st.param.b64 [r], %rd2; call (q), waits, (p, r); ld.param.b32 %r2, [q]; }}"
            "st.global.u32 [%rd4+512], %r2; bra END;"
            "SAY: st.volatile.global.u32 [%rd2], 9; END:",
            other
        ),
        {.block = {64}},
        waits
    );
    EXPECT_EQ(r.out[128], 9U);
  }
}

constexpr const char* heap = ".extern .func (.param .b64 o) malloc(.param .b64 n);\n"
                             ".extern .func free(.param .b64 p);\n";

/// %rd8 = malloc(bytes).
std::string allocate(const char* bytes) {
  return fmt::format(
      "{{ .param .b64 p; .param .b64 q; st.param.b64 [p], {}; call (q), malloc, (p);"
      "ld.param.b64 %rd8, [q]; }}\n",
      bytes
  );
}
std::string release(const char* address) {
  return fmt::format("{{ .param .b64 p; st.param.b64 [p], {}; call free, (p); }}\n", address);
}

// Accesses before and after, by the same instructions, of memory that comes and goes.
TEST(RegionCalls, TheHeap) {
  same_faults(
      "mov.u32 %r4, 0; mov.u32 %r5, %r0; LOOP: and.b32 %r6, %r5, 3; setp.eq.u32 %p1, %r6, 2;"
      "@%p1 bra NEXT; add.u32 %r7, %r5, 4; cvt.u64.u32 %rd6, %r7;" +
          allocate("%rd6") + "st.u32 [%rd8], %r5; ld.u32 %r8, [%rd8]; add.u32 %r4, %r4, %r8;" +
          release("%rd8") +
          "NEXT: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 70; @%p2 bra LOOP;"
          "st.global.u32 [%rd4], %r4;",
      heap
  );
}

/// Groups of 32 lanes: others allocate in another order, and find other addresses.
const std::vector<machine::LaunchConfig> whole_warps = {{.block = {64}}, {.block = {50}}};

TEST(RegionCalls, MisuseOfTheHeap) {
  for (const std::string& wrong : {
           release("%rd8") + "ld.u32 %r8, [%rd8];", // freed, by an instruction that has found it
           release("%rd8") + release("%rd8"),
           std::string("ld.u32 %r8, [%rd8+16];"),
           release("%rd3"),
           std::string("add.s64 %rd8, %rd8, 4;") + release("%rd8"),
       }) {
    same_faults(
        "mov.u32 %r5, 0; LOOP:" + allocate("16") +
            "st.u32 [%rd8], %r0; ld.u32 %r8, [%rd8]; setp.eq.u32 %p1, %r5, 3; @!%p1 bra NEXT;" +
            wrong + "NEXT: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 6; @%p2 bra LOOP;",
        heap,
        whole_warps
    );
  }
}

// Thread n frees what its neighbour has allocated, who then reads it.
TEST(RegionCalls, TheHeapOfOthers) {
  for (const char* reads : {"", "ld.u32 %r8, [%rd8];"}) {
    same_faults(
        allocate("32") +
            "st.u32 [%rd8], %r0; mov.u32 %r1, s; shl.b32 %r2, %r0, 3; add.u32 %r2, %r2, %r1;"
            "st.shared.u64 [%r2], %rd8; bar.sync 0; xor.b32 %r3, %r0, 1; shl.b32 %r3, %r3, 3;"
            "add.u32 %r3, %r3, %r1; ld.shared.u64 %rd9, [%r3]; ld.u32 %r8, [%rd9];"
            "setp.lt.u32 %p1, %r0, 8; @!%p1 bra END;" +
            release("%rd9") + "END: bar.sync 0;" + reads + "st.global.u32 [%rd4], %r8;",
        std::string(heap) + ".shared .align 8 .b8 s[1024];",
        whole_warps
    );
  }
}

TEST(RegionCalls, AHeapThatIsFullGivesNull) {
  const Ran r = both(
      "mov.u32 %r4, 0; LOOP:" + allocate("3000000") +
          "setp.ne.u64 %p1, %rd8, 0; @%p1 add.u32 %r4, %r4, 1; @%p1 bra LOOP;"
          "red.global.add.u32 [%rd2], %r4;",
      {.block = {32}},
      heap
  );
  EXPECT_EQ(r.out[0], 2U);
}

} // namespace
} // namespace heddle::test
