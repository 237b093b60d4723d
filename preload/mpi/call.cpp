#include "mpi/call.hpp"

#include <atomic>

#include "mpi/event_table.hpp"
#include "refrain/oracle.h"

namespace refrain::preload {

constinit thread_local int Call::depth_ = 0;

namespace {

std::atomic<std::uint64_t> communicators_freed = 0;

/// The numbers of events of this thread's stream.
struct Numbers {
  refrain_oracle_stream* stream;
  std::uint64_t freed;  ///< communicators_freed, when it was made
  EventTable<Event> events;
};

// It goes at the thread's end. MPI may be called after that (MPI_Finalize in a static object's destructor): then there
// is another, and nothing frees it.
constinit thread_local Numbers* numbers = nullptr;
struct AtThreadEnd {
  ~AtThreadEnd() {
    delete numbers;
    numbers = nullptr;
  }
};

Numbers& numbers_of(refrain_oracle_stream* stream) {
  const std::uint64_t freed = communicators_freed.load(std::memory_order_relaxed);
  if (numbers == nullptr || numbers->stream != stream || numbers->freed != freed) {
    static thread_local AtThreadEnd at_thread_end;
    static_cast<void>(at_thread_end);
    delete numbers;
    numbers = new Numbers{stream, freed, {}};
  }
  return *numbers;
}

}  // namespace

void write_events() { refrain_oracle_leave(refrain_oracle_here()); }

void forget_communicators() { communicators_freed.fetch_add(1, std::memory_order_relaxed); }

void Call::submit(const Event& event, bool ask) {
  refrain_oracle_stream* const stream = refrain_oracle_here();
  if (stream == nullptr) return;
  EventTable<Event>& events = numbers_of(stream).events;
  const std::uint32_t* known = events.find(event);
  if (known == nullptr) {
    events.add(event, refrain_oracle_event(stream, name_of(event).c_str()));
    known = events.find(event);
  }
  refrain_oracle_submit(stream, *known);
  if (ask) refrain_oracle_assess(stream);
}

}  // namespace refrain::preload
