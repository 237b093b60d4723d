#include "gomp/thread_events.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <memory>

#include "gomp/behind.hpp"
#include "gomp/folded_team.hpp"
#include "gomp/function_name.hpp"
#include "gomp/kept_threads.hpp"
#include "gomp/settings.hpp"
#include "gomp/thread_pool.hpp"
#include "gomp/visible_threads.hpp"

namespace refrain::gomp {
namespace {

/// The name of the note that says which way of choosing has won.
constexpr const char* contest_note = "threads of all regions";

/// The thread's events as long as it has any.
struct Mine {
  ~Mine();
  std::unique_ptr<ThreadEvents> events;
};

thread_local Mine mine;
/// `mine` has been destroyed: this may be read as long as there is the thread.
constinit thread_local bool over = false;

Mine::~Mine() {
  over = true;
  ThreadEvents::forget();
  if (events) events->finish();
}

// What a thread did last was before the fork(), and is not in the child's stream, which is another one.
[[maybe_unused]] const int handler =
    pthread_atfork(nullptr, nullptr, [] { ThreadEvents::forget(); });

}  // namespace

ThreadEvents* ThreadEvents::look_here() {
  if (over) return nullptr;
  // It is another one after a fork().
  refrain_oracle_stream* stream = refrain_oracle_here();
  if (!stream) return nullptr;
  if (!mine.events || mine.events->stream() != stream) {
    keep_threads(Settings::get().keep_threads);
    mine.events = std::make_unique<ThreadEvents>(stream);
  }
  return here_ = mine.events.get();
}

ThreadEvents::ThreadEvents(refrain_oracle_stream* stream)
    : stream_(stream),
      follows_(refrain_oracle_predicts(stream) != 0),
      chooses_(follows_ && Settings::get().choice != Choice::program),
      misleads_(Settings::get().unexpected > 0),
      learner_(settings_.thresholds, static_cast<unsigned>(BEHIND(omp_get_num_procs)())) {
  if (!chooses_ || settings_.choice != Choice::learn) return;
  std::size_t size = 0;
  if (const void* const note = refrain_oracle_note(stream_, contest_note, &size))
    learner_.contest().recall({static_cast<const char*>(note), size});
}

bool ThreadEvents::is_one(const Team& team) {
  if (team.kind != Team::Kind::asked) return false;
  if (team.threads != 1 && (team.threads != 0 || BEHIND(omp_get_max_threads)() != 1)) return false;
  // What libgomp is asked past this library would find no team.
  return !VisibleThreads::are_there();
}

/// Whether a folded team may do the region, and nobody can tell.
bool ThreadEvents::can_fold(const Region& region, Construct construct) {
  // Whom libgomp would give fewer threads than it asks for is told so.
  if (BEHIND(omp_get_thread_limit)() != INT_MAX || BEHIND(omp_get_dynamic)()) return false;
  if (BEHIND(omp_get_max_active_levels)() < 1) return false;
  if (VisibleThreads::do_differ() || VisibleThreads::are_there()) return false;
  // Also before loops, which may leave threads with other modes for floating-point numbers.
  if (!FoldedTeam::prepare()) return false;
  return region.foldable && construct == Construct::region;
}

/// An explicit num_threads(n) says how many threads there are, unless the program lets OpenMP adjust the number, or the
/// user says so.
ThreadEvents::Freedom ThreadEvents::freedom(const Region& region, unsigned num_threads,
                                            Construct construct) {
  if (BEHIND(omp_get_level)() > 0) return {};
  const Settings& settings = Settings::get();
  const auto limit = static_cast<unsigned>(BEHIND(omp_get_thread_limit)());
  const bool clause = num_threads != 0;
  if (!clause) num_threads = static_cast<unsigned>(BEHIND(omp_get_max_threads)());
  if (num_threads == 1) return {};
  const bool folds = can_fold(region, construct);
  if (BEHIND(omp_get_dynamic)() || (clause ? settings.limit_clauses : settings.teams == Teams::any))
    return {std::min(limit, num_threads), folds};
  if (!folds) return {};
  return {{num_threads, true}, true};
}

void ThreadEvents::choose_team(Open& open, Construct construct) {
  refrain_oracle_assess(stream_);
  if (!chooses_) return;
  if (settings_.choice == Choice::learn && learner_.takes_whole([&] { return clock_.now(); }))
    return;
  const auto [choices, folds] = freedom(*open.region, open.team.threads, construct);
  if (choices.limit <= 1) return;
  open.call = choose(*open.region, choices);
  ++chosen_;
  if (open.call.threads == choices.limit) return;
  ++smaller_;
  const unsigned threads = open.call.threads;
  open.team = {threads == 1 && folds ? Team::Kind::folded : Team::Kind::asked, threads,
               choices.limit};
}

unsigned ThreadEvents::begin_apart(Function* function, unsigned num_threads) {
  open_apart_.push_back(begin(function, num_threads, Construct::other));
  return open_apart_.back().team.threads;
}

void ThreadEvents::end_apart() {
  if (open_apart_.empty()) return;
  const Open open = open_apart_.back();
  open_apart_.pop_back();
  end(open, true);
}

Learner::Call ThreadEvents::choose(Region& region, const Choices& choices) {
  if (settings_.choice == Choice::thresholds) {
    const unsigned threads = settings_.thresholds.choose(expected(region.end), choices.limit);
    return {choices.have(threads) ? threads : choices.limit};
  }
  return learner_.choose(
      region.learned, choices, [&] { return expected(region.end); }, [&] { return clock_.now(); });
}

/// Nearly always the end is the next event, or the one after it, which costs a tenth of looking for it further ahead.
double ThreadEvents::expected(std::uint32_t end) {
  for (const std::uint64_t distance : {1, 2}) {
    const refrain_oracle_prediction next = refrain_oracle_predict(stream_, distance);
    if (next.event == end) return next.delay;
    if (next.event == REFRAIN_ORACLE_NONE) return 0;
  }
  const refrain_oracle_occurrence further = refrain_oracle_next(stream_, end);
  return further.distance > 0 ? further.delay : 0;
}

void ThreadEvents::learn(const Open& open, std::uint64_t now_ns, bool stayed) {
  if (!stayed) {
    open.region->foldable = false;
    if (open.team.whole > 1) --smaller_;
    return;
  }
  if (open.call.occasion == nullptr) return;
  learner_.ended(open.region->learned, open.call, now_ns);
  // Now and then, so that a process that does not come to its end leaves most of it.
  if (chosen_ >= save_at_) {
    save_at_ = 2 * chosen_;
    save();
  }
}

void ThreadEvents::happened(const char* kind, const void* of) {
  // The others of a folded team would have their own streams.
  if (const FoldedTeam* const team = FoldedTeam::here(); team != nullptr && team->number() != 0)
    return;
  const FoldedTeam::Aside names_are_read_from_files;
  auto [place, is_new] = others_.try_emplace(of ? of : kind);
  if (is_new) place->second = event((of ? kind + (' ' + function_name(of)) : kind).c_str());
  submit(place->second, settings_.recorded ? clock_.now() : 0);
}

void ThreadEvents::happened_first(const char* kind, const void* of) {
  if (ThreadEvents* const events = here()) events->happened(kind, of);
  last_ = of ? of : kind;
}

void ThreadEvents::mislead(std::uint64_t now_ns) {
  random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
  if (events_ == 0 || static_cast<double>(random_ >> 11) * 0x1p-53 >= settings_.unexpected) return;
  refrain_oracle_submit_later(stream_, static_cast<std::uint32_t>(random_ % 1009 % events_),
                              now_ns);
}

ThreadEvents::Region& ThreadEvents::make_region(Function* function) {
  auto [place, is_new] = regions_.try_emplace(function);
  Region& region = place->second;
  if (!is_new) return region;
  const std::string name = function_name(reinterpret_cast<const void*>(function));
  region.begin = event(("parallel " + name).c_str());
  region.end = event(("end " + name).c_str());
  region.note = "threads of " + name;
  std::size_t size = 0;
  if (const void* note = refrain_oracle_note(stream_, region.note.c_str(), &size)) {
    region.learned.occasions.recall({static_cast<const char*>(note), size});
  }
  if (regions_.size() == 1) make_room_for_pool();
  return region;
}

std::uint32_t ThreadEvents::event(const char* name) {
  const std::uint32_t number = refrain_oracle_event(stream_, name);
  if (number != REFRAIN_ORACLE_NONE) events_ = std::max(events_, number + 1);
  return number;
}

void ThreadEvents::save() {
  if (settings_.choice == Choice::learn) {
    const std::string note = learner_.contest().note();
    refrain_oracle_set_note(stream_, contest_note, note.data(), note.size());
  }
  for (const auto& [function, region] : regions_) {
    const std::string note = region.learned.occasions.note();
    if (note.empty()) continue;
    refrain_oracle_set_note(stream_, region.note.c_str(), note.data(), note.size());
  }
}

void ThreadEvents::finish() {
  if (settings_.teams == Teams::safe && chooses_ && VisibleThreads::are_there())
    refrain_oracle_say(
        ("OpenMP: teams stay as the program asks for: " + VisibleThreads::reason()).c_str());
  const bool whole_won = learner_.contest().winner() == Contest::Way::whole;
  if (chosen_ == 0 && !whole_won) return;
  save();
  if (whole_won)
    refrain_oracle_say(
        "OpenMP: to choose threads by region took longer than whole teams, which all have now");
  if (chosen_ == 0) return;
  char line[200];
  const int size = std::snprintf(
      line, sizeof line,
      "OpenMP: %ju of the %ju parallel regions whose team may change had fewer threads",
      static_cast<std::uintmax_t>(smaller_), static_cast<std::uintmax_t>(chosen_));
  if (settings_.choice == Choice::learn)
    std::snprintf(line + size, sizeof line - static_cast<std::size_t>(size),
                  "; trials cost %.3g ms of %.4g ms", learner_.spent_ns() * 1e-6,
                  learner_.passed_ns() * 1e-6);
  refrain_oracle_say(line);
}

}  // namespace refrain::gomp
