// libFuzzer target: any bytes are a fat binary, an object or an archive, or are refused. The first
// byte says which; objects and archives are taken apart as a linker's input is.
#include "runtime/registration/fatbin.h"
#include "runtime/registration/host_object.h"

#include "fuzzed.h"

namespace {

using namespace heddle;
using namespace heddle::runtime;

void take_apart(Bytes bytes) {
  const auto entries = parse_fatbin(bytes);
  if (!entries) {
    return;
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
}

void take_object_apart(Bytes bytes) {
  (void)is_host_object(bytes);
  if (const auto fatbins = fatbins_of_object(bytes)) {
    for (const Bytes fatbin : *fatbins) {
      take_apart(fatbin);
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 3) {
  case 0:
    take_apart(bytes);
    break;
  case 1:
    take_object_apart(bytes);
    break;
  default:
    (void)is_archive(bytes);
    if (const auto members = members_of_archive(bytes)) {
      for (const Bytes member : *members) {
        take_object_apart(member);
      }
    }
  }
  return 0;
}
