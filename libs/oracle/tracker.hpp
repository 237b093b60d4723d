#pragma once
// Follows a run beside its reference run and predicts from there (PYTHIA, sections II-B and II-C). Following may
// start at the beginning, or anywhere: then all positions of the first event are possible, and each further event
// leaves those it continues. The sequences followed stand for exactly the places in the reference run where the
// events since then come last, each place as probable as any other; but that of more than Settings::sequences only so
// many stay, those that stand for most places.
//
// After an event that continues none of them, what is followed is what the first of these finds:
//   aside    what was followed before an unexpected event is set aside for Settings::patience events: it is followed
//            again if this event continues it, or as soon as one does while what is followed began anew;
//   counts   a use on the path is repeated more often, or less, than in the reference run, as happens in a run of
//            another size; what is around it stays known, and what this run does twice it is expected to do again
//            (own_counts.hpp);
//   skipped  the event comes within the next Settings::skipped events;
//   anew     all places of the event, which is what the paper does; of one that has more positions than Settings::crowd
//            the places where as many of the last events as possible come last, up to Settings::history. (To do so
//            for any event was worse where parts are left out at random: a few places that are like the last events
//            say less of what is further ahead than all of them.)
// Of two sets of sequences that might be set aside it is the one that had been followed for longer. In a run in which it
// lasts longer, the last of these is done at once (recoveries.hpp).
// An event that never came in the reference run changes nothing.
//
// One owner, one thread; Reference and Delays are shared and have to outlive it. track() is O(1) amortised, while one
// sequence is followed. Of several each event takes O(Settings::sequences), but for uses around a rule that are looked
// for the first time (ways_behind.hpp); to look anew takes O(Settings::history) searches, however many places an event
// has. Memory, beside the reference: for what was looked for, some 100 bytes for each of its uses at most.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "oracle/own_counts.hpp"
#include "oracle/prediction.hpp"
#include "oracle/progress.hpp"
#include "oracle/recoveries.hpp"

namespace refrain::oracle {

struct Settings {
  std::size_t sequences = 6;  ///< at least 1
  std::uint32_t patience = 4;
  bool counts = true;
  bool own_counts = true;  ///< requires counts
  std::uint32_t skipped = 4;
  std::size_t crowd = 16;
  std::uint32_t history = 3;  ///< at least 1
  Limits limits = {};

  /// Starts anew at each unexpected event, from it alone, as the paper does.
  static Settings paper() {
    return {.patience = 0,
            .counts = false,
            .own_counts = false,
            .skipped = 0,
            .history = 1,
            .limits = {.goes_on = false}};
  }
};

/// What an event was.
enum class Tracked : std::uint8_t {
  expected,    ///< it continues what was followed
  unexpected,  ///< it does not; the first one, unless start() was called, is unexpected, too
  unknown      ///< it never came in the reference run
};

class Tracker {
 public:
  explicit Tracker(const Reference& reference, const Delays* delays = nullptr,
                   Settings settings = {});

  /// The run is before its first event.
  void start();
  Tracked track(std::uint32_t event);

  /// Was the last event one of the reference run's?
  [[nodiscard]] bool known() const { return last_ != Tracked::unknown; }
  /// What is followed: the given reference, with this run's own counts of repetitions where they are known.
  [[nodiscard]] const Reference& reference() const { return *reference_; }
  /// Where in it; none before the first event. The order has no meaning.
  [[nodiscard]] std::span<const Progress> sequences() const { return followed_.sequences; }
  /// Have sequences been left out since following began, or began anew?
  [[nodiscard]] bool left_out() const { return followed_.left_out; }

  /// The event at that distance from the last one, at least 1.
  [[nodiscard]] Prediction predict(std::uint64_t distance) {
    return future_.predict(followed_.sequences, distance);
  }
  /// Where that event comes next after the last one.
  [[nodiscard]] Occurrence next(std::uint32_t event) {
    return future_.next(followed_.sequences, event);
  }

 private:
  struct Followed {
    std::vector<Progress> sequences;
    std::uint64_t events = 0;  ///< how many have been followed
    bool anew = false;         ///< nothing was known of what is around
    bool left_out = false;

    /// Keeps its memory.
    void clear() {
      sequences.clear();
      events = 0;
      anew = left_out = false;
    }
  };
  struct Continuation {
    std::size_t sequence;
    std::size_t level;
    Level at;
  };

  void remember(std::uint32_t event);
  void look_aside(std::uint32_t event);
  void recover(std::uint32_t event);
  void go_on_trying(std::uint32_t event);
  bool go_on(Followed& followed, std::uint32_t event);
  void find_continuations(const Followed& followed, std::uint32_t event);
  bool go_the_only_way(std::uint32_t event);
  void go_on_anyhow(Followed& followed);
  void go(Followed& followed);
  void leave_out(Followed& followed);

  void use_own_counts();

  // Each of these finds what is followed from now on. False: nothing, and there are no sequences.
  void repaired(std::uint32_t event, Followed& found);
  bool with_other_counts(std::uint32_t event, Followed& found);
  bool after_skipping(std::uint32_t event, Followed& found);
  void anew(std::uint32_t event, Followed& found);
  bool where_last_came(std::size_t events, Followed& found);
  [[nodiscard]] std::uint32_t first_event(const Level& at) const {
    return reference_->first(reference_->use(at.position).symbol);
  }

  /// The reference run as this one would do it.
  struct Own {
    Reference reference;
    std::optional<Delays> delays;
  };

  const Reference& given_;
  const Delays* given_delays_;
  Settings settings_;
  OwnCounts own_counts_;
  std::unique_ptr<const Own> own_;  ///< none: it does what that did
  const Reference* reference_;      ///< one of the two
  WaysBehind behind_;
  Future future_;
  Recoveries recoveries_;
  Followed tried_;  ///< the way that is not done, if it is tried
  Recovery tried_way_ = Recovery::anew;
  std::uint64_t events_ = 0, unexpected_at_ = 0;
  Tracked last_ = Tracked::expected;
  Followed followed_;
  Followed aside_;
  std::uint32_t aside_for_ = 0;         ///< so many events after the unexpected one
  std::vector<std::uint32_t> history_;  ///< the last events, Settings::history of them at least

  // Nothing is in these between two events; they keep their memory.
  Followed found_;
  std::vector<Continuation> continuations_;
  std::vector<double> weights_, sorted_weights_;
  std::vector<Progress> gone_;
};

}  // namespace refrain::oracle
