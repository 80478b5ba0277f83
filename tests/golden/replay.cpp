// Implements replay.h on the engine, with one worker thread.
#include "replay.h"

#if defined(HEDDLE_COMPILED)
#include "support/compiled.h"
#endif

#include <fmt/format.h>

#include <cstring>

namespace heddle::golden {
namespace {

constexpr std::uint32_t threads = 256; // per block, as recorded

std::string describe(const machine::FaultReport& report) {
  using Kind = machine::FaultReport::Kind;
  std::string_view what = report.kind == Kind::Unsupported ? "unsupported"
                          : report.kind == Kind::Fault     ? "fault"
                                                           : "hang";
  return fmt::format(
      "{}: {} (kind {}, address {:#x}, {} bytes) at '{}'",
      what,
      report.fault.text,
      static_cast<int>(report.fault.kind),
      report.fault.address,
      report.fault.bytes,
      report.instruction
  );
}

machine::EngineOptions options() {
#if defined(HEDDLE_COMPILED) // every kernel as machine code
  machine::EngineOptions options = test::compiled();
#else
  machine::EngineOptions options;
#endif
  options.workers = 1;
  return options;
}

} // namespace

struct Replayer::Runner {
  explicit Runner(std::string_view ptx) : kernels(ptx, options()) {}

  test::KernelRunner kernels;
  test::KernelRunner::Buffer<std::uint64_t> input =
      kernels.buffer<std::uint64_t>(8 * exhaustive_tuples);
  test::KernelRunner::Buffer<std::uint64_t> output =
      kernels.buffer<std::uint64_t>(8 * exhaustive_tuples);
};

Replayer::Replayer(std::string_view ptx) : text_(ptx) {
  std::string error;
  family_ = link(text_, error);
}
Replayer::~Replayer() = default;

std::unique_ptr<Replayer::Runner> Replayer::link(std::string_view ptx, std::string& error) const {
  try {
    return std::make_unique<Runner>(ptx);
  } catch (const std::runtime_error& e) {
    error = e.what();
    return nullptr;
  }
}

std::string Replayer::alone(const Form& form) const {
  constexpr std::string_view start = "// form ";
  std::size_t at = text_.find(std::string(start) + form.name + " ");
  std::size_t end = text_.find(start, at + 1);
  return text_.substr(0, text_.find(start)) + text_.substr(at, end - at);
}

std::uint64_t Replayer::executed() const {
  return executed_alone_ + (family_ != nullptr ? family_->kernels.engine().executed() : 0);
}

std::string Replayer::run(
    const Form& form,
    const std::vector<std::uint64_t>& inputs,
    std::vector<std::uint64_t>& results
) {
  std::string error;
  auto own = family_ != nullptr ? nullptr : link(alone(form), error);
  Runner* runner = family_ != nullptr ? family_.get() : own.get();
  if (runner == nullptr) {
    return error;
  }
  results.assign(form.out_bytes.size() * form.tuples, 0);
  std::memcpy(runner->input.data, inputs.data(), inputs.size() * 8);
  std::memset(runner->output.data, 0, results.size() * 8);
  auto outcome = runner->kernels.launch(
      form.name,
      {.grid = {form.tuples / threads}, .block = {threads}},
      {runner->input.address, runner->output.address}
  );
  if (own != nullptr) {
    executed_alone_ += own->kernels.engine().executed();
  }
  if (!outcome.error.empty()) {
    return outcome.error;
  }
  if (outcome.fault) {
    return describe(*outcome.fault);
  }
  std::memcpy(results.data(), runner->output.data, results.size() * 8);
  return {};
}

} // namespace heddle::golden
