#include "oracle/support/replayed_times.hpp"

#include <cstdint>

#include "oracle/time_groups.hpp"

namespace refrain::test {

using oracle::Delays;
using oracle::Grammar;
using oracle::TimeGroups;
using oracle::Use;

namespace {

struct Walk {
  const Grammar& grammar;
  unsigned enclosing;
  std::vector<std::uint32_t> path = {};  // of uses, the innermost last
  std::vector<Delays::Context> found = {};

  /// `again`: of the first event.
  void rule(std::uint32_t number, bool again) {
    std::size_t position = grammar.begin(number);
    for (const Use& use : grammar.rule(number)) {
      path.push_back(static_cast<std::uint32_t>(position++));
      for (std::uint64_t time = 0; time < use.times; ++time) {
        again = again || time > 0;
        if (use.symbol.is_rule()) rule(use.symbol.number(), again);
        else event(again);
        again = false;
      }
      path.pop_back();
    }
  }
  void event(bool again) {
    Delays::Context context{.position = path.back(), .again = again};
    if (enclosing > 0 && path.size() > 1) context.around = path[path.size() - 2];
    if (enclosing > 1 && path.size() > 2) context.outermost = path[path.size() - 3];
    found.push_back(context);
  }
};

}  // namespace

std::vector<Delays::Context> contexts(const Grammar& grammar, unsigned enclosing) {
  Walk walk{grammar, enclosing};
  walk.rule(0, false);
  return walk.found;
}

TimesByContext replayed(const Grammar& grammar, std::span<const double> times, unsigned enclosing) {
  const std::vector<Delays::Context> all = contexts(grammar, enclosing);
  std::map<Delays::Context, std::uint64_t> number;  // `again` or not
  const auto shorter = [](Delays::Context context, bool with_around, bool with_outermost) {
    context.again = false;
    if (!with_outermost) context.outermost = Delays::kUnknown;
    if (!with_around) context.around = Delays::kUnknown;
    return context;
  };
  for (const Delays::Context& context : all) {
    ++number[shorter(context, true, true)];
    if (context.outermost != Delays::kUnknown) ++number[shorter(context, true, false)];
  }
  TimesByContext found;
  for (std::size_t event = 1; event < all.size(); ++event) {  // the first comes after none
    Delays::Context context = all[event];
    const auto few = [&] {
      return number[shorter(context, true, true)] < TimeGroups::fewest(grammar);
    };
    if (few()) context.outermost = Delays::kUnknown;
    if (few()) context.around = Delays::kUnknown;
    Times& same = found[context];
    same.sum += times[event];
    ++same.count;
  }
  return found;
}

}  // namespace refrain::test
