// What is called instead of rdtsc, rdtscp, rdrand and rdseed in host code that `heddle check`
// compiles (instructions.s): a clock, and random numbers, as if the program had asked the C
// library.
//
// May miss: instructions of libraries, and in programs that somebody else has compiled.
#include "hostwatch/answers.h"
#include "hostwatch/hooks_internal.h"

#include <sys/random.h>
#include <x86intrin.h>

#include <cstdint>

// They change nothing but what the instructions would. The result lies in a slot below the return
// address, from where rdtsc's gets into its registers and the macro takes the other one's. 0xe7 is
// what a call may change of the processor's further state: x87, SSE, AVX, AVX-512.
asm(R"(
.macro heddle_instead_of name, function
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq $0
  pushfq
  pushq %rax
  pushq %rdx
  pushq %rcx
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  subq $4096, %rsp
  andq $-64, %rsp
  cld
  leaq 512(%rsp), %rdi
  movl $8, %ecx
  xorl %eax, %eax
  rep stosq
  movl $0xe7, %eax
  xorl %edx, %edx
  xsave64 (%rsp)
  movq 8(%rbp), %rdi
  call \function
  movq %rax, -8(%rbp)
  movl $0xe7, %eax
  xorl %edx, %edx
  xrstor64 (%rsp)
  leaq -88(%rbp), %rsp
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rcx
  popq %rdx
  popq %rax
.endm
.macro heddle_return name
  popfq
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size \name, . - \name
.endm

.text
heddle_instead_of heddle_rdtsc, heddle_cycles
  movl -8(%rbp), %eax
  movl -4(%rbp), %edx
heddle_return heddle_rdtsc
heddle_instead_of heddle_rdrand, heddle_random
heddle_return heddle_rdrand
)");

using namespace heddle::hostwatch;

#define HEDDLE_OF_ASSEMBLY extern "C" __attribute__((visibility("hidden"), used))

HEDDLE_OF_ASSEMBLY std::uint64_t heddle_cycles(const void*) {
  std::uint64_t shows = 0;
  return look(CLOCK_MONOTONIC, &shows) ? shows * HeddleCyclesPerNanosecond : __rdtsc();
}

HEDDLE_OF_ASSEMBLY std::uint64_t heddle_random(const void* pc) {
  std::uint64_t word = 0;
  if (!give_random(&word, sizeof word, pc)) {
    (void)!::getrandom(&word, sizeof word, 0);
  }
  return word;
}
