# Instructions that ask the processor what nobody could repeat: `heddle check` and heddle-cc assemble host code with calls in
# their place (instructions.cpp). The assembler reads this file before what the compiler has made of the program. A call
# writes below the stack pointer: so the program is compiled without a red zone there.
.macro rdtsc
  call heddle_rdtsc@PLT
.endm
.macro rdtscp
  call heddle_rdtsc@PLT
  movl $0, %ecx # the number of the processor
.endm
.macro rdrand to
  call heddle_rdrand@PLT
  mov -24(%rsp), \to
  stc # there was a number
.endm
.macro rdseed to
  rdrand \to
.endm
# Clang names the width of the register.
.irp width, w, l, q
.macro rdrand\width to
  rdrand \to
.endm
.macro rdseed\width to
  rdrand \to
.endm
.endr
