// The bitcode of the handlers, as part of the program: jit/handlers.h.
  .section .rodata
  .globl heddle_handlers_begin
  .globl heddle_handlers_end
  .p2align 4
heddle_handlers_begin:
  .incbin HEDDLE_HANDLERS
heddle_handlers_end:
  .section .note.GNU-stack,"",@progbits
