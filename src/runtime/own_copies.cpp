// Copies and fills of this library itself. Under `heddle check` a library stands before libc whose
// memcpy and its kind tell the explorer of each write of the program (hostwatch/interpose.cpp).
// What this library writes is no part of that state (HostState::remembers), and states are copied
// all the time, so its own calls go to libc without a detour: by the names that checked builds
// (_FORTIFY_SOURCE) use, which nobody stands before, with a limit that every size keeps.
//
// In assembly: a compiler that sees such a call takes the limit away, and memcpy calls itself.

// rdi, rsi and rdx stay what they are, rcx is the limit, and the answer is libc's.
#define HEDDLE_OWN(name)                                                                           \
  asm(".text\n"                                                                                    \
      ".globl " #name "\n"                                                                         \
      ".hidden " #name "\n"                                                                        \
      ".type " #name ", @function\n" #name ":\n"                                                   \
      "  mov $-1, %rcx\n"                                                                          \
      "  jmp __" #name "_chk@PLT\n"                                                                \
      ".size " #name ", . - " #name "\n")

HEDDLE_OWN(memcpy);
HEDDLE_OWN(memmove);
HEDDLE_OWN(memset);
