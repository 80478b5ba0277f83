// The cache of `heddle lint`: a file whose source, included files, flags and tool are the same as
// in an earlier run has the same findings.
//
//   LintCache cache;                       // $XDG_CACHE_HOME/heddle/lint
//   request.kept = cache.is_usable() ? &cache : nullptr;
#pragma once

#include "cli/compile/program_cache.h"
#include "lint/lint.h"

#include <optional>

namespace heddle::cli {

class LintCache : public lint::KeptResults {
public:
  LintCache();
  /// False without a cache folder that outlives this process.
  bool is_usable() const { return cache_.has_value(); }
  std::optional<std::string> find(const std::string& key) override;
  void keep(
      const std::string& key,
      const std::vector<std::string>& files,
      ProgramCache::Time begun,
      const std::string& text
  ) override;

private:
  std::string key_for_this_program(const std::string& key) const;

  std::optional<ProgramCache> cache_;
  std::string program_; // which heddle-lint this is
};

} // namespace heddle::cli
