// The run that a process's environment tells of, which all its libraries share: refrain_oracle_here() and what goes
// with it. The variables, set by `refrain oracle`:
//   REFRAIN_ORACLE_RECORD     the file to record in, which was created
//   REFRAIN_ORACLE_REFERENCE  the file of an earlier run
//   REFRAIN_ORACLE_LEDGER     the ledger
// A process is called by its rank in MPI, or else as the ledger counts.

#include <pthread.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "oracle/error.hpp"
#include "oracle/interface/c_objects.hpp"
#include "oracle/ledger.hpp"

namespace {

using refrain::oracle::Ledger;
using refrain::oracle::OracleError;

/// Made once in a process and never destroyed: threads may use it as long as there are any.
struct Environment {
  std::unique_ptr<Ledger> ledger;
  std::uint32_t process = 0;
  refrain_oracle* oracle = nullptr;  ///< none: nothing is recorded or predicted
  std::atomic<std::uint32_t> threads{0};
  /// Its parent's, after a fork(): threads that were in the midst of using it are not here to be waited for.
  Environment* inherited = nullptr;
};

// The mutex is held while the environment is made, and during fork(), so that the child finds it free. Who reads the
// pointer without it acquires what was made before it was released.
std::mutex making;
std::atomic<Environment*> current{nullptr};
Environment* inherited = nullptr;

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

void complain(const char* what) { std::fprintf(stderr, "refrain oracle: %s\n", what); }

/// Of Open MPI, PMIx (PRRTE), PMI (MPICH, Slurm), MVAPICH.
std::optional<std::uint32_t> rank() {
  for (const char* const name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"}) {
    const char* const value = variable(name);
    if (value == nullptr) continue;
    std::uint32_t rank = 0;
    const char* const end = value + std::strlen(value);
    const auto [read, error] = std::from_chars(value, end, rank);
    if (error == std::errc() && read == end) return rank;
  }
  return std::nullopt;
}

void make(Environment& made) {
  const char* const record = variable("REFRAIN_ORACLE_RECORD");
  const char* const reference = variable("REFRAIN_ORACLE_REFERENCE");
  if (record == nullptr && reference == nullptr) return;
  try {
    if (const char* const ledger = variable("REFRAIN_ORACLE_LEDGER"); ledger != nullptr)
      made.ledger = std::make_unique<Ledger>(ledger);
    const std::optional<std::uint32_t> known = rank();
    made.process = known ? *known : made.ledger ? made.ledger->count_process() : 0;
  } catch (const OracleError& error) { complain(error.what()); }
  const refrain_oracle_options options{record, reference, nullptr, made.process, 1};
  made.oracle = refrain_oracle_open(&options);
  if (made.oracle != nullptr) return;
  complain(refrain_oracle_error());
  if (record == nullptr || reference == nullptr) return;
  const refrain_oracle_options without{record, nullptr, nullptr, made.process, 1};
  made.oracle = refrain_oracle_open(&without);
  if (made.oracle == nullptr) complain(refrain_oracle_error());
}

void report(const Environment& environment, const refrain_oracle_stream& stream) {
  if (!environment.ledger || !stream.assessment) return;
  try {
    environment.ledger->report(environment.process, stream.thread, stream.assessment->counts());
  } catch (const OracleError& error) { complain(error.what()); }
}

void before_fork() { making.lock(); }
void after_fork() { making.unlock(); }
/// The streams that the child has are its parent's.
void after_fork_in_child() {
  if (Environment* const made = current.exchange(nullptr, std::memory_order_relaxed))
    inherited = made;
  making.unlock();
}

Environment& environment() {
  if (Environment* const made = current.load(std::memory_order_acquire); made != nullptr)
    return *made;
  const std::scoped_lock lock(making);
  Environment* made = current.load(std::memory_order_relaxed);
  if (made == nullptr) {
    static const int handlers = ::pthread_atfork(before_fork, after_fork, after_fork_in_child);
    static_cast<void>(handlers);
    made = new Environment;
    made->inherited = inherited;
    make(*made);
    current.store(made, std::memory_order_release);
  }
  return *made;
}

bool is_current(const Environment* of) { return current.load(std::memory_order_acquire) == of; }

/// A thread's stream, which is left at its end.
struct Here {
  ~Here();
  void join(Environment& environment);

  Environment* of = nullptr;
  refrain_oracle_stream* stream = nullptr;
};

thread_local Here here;
/// `here` has been destroyed: this may be read as long as there is the thread.
thread_local bool is_over = false;

void Here::join(Environment& environment) {
  of = &environment;
  stream = nullptr;
  if (environment.oracle == nullptr) return;
  const std::uint32_t number = environment.threads.fetch_add(1, std::memory_order_relaxed);
  stream = refrain_oracle_join(environment.oracle, number);
  if (stream == nullptr) return complain(refrain_oracle_error());
  if (environment.ledger) stream->assessment.emplace();
}

Here::~Here() {
  is_over = true;
  if (stream == nullptr || !is_current(of)) return;
  report(*of, *stream);
  if (refrain_oracle_leave(stream) != 0) complain(refrain_oracle_error());
}

/// The process ends. Threads that are still there may be about to use their streams; those are theirs no more, once
/// they are not within one. That does not take long, unless a thread is suspended for good.
struct AtEnd {
  ~AtEnd() {
    Environment* const made = current.load(std::memory_order_acquire);
    if (made == nullptr || made->oracle == nullptr) return;
    while (refrain_oracle_stream* const stream = made->oracle->any()) {
      // Whoever ends it frees it, but for us: its thread may look at it once more.
      if (!made->oracle->forget(*stream) || !close(*stream)) continue;
      report(*made, *stream);
      try {
        stream->stream->append();
      } catch (const std::exception& error) { complain(error.what()); }
    }
  }

 private:
  static bool close(refrain_oracle_stream& stream) {
    using State = refrain_oracle_stream::State;
    for (int attempts = 0; attempts < 1000; ++attempts) {
      State free = State::free;
      if (stream.state.compare_exchange_strong(free, State::closed, std::memory_order_acquire))
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
};

const AtEnd at_end;

}  // namespace

refrain_oracle_stream* refrain_oracle_here() {
  if (is_over) return nullptr;
  if (here.of == nullptr || !is_current(here.of)) here.join(environment());
  return here.stream;
}

void refrain_oracle_assess(refrain_oracle_stream* stream) {
  if (!stream->assessment || !stream->enter()) return;
  stream->assessment->predict(*stream->stream);
  stream->exit();
}

void refrain_oracle_say(const char* line) {
  const Environment* const made = current.load(std::memory_order_acquire);
  if (made == nullptr || !made->ledger) return;
  try {
    made->ledger->say(made->process, line);
  } catch (const std::exception& error) { complain(error.what()); }
}
