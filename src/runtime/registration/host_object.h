// Device code in what a host compiler and `ar` have made: `nvcc -dc` leaves fat binaries in
// sections of an ELF file, and a static library is an archive of such files.
//
//   TRY(const auto fatbins, fatbins_of_object(bytes));
//
// Wrong only in refusing: an archive's members are all taken, not only those that somebody refers
// to.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <span>
#include <vector>

namespace heddle::runtime {

using Bytes = std::span<const std::byte>;

/// An x86-64 ELF file, as opposed to a cubin, which is ELF too.
bool is_host_object(Bytes bytes);
bool is_archive(Bytes bytes);

/// The fat binaries in the sections of an object. Input error: the file is damaged.
Result<std::vector<Bytes>> fatbins_of_object(Bytes bytes);
/// The members of an archive, without its tables of names and symbols.
Result<std::vector<Bytes>> members_of_archive(Bytes bytes);

} // namespace heddle::runtime
