// libgomp's functions that the compiler calls for parallel regions, critical sections, barriers and tasks (its ABI,
// version 1.0 to 5.0): each says what happens, and calls the one behind it. For regions it may ask for fewer threads
// than the program does.

#include "gomp/behind.hpp"
#include "gomp/folded_team.hpp"
#include "gomp/parallel_region.hpp"

using refrain::gomp::Construct;
using refrain::gomp::FoldedTeam;
using refrain::gomp::Function;
using refrain::gomp::ParallelRegion;
using refrain::gomp::Team;
using refrain::gomp::ThreadEvents;

namespace {

void happened(const char* kind, const void* of = nullptr) {
  if (ThreadEvents* const events = ThreadEvents::here()) events->happened(kind, of);
}

/// A region that ends with a call of its own: the program calls its function in between.
unsigned begun(Function* function, unsigned num_threads) {
  FoldedTeam::start_here();
  ThreadEvents* const events = ThreadEvents::here();
  return events ? events->begin_apart(function, num_threads) : num_threads;
}

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default")))

// ---- Parallel regions, and those that are a loop or sections and nothing else ----

ENTRY void GOMP_parallel(Function* fn, void* data, unsigned threads, unsigned flags) {
  // Of a clause proc_bind libgomp has to know.
  ParallelRegion region(fn, threads, flags == 0 ? Construct::region : Construct::other);
  if (region.team().kind == Team::Kind::folded) region.fold(fn, data);
  else
    FoldedTeam::run_whole(fn, data, [&](Function* function, void* with) {
      BEHIND(GOMP_parallel)(function, with, region.team().threads, flags);
    });
}

ENTRY unsigned GOMP_parallel_reductions(Function* fn, void* data, unsigned threads,
                                        unsigned flags) {
  const ParallelRegion region(fn, threads, Construct::other);
  return BEHIND(GOMP_parallel_reductions)(fn, data, region.team().threads, flags);
}

ENTRY void GOMP_parallel_sections(Function* fn, void* data, unsigned threads, unsigned count,
                                  unsigned flags) {
  const ParallelRegion region(fn, threads, Construct::other);
  FoldedTeam::run_whole(fn, data, [&](Function* function, void* with) {
    BEHIND(GOMP_parallel_sections)(function, with, region.team().threads, count, flags);
  });
}

#define LOOP(name)                                                                             \
  ENTRY void name(Function* fn, void* data, unsigned threads, long start, long end, long step, \
                  long chunk, unsigned flags) {                                                \
    const ParallelRegion region(fn, threads, Construct::other);                                \
    FoldedTeam::run_whole(fn, data, [&](Function* function, void* with) {                      \
      BEHIND(name)(function, with, region.team().threads, start, end, step, chunk, flags);     \
    });                                                                                        \
  }
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)

#define RUNTIME_LOOP(name)                                                                     \
  ENTRY void name(Function* fn, void* data, unsigned threads, long start, long end, long step, \
                  unsigned flags) {                                                            \
    const ParallelRegion region(fn, threads, Construct::other);                                \
    FoldedTeam::run_whole(fn, data, [&](Function* function, void* with) {                      \
      BEHIND(name)(function, with, region.team().threads, start, end, step, flags);            \
    });                                                                                        \
  }
RUNTIME_LOOP(GOMP_parallel_loop_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

// ---- The same of programs compiled before GCC 4.9 ----

ENTRY void GOMP_parallel_start(Function* fn, void* data, unsigned threads) {
  BEHIND(GOMP_parallel_start)(fn, data, begun(fn, threads));
}

ENTRY void GOMP_parallel_sections_start(Function* fn, void* data, unsigned threads,
                                        unsigned count) {
  BEHIND(GOMP_parallel_sections_start)(fn, data, begun(fn, threads), count);
}

#define LOOP_START(name)                                                                       \
  ENTRY void name(Function* fn, void* data, unsigned threads, long start, long end, long step, \
                  long chunk) {                                                                \
    BEHIND(name)(fn, data, begun(fn, threads), start, end, step, chunk);                       \
  }
LOOP_START(GOMP_parallel_loop_static_start)
LOOP_START(GOMP_parallel_loop_dynamic_start)
LOOP_START(GOMP_parallel_loop_guided_start)

ENTRY void GOMP_parallel_loop_runtime_start(Function* fn, void* data, unsigned threads, long start,
                                            long end, long step) {
  BEHIND(GOMP_parallel_loop_runtime_start)(fn, data, begun(fn, threads), start, end, step);
}

ENTRY void GOMP_parallel_end() {
  BEHIND(GOMP_parallel_end)();
  if (ThreadEvents* const events = ThreadEvents::here()) events->end_apart();
}

// ---- Inside of regions. Before a critical section, not within it, where others wait ----

ENTRY void GOMP_critical_start() {
  ThreadEvents::happened_once_or_more("critical");
  BEHIND(GOMP_critical_start)();
}

/// `name`: libgomp's variable for all critical sections of that name.
ENTRY void GOMP_critical_name_start(void** name) {
  ThreadEvents::happened_once_or_more("critical", name);
  BEHIND(GOMP_critical_name_start)(name);
}

ENTRY void GOMP_barrier() {
  happened("barrier");
  if (FoldedTeam* const team = FoldedTeam::here()) return team->barrier();
  BEHIND(GOMP_barrier)();
}

ENTRY void GOMP_taskwait() {
  FoldedTeam::start_here();
  happened("taskwait");
  BEHIND(GOMP_taskwait)();
}

/// What older compilers leave out at the end is not looked at by libgomp, which knows that from `flags`.
ENTRY void GOMP_task(Function* fn, void* data, void (*copy)(void*, void*), long size, long align,
                     bool may_wait, unsigned flags, void** depend, int priority, void* detach) {
  FoldedTeam::start_here();
  ThreadEvents::happened_once_or_more("task", reinterpret_cast<const void*>(fn));
  BEHIND(GOMP_task)
  (fn, data, copy, size, align, may_wait, flags, depend, priority, detach);
}
