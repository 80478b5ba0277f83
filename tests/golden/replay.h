// Replayer: runs a golden form on Heddle's machine, as a grid of blocks of 256 threads.
//
//   Replayer replayer(ptx_text);                    // parses and links the family once, or,
//                                                    // if that fails, every form on its own
//   std::string problem = replayer.run(form, inputs, results);   // empty: ran to the end
#pragma once

#include "form_file.h"
#include "support/kernel_runner.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::golden {

class Replayer {
public:
  explicit Replayer(std::string_view ptx);
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
  struct Runner; // a linked program and its buffers
  std::unique_ptr<Runner> link(std::string_view ptx, std::string& error) const;
  /// The PTX of one form: what stands before the first form, and its own entry.
  std::string alone(const Form& form) const;

  std::string text_;
  std::unique_ptr<Runner> family_; // nullptr: the text does not link as a whole
  std::uint64_t executed_alone_ = 0;
};

} // namespace heddle::golden
