// Replayer: runs a golden form on Heddle's interpreter, warp by warp, and returns its results.
//
//   Replayer replayer("integer", ptx_text);          // parses and links the family once, or,
//                                                    // if that fails, every form on its own
//   std::string problem = replayer.run(form, inputs, results);   // empty: ran to the end
//
// Uses isa directly (Exec::run on one warp at a time), no grid and no engine: the forms need no
// barrier and no other warp. Of lanes that have parted, those in the innermost call and there at the
// lowest instruction go first.
#pragma once

#include "form_file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::golden {

class Replayer {
public:
  Replayer(std::string_view family, std::string_view ptx);
  ~Replayer();

  /// results[j * tuples + t], zero-filled before the run. Answers why the form did not run to its
  /// end (parse and link errors too), or "".
  std::string
  run(const Form& form,
      const std::vector<std::uint64_t>& inputs,
      std::vector<std::uint64_t>& results);
  /// Thread instructions executed so far.
  std::uint64_t executed() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace heddle::golden
