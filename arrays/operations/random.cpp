// Arrays of random numbers. Element i of a call is number i of a stream (refrain/random.hpp).

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/loops.hpp"
#include "operations/checks.hpp"
#include "operations/launching.hpp"
#include "operations/sharing.hpp"
#include "refrain/arrays/session.hpp"
#include "refrain/random.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using namespace detail;

namespace {

enum class Law : std::uint8_t { uniform, normal, integers };

struct RandomCall {
  Law law;
  RandomStream numbers;
  double low, scale;         // of numbers: low + scale x
  std::int64_t least;        // of integers
  std::uint64_t range;       // of integers: how many
  std::vector<Coord> begin;  // elements of each point
};

/// Calls f(i, bits) for elements first .. last - 1.
template <class F>
void each(const RandomStream& numbers, Coord first, Coord last, F&& f) {
  for (Coord i = first; i < last;) {
    const auto two = numbers.pair(static_cast<std::uint64_t>(i) / 2);
    if (i % 2 == 0) f(i++, two[0]);
    if (i < last) f(i++, two[1]);
  }
}

/// Box and Muller: two numbers of two, by this library's own loops, so that each has its bits wherever it stands.
void normal_pairs(const RandomCall& call, Coord first, Coord last, double* to) {
  using kernels::Op;
  constexpr Coord kBlock = 256;
  static const auto loop = [](Op op) { return kernels::find_loop(op, DType::float64); };
  double radius[kBlock], angle[kBlock], cosine[kBlock], sine[kBlock];
  const Coord first_pair = first / 2, end_pair = (last + 1) / 2;
  for (Coord at = first_pair; at < end_pair; at += kBlock) {
    const Coord count = std::min(kBlock, end_pair - at);
    const auto n = static_cast<std::size_t>(count);
    for (Coord p = 0; p < count; ++p) {
      const auto two = call.numbers.pair(static_cast<std::uint64_t>(at + p));
      radius[p] = 1.0 - RandomStream::unit(two[0]);  // not zero
      angle[p] = 2 * std::numbers::pi * RandomStream::unit(two[1]);
    }
    loop(Op::log)(n, radius, radius, nullptr, nullptr);
    for (Coord p = 0; p < count; ++p) radius[p] = std::sqrt(-2.0 * radius[p]);
    loop(Op::cos)(n, cosine, angle, nullptr, nullptr);
    loop(Op::sin)(n, sine, angle, nullptr, nullptr);
    for (Coord p = 0; p < count; ++p) {
      const Coord i = 2 * (at + p);
      if (i >= first) to[i] = call.low + call.scale * (radius[p] * cosine[p]);
      if (i + 1 < last) to[i + 1] = call.low + call.scale * (radius[p] * sine[p]);
    }
  }
}

void run_random(const TaskFrame& frame) {
  const auto& call = *static_cast<const RandomCall*>(frame.values);
  const Coord first = call.begin[frame.rank], last = call.begin[frame.rank + 1];
  std::byte* zero = element_zero(frame, 0);
  auto* numbers = reinterpret_cast<double*>(zero);
  switch (call.law) {
    case Law::uniform:
      each(call.numbers, first, last, [&](Coord i, std::uint64_t bits) {
        numbers[i] = call.low + call.scale * RandomStream::unit(bits);
      });
      break;
    case Law::normal: normal_pairs(call, first, last, numbers); break;
    case Law::integers: {
      auto* integers = reinterpret_cast<std::int64_t*>(zero);
      each(call.numbers, first, last, [&](Coord i, std::uint64_t bits) {
        const std::uint64_t offset = RandomStream::scaled(bits, call.range);
        integers[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(call.least) + offset);
      });
      break;
    }
  }
}

const DynamicTask random_task = plain_task<run_random>("random");

Array random(Session& owner, const Shape& shape, DType type, RandomCall call, const Where& where) {
  detail::SessionImpl& session = owner.impl();
  check_shape(shape, where);
  const Array result = session.make_stored(shape, type, where);
  if (result.size() == 0) return result;
  Storage& storage = *result.value()->storage;
  const Tiling& tiling = storage.tiling();
  call.begin = tiling.begin;
  launch(session, random_task, tiling.tiles(),
         {{&storage, Privilege::write, tiles_of(session, tiling)}}, std::move(call),
         8 * shape.size(), where);
  return result;
}

}  // namespace

Array Random::uniform(const Shape& shape, double low, double high, Where where) {
  RandomCall call{Law::uniform, RandomStream(seed_, stream_++), low, high - low, 0, 0, {}};
  return random(session_, shape, DType::float64, std::move(call), where);
}

Array Random::normal(const Shape& shape, double mean, double deviation, Where where) {
  if (deviation < 0) complain<ValueError>(where, "scale < 0");
  RandomCall call{Law::normal, RandomStream(seed_, stream_++), mean, deviation, 0, 0, {}};
  return random(session_, shape, DType::float64, std::move(call), where);
}

Array Random::integers(const Shape& shape, std::int64_t low, std::int64_t high, Where where) {
  if (low >= high) complain<ValueError>(where, "low >= high");
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  RandomCall call{Law::integers, RandomStream(seed_, stream_++), 0, 0, low, range, {}};
  return random(session_, shape, DType::int64, std::move(call), where);
}

}  // namespace refrain::arrays
