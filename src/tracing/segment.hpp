#pragma once
// What is recorded under a trace's name: a tree of segments, and the rounds that they make
// (tracing/tracing.hpp says what these are).
//
// Owner: the context's thread.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "repeats/repeats.hpp"
#include "replay/occurrence.hpp"
#include "replay/replay_reasons.hpp"
#include "replay/replayed_trace.hpp"
#include "tracing/patience.hpp"
#include "tracing/trust.hpp"

namespace refrain::runtime {

struct Segment;

/// A place where segments begin.
class Fork {
 public:
  using Key = std::span<const std::uint64_t>;

  [[nodiscard]] bool empty() const { return segments_.empty(); }
  /// As they were recorded.
  [[nodiscard]] const std::list<std::unique_ptr<Segment>>& segments() const { return segments_; }
  Segment& add(std::unique_ptr<Segment> segment);
  std::unique_ptr<Segment> remove(Segment& segment);
  [[nodiscard]] static std::uint64_t hash(Key key) {
    return hash_bytes(key.data(), key.size_bytes());
  }
  /// Calls visit(segment) for those whose first call has this key, and perhaps others.
  template <class Visit>
  void for_each_beginning_with(Key key, Visit visit) const {
    const auto [first, last] = by_first_call_.equal_range(hash(key));
    for (auto entry = first; entry != last; ++entry) visit(*entry->second);
  }
  /// Calls visit(segment), which may remove it and says whether it stays, for the last few, latest first; and now
  /// and then for all, so that each is looked at a few times however many are recorded.
  template <class Visit>
  void for_each_lately_recorded(Visit visit) {
    const bool all = added_ >= segments_.size() / 2 + kFew;
    if (all) added_ = 0;
    std::size_t left = all ? segments_.size() : std::min(segments_.size(), kFew);
    for (auto behind = segments_.end(); left > 0; --left) {
      const auto at = std::prev(behind);
      if (visit(**at)) behind = at;
    }
  }

  /// A segment that begins here has been recorded, beside others with the same first call or not; or replayed.
  void note_recorded(bool beside_others);
  void note_replayed();
  /// An occurrence of the trace that begins here has ended, some of it replayed.
  void judge(const Occurrence& occurrence);

  Reason lost;  ///< why the one recorded last is not there; no text: it is, or there was none
  /// Where what is recorded is lost before it is of use, or is not used, the analysis is left alone for some
  /// occurrences.
  Patience recording;
  /// The same for a trace whose occurrences were slower for being replayed.
  Patience replaying;

 private:
  static constexpr std::size_t kFew = 8;
  static constexpr std::uint32_t kMostUnused = 1024;
  static constexpr std::int64_t kLearning = 1024, kCredit = 96;  ///< operations
  std::list<std::unique_ptr<Segment>> segments_;
  std::unordered_multimap<std::uint64_t, Segment*> by_first_call_;
  /// Recorded since one was replayed. Those whose first call had been recorded, with the data elsewhere, count more:
  /// each is asked for each time.
  std::uint32_t unused_ = 0;
  std::size_t added_ = 0;  ///< since all were looked at
  /// Of what occurrences have gained by replaying. At first there is something to lose, until rounds are found.
  std::int64_t balance_ = kLearning;
};

/// The first calls of a segment.
struct Part {
  Segment* segment = nullptr;
  trace::Index steps = 0;
  bool passed = false;  ///< what followed passed by (Tracing::passes_by)
  friend bool operator==(const Part&, const Part&) = default;
};

/// What is replayed as one, and what chains consist of.
struct Unit {
  std::unique_ptr<ReplayedTrace> trace;
  std::vector<Part> parts;  ///< of a segment: itself

  [[nodiscard]] bool has(const Segment& segment) const;
};

/// Parts that follow each other again and again. Without a trace where there can be none.
struct Round : Unit {
  /// Pauses where it was left before it was replayed once: then its parts are replayed alone.
  Patience entering;
};

struct Segment : Unit {
  /// In which it begins; null: at the beginning of the trace.
  Segment* parent = nullptr;
  trace::Index parent_calls = 0;  ///< of its calls come before
  Fork* home = nullptr;           ///< where it begins, and its place there
  std::list<std::unique_ptr<Segment>>::iterator at_home;
  std::list<Segment*>::iterator among_all;
  bool replayed = false;
  const char* ended_by = "";  ///< why it was recorded no further
  CallSequence sequence;      ///< of its calls
  // Of a trace that was found.
  std::vector<autotrace::Token> tokens;  ///< of its calls
  std::uint64_t candidate = 0;           ///< the one whose last call is its last; 0: none
  std::uint64_t number = 0;              ///< of all of the context
  std::uint64_t context = 0;             ///< in which it was recorded (finder/history.hpp)
  Trust trust;                           ///< wherever its first call comes
  Trust trust_in_context;                ///< where that comes in the same context
  std::map<trace::Index, Fork> forks;    ///< by the number of its calls made before
  std::uint64_t last_used = 0;
  // For people: of which trace, begun where, and how many of its calls come before.
  std::string name;
  std::source_location begun_at;
  std::size_t calls_before = 0;

  /// Nothing begins in it.
  [[nodiscard]] bool is_leaf() const {
    return std::ranges::all_of(forks, [](const auto& fork) { return fork.second.empty(); });
  }
};

}  // namespace refrain::runtime
