// Which memory orders the atomics of a program have, by their places in the source, and how it
// reads with the order of one of them changed: for `heddle check --explain-order`.
//
//   TRY(std::unique_ptr<ptx::Module> module, parse_with_orders(text, name));
//
// Does what ptx::parse() does. With HEDDLE_ORDERS_TO the atomics are written there, a line each:
//
//   KIND ORDER LINE COLUMN FILE          store release 12 5 /home/me/ring.cu
//
// KIND: load, store, update or fence; ORDER: relaxed (of a fence: there is none), acquire, release,
// acq_rel, seq_cst, or `several`: that is not one atomic. All instructions that were made of one
// place are one atomic: what libcu++ inlines there, in whatever kernel. HEDDLE_ORDER is such a
// line, with the order that the atomic is to have; `trap` in its place: whoever comes to it ends
// the program.
//
// May be wrong: two atomics in one expression on one line may have one place (then: several). Code
// without line numbers has no places and is not listed.
#pragma once

#include "base/result.h"
#include "ptx/module.h"

#include <memory>
#include <string>

namespace heddle::runtime {

Result<std::unique_ptr<ptx::Module>>
parse_with_orders(const std::string& text, const std::string& name);

} // namespace heddle::runtime
