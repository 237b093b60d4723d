#include "autotrace/streams.hpp"

#include <string>
#include <unordered_map>

#include "support/clock.hpp"
#include "support/streams.hpp"

namespace refrain::bench {

const std::vector<AdversarialStream> adversarial_streams{
    {"random_2", true},       {"random_3", true},        {"random_100", false},
    {"distinct", false},      {"thue_morse", true},      {"fibonacci", true},
    {"one_token", true},      {"period_doubling", true}, {"drifting", true},
    {"beyond_history", false}};

namespace {

constexpr Field<double> value{"value"};
constexpr std::uint32_t parts = 300;
/// So many pairs of two different parts, an i and one of those behind the opposite one.
constexpr std::uint32_t pairs = parts * (parts / 2);

test::Stream stream_of(const std::string& name, std::size_t size) {
  if (name != "beyond_history") return test::make_stream(name, size, 1);
  test::Stream stream(size);
  const std::size_t body = Options{}.autotrace_history + 1;
  for (std::size_t i = 0; i < size; ++i) stream[i] = i % body;
  return stream;
}

}  // namespace

std::vector<std::uint32_t> tokens_of(const AdversarialStream& stream, std::size_t size) {
  std::vector<std::uint32_t> tokens;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (const std::uint64_t token : stream_of(stream.name, size)) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    tokens.push_back(numbers.try_emplace(token, next).first->second);
  }
  return tokens;
}

void Touch::operator()(const ReadWrite<double>&, const Read<double>&) const {
  if (ns == 0) return;
  const std::int64_t end = now_ns() + ns;
  while (now_ns() < end) {}
}

StreamProgram::StreamProgram(Context& context, std::int64_t body_ns)
    : context_(context), touch_{"touch", Touch{body_ns}} {
  const auto region = context.region(Rect1{0, parts - 1}, value);
  const auto pieces = context.blocks(region, parts);
  for (std::uint32_t i = 0; i < parts; ++i) parts_.push_back(pieces(i));
  context.fill(region, value, 0.0);
}

void StreamProgram::launch(std::span<const std::uint32_t> tokens) {
  for (const std::uint32_t token : tokens) {
    const std::uint32_t pair = token % pairs;
    const std::uint32_t i = pair % parts;
    const std::uint32_t j = (i + parts / 2 + pair / parts) % parts;
    context_.launch(touch_, parts_[i][value], parts_[j][value]);
  }
  context_.fence();
}

}  // namespace refrain::bench
