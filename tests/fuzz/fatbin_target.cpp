// Target: any bytes are a fat binary, an object or an archive, or are refused. The first
// byte says which; objects and archives are taken apart as a linker's input is.
#include "runtime/registration/fatbin.h"
#include "runtime/registration/host_object.h"

#include "fuzzed.h"

namespace {

using namespace heddle;
using namespace heddle::runtime;

bool take_apart(Bytes bytes) {
  const auto entries = parse_fatbin(bytes);
  if (!entries) {
    return false;
  }
  for (const FatbinEntry& entry : *entries) {
    fuzz::expect(
        entry.payload.empty() ||
            (entry.payload.data() >= bytes.data() &&
             entry.payload.data() + entry.payload.size() <= bytes.data() + bytes.size()),
        "a payload outside of the fat binary"
    );
    (void)decode(entry);
  }
  for (const int arch : {75, 90, 120}) {
    (void)select_ptx(*entries, arch);
  }
  return true;
}

bool take_object_apart(Bytes bytes) {
  bool is_whole = false;
  (void)is_host_object(bytes);
  if (const auto fatbins = fatbins_of_object(bytes)) {
    for (const Bytes fatbin : *fatbins) {
      is_whole = take_apart(fatbin) || is_whole;
    }
  }
  return is_whole;
}

} // namespace

int heddle::fuzz::fatbin(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 3) {
  case 0:
    return take_apart(bytes) ? 1 : 0;
  case 1:
    return take_object_apart(bytes) ? 1 : 0;
  default:
    bool is_whole = false;
    (void)is_archive(bytes);
    if (const auto members = members_of_archive(bytes)) {
      for (const Bytes member : *members) {
        is_whole = take_object_apart(member) || is_whole;
      }
    }
    return is_whole ? 1 : 0;
  }
}
