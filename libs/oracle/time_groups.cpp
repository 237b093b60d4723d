#include "oracle/time_groups.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <functional>
#include <utility>

#include "oracle/occurrences.hpp"
#include "oracle/places.hpp"

namespace refrain::oracle {

namespace {

using Context = Delays::Context;

/// A context of an event, and how far its outermost use goes around the event.
struct Surroundings {
  Context context;
  std::uint32_t before = 0;
  std::uint32_t behind = 0;
};

std::uint32_t bounded(std::uint64_t events) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(events, TimeGroup::kAll - 1));
}

/// Whether the event at the end of the path begins a later repetition of a use on it.
bool is_again(std::span<const Places::Step> path) {
  for (std::size_t level = path.size(); level-- > 0;) {
    if (path[level].repeated) return true;
    if (!path[level].first) return false;
  }
  return false;
}

/// Where the events of a grammar's run are, and how many of them are in a context.
class Contexts {
 public:
  explicit Contexts(const Grammar& grammar)
      : grammar_(grammar),
        places_(grammar),
        occurrences_(rule_occurrences(grammar).of),
        fewest_(static_cast<double>(TimeGroups::fewest(grammar))) {}

  std::span<const Places::Step> path(std::uint64_t event) { return places_.path(event); }
  Places::Rounds rounds(std::uint64_t event, std::uint64_t fewest, std::uint64_t within) {
    return places_.rounds(event, fewest, within);
  }
  /// Of a context that has so many of the innermost uses on the path, and is not as long as the path.
  [[nodiscard]] bool has_many(std::span<const Places::Step> path, std::size_t uses) const {
    double events = 1;
    for (std::size_t i = 1; i <= uses; ++i)
      events *= static_cast<double>(grammar_.uses()[path[path.size() - i].position].times);
    if (uses < path.size()) {
      const Symbol rule = grammar_.uses()[path[path.size() - uses - 1].position].symbol;
      events *= static_cast<double>(occurrences_[rule.number()]);
    }
    return events >= fewest_;
  }

 private:
  const Grammar& grammar_;
  Places places_;
  const std::vector<std::uint64_t> occurrences_;
  const double fewest_;
};

/// The longest context with so many enclosing uses that has many events, and is within what a group has in common.
Surroundings surroundings(Contexts& places, const TimeGroup& group, unsigned enclosing) {
  const std::span<const Places::Step> path = places.path(group.event);
  const bool alone = group.in_common_before == TimeGroup::kAll;
  std::array<std::uint32_t, 1 + TimeGroups::kMostEnclosing> uses{
      path.back().position, Delays::kUnknown, Delays::kUnknown};
  Surroundings found;
  std::size_t known = 1;
  for (; known <= enclosing && known < path.size(); ++known) {
    if (!places.has_many(path, known + 1)) break;
    const Places::Step& step = path[path.size() - 1 - known];
    const std::uint64_t before = group.event - step.begin, behind = step.length - 1 - before;
    if (!alone && (before > group.in_common_before || behind > group.in_common_behind)) break;
    uses[known] = step.position;
    found.before = bounded(before);
    found.behind = bounded(behind);
  }
  // Around a use of the root there is no choice.
  if (known == path.size()) found.before = found.behind = TimeGroup::kAll;
  found.context = {uses[0], uses[1], uses[2], is_again(path)};
  return found;
}

/// Groups by their contexts in a grammar: a hash table with chains.
class Table {
 public:
  explicit Table(std::size_t expected) : heads_(std::bit_ceil(expected + 16), kNone) {
    entries_.reserve(expected);
  }

  /// Returns the number of the entry that has the group now.
  std::uint32_t add(const TimeGroup& group, const Surroundings& at) {
    find(at.context);
    TimeGroup& all = entries_[last_].group;
    const bool alone = all.count + group.count == 1;
    if (group.count >= all.count) {
      all.event = group.event;
      all.in_common_before = alone ? TimeGroup::kAll : at.before;
      all.in_common_behind = alone ? TimeGroup::kAll : at.behind;
    }
    all.sum += group.sum;
    all.count += group.count;
    return last_;
  }
  /// The time of another event of an entry's context, which has at least two.
  void add_time(std::uint32_t entry, double time) {
    entries_[entry].group.sum += time;
    ++entries_[entry].group.count;
  }

  struct Entry {
    Context context;
    std::uint32_t chain;
    TimeGroup group;
  };
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// Makes it last_; a new one is of no events.
  void find(const Context& context) {
    // What came after the last one when it was new does so often.
    if (++last_ < entries_.size() && entries_[last_].context == context) return;
    last_ = heads_[slot(context)];
    while (last_ != kNone && entries_[last_].context != context) last_ = entries_[last_].chain;
    if (last_ != kNone) return;
    if (entries_.size() == heads_.size()) grow();
    last_ = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({context, 0, {.event = 0, .sum = 0, .count = 0}});
    link(last_);
  }
  void grow() {
    heads_.assign(heads_.size() * 2, kNone);
    for (std::uint32_t i = 0; i < entries_.size(); ++i) link(i);
  }
  void link(std::uint32_t entry) {
    entries_[entry].chain = std::exchange(heads_[slot(entries_[entry].context)], entry);
  }
  [[nodiscard]] std::size_t slot(const Context& context) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
    const std::uint64_t near = (std::uint64_t{context.position} << 32 | context.around) * odd;
    const std::uint64_t far = std::uint64_t{context.outermost} << 1 | (context.again ? 1 : 0);
    return ((near ^ near >> 32) + far) * odd >> (64 - std::countr_zero(heads_.size()));
  }

  std::vector<std::uint32_t> heads_;
  std::vector<Entry> entries_;
  std::uint32_t last_ = kNone;  ///< that was found
};

/// The last events of a run, each with its time, go into the table. From the second repetition of a loop on an event has
/// the same context in each; and which of its events stands for a group is settled when it has two. So of many
/// repetitions only the first two of those are looked up.
class LastEvents {
 public:
  LastEvents(Contexts& places, Table& table, unsigned enclosing)
      : places_(places), table_(table), enclosing_(enclosing) {}

  /// `first`: the number of the first in the run.
  void add(std::uint64_t first, std::span<const double> times) {
    while (!times.empty()) {
      const auto [number, length] = places_.rounds(first, kFewestRounds, times.size());
      const std::size_t events = number == 0 ? 1 : number * length;
      if (number == 0) add_one(first, times.front());
      else add_rounds(first, times.first(events), length);
      first += events;
      times = times.subspan(events);
    }
  }

 private:
  static constexpr std::uint64_t kFewestRounds = 3;

  std::uint32_t add_one(std::uint64_t event, double time) {
    const TimeGroup group{.event = event, .sum = time};
    return table_.add(group, surroundings(places_, group, enclosing_));
  }
  void add_rounds(std::uint64_t first, std::span<const double> times, std::size_t length) {
    round_.clear();
    std::size_t i = 0;
    for (; i < length; ++i) add_one(first + i, times[i]);
    for (; i < 2 * length; ++i) round_.push_back(add_one(first + i, times[i]));
    while (i < times.size())
      for (const std::uint32_t entry : round_) table_.add_time(entry, times[i++]);
  }

  Contexts& places_;
  Table& table_;
  const unsigned enclosing_;
  std::vector<std::uint32_t> round_;  ///< the entries of its events
};

bool is_enclosed(const Context& context) { return context.around != Delays::kUnknown; }

/// The entries that have enclosing uses, but for the `most` of the most events.
std::vector<bool> to_be_shortened(std::span<const Table::Entry> entries, std::size_t most) {
  std::vector<std::uint32_t> enclosed;
  for (std::uint32_t i = 0; i < entries.size(); ++i)
    if (is_enclosed(entries[i].context)) enclosed.push_back(i);
  if (enclosed.size() <= most) return {};
  const auto rest = enclosed.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(enclosed, rest, std::greater(),
                           [&](std::uint32_t i) { return entries[i].group.count; });
  std::vector<bool> chosen(entries.size());
  for (auto i = rest; i != enclosed.end(); ++i) chosen[*i] = true;
  return chosen;
}

/// The same, with those that are chosen in contexts that have one enclosing use less.
Table shortened(std::span<const Table::Entry> entries, const std::vector<bool>& chosen,
                Contexts& places) {
  Table table(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [context, chain, group] = entries[i];
    if (!chosen[i]) {
      table.add(group, {context, group.in_common_before, group.in_common_behind});
      continue;
    }
    const unsigned enclosing = context.outermost == Delays::kUnknown ? 0 : 1;
    table.add(group, surroundings(places, group, enclosing));
  }
  return table;
}

}  // namespace

TimeGroups::TimeGroups(unsigned enclosing) : enclosing_(enclosing) {
  assert(enclosing <= kMostEnclosing && "there is no room for more");
}

void TimeGroups::replay(const Grammar& grammar, std::span<const double> last, std::size_t most,
                        std::vector<Delays::Recorded>* recorded) {
  Contexts places(grammar);
  Table table(groups_.size() + groups_.size() / 4);  // mostly those there were
  for (const TimeGroup& group : groups_) table.add(group, surroundings(places, group, enclosing_));
  std::uint64_t event = grammar.length(0) - last.size();
  if (event == 0 && !last.empty()) {  // there is nothing that the first event came after
    last = last.subspan(1);
    ++event;
  }
  LastEvents(places, table, enclosing_).add(event, last);
  for (auto chosen = to_be_shortened(table.entries(), most); !chosen.empty();
       chosen = to_be_shortened(table.entries(), most))
    table = shortened(table.entries(), chosen, places);
  groups_ = {};
  groups_.reserve(table.entries().size());
  for (const Table::Entry& entry : table.entries()) groups_.push_back(entry.group);
  if (recorded == nullptr) return;
  recorded->reserve(groups_.size());
  for (const auto& [context, chain, group] : table.entries())
    recorded->push_back({context, group.sum, group.count});
}

}  // namespace refrain::oracle
