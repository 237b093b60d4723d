#pragma once
// What one thread does in OpenMP, as events of its stream in the oracle, and the sizes of the teams that it starts.
//
//   parallel F, end F   a parallel region begins and ends, F being the function that the compiler made of it
//   critical C          a critical section is entered, once or more; "critical": the one without a name
//   task F              a task is made, or several
//   barrier, taskwait   what they say
//
// Critical sections and tasks that come one after the other are one event: how many of them are this thread's depends
// on the schedule and on the other threads, and nothing is as frequent.
//
// When a region begins outside of any other, the oracle is asked how long it is until its end event, here, in this
// context; on that the choice of the team's size is based. Inside of one, and in a thread that the reference run does
// not have, regions have the size that the program wants.
//
// Where regions of one kind always get the same size nothing is asked and no time is taken, but for a few (Learner).
//
// One per thread, made at its first event. The thread's own: no other touches it.

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "gomp/clock.hpp"
#include "gomp/function.hpp"
#include "gomp/learner.hpp"
#include "gomp/settings.hpp"
#include "refrain/oracle.h"

namespace refrain::gomp {

/// What a region is, as far as that says which teams may do it.
enum class Construct : std::uint8_t {
  region,  ///< its function, once for each thread
  other    ///< a loop or sections, or a region with a clause that libgomp has to know
};

/// What does a region.
struct Team {
  enum class Kind : std::uint8_t {
    asked,   ///< a team of so many threads, or, if that is 0, as many as libgomp gives
    folded,  ///< one thread, by a folded team
  };
  Kind kind = Kind::asked;
  unsigned threads = 0;  ///< what libgomp is to be asked for
  unsigned whole = 0;    ///< as many as the program would have
};

class alignas(64) ThreadEvents {
 public:
  /// This thread's; nullptr where nothing is recorded or predicted: in a process that `refrain oracle` did not start.
  static ThreadEvents* here() {
    ThreadEvents* const known = here_;
    return known != nullptr ? known : look_here();
  }

  explicit ThreadEvents(refrain_oracle_stream* stream);
  ThreadEvents(const ThreadEvents&) = delete;
  ThreadEvents& operator=(const ThreadEvents&) = delete;

  struct Region {
    std::uint32_t begin;
    std::uint32_t end;
    std::string note;  ///< its name
    Learner::Region learned;
    bool foldable = true;  ///< as far as is known
  };
  /// A region that began and did not end yet.
  struct Open {
    Region* region = nullptr;
    Team team{};
    Learner::Call call{};
  };

  /// A region begins. `num_threads`: what the program asks for, 0 if nothing.
  Open begin(Function* function, unsigned num_threads, Construct construct) {
    const std::uint64_t now = settings_.recorded ? clock_.now() : 0;
    Open open{.region = &region(function), .team = {.threads = num_threads}};
    submit(open.region->begin, now);
    if (follows_) choose_team(open, construct);
    if (construct == Construct::region && open.region->foldable && is_one(open.team))
      open.team = {Team::Kind::folded, 1, 1};
    return open;
  }
  /// It ends. `stayed`: false, if another team than was chosen has done it.
  void end(const Open& open, bool stayed) {
    const bool measured = open.call.occasion != nullptr;
    const std::uint64_t now = settings_.recorded || measured ? clock_.now() : 0;
    submit(open.region->end, now);
    if (measured || !stayed) learn(open, now, stayed);
  }

  /// The same of a region whose begin and end the program calls apart. The one that began last ends; nothing, if none
  /// did: a child made by fork() inside of a region has none.
  unsigned begin_apart(Function* region, unsigned num_threads);
  void end_apart();

  /// Another event: `kind`, a string that stays, with the name of what is at `of`, if that is given.
  void happened(const char* kind, const void* of = nullptr);
  /// The same for this thread, unless it was this one that happened last: that takes a nanosecond, since nothing has to
  /// be saved for the other way.
  static void happened_once_or_more(const char* kind, const void* of = nullptr) {
    if (last_ != (of ? of : kind)) [[unlikely]]
      happened_first(kind, of);
  }

  /// What comes next happens, whatever came last, and perhaps in another stream.
  static void forget() { last_ = nullptr, here_ = nullptr; }

  /// The thread ends: what was learned becomes notes, and what was done is said.
  void finish();

  refrain_oracle_stream* stream() const { return stream_; }

 private:
  [[gnu::noinline]] static ThreadEvents* look_here();
  [[gnu::noinline]] static void happened_first(const char* kind, const void* of);

  /// The teams that a region may have.
  struct Freedom {
    Choices choices{0};
    bool folds =
        false;  ///< one thread is a folded team, which costs less than libgomp's team of one
  };

  Region& region(Function* function) {
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    Recent& recent = recent_[(address >> 4 ^ address >> 10) % recent_.size()];
    if (recent.function != function) [[unlikely]]
      recent = {function, &make_region(function)};
    return *recent.region;
  }
  Region& make_region(Function* function);
  std::uint32_t event(const char* name);
  void submit(std::uint32_t event, std::uint64_t now_ns) {
    if (misleads_) [[unlikely]]
      mislead(now_ns);
    refrain_oracle_submit_later(stream_, event, now_ns);
    last_ = nullptr;
  }
  /// Perhaps another event comes first.
  void mislead(std::uint64_t now_ns);
  /// libgomp's team of one thread, in a program that cannot tell a folded one from it, which takes less time.
  [[nodiscard]] static bool is_one(const Team& team);
  [[nodiscard]] static bool can_fold(const Region& region, Construct construct);
  [[nodiscard]] static Freedom freedom(const Region& region, unsigned num_threads,
                                       Construct construct);
  void choose_team(Open& open, Construct construct);
  void learn(const Open& open, std::uint64_t now_ns, bool stayed);
  Learner::Call choose(Region& region, const Choices& choices);
  /// In how many ns this event is expected to end the region; 0: it is not.
  double expected(std::uint32_t end);
  void save();

  refrain_oracle_stream* stream_;
  const bool follows_;   ///< a reference run
  const bool chooses_;   ///< sizes of teams
  const bool misleads_;  ///< by events that did not happen
  const Settings& settings_ = Settings::get();
  Clock clock_;
  std::unordered_map<Function*, Region> regions_;
  /// Where the function's address says: it, if that was the last one there.
  struct Recent {
    Function* function;
    Region* region;
  };
  std::array<Recent, 64> recent_{};
  std::unordered_map<const void*, std::uint32_t>
      others_;  ///< events, by what they are of, or by their kind's text
  /// What happened last in this thread, if it is of those that come in a row: what the event is of, or its kind's text.
  static inline constinit thread_local const void* last_ = nullptr;
  /// This thread's, once it has been looked for and found.
  static inline constinit thread_local ThreadEvents* here_ = nullptr;

  std::vector<Open> open_apart_;
  Learner learner_;
  std::uint32_t events_ = 0;                  ///< they are the numbers below
  std::uint64_t random_ = 88172645463325252;  ///< which unexpected event comes when

  std::uint64_t save_at_ = 1;  ///< when so many sizes have been chosen

  // What is said at the end.
  std::uint64_t chosen_ = 0;
  std::uint64_t smaller_ = 0;
};

}  // namespace refrain::gomp
