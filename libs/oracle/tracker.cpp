#include "oracle/tracker.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

namespace refrain::oracle {

Tracker::Tracker(const Reference& reference, const Delays* delays, Settings settings)
    : given_(reference),
      given_delays_(delays),
      settings_(settings),
      reference_(&reference),
      future_(reference, delays, settings.limits) {
  assert(settings.sequences > 0 && settings.history > 0 && "nothing could be followed");
}

void Tracker::start() {
  followed_ = {{Progress()}};
  aside_ = {};
  tried_ = {};
  recoveries_ = {};
  history_.clear();
  events_ = unexpected_at_ = 0;
  last_ = Tracked::expected;
  own_counts_ = {};
  if (own_ == nullptr) return;
  behind_.clear();
  future_.turn_to(given_, given_delays_);
  reference_ = &given_;
  own_ = nullptr;
}

Tracked Tracker::track(std::uint32_t event) {
  if (event >= Symbol::kMost) return last_ = Tracked::unknown;
  ++events_;
  if (!tried_.sequences.empty() && reference_->has(event)) go_on_trying(event);
  if (go_the_only_way(event) || go_on(followed_, event)) {
    last_ = Tracked::expected;
    remember(event);
    if (!aside_.sequences.empty()) look_aside(event);
  } else if (!reference_->has(event)) {
    last_ = Tracked::unknown;
  } else {
    last_ = Tracked::unexpected;
    remember(event);
    recover(event);
  }
  if (own_counts_.due()) use_own_counts();
  return last_;
}

void Tracker::use_own_counts() {
  std::optional<Grammar> grammar = own_counts_.adapt(reference_->grammar());
  if (!grammar) return;
  auto own = std::make_unique<Own>(Own{Reference(std::move(*grammar)), std::nullopt});
  if (given_delays_ != nullptr) own->delays.emplace(own->reference, *given_delays_);
  recoveries_ = {};  // much that was unexpected is so no more
  tried_ = {};
  behind_.clear();
  future_.turn_to(own->reference, own->delays ? &*own->delays : nullptr);
  reference_ = &own->reference;
  own_ = std::move(own);
  for (Followed* const followed : {&followed_, &aside_})
    for (Progress& sequence : followed->sequences) sequence.fit(*reference_);
}

void Tracker::remember(std::uint32_t event) {
  // Now and then all but the last are forgotten together.
  if (history_.size() == 16 * settings_.history)
    history_.erase(history_.begin(),
                   history_.end() - static_cast<std::ptrdiff_t>(settings_.history - 1));
  history_.push_back(event);
}

/// The event continues what is followed.
void Tracker::look_aside(std::uint32_t event) {
  const bool continues = go_on(aside_, event);
  if (continues && followed_.anew && aside_.events > followed_.events) {
    std::swap(followed_, aside_);
    aside_.clear();
  } else if (++aside_for_ >= settings_.patience) {
    aside_.clear();
  }
}

/// The event does not continue what is followed.
void Tracker::recover(std::uint32_t event) {
  const Recovery way = recoveries_.way();
  recoveries_.lasted(way, events_ - unexpected_at_);
  unexpected_at_ = events_;
  if (recoveries_.is_to_be_tried(events_, reference_->grammar().uses().size()) &&
      tried_.sequences.empty()) {
    tried_way_ = recoveries_.other();
    if (tried_way_ == Recovery::anew) anew(event, tried_);
    else repaired(event, tried_);
  }
  if (way == Recovery::anew) {
    anew(event, followed_);
    aside_.clear();
    return;
  }
  if (go_on(aside_, event)) {
    std::swap(followed_, aside_);
    aside_.clear();
    return;
  }
  repaired(event, found_);
  if (++aside_for_ >= settings_.patience) aside_.clear();
  if (settings_.patience > 0 && followed_.events > aside_.events) {
    std::swap(aside_, followed_);
    aside_for_ = 0;
  }
  std::swap(followed_, found_);
  found_.clear();
}

void Tracker::repaired(std::uint32_t event, Followed& found) {
  if (!with_other_counts(event, found) && !after_skipping(event, found)) anew(event, found);
}

/// How long would it have lasted to recover in the other way?
void Tracker::go_on_trying(std::uint32_t event) {
  if (go_on(tried_, event) && tried_.events < Recoveries::kLongestTrial) return;
  recoveries_.lasted(tried_way_, tried_.events);
  tried_.clear();
}

/// By the event; false, and nothing is changed, if it does not continue any sequence.
bool Tracker::go_on(Followed& followed, std::uint32_t event) {
  find_continuations(followed, event);
  if (continuations_.empty()) return false;
  go(followed);
  return true;
}

/// Those to an event, or to any.
void Tracker::find_continuations(const Followed& followed, std::uint32_t event) {
  continuations_.clear();
  for (std::size_t s = 0; s < followed.sequences.size(); ++s) {
    const std::uint32_t ended = followed.sequences[s].continuations_within(
        *reference_, [&](std::size_t level, const Level& at) {
          if (event == WaysBehind::kAnyEvent || first_event(at) == event)
            continuations_.push_back({s, level, at});
        });
    if (ended == 0) continue;
    // One more than can be followed, so that it is known whether some were left out.
    for (const Level& at : behind_.find(*reference_, ended, event, settings_.sequences + 1))
      continuations_.push_back({s, 0, at});
  }
}

/// go_on() where one place is followed, from which there is one way on: nearly always.
bool Tracker::go_the_only_way(std::uint32_t event) {
  if (followed_.sequences.size() != 1) return false;
  Progress& sequence = followed_.sequences.front();
  const auto way = sequence.only_way(*reference_);
  if (!way || first_event(way->at) != event) return false;
  ++followed_.events;
  if (own_counts_.watches()) own_counts_.go_on(*reference_, sequence.levels(), way->level, way->at);
  sequence.go(*reference_, way->level, way->at);
  return true;
}

/// By one event, whatever it is.
void Tracker::go_on_anyhow(Followed& followed) {
  find_continuations(followed, WaysBehind::kAnyEvent);
  go(followed);
}

/// To continuations_.
void Tracker::go(Followed& followed) {
  ++followed.events;
  if (continuations_.size() > settings_.sequences) leave_out(followed);
  if (continuations_.size() == 1 && followed.sequences.size() == 1) {
    Progress& sequence = followed.sequences[0];
    const auto& [index, level, at] = continuations_[0];
    if (own_counts_.watches() && &followed == &followed_ && !sequence.levels().empty())
      own_counts_.go_on(*reference_, sequence.levels(), level, at);
    sequence.go(*reference_, level, at);
    return;
  }
  // They come by sequence. Where no sequence goes on in several ways, each takes the place of one that is not after it.
  const auto same_sequence = [](const Continuation& one, const Continuation& other) {
    return one.sequence == other.sequence;
  };
  if (std::ranges::adjacent_find(continuations_, same_sequence) == continuations_.end()) {
    for (std::size_t c = 0; c < continuations_.size(); ++c) {
      const auto& [sequence, level, at] = continuations_[c];
      if (sequence != c) followed.sequences[c] = std::move(followed.sequences[sequence]);
      followed.sequences[c].go(*reference_, level, at);
    }
    followed.sequences.resize(continuations_.size());
    return;
  }
  gone_.resize(continuations_.size());
  for (std::size_t c = 0; c < continuations_.size(); ++c) {
    const auto& [sequence, level, at] = continuations_[c];
    gone_[c].go(*reference_, followed.sequences[sequence], level, at);
  }
  std::swap(followed.sequences, gone_);
}

/// The least probable of continuations_; of equals the last.
void Tracker::leave_out(Followed& followed) {
  followed.left_out = true;
  weights_.clear();
  for (const auto& [sequence, level, at] : continuations_)
    weights_.push_back(followed.sequences[sequence].weight(*reference_, level, at));
  std::vector<double>& sorted = sorted_weights_;
  sorted = weights_;
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(settings_.sequences - 1);
  std::ranges::nth_element(sorted, last, std::greater());
  const double least = *last;
  auto equals =
      settings_.sequences - static_cast<std::size_t>(std::count_if(
                                sorted.begin(), last, [&](double w) { return w > least; }));
  std::size_t kept = 0;
  for (std::size_t c = 0; c < continuations_.size(); ++c) {
    if (weights_[c] < least || (weights_[c] == least && equals == 0)) continue;
    if (weights_[c] == least) --equals;
    continuations_[kept++] = continuations_[c];
  }
  continuations_.resize(kept);
}

/// What is followed, if uses on the path are repeated more often, or less, than they were: as far within as possible.
bool Tracker::with_other_counts(std::uint32_t event, Followed& found) {
  found.clear();
  if (!settings_.counts) return false;
  for (const Progress& sequence : followed_.sequences) {
    const std::span<const Level> levels = sequence.levels();
    for (std::size_t level = levels.size(); level-- > 0;) {
      const Level at = levels[level];
      const auto try_at = [&](const Level& next) {
        if (first_event(next) != event) return false;
        if (settings_.own_counts && followed_.sequences.size() == 1) {
          own_counts_.watch(given_);
          own_counts_.go_on(*reference_, levels, level, next);
        }
        found.sequences.emplace_back().go(*reference_, sequence, level, next);
        return true;
      };
      // Once more; how often in all is not known any more.
      if (try_at({at.position, at.exact, at.exact ? at.time + 1 : 0})) break;
      if (!reference_->is_last(at.position)) {
        try_at({at.position + 1, true, 0});
        break;
      }
    }
  }
  found.events = 1;
  return !found.sequences.empty();
}

bool Tracker::after_skipping(std::uint32_t event, Followed& found) {
  if (settings_.skipped == 0) return false;
  found = followed_;
  for (std::uint32_t skipped = 0; skipped < settings_.skipped; ++skipped) {
    go_on_anyhow(found);
    if (!go_on(found, event)) continue;
    found.events = 1;
    return true;
  }
  return false;
}

/// The places of the event; of one with many positions those where most of the last events come last.
void Tracker::anew(std::uint32_t event, Followed& found) {
  const bool crowded = reference_->positions(Symbol::event(event)).size() > settings_.crowd;
  std::size_t events = crowded ? std::min<std::size_t>(history_.size(), settings_.history) : 1;
  while (!where_last_came(events, found)) --events;
  found.anew = true;
}

/// Of a single one there are.
bool Tracker::where_last_came(std::size_t events, Followed& found) {
  found.clear();
  const auto first = history_.end() - static_cast<std::ptrdiff_t>(events);
  const auto take = [&](auto places, const auto& level_at) {
    found.left_out = places.size() > settings_.sequences;
    for (const auto& place : places.first(std::min(places.size(), settings_.sequences)))
      found.sequences.emplace_back().go(*reference_, 0, level_at(place));
  };
  if (events == 1) {
    take(reference_->positions(Symbol::event(*first)), [](std::uint32_t position) {
      return Level{position, false, 0};
    });
  } else {
    take(reference_->successions(first[0], first[1]), [](const Reference::Succession& next) {
      return Level{next.position, !next.repeated, next.repeated ? 1u : 0u};
    });
    for (auto next = first + 2; next != history_.end() && !found.sequences.empty(); ++next)
      if (!go_on(found, *next)) found.sequences.clear();
  }
  found.events = 1;
  return !found.sequences.empty();
}

}  // namespace refrain::oracle
