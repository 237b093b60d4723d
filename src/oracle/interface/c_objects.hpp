#pragma once
// What the handles of the C interface point to.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "oracle/assessment.hpp"
#include "oracle/run.hpp"
#include "oracle/stream.hpp"
#include "refrain/oracle.h"

struct refrain_oracle {
  explicit refrain_oracle(const refrain::oracle::RunSettings& settings) : run(settings) {}

  void keep(refrain_oracle_stream& stream) {
    const std::scoped_lock lock(mutex_);
    streams_.insert(&stream);
  }
  /// Whether it was there: of those who want to end a stream, one does.
  bool forget(refrain_oracle_stream& stream) {
    const std::scoped_lock lock(mutex_);
    return streams_.erase(&stream) != 0;
  }
  /// None: all have been left.
  refrain_oracle_stream* any() {
    const std::scoped_lock lock(mutex_);
    return streams_.empty() ? nullptr : *streams_.begin();
  }

  refrain::oracle::Run run;

 private:
  std::mutex mutex_;
  std::set<refrain_oracle_stream*> streams_;  // that were joined and not left
};

struct refrain_oracle_stream {
  refrain_oracle_stream(refrain_oracle& of, std::uint32_t number)
      : oracle(of), thread(number), stream(of.run.join(number)) {}

  /// Whether this thread may use it. It may not after close(), which another thread calls at the end of the process;
  /// nor at the same time as another thread, which is a mistake.
  [[nodiscard]] bool enter() {
    State free = State::free;
    return state.compare_exchange_strong(free, State::used, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void exit() { state.store(State::free, std::memory_order_release); }

  enum class State : std::uint8_t { free, used, closed };

  refrain_oracle& oracle;
  const std::uint32_t thread;
  std::unique_ptr<refrain::oracle::Stream> stream;
  std::optional<refrain::oracle::Assessment> assessment;
  bool shared = false;  ///< of the environment: no library of the process may end it for the others
  /// Acquired and released by whoever uses it, so what one thread did to the stream is seen by the next.
  std::atomic<State> state{State::free};
};
