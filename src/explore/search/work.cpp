// Implements work.h: counts and values of 32 bits, one after the other.
#include "explore/search/work.h"

#include <bit>
#include <cstring>

namespace heddle::explore {

namespace {

class Writer {
public:
  void word(std::uint32_t value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
  }
  void long_word(std::uint64_t value) {
    word(static_cast<std::uint32_t>(value));
    word(static_cast<std::uint32_t>(value >> 32));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

private:
  std::vector<std::byte> bytes_;
};

class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  std::uint32_t word() {
    std::uint32_t value = 0;
    if (rest_.size() < sizeof value) {
      failed_ = true;
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::uint64_t long_word() {
    const std::uint64_t low = word();
    return low | std::uint64_t{word()} << 32;
  }
  /// Of a list that follows, with elements of at least one word.
  std::uint32_t count() {
    const std::uint32_t count = word();
    failed_ = failed_ || count > rest_.size() / sizeof count;
    return failed_ ? 0 : count;
  }
  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }
  std::span<const std::byte> rest() const { return rest_; }

private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

} // namespace

std::vector<std::byte> encode(const Work& work) {
  Writer out;
  out.word(static_cast<std::uint32_t>(work.steps.size()));
  for (const Work::Step& step : work.steps) {
    out.word(step.choice);
    out.word(step.check);
    out.word(step.state);
    out.word(step.width);
    out.word(step.alike);
  }
  out.word(static_cast<std::uint32_t>(work.open.size()));
  for (const Work::Open& open : work.open) {
    out.word(open.step);
    out.word(open.claimer);
    out.long_word(open.signature);
    out.word(static_cast<std::uint32_t>(open.choices.size()));
    for (const std::uint32_t choice : open.choices) {
      out.word(choice);
    }
  }
  out.long_word(work.end.low);
  out.long_word(work.end.high);
  return out.take();
}

std::optional<Work> decode(std::span<const std::byte> bytes) {
  Reader in(bytes);
  Work work;
  work.steps.resize(in.count());
  for (Work::Step& step : work.steps) {
    step.choice = in.word();
    step.check = in.word();
    step.state = in.word();
    step.width = in.word();
    step.alike = in.word();
  }
  work.open.resize(in.count());
  for (Work::Open& open : work.open) {
    open.step = in.word();
    open.claimer = in.word();
    open.signature = in.long_word();
    open.choices.resize(in.count());
    for (std::uint32_t& choice : open.choices) {
      choice = in.word();
    }
    if (open.step > work.steps.size()) {
      return std::nullopt;
    }
  }
  work.end.low = in.long_word();
  work.end.high = in.long_word();
  return in.failed() || !in.at_end() ? std::nullopt : std::optional(std::move(work));
}

std::vector<std::byte> encode(const Errand& errand) {
  Writer out;
  out.word(static_cast<std::uint32_t>(errand.way.size()));
  for (const Errand::Step& step : errand.way) {
    out.word(step.choice);
    out.word(step.check);
  }
  out.long_word(errand.base.low);
  out.long_word(errand.base.high);
  out.long_word(std::bit_cast<std::uint64_t>(errand.weight));
  std::vector<std::byte> bytes = out.take();
  const std::vector<std::byte> work = encode(errand.work);
  bytes.insert(bytes.end(), work.begin(), work.end());
  return bytes;
}

std::optional<Errand> decode_errand(std::span<const std::byte> bytes) {
  Reader in(bytes);
  Errand errand;
  errand.way.resize(in.count());
  for (Errand::Step& step : errand.way) {
    step.choice = in.word();
    step.check = in.word();
  }
  errand.base.low = in.long_word();
  errand.base.high = in.long_word();
  errand.weight = std::bit_cast<double>(in.long_word());
  auto work = in.failed() ? std::nullopt : decode(in.rest());
  if (!work) {
    return std::nullopt;
  }
  errand.work = *std::move(work);
  return errand;
}

} // namespace heddle::explore
