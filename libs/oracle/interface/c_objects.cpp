#include "oracle/interface/c_objects.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <set>
#include <span>
#include <utility>

#include "oracle/error.hpp"

using refrain::oracle::FileError;
using refrain::oracle::OracleError;
using refrain::oracle::Run;
using refrain::oracle::RunSettings;
using refrain::oracle::Tracked;

namespace {

// It has all below, the oracles' members, and the order of joining and leaving.
std::mutex mutex;

// Never destroyed: threads may be there until the very end.

std::deque<refrain_oracle>& oracles() {
  static auto* const all = new std::deque<refrain_oracle>;
  return *all;
}

/// Those that are open, and were opened by this process.
std::set<refrain_oracle*>& open_ones() {
  static auto* const all = new std::set<refrain_oracle*>;
  return *all;
}

std::deque<refrain_oracle_stream>& streams() {
  static auto* const all = new std::deque<refrain_oracle_stream>;
  return *all;
}

}  // namespace

refrain_oracle& refrain_oracle::open(const RunSettings& settings) {
  auto run = std::make_shared<Run>(settings);
  const std::scoped_lock lock(mutex);
  if (settings.record)
    for (const refrain_oracle* const other : open_ones())
      if (other->run_->recorded() == run->recorded() && other->run_->process() == run->process())
        throw FileError(*settings.record,
                        "is open already, to record process " + std::to_string(run->process()) +
                            " in it: open it once for all threads, or give each process a number "
                            "of its own");
  refrain_oracle& oracle = oracles().emplace_back();
  open_ones().insert(&oracle);
  oracle.run_ = std::move(run);
  return oracle;
}

void refrain_oracle::require_unused(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return;
  const refrain::oracle::FileIdentity file{status.st_dev, status.st_ino};
  const std::scoped_lock lock(mutex);
  for (const refrain_oracle* const oracle : open_ones())
    if (oracle->run_->recorded() == file)
      throw FileError(path, "is being recorded in by this process: close that run first");
}

void refrain_oracle::require_open() const {
  if (inherited_)
    throw OracleError(
        "the run was opened by the parent process: after fork() a child opens one for itself");
  if (!run_) throw OracleError("the run has been closed already");
}

refrain_oracle_stream& refrain_oracle::join(std::uint32_t thread) {
  std::unique_lock lock(mutex);
  require_open();
  const std::shared_ptr<Run> run = run_;
  lock.unlock();  // to prepare the reference takes a while
  auto joined = run->join(thread);
  lock.lock();
  require_open();
  refrain_oracle_stream& stream = streams().emplace_back(*this, thread, std::move(joined));
  streams_.insert(&stream);
  return stream;
}

void refrain_oracle::close() {
  using State = refrain_oracle_stream::State;
  std::unique_lock lock(mutex);
  require_open();
  const auto used = std::ranges::find_if(streams_, [](auto* stream) { return !stream->enter(); });
  if (used != streams_.end()) {
    std::for_each(streams_.begin(), used, [](auto* stream) { stream->exit(); });
    throw OracleError((*used)->why_not() + ", so the run is not closed");
  }
  // Nobody else finds any of it from now on.
  const auto left = std::exchange(streams_, {});
  const std::shared_ptr<Run> run = std::exchange(run_, nullptr);
  open_ones().erase(this);
  lock.unlock();
  std::exception_ptr failed;
  for (refrain_oracle_stream* const stream : left) {
    try {
      stream->append();
    } catch (...) { failed = std::current_exception(); }
    stream->end(State::closed);
  }
  if (failed) std::rethrow_exception(failed);
}

bool refrain_oracle::forget(refrain_oracle_stream& stream) {
  const std::scoped_lock lock(mutex);
  if (streams_.erase(&stream) == 0) return false;
  run_->leave(stream.thread);
  return true;
}

refrain_oracle_stream* refrain_oracle::any() {
  const std::scoped_lock lock(mutex);
  return streams_.empty() ? nullptr : *streams_.begin();
}

void refrain_oracle::before_fork() { mutex.lock(); }
void refrain_oracle::after_fork() { mutex.unlock(); }

/// Whoever was using a stream is not here to come out of it.
void refrain_oracle::after_fork_in_child() {
  for (refrain_oracle* const oracle : open_ones()) {
    oracle->inherited_ = true;
    for (refrain_oracle_stream* const stream : oracle->streams_)
      stream->state.store(refrain_oracle_stream::State::inherited, std::memory_order_relaxed);
  }
  open_ones().clear();
  mutex.unlock();
}

Tracked refrain_oracle_stream::submit(std::uint32_t event, std::optional<std::uint64_t> now) {
  if (!assessment) {
    if (now && stream->record_expected(event, *now)) return Tracked::unknown;
    return stream->submit(event, now);
  }
  return assessment->submit(event, [&] { return stream->submit(event, now); });
}

/// What goes wrong with one of them is thrown when all have been submitted.
void refrain_oracle_stream::submit_those() {
  const std::uint32_t count = std::exchange(later->count, 0);
  std::exception_ptr failed;
  for (const Later::Event& each : std::span(later->events).first(count)) {
    try {
      submit(each.event, each.now);
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

void refrain_oracle_stream::append() {
  std::exception_ptr failed;
  try {
    catch_up();
  } catch (...) { failed = std::current_exception(); }
  stream->append();
  if (failed) std::rethrow_exception(failed);
}

void refrain_oracle_stream::end(State how) {
  assessment.reset();
  later.reset();
  stream.reset();
  state.store(how, std::memory_order_release);
}

std::string refrain_oracle_stream::why_not() const {
  const std::string name = "the stream of thread " + std::to_string(thread);
  switch (state.load(std::memory_order_relaxed)) {
    case State::left: return name + " has been left already";
    case State::closed: return name + " has ended, since its run was closed";
    case State::over: return "the process is at its end";
    case State::inherited:
      return name + " is the parent process's: after fork() a child opens a run for itself";
    case State::free:
    case State::used: break;
  }
  return name + " is used by another thread at the same time: each thread joins for itself";
}
