#pragma once
// What the handles of the C interface point to. A handle is never freed: what it held is, but that it has ended stays,
// so that using it once more is an error with a sentence and not an accident. 64 bytes of each stream that was joined,
// and about as many of each run that was opened, are kept to the end of the process.
//
// One mutex has which runs are open and which streams are joined. It is taken to open, join, leave and close, and held
// during fork(), after which the child's copies of both are marked as its parent's.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "oracle/assessment.hpp"
#include "oracle/run.hpp"
#include "oracle/stream.hpp"
#include "refrain/oracle.h"

struct refrain_oracle {
  /// OracleError: this process records in the same file already, as the same process of the run.
  static refrain_oracle& open(const refrain::oracle::RunSettings& settings);
  /// OracleError: a run that is open records in that file.
  static void require_unused(const std::string& path);

  // OracleError: it has been closed, or is the parent process's.

  refrain_oracle_stream& join(std::uint32_t thread);
  /// All streams are left. OracleError also: one is used by another thread, and nothing is closed; or one could not be
  /// written, and all is closed.
  void close();

  /// Whether it was there: of those who want to end a stream, one does. Its thread may then join again.
  bool forget(refrain_oracle_stream& stream);
  /// None: all have been left.
  refrain_oracle_stream* any();

  static void before_fork();
  static void after_fork();
  static void after_fork_in_child();

 private:
  void require_open() const;

  // Under the mutex:
  std::shared_ptr<refrain::oracle::Run> run_;  // none: it has been closed
  bool inherited_ = false;                     // from the parent process
  std::set<refrain_oracle_stream*> streams_;   // that were joined and not left
};

/// A cache line of its own: each is used by another thread.
struct alignas(64) refrain_oracle_stream {
  refrain_oracle_stream(refrain_oracle& of, std::uint32_t number,
                        std::unique_ptr<refrain::oracle::Stream> joined)
      : oracle(of), thread(number), stream(std::move(joined)) {}

  /// Whether this thread may use it: it has not ended, and no other thread is using it, which would be a mistake.
  [[nodiscard]] bool enter() {
    State free = State::free;
    return state.compare_exchange_strong(free, State::used, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void exit() { state.store(State::free, std::memory_order_release); }

  enum class State : std::uint8_t {
    free,
    used,
    left,
    closed,    ///< with its oracle
    over,      ///< another thread ends the process
    inherited  ///< it is the parent process's
  };

  /// An event happens. Requires that it was entered, as do the next three.
  refrain::oracle::Tracked submit(std::uint32_t event,
                                  std::optional<std::uint64_t> now = std::nullopt);
  /// It happens at the latest when what is here is full. That is after the last of an even number of events, so where a
  /// program has pairs of them and little else the time that takes is mostly between two pairs.
  void submit_later(std::uint32_t event, std::uint64_t now) {
    later->events[later->count] = {now, event};
    if (++later->count == later->events.size()) catch_up();
  }
  /// What was submitted later has happened after this. For whoever looks at the stream.
  void catch_up() {
    if (later->count > 0) submit_those();
  }

  /// Writes what is recorded, all that was submitted. What Stream::append() throws.
  void append();

  /// Requires that it was entered. It holds nothing any more, and nobody enters it.
  void end(State how);
  /// Why nobody enters it.
  [[nodiscard]] std::string why_not() const;

  struct alignas(64) Later {
    struct Event {
      std::uint64_t now;
      std::uint32_t event;
    };
    std::array<Event, 64> events;
    std::uint32_t count = 0;
  };

  refrain_oracle& oracle;
  const std::uint32_t thread;
  std::unique_ptr<refrain::oracle::Stream> stream;
  std::unique_ptr<refrain::oracle::Assessment> assessment;
  std::unique_ptr<Later> later = std::make_unique<Later>();
  bool shared = false;  ///< of the environment: no library of the process may end it for the others
  /// Acquired and released by whoever uses it, so what one thread did to the stream is seen by the next.
  std::atomic<State> state{State::free};

 private:
  [[gnu::noinline]] void submit_those();
};
