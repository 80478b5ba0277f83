/* What heddle-cc adds to every object that it has compiled: the names of CUDA's runtime library and
   of the instrumentation, each a jump through a slot.

   An object that carries its own definitions can be linked by any command line, without a flag: a
   linker looks no further for a name that is defined, so a static cudart named there is left out.
   The definitions are weak (every object has them) and hidden (nobody outside the linked file sees
   them). The first call of a name asks the loader for the real function: Heddle's libraries, which
   `heddle run` and `heddle check` load before the program.

   stub_names.inc is made from what those libraries export. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Also marks the linked file: `heddle` looks for a section of this name, and for .heddle_cc_12, which
   objects of CUDA 12 have: their functions are those of libcudart.so.12. */
#define SECTION __attribute__((section(".heddle_cc"), used))
static const char runtime_library[] SECTION = "libcudart.so.13";
static const char runtime_library_12[] SECTION = "libcudart.so.12";
static const char instrumentation_library[] SECTION = "libtsan.so.2";
#ifdef HEDDLE_CUDA_12
__attribute__((section(".heddle_cc_12"), used)) static const char cuda_12[] = "12";
#endif

/* Finds `name`, remembers it in `slot`. */
__attribute__((used)) static void* heddle_cc_resolve(const char* name, void** slot) {
  const char* library =
      strncmp(name, "__tsan", 6) == 0 ? instrumentation_library : runtime_library;
  void* handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  if (handle == NULL && library == runtime_library) { /* of one process, one libcudart */
    handle = dlopen(runtime_library_12, RTLD_NOW | RTLD_NOLOAD);
  }
  void* function = handle != NULL ? dlsym(handle, name) : NULL;
  if (function == NULL) {
    fprintf(
        stderr,
        "this program was compiled with heddle-cc: start it with 'heddle run' or 'heddle check' "
        "(%s is not in %s)\n",
        name,
        library
    );
    _Exit(2);
  }
  *slot = function;
  return function;
}

/* A name: through its slot. The slot first leads to code that calls heddle_cc_resolve with all
   registers kept that may hold arguments, and then goes where the call wanted to go. */
__asm__(".macro heddle_cc_name name\n"
        "  .pushsection .text\n"
        "  .weak \\name\n"
        "  .hidden \\name\n"
        "  .type \\name, @function\n"
        "\\name:\n"
        "  jmp *.Lslot_\\name(%rip)\n"
        "  .size \\name, . - \\name\n"
        ".Lfirst_\\name:\n"
        "  leaq .Lslot_\\name(%rip), %r11\n"
        "  pushq %r11\n"
        "  leaq .Ltext_\\name(%rip), %r11\n"
        "  pushq %r11\n"
        "  jmp .Lheddle_cc_first\n"
        "  .popsection\n"
        "  .pushsection .heddle_cc, \"a\", @progbits\n"
        ".Ltext_\\name: .asciz \"\\name\"\n"
        "  .popsection\n"
        "  .pushsection .data\n"
        "  .balign 8\n"
        ".Lslot_\\name: .quad .Lfirst_\\name\n"
        "  .popsection\n"
        ".endm\n"
        "  .pushsection .text\n"
        ".Lheddle_cc_first:\n"
        "  subq $0xb8, %rsp\n" /* makes the stack pointer a multiple of 16 */
        "  movq %rdi, 0x00(%rsp)\n"
        "  movq %rsi, 0x08(%rsp)\n"
        "  movq %rdx, 0x10(%rsp)\n"
        "  movq %rcx, 0x18(%rsp)\n"
        "  movq %r8, 0x20(%rsp)\n"
        "  movq %r9, 0x28(%rsp)\n"
        "  movq %rax, 0x30(%rsp)\n" /* how many vector registers, where arguments vary */
        "  movups %xmm0, 0x38(%rsp)\n"
        "  movups %xmm1, 0x48(%rsp)\n"
        "  movups %xmm2, 0x58(%rsp)\n"
        "  movups %xmm3, 0x68(%rsp)\n"
        "  movups %xmm4, 0x78(%rsp)\n"
        "  movups %xmm5, 0x88(%rsp)\n"
        "  movups %xmm6, 0x98(%rsp)\n"
        "  movups %xmm7, 0xa8(%rsp)\n"
        "  movq 0xb8(%rsp), %rdi\n"
        "  movq 0xc0(%rsp), %rsi\n"
        "  call heddle_cc_resolve\n"
        "  movq %rax, %r11\n"
        "  movq 0x00(%rsp), %rdi\n"
        "  movq 0x08(%rsp), %rsi\n"
        "  movq 0x10(%rsp), %rdx\n"
        "  movq 0x18(%rsp), %rcx\n"
        "  movq 0x20(%rsp), %r8\n"
        "  movq 0x28(%rsp), %r9\n"
        "  movq 0x30(%rsp), %rax\n"
        "  movups 0x38(%rsp), %xmm0\n"
        "  movups 0x48(%rsp), %xmm1\n"
        "  movups 0x58(%rsp), %xmm2\n"
        "  movups 0x68(%rsp), %xmm3\n"
        "  movups 0x78(%rsp), %xmm4\n"
        "  movups 0x88(%rsp), %xmm5\n"
        "  movups 0x98(%rsp), %xmm6\n"
        "  movups 0xa8(%rsp), %xmm7\n"
        "  addq $0xc8, %rsp\n"
        "  jmp *%r11\n"
        "  .popsection\n");
/* What host code calls in the place of an instruction (hostwatch/instructions.s) may change nothing
   but what that would: so a slot is filled before the program begins, and leads to the instruction
   where Heddle's library is not loaded. rdrand's result lies below the return address. */
__asm__(".macro heddle_cc_instruction name, own:vararg\n"
        "  .pushsection .text\n"
        "  .weak \\name\n"
        "  .hidden \\name\n"
        "  .type \\name, @function\n"
        "\\name:\n"
        "  jmp *\\name\\()_slot(%rip)\n"
        "  .size \\name, . - \\name\n"
        ".Lown_\\name:\n"
        "  \\own\n"
        "  .popsection\n"
        "  .pushsection .data\n"
        "  .balign 8\n"
        "\\name\\()_slot: .quad .Lown_\\name\n"
        "  .popsection\n"
        ".endm\n"
        ".macro heddle_cc_own_rdrand\n"
        "  pushq %rax\n"
        "  pushq $0\n"
        "  pushfq\n"
        "1: rdrand %rax\n"
        "  jnc 1b\n"
        "  movq %rax, 8(%rsp)\n"
        "  popfq\n"
        "  leaq 8(%rsp), %rsp\n"
        "  popq %rax\n"
        "  ret\n"
        ".endm\n"
        "heddle_cc_instruction heddle_rdtsc, rdtsc; ret\n"
        "heddle_cc_instruction heddle_rdrand, heddle_cc_own_rdrand\n");
extern void *heddle_rdtsc_slot, *heddle_rdrand_slot; /* of this object */
__attribute__((constructor(101))) static void heddle_cc_instructions(void) {
  void* handle = dlopen(instrumentation_library, RTLD_NOW | RTLD_NOLOAD);
  void* rdtsc = handle != NULL ? dlsym(handle, "heddle_rdtsc") : NULL;
  void* rdrand = handle != NULL ? dlsym(handle, "heddle_rdrand") : NULL;
  if (rdtsc != NULL && rdrand != NULL) {
    heddle_rdtsc_slot = rdtsc;
    heddle_rdrand_slot = rdrand;
  }
}
#include "stub_names.inc"
