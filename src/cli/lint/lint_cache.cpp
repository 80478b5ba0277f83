#include "cli/lint/lint_cache.h"

#include "cli/file.h"

namespace heddle::cli {

LintCache::LintCache() {
  const auto opened = ProgramCache::open();
  const auto program = hash_file(own_path());
  if (opened && !opened->is_temporary() && program) {
    cache_ = opened->findings();
    program_ = *program;
  }
}

std::string LintCache::key_for_this_program(const std::string& key) const {
  Hasher hash;
  hash.text(program_);
  hash.text(key);
  return hex(hash.finish());
}

std::optional<std::string> LintCache::find(const std::string& key) {
  const auto kept = cache_->find(key_for_this_program(key));
  if (!kept) {
    return std::nullopt;
  }
  const auto text = read_file(*kept);
  return text ? std::optional(*text) : std::nullopt;
}

void LintCache::keep(
    const std::string& key,
    const std::vector<std::string>& files,
    ProgramCache::Time begun,
    const std::string& text
) {
  const std::string own = key_for_this_program(key);
  const auto at = cache_->temporary(own);
  if (!write_file(at, text)) {
    return; // a cache that is full
  }
  const auto kept = cache_->keep(own, files, begun, at);
  if (!kept || *kept == at) {
    std::error_code failure;
    std::filesystem::remove(at, failure); // a file has changed meanwhile
  }
}

} // namespace heddle::cli
