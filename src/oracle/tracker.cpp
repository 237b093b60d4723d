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
  future_.turn_to(given_, given_delays_);
  reference_ = &given_;
  own_ = nullptr;
}

Tracked Tracker::track(std::uint32_t event) {
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
  future_.turn_to(own->reference, own->delays ? &*own->delays : nullptr);
  reference_ = &own->reference;
  own_ = std::move(own);
  for (Followed* const followed : {&followed_, &aside_})
    for (Progress& sequence : followed->sequences) sequence.fit(*reference_);
}

void Tracker::remember(std::uint32_t event) {
  // They are a few.
  if (history_.size() == settings_.history) history_.erase(history_.begin());
  history_.push_back(event);
}

/// The event continues what is followed.
void Tracker::look_aside(std::uint32_t event) {
  const bool continues = go_on(aside_, event);
  if (continues && followed_.anew && aside_.events > followed_.events)
    followed_ = std::exchange(aside_, {});
  else if (++aside_for_ >= settings_.patience) aside_ = {};
}

/// The event does not continue what is followed.
void Tracker::recover(std::uint32_t event) {
  const Recovery way = recoveries_.way();
  recoveries_.lasted(way, events_ - unexpected_at_);
  unexpected_at_ = events_;
  if (recoveries_.is_to_be_tried(events_, reference_->grammar().uses().size()) &&
      tried_.sequences.empty()) {
    tried_way_ = recoveries_.other();
    tried_ = tried_way_ == Recovery::anew ? anew(event) : repaired(event);
  }
  if (way == Recovery::anew) {
    followed_ = anew(event);
    aside_ = {};
    return;
  }
  if (go_on(aside_, event)) {
    followed_ = std::exchange(aside_, {});
    return;
  }
  Followed found = repaired(event);
  if (++aside_for_ >= settings_.patience) aside_ = {};
  if (settings_.patience > 0 && followed_.events > aside_.events) {
    aside_ = std::move(followed_);
    aside_for_ = 0;
  }
  followed_ = std::move(found);
}

Tracker::Followed Tracker::repaired(std::uint32_t event) {
  Followed found = with_other_counts(event);
  if (found.sequences.empty()) found = after_skipping(event);
  return found.sequences.empty() ? anew(event) : found;
}

/// How long would it have lasted to recover in the other way?
void Tracker::go_on_trying(std::uint32_t event) {
  if (go_on(tried_, event) && tried_.events < Recoveries::kLongestTrial) return;
  recoveries_.lasted(tried_way_, tried_.events);
  tried_ = {};
}

/// By the event; false, and nothing is changed, if it does not continue any sequence.
bool Tracker::go_on(Followed& followed, std::uint32_t event) {
  continuations_.clear();
  for (std::size_t s = 0; s < followed.sequences.size(); ++s)
    followed.sequences[s].continuations(*reference_, [&](std::size_t level, const Level& at) {
      if (first_event(at) == event) continuations_.push_back({s, level, at, 0});
    });
  if (continuations_.empty()) return false;
  go(followed);
  return true;
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
  continuations_.clear();
  for (std::size_t s = 0; s < followed.sequences.size(); ++s)
    followed.sequences[s].continuations(*reference_, [&](std::size_t level, const Level& at) {
      continuations_.push_back({s, level, at, 0});
    });
  go(followed);
}

/// To continuations_.
void Tracker::go(Followed& followed) {
  ++followed.events;
  if (continuations_.size() > settings_.sequences) leave_out(followed);
  if (continuations_.size() == 1 && followed.sequences.size() == 1) {
    Progress& sequence = followed.sequences[0];
    const auto& [index, level, at, weight] = continuations_[0];
    if (own_counts_.watches() && &followed == &followed_ && !sequence.levels().empty())
      own_counts_.go_on(*reference_, sequence.levels(), level, at);
    sequence.go(*reference_, level, at);
    return;
  }
  gone_.clear();
  for (std::size_t c = 0; c < continuations_.size(); ++c) {
    const auto& [sequence, level, at, weight] = continuations_[c];
    // They come by sequence, and the last one of each may have its memory.
    Progress& from = followed.sequences[sequence];
    const bool is_last =
        c + 1 == continuations_.size() || continuations_[c + 1].sequence != sequence;
    gone_.push_back(is_last ? std::move(from) : from);
    gone_.back().go(*reference_, level, at);
  }
  std::swap(followed.sequences, gone_);
}

/// The least probable of continuations_.
void Tracker::leave_out(Followed& followed) {
  followed.left_out = true;
  for (Continuation& c : continuations_)
    c.weight = followed.sequences[c.sequence].weight(*reference_, c.level, c.at);
  const auto in_order = [](const Continuation& c) {
    return std::tuple(c.sequence, c.at.position, c.at.time);
  };
  const auto end = continuations_.begin() + static_cast<std::ptrdiff_t>(settings_.sequences);
  std::ranges::nth_element(continuations_, end, [&](const auto& one, const auto& other) {
    if (one.weight != other.weight) return one.weight > other.weight;
    return in_order(one) < in_order(other);
  });
  continuations_.erase(end, continuations_.end());
  std::ranges::sort(continuations_, std::less(), in_order);
}

/// What is followed, if uses on the path are repeated more often, or less, than they were: as far within as possible.
Tracker::Followed Tracker::with_other_counts(std::uint32_t event) {
  Followed found;
  if (!settings_.counts) return found;
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
        found.sequences.push_back(sequence);
        found.sequences.back().go(*reference_, level, next);
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
  return found;
}

Tracker::Followed Tracker::after_skipping(std::uint32_t event) {
  Followed found = followed_;
  for (std::uint32_t skipped = 0; skipped < settings_.skipped; ++skipped) {
    go_on_anyhow(found);
    if (!go_on(found, event)) continue;
    found.events = 1;
    return found;
  }
  return {};
}

/// The places of the event; of one with many positions those where most of the last events come last.
Tracker::Followed Tracker::anew(std::uint32_t event) {
  Followed longest = where_last_came(1);
  const bool crowded = reference_->positions(Symbol::event(event)).size() > settings_.crowd;
  for (std::size_t events = 2; crowded && events <= history_.size(); ++events) {
    Followed found = where_last_came(events);
    if (found.sequences.empty()) break;
    longest = std::move(found);
  }
  longest.anew = true;
  return longest;
}

Tracker::Followed Tracker::where_last_came(std::size_t events) {
  Followed found;
  const auto first = history_.end() - static_cast<std::ptrdiff_t>(events);
  const auto take = [&](auto places, const auto& sequence_at) {
    found.left_out = places.size() > settings_.sequences;
    for (const auto place : places.first(std::min(places.size(), settings_.sequences)))
      found.sequences.push_back(sequence_at(place));
  };
  if (events == 1) {
    take(reference_->positions(Symbol::event(*first)),
         [](std::uint32_t position) { return Progress(position); });
  } else {
    take(reference_->successions(first[0], first[1]), [&](const Reference::Succession& place) {
      Progress sequence;
      sequence.go(*reference_, 0, {place.position, !place.repeated, place.repeated ? 1u : 0u});
      return sequence;
    });
    for (auto next = first + 2; next != history_.end(); ++next)
      if (!go_on(found, *next)) return {};
  }
  found.events = 1;
  return found;
}

}  // namespace refrain::oracle
