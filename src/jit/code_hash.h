// hash_code(): a fingerprint of everything that a region depends on, the same in every process.
//
// Two Codes of the same hash have ops of the same meaning at the same indices, with operands at the
// same places. What differs from process to process is left out, and compiled code reads it when it
// runs: addresses of variables and functions (Code::addresses; accesses without a base register).
// Beside the name in the program cache it is the check that an image fits: if the front end has
// made something else of the PTX in heddle-jit than here, the image is refused.
#pragma once

#include "base/hash.h"
#include "isa/op.h"

namespace heddle::jit {

Hash128 hash_code(const isa::Code& code);
/// Of this build of Heddle: images of another one are refused.
Hash128 build_hash();
/// x86-64-v3, which Heddle needs, or v4 (AVX-512): for what images are made here.
int processor_level();

/// An access to a variable of the program: Op::imm is its address, which differs between processes.
bool has_absolute_address(const isa::Code& code, const isa::Op& op);
bool is_call(const isa::Code& code, const isa::Op& op);

} // namespace heddle::jit
