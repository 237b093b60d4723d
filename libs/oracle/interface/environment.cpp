#include "oracle/interface/environment.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

namespace refrain::oracle {

namespace {

// The mutex is held while the environment is made, and during fork(), so that the child finds it free. Who reads the
// pointer without it acquires what was made before it was released.
std::mutex making;
std::atomic<Environment*> of_process{nullptr};
const Environment* of_parent = nullptr;  // under the mutex

/// What goes wrong is said.
template <class Function>
void or_complain(const Function& function) {
  try {
    function();
  } catch (const std::exception& error) { complain(error.what()); }
}

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

/// Of Open MPI, PMIx (PRRTE), PMI (MPICH, Slurm), MVAPICH.
std::optional<std::uint32_t> rank() {
  for (const char* const name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"}) {
    const char* const value = variable(name);
    if (value == nullptr) continue;
    std::uint32_t rank = 0;
    const char* const end = value + std::strlen(value);
    const auto [read, error] = std::from_chars(value, end, rank);
    if (error == std::errc() && read == end && rank < Ledger::kOthers) return rank;
  }
  return std::nullopt;
}

// In this order: whoever makes the environment opens and joins.
void before_fork() {
  making.lock();
  refrain_oracle::before_fork();
}
void after_fork() {
  refrain_oracle::after_fork();
  making.unlock();
}
void after_fork_in_child() {
  if (const Environment* const parents = of_process.exchange(nullptr, std::memory_order_relaxed))
    of_parent = parents;
  refrain_oracle::after_fork_in_child();
  making.unlock();
}

// Before there can be a fork() that would find a mutex taken by a thread which the child does not have.
[[maybe_unused]] const int handlers =
    ::pthread_atfork(before_fork, after_fork, after_fork_in_child);

/// Once the thread that uses it has come out, nobody gets in. That does not take long, unless the thread is suspended
/// for good.
bool close(refrain_oracle_stream& stream) {
  using State = refrain_oracle_stream::State;
  for (int attempts = 0; attempts < 1000; ++attempts) {
    State free = State::free;
    if (stream.state.compare_exchange_strong(free, State::over, std::memory_order_acquire))
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

void complain(const char* what) { std::fprintf(stderr, "refrain oracle: %s\n", what); }

Environment* Environment::made() { return of_process.load(std::memory_order_acquire); }

bool Environment::is_current() const { return made() == this; }

Environment& Environment::current() {
  if (Environment* const known = made(); known != nullptr) return *known;
  const std::scoped_lock lock(making);
  if (Environment* const known = made(); known != nullptr) return *known;
  auto* const environment = new Environment;
  of_process.store(environment, std::memory_order_release);
  return *environment;
}

Environment::Environment() : inherited_(of_parent) {
  or_complain([&] { open(); });
}

void Environment::open() {
  const char* const record = variable("REFRAIN_ORACLE_RECORD");
  const char* const reference = variable("REFRAIN_ORACLE_REFERENCE");
  if (record == nullptr && reference == nullptr) return;
  follows_ = reference != nullptr;
  const std::optional<std::uint32_t> known = rank();
  process_ = known.value_or(0);
  if (const char* const ledger = variable("REFRAIN_ORACLE_LEDGER"); ledger != nullptr)
    or_complain([&] {
      ledger_.emplace(ledger);
      process_ = ledger_->count_process(known);
    });
  const refrain_oracle_options options{record, reference, nullptr, process_, 1};
  oracle_ = refrain_oracle_open(&options);
  if (oracle_ != nullptr) return;
  const std::string wrong = refrain_oracle_error();
  complain(wrong.c_str());
  if (record == nullptr || reference == nullptr) return;
  const refrain_oracle_options recorded{record, nullptr, nullptr, process_, 1};
  oracle_ = refrain_oracle_open(&recorded);
  if (oracle_ != nullptr) return;
  if (wrong != refrain_oracle_error()) complain(refrain_oracle_error());
  const refrain_oracle_options followed{nullptr, reference, nullptr, process_, 1};
  oracle_ = refrain_oracle_open(&followed);
}

refrain_oracle_stream* Environment::join() {
  if (oracle_ == nullptr) return nullptr;
  const std::scoped_lock lock(mutex_);
  const auto lower = [](const refrain_oracle_stream* a, const refrain_oracle_stream* b) {
    return a->thread < b->thread;
  };
  if (const auto lowest = std::ranges::min_element(unused_, lower); lowest != unused_.end())
    return unused_.extract(lowest).value();
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle_, threads_);
  if (stream == nullptr) {
    complain(refrain_oracle_error());
    return nullptr;
  }
  ++threads_;
  stream->shared = true;
  if (ledger_ && follows_) stream->assessment = std::make_unique<Assessment>();
  return stream;
}

void Environment::give_back(refrain_oracle_stream& stream) {
  const std::scoped_lock lock(mutex_);
  unused_.insert(&stream);
}

void Environment::say(const char* line) {
  if (ledger_) ledger_->say(process_, line);
}

void Environment::end() {
  if (oracle_ == nullptr) return;
  while (refrain_oracle_stream* const stream = oracle_->any()) {
    // It is not freed: its thread may look at it once more.
    if (!oracle_->forget(*stream) || !close(*stream)) continue;
    or_complain([&] { stream->append(); });
    if (ledger_ && stream->assessment)
      or_complain([&] { ledger_->report(process_, stream->thread, stream->assessment->counts()); });
  }
}

}  // namespace refrain::oracle
