#include "gomp/team_sizes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace refrain::gomp {
namespace {

/// Another size has to be better by that much: two that are alike do not take turns.
constexpr double better = 0.98;
/// One that takes at least so many times as long is not nearly as good.
constexpr double nearly = 1.25;
/// The calls before the first round of trials, where an earlier run has tried sizes.
constexpr std::uint32_t known_pause = 16;
/// A size that once took so many times as long as the best one need not be tried again in this round.
constexpr double hopeless = 1.5;
/// What took so many times as long as it can by itself is no measure.
constexpr double implausible = 1.5;
/// A trial of short regions is begun where so many can have it, as the first is no measure; one of fewer threads is, if it
/// is faster even so.
constexpr double least_stretch = 3;
/// What is hardly known takes so many times as long as the best size.
constexpr double many = 2;
/// What a trial of fewer threads is charged with at most: so many times the usual duration for each thread, or so many
/// ns.
constexpr double most_charged = 2;
constexpr double least_charged_ns = 20e3;

/// Takes a number and the character after it, if one is asked for, from the front of `text`.
template <class Number>
bool take(std::string_view& text, Number& number, char after = 0) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (after == 0) return true;
  if (text.empty() || text.front() != after) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Thresholds::Thresholds() : steps_{{1, 5e3}, {2, 20e3}, {4, 50e3}, {8, 100e3}, {16, 200e3}} {}

std::optional<Thresholds> Thresholds::parse(std::string_view text) {
  Thresholds result;
  result.steps_.clear();
  while (true) {
    Step step{};
    double microseconds = 0;
    if (!take(text, step.threads, ':') || !take(text, microseconds)) return std::nullopt;
    step.below_ns = microseconds * 1e3;
    const Step last = result.steps_.empty() ? Step{0, 0} : result.steps_.back();
    if (step.threads <= last.threads || !(step.below_ns > last.below_ns)) return std::nullopt;
    result.steps_.push_back(step);
    if (text.empty()) return result;
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
}

unsigned Thresholds::choose(double expected_ns, unsigned limit) const {
  if (expected_ns <= 0) return limit;
  for (const Step& step : steps_) {
    if (expected_ns < step.below_ns) return std::min(step.threads, limit);
  }
  return limit;
}

void Durations::add(double ns) {
  last_[next_] = static_cast<float>(ns);
  next_ = (next_ + 1) % kept;
  count_ = std::min(count_ + 1, kept);
  const auto end = last_.begin() + count_;
  const double sum = std::accumulate(last_.begin(), end, 0.0);
  const float longest = *std::max_element(last_.begin(), end);
  shortest_ = *std::min_element(last_.begin(), end);
  typical_ = count_ == 1 ? sum : (sum - longest) / (count_ - 1);
  auto sorted = last_;
  const auto middle = sorted.begin() + count_ / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + count_);
  median_ = *middle;
}

unsigned Occasion::choose(const Choices& choices, const Thresholds& first, Trials& trials) {
  if (choices != choices_) consider(choices, first, trials.costs);
  if (until_round_ > 0) return --until_round_, best_;
  const Size* trial = to_try(trials);
  return trial ? trial->threads : best_;
}

unsigned Occasion::choose(const Choices& choices, const Thresholds& first, Trials& trials,
                          unsigned tried) {
  if (choices != choices_) consider(choices, first, trials.costs);
  if (tried == best_ || !choices_.have(tried)) return best_;
  // Of a region of which nothing is known the loss may be anything.
  if (find(best_)->typical() == 0) return best_;
  const Size& candidate = size(tried);
  if (candidate.tried >= trustworthy && candidate.durations.count() >= trustworthy) return best_;
  return is_affordable(candidate, trials, 1) ? tried : best_;
}

void Occasion::ran(unsigned threads, double ns, Trials& trials, bool counts) {
  Size& had = size(threads);
  calls_ = std::min(calls_ + 1, 1U << 20);
  const double usual = size(best_).typical();
  const bool tried = threads != best_;
  const unsigned running = trials.costs.at_once(best_);
  if (tried || !counts) {
    // Fewer threads are interrupted less. That they were is not what the trial cost.
    const double most =
        threads > best_ ? INFINITY : std::max(most_charged * running * usual, least_charged_ns);
    trials.allowance.spend(std::clamp(ns - usual, 0.0, most));
  }
  if (tried) {
    // Fewer threads take as many times longer as they are fewer, if nothing comes between.
    if (threads < best_ && ns > implausible * usual * running / trials.costs.at_once(threads))
      return;
    // What was better even so need not be tried a second time in a row. And where regions on both sides of this one never
    // have its size, what it takes beside them is what it takes, unless it was interrupted.
    const bool is_hopeless = ns > hopeless * usual;
    counts |= ns < better * usual || (had.not_counted >= trustworthy && !is_hopeless);
    if (!counts) {
      ++had.not_counted;
      if (is_hopeless) had.tried = trustworthy;
      return;
    }
    // What it took long ago, when perhaps others used the machine, counts no more.
    if (had.tried == 0 && !is_hopeless) had.earlier = had.typical(), had.durations = {};
    had.tried = is_hopeless ? trustworthy : had.tried + 1;
  }
  compare(had, ns, trials.costs);
  if (!counts) return;
  had.durations.add(ns);
  const unsigned before = best_;
  choose_best(trials.costs);
  // What other sizes took beside the best one says nothing where that one has become another, or takes much longer.
  const bool is_worse = usual_ > 0 && find(best_)->typical() > hopeless * usual_;
  if (best_ == before && !is_worse) return;
  usual_ = 0;
  pause_ = shortest_pause, until_round_ = std::min(until_round_, pause_);
}

/// What this call says of teams in general.
void Occasion::compare(const Size& had, double ns, TeamCosts& costs) {
  const Size* const other = find(had.threads == 1 ? choices_.limit : 1);
  const double known = other == nullptr || other == &had ? 0 : other->typical();
  if (known > 0 && had.threads == 1) costs.saw(other->threads, known, ns);
  if (known > 0 && had.threads != 1) costs.saw(had.threads, ns, known);
  if (had.durations.count() >= trustworthy) costs.ended(had.threads, ns, had.typical());
}

void Occasion::consider(const Choices& choices, const Thresholds& first, TeamCosts& costs) {
  choices_ = choices;
  const unsigned limit = choices.limit;
  for (unsigned threads = 1; threads < limit; threads *= 2)
    if (choices.have(threads)) size(threads);
  size(limit);
  best_ = first.choose(expected_ns_, limit);
  if (!choices.have(best_)) best_ = limit;
  size(best_);  // which may be none of those
  // Where sizes are known from an earlier run, that took so long with the best of them.
  const bool is_known =
      std::ranges::any_of(sizes_, [](const Size& size) { return size.typical() > 0; });
  if (!is_known && of_whole_ && expected_ns_ > 0) {
    size(limit).earlier = expected_ns_;
    costs.expect(limit, expected_ns_);
    if (best_ != limit) return;
    until_round_ = 0;
  }
  choose_best(costs);
}

const Occasion::Size* Occasion::to_try(const Trials& trials) {
  bool all = true;
  const Size& best = *find(best_);
  if (best.typical() == 0) return nullptr;
  const bool is_short = best.typical() < long_ns;
  const bool is_known = best.durations.count() >= trustworthy;
  for (const Size& candidate : sizes_) {
    if (!choices_.have(candidate.threads)) continue;
    if (candidate.threads == best_ || candidate.tried >= trustworthy) continue;
    all = false;
    const double stretch = is_short && (candidate.threads > best_ || !is_known) ? least_stretch : 1;
    if (is_affordable(candidate, trials, stretch)) return &candidate;
  }
  if (all) end_round(trials.costs);
  return nullptr;
}

/// What is known to take many times as long as the best size has little to gain: it leaves as many times more to others.
bool Occasion::is_affordable(const Size& candidate, const Trials& trials, double calls) const {
  const double loss = loss_expected(candidate, trials.costs);
  const double usual = find(best_)->typical();
  const bool is_known = candidate.typical() > 0 && usual > 0;
  return trials.allowance.covers(calls * loss * (is_known ? std::max(1.0, loss / usual) : 1));
}

void Occasion::end_round(const TeamCosts& costs) {
  const double best = expected_of(size(best_), costs);
  bool is_clear = true;
  for (Size& size : sizes_) {
    const bool rivals = size.threads != best_ && choices_.have(size.threads);
    if (rivals && expected_of(size, costs) < nearly * best) is_clear = false;
    size.tried = size.not_counted = 0;
  }
  usual_ = find(best_)->typical();
  pause_ = std::min((is_clear ? 8 : 2) * pause_, longest_pause);
  until_round_ = pause_;
}

/// Of a size of which little is known: the work is at most what the best size's threads can have done in their shortest
/// time without what a team costs, and is divided among the candidate's. (So the loss may be less than nothing where
/// teams of the best size mostly wait for a processor.) That more threads take at most twice as long is a guess, while
/// nothing has shown what they cost.
double Occasion::loss_expected(const Size& candidate, const TeamCosts& costs) const {
  const Size& best = *find(best_);
  const double usual = expected_of(best, costs);
  if (candidate.durations.count() >= trustworthy)
    return std::max(0.0, expected_of(candidate, costs) - usual);
  const double least = best.durations.count() > 0 ? best.durations.shortest() : best.typical();
  const double work = std::max(0.0, least - costs.overhead(best_)) * costs.at_once(best_);
  double overhead = costs.overhead(candidate.threads);
  if (candidate.threads > best_ && !costs.has_seen(candidate.threads))
    overhead = std::min(overhead, usual);
  double expected = overhead + work / costs.at_once(candidate.threads);
  if (candidate.earlier > 0) expected = std::min(expected, candidate.earlier);
  // Once it may have been interrupted, so it is no more than what is known besides.
  if (candidate.durations.count() > 0)
    expected = std::min(expected, candidate.durations.shortest());
  return std::max(0.0, expected + costs.interruptions(candidate.threads) - usual);
}

std::pair<double, double> Occasion::best_and_whole(const TeamCosts& costs) const {
  const Size *const best = find(best_), *const whole = find(choices_.limit);
  if (best == nullptr || whole == nullptr || best->typical() == 0) return {0, 0};
  const double least =
      whole->durations.count() < trustworthy ? many * expected_of(*best, costs) : 0;
  return {expected_of(*best, costs), std::max(least, expected_of(*whole, costs))};
}

const Occasion::Size* Occasion::find(unsigned threads) const {
  const auto place = std::ranges::find(sizes_, threads, &Size::threads);
  return place == sizes_.end() ? nullptr : &*place;
}

Occasion::Size& Occasion::size(unsigned threads) {
  auto place = sizes_.begin();
  while (place != sizes_.end() && place->threads < threads) ++place;
  if (place == sizes_.end() || place->threads != threads) {
    place = sizes_.insert(place, Size{threads, 0, 0, {}, 0});
  }
  return *place;
}

bool Occasion::knows_all() const {
  const double usual = find(best_)->typical();
  return std::ranges::all_of(sizes_, [&](const Size& size) {
    const Durations& durations = size.durations;
    return !choices_.have(size.threads) || durations.count() >= trustworthy ||
           (durations.count() > 0 && durations.shortest() > hopeless * usual);
  });
}

void Occasion::choose_best(const TeamCosts& costs) {
  const Size& current = size(best_);
  double least = current.typical() > 0 ? better * expected_of(current, costs) : INFINITY;
  for (const Size& candidate : sizes_) {
    if (!choices_.have(candidate.threads) || candidate.durations.count() < trustworthy) continue;
    const double expected = expected_of(candidate, costs);
    if (candidate.threads == best_ || expected >= least) continue;
    least = expected;
    best_ = candidate.threads;
  }
}

std::string Occasion::note() const {
  if (choices_.limit == 0) return {};
  std::string result;
  char text[64];
  for (const Size& size : sizes_) {
    const unsigned count = std::min(size.durations.count(), trustworthy);
    if (count == 0) continue;
    const double typical = size.typical();
    std::snprintf(text, sizeof text, " %u:%.0f*%u", size.threads, typical, count);
    result += text;
    if (size.threads != best_) continue;
    std::snprintf(text, sizeof text, "%.0f", expected_ns_ > 0 ? typical : 0);
    result.insert(0, text);
  }
  return result.starts_with(' ') ? std::string{} : result;
}

std::optional<Occasion> Occasion::recall(std::string_view note) {
  Occasion result;
  if (!take(note, result.expected_ns_) || !(result.expected_ns_ >= 0)) return std::nullopt;
  while (!note.empty()) {
    note.remove_prefix(1);
    unsigned threads = 0;
    double ns = 0;
    unsigned count = 0;
    if (!take(note, threads, ':') || !take(note, ns, '*') || !take(note, count)) {
      return std::nullopt;
    }
    if (threads == 0 || !(ns >= 0) || count > trustworthy) return std::nullopt;
    Size& known = result.size(threads);
    for (; count > 0; --count) known.durations.add(ns);
  }
  result.until_round_ = result.pause_ = known_pause;
  return result;
}

Occasion& Occasions::at(double expected_ns) {
  Occasion* nearest = nullptr;
  double least = INFINITY;
  for (Occasion& occasion : occasions_) {
    const bool both = expected_ns > 0 && occasion.expected_ns() > 0;
    const bool neither = expected_ns <= 0 && occasion.expected_ns() <= 0;
    if (!both && !neither) continue;
    const double away = neither ? 1
                                : std::max(expected_ns / occasion.expected_ns(),
                                           occasion.expected_ns() / expected_ns);
    if (away < least) nearest = &occasion, least = away;
  }
  if (nearest && (least <= alike || occasions_.size() >= most)) return *nearest;
  return occasions_.emplace_back(std::max(0.0, expected_ns), of_whole_);
}

unsigned Occasions::common(const Choices& choices) const {
  unsigned result = 0;
  for (const Occasion& occasion : occasions_) {
    // One that an earlier run knew may not come in this one.
    if (occasion.choices().limit == 0) continue;
    if (occasion.choices() != choices || occasion.is_new()) return 0;
    if (result != 0 && result != occasion.best()) return 0;
    result = occasion.best();
  }
  return result;
}

std::string Occasions::note() const {
  std::string result;
  for (const Occasion& occasion : occasions_) {
    const std::string line = occasion.note();
    if (!line.empty()) result += line + '\n';
  }
  return result;
}

void Occasions::recall(std::string_view note) {
  while (!note.empty() && occasions_.size() < most) {
    const std::size_t end = std::min(note.find('\n'), note.size());
    if (auto occasion = Occasion::recall(note.substr(0, end))) {
      occasions_.push_back(*std::move(occasion));
      of_whole_ = false;
    }
    note.remove_prefix(std::min(end + 1, note.size()));
  }
}

}  // namespace refrain::gomp
