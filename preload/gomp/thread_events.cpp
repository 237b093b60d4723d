#include "gomp/thread_events.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <memory>

#include "gomp/behind.hpp"
#include "gomp/function_name.hpp"
#include "gomp/kept_threads.hpp"
#include "gomp/settings.hpp"

namespace refrain::gomp {
namespace {

/// The oracle's clock, so that events of other libraries in the same stream are in order.
std::uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

/// The thread's events as long as it has any.
struct Mine {
  ~Mine();
  std::unique_ptr<ThreadEvents> events;
};

thread_local Mine mine;
/// `mine` has been destroyed: this may be read as long as there is the thread.
thread_local bool over = false;

Mine::~Mine() {
  over = true;
  if (events) events->finish();
}

// What a thread did last was before the fork(), and is not in the child's stream.
[[maybe_unused]] const int handler =
    pthread_atfork(nullptr, nullptr, [] { ThreadEvents::forget_last(); });

/// How many threads a region gets at most; 0: as many as the program asks for, not fewer. An explicit num_threads(n) is
/// such, unless the program lets OpenMP adjust the number, or the user says so.
unsigned most_threads(unsigned num_threads, const Settings& settings) {
  if (BEHIND(omp_get_level)() > 0) return 0;
  const auto limit = static_cast<unsigned>(BEHIND(omp_get_thread_limit)());
  if (num_threads == 0) {
    return std::min(limit, static_cast<unsigned>(BEHIND(omp_get_max_threads)()));
  }
  const bool adjustable = settings.limit_clauses || BEHIND(omp_get_dynamic)();
  return adjustable ? std::min(limit, num_threads) : 0;
}

}  // namespace

ThreadEvents* ThreadEvents::here() {
  if (over) return nullptr;
  // It is another one after a fork().
  refrain_oracle_stream* stream = refrain_oracle_here();
  if (!stream) return nullptr;
  if (!mine.events || mine.events->stream() != stream) {
    keep_threads(Settings::get().keep_threads);
    mine.events = std::make_unique<ThreadEvents>(stream);
  }
  return mine.events.get();
}

ThreadEvents::ThreadEvents(refrain_oracle_stream* stream)
    : stream_(stream),
      chooses_(refrain_oracle_predicts(stream) && Settings::get().choice != Choice::program) {}

unsigned ThreadEvents::begin(Function* function, unsigned num_threads) {
  Open open{&region(function), now_ns(), nullptr, 0};
  submit(open.region->begin, open.began_ns);
  refrain_oracle_assess(stream_);
  if (chooses_) {
    const unsigned limit = most_threads(num_threads, Settings::get());
    if (limit > 1) open.threads = choose(open, limit);
    if (open.threads != 0 && open.threads < limit) num_threads = open.threads;
  }
  open_.push_back(open);
  return num_threads;
}

unsigned ThreadEvents::choose(Open& open, unsigned limit) {
  const Settings& settings = Settings::get();
  const double expected_ns = expected(open.region->end);
  unsigned threads = 0;
  if (settings.choice == Choice::thresholds) {
    threads = settings.thresholds.choose(expected_ns, limit);
  } else {
    open.occasion = &open.region->occasions.at(expected_ns);
    threads = open.occasion->choose(limit, settings.thresholds, allowance_);
  }
  ++chosen_;
  if (threads < limit) ++smaller_;
  return threads;
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

void ThreadEvents::end() {
  if (open_.empty()) return;
  const Open open = open_.back();
  open_.pop_back();
  const std::uint64_t now = now_ns();
  submit(open.region->end, now);
  if (open.threads == 0) return;
  const auto took_ns = static_cast<double>(now - open.began_ns);
  in_regions_ns_ += took_ns;
  if (!open.occasion) return;
  allowance_.earn(took_ns);
  open.occasion->ran(open.threads, took_ns, allowance_);
  // Now and then, so that a process that does not come to its end leaves most of it.
  if (std::has_single_bit(chosen_)) save();
}

void ThreadEvents::happened(const char* kind, const void* of) {
  auto [place, is_new] = others_.try_emplace(of ? of : kind);
  if (is_new) place->second = event((of ? kind + (' ' + function_name(of)) : kind).c_str());
  submit(place->second, now_ns());
}

void ThreadEvents::happened_first(const char* kind, const void* of) {
  if (ThreadEvents* const events = here()) events->happened(kind, of);
  last_ = of ? of : kind;
}

void ThreadEvents::submit(std::uint32_t event, std::uint64_t now_ns) {
  const double unexpected = Settings::get().unexpected;
  if (unexpected > 0 && events_ > 0) {
    random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
    if (static_cast<double>(random_ >> 11) * 0x1p-53 < unexpected) {
      const auto which = static_cast<std::uint32_t>(random_ % 1009 % events_);
      refrain_oracle_submit_at(stream_, which, now_ns);
    }
  }
  refrain_oracle_submit_at(stream_, event, now_ns);
  last_ = nullptr;
}

ThreadEvents::Region& ThreadEvents::region(Function* function) {
  auto [place, is_new] = regions_.try_emplace(function);
  Region& region = place->second;
  if (!is_new) return region;
  const std::string name = function_name(reinterpret_cast<const void*>(function));
  region.begin = event(("parallel " + name).c_str());
  region.end = event(("end " + name).c_str());
  region.note = "threads of " + name;
  std::size_t size = 0;
  if (const void* note = refrain_oracle_note(stream_, region.note.c_str(), &size)) {
    region.occasions.recall({static_cast<const char*>(note), size});
  }
  return region;
}

std::uint32_t ThreadEvents::event(const char* name) {
  const std::uint32_t number = refrain_oracle_event(stream_, name);
  if (number != REFRAIN_ORACLE_NONE) events_ = std::max(events_, number + 1);
  return number;
}

void ThreadEvents::save() {
  for (const auto& [function, region] : regions_) {
    const std::string note = region.occasions.note();
    if (note.empty()) continue;
    refrain_oracle_set_note(stream_, region.note.c_str(), note.data(), note.size());
  }
}

void ThreadEvents::finish() {
  if (chosen_ == 0) return;
  save();
  char line[160];
  std::snprintf(line, sizeof line,
                "OpenMP: %ju of %ju parallel regions with fewer threads; trying cost %.3g ms of "
                "%.4g ms in regions",
                static_cast<std::uintmax_t>(smaller_), static_cast<std::uintmax_t>(chosen_),
                allowance_.spent() * 1e-6, in_regions_ns_ * 1e-6);
  refrain_oracle_say(line);
}

}  // namespace refrain::gomp
