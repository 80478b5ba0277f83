// Which instructions make accesses that may be *owned*: those that conflict only with accesses of
// the same thread or block ([RED-OWNED]). A thread that has made one keeps its number:
//
//   if (may_be_owned(function, instruction, learned)) …
#pragma once

#include "memory/address_space.h"
#include "ptx/module.h"
#include "reduce/learned.h"

#include <cstdint>

namespace heddle::reduce {

/// The member of a Learned set that the instruction is: a number below 64, the same in every
/// process.
unsigned bucket_of(const ptx::Function& function, std::uint32_t instruction);

/// The member of Learned::places that an access to this address is, as a set: 4 bytes of global
/// memory are one place. All of them for memory elsewhere, whose addresses are others in each
/// execution, or are the same in each block.
std::uint64_t places_of(memory::Address address);
/// The same of all bytes of an access.
std::uint64_t places_of(memory::Address address, std::uint32_t bytes);

/// The same of Learned::deciding. Two stores of a function share a number only if it has more than
/// 64.
unsigned store_bucket_of(const ptx::Function& function, std::uint32_t instruction);

/// What an access does to its place, whatever the result is used for. Equal kinds commute, but for
/// `Other`; greater numbers are updates that commute with those of the same number. Sums of
/// floating-point numbers are none of these: each of them rounds.
enum AccessKind : std::uint32_t {
  Other = 0,
  Read = 1
};
std::uint32_t access_kind(const ptx::Instruction& instruction, bool floats_commute = false);
/// Do two accesses to places that overlap commute? `same_place`: these are even the same bytes.
inline bool kinds_commute(std::uint32_t a, std::uint32_t b, bool same_place) {
  return a == b && a != AccessKind::Other && (a == AccessKind::Read || same_place);
}

/// May the instruction's accesses be owned? Errs to the safe side: says so of updates that turn out
/// to commute because nobody uses their result.
bool may_be_owned(const ptx::Function& function, std::uint32_t instruction, const Learned& learned);

} // namespace heddle::reduce
