// Target: both readers of ELF files answer any bytes: the one of the command, and the one
// of the audit library, which reads a file.
#include "cli/run/elf.h"

#include "fuzzed.h"
#include "loader/elf_file.h"

int heddle::fuzz::elf(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const auto bytes = std::as_bytes(std::span(data, size));
  int is_accepted = 0;
  if (const auto elf = cli::parse_elf(bytes)) {
    fuzz::expect(cli::is_elf(bytes), "an ELF file that does not begin like one");
    (void)elf->needs("libcudart.so");
    is_accepted = 1;
  }
  const fuzz::File file(fuzz::text_of({data, size}));
  const loader::ElfFile read(file.path().c_str());
  std::size_t letters = 0;
  for (const Elf64_Sym& symbol : read.symbols()) {
    letters += std::string_view(read.name(symbol)).size();
  }
  fuzz::expect(
      read.symbols().empty() || letters <= read.symbols().size() * size,
      "names are too long"
  );
  return is_accepted;
}
