// Functions of libgomp by which a region can find out about its team or do something with it. A folded team answers some
// of them; before all others it is started.

#include <omp.h>

#include "gomp/behind.hpp"
#include "gomp/folded_team.hpp"

using refrain::gomp::FoldedTeam;

#define ENTRY extern "C" __attribute__((visibility("default")))

// ---- Answered in a folded team. Fortran's have an underscore behind ----

namespace {

int thread_number() {
  if (const FoldedTeam* const team = FoldedTeam::here()) return static_cast<int>(team->number());
  return BEHIND(omp_get_thread_num)();
}

int team_size() {
  if (const FoldedTeam* const team = FoldedTeam::here()) return static_cast<int>(team->threads());
  return BEHIND(omp_get_num_threads)();
}

}  // namespace

ENTRY int omp_get_thread_num() { return thread_number(); }
ENTRY int omp_get_thread_num_() { return thread_number(); }
ENTRY int omp_get_num_threads() { return team_size(); }
ENTRY int omp_get_num_threads_() { return team_size(); }

// ---- Before these the team is started ----

#define STARTS(type, name, parameters, arguments) \
  ENTRY type name parameters {                    \
    FoldedTeam::start_here();                     \
    auto& behind = BEHIND(name);                  \
    return behind arguments;                      \
  }
/// In C and in Fortran.
#define ASKS(type, name)     \
  extern "C" type name##_(); \
  STARTS(type, name, (), ()) \
  STARTS(type, name##_, (), ())
#define SETS(name, parameter)                        \
  extern "C" void name##_(const int*);               \
  extern "C" void name##_8_(const long*);            \
  STARTS(void, name, (parameter value), (value))     \
  STARTS(void, name##_, (const int* value), (value)) \
  STARTS(void, name##_8_, (const long* value), (value))

ASKS(int, omp_get_max_threads)
ASKS(int, omp_get_num_procs)
ASKS(int, omp_get_thread_limit)
ASKS(int, omp_in_parallel)
ASKS(int, omp_get_level)
ASKS(int, omp_get_active_level)
ASKS(int, omp_get_max_active_levels)
ASKS(int, omp_get_dynamic)
ASKS(int, omp_get_nested)
ASKS(int, omp_in_final)
ASKS(int, omp_get_cancellation)
SETS(omp_set_num_threads, int)
SETS(omp_set_dynamic, int)
SETS(omp_set_nested, int)
SETS(omp_set_max_active_levels, int)
extern "C" int omp_get_ancestor_thread_num_(const int*);
extern "C" int omp_get_ancestor_thread_num_8_(const long*);
extern "C" int omp_get_team_size_(const int*);
extern "C" int omp_get_team_size_8_(const long*);
STARTS(int, omp_get_team_size, (int level), (level))
STARTS(int, omp_get_team_size_, (const int* level), (level))
STARTS(int, omp_get_team_size_8_, (const long* level), (level))
STARTS(int, omp_get_ancestor_thread_num, (int level), (level))
STARTS(int, omp_get_ancestor_thread_num_, (const int* level), (level))
STARTS(int, omp_get_ancestor_thread_num_8_, (const long* level), (level))
STARTS(void, omp_get_schedule, (omp_sched_t * kind, int* chunk), (kind, chunk))
STARTS(void, omp_set_schedule, (omp_sched_t kind, int chunk), (kind, chunk))

// A thread of the team may hold it at a barrier, and another wait for it.
extern "C" void omp_set_lock_(omp_lock_t*);
extern "C" void omp_set_nest_lock_(omp_nest_lock_t*);
extern "C" int omp_test_lock_(omp_lock_t*);
extern "C" int omp_test_nest_lock_(omp_nest_lock_t*);
STARTS(void, omp_set_lock, (omp_lock_t * lock), (lock))
STARTS(void, omp_set_lock_, (omp_lock_t * lock), (lock))
STARTS(void, omp_set_nest_lock, (omp_nest_lock_t * lock), (lock))
STARTS(void, omp_set_nest_lock_, (omp_nest_lock_t * lock), (lock))
STARTS(int, omp_test_lock, (omp_lock_t * lock), (lock))
STARTS(int, omp_test_lock_, (omp_lock_t * lock), (lock))
STARTS(int, omp_test_nest_lock, (omp_nest_lock_t * lock), (lock))
STARTS(int, omp_test_nest_lock_, (omp_nest_lock_t * lock), (lock))

// What the compiler calls within regions.
STARTS(bool, GOMP_single_start, (), ())
STARTS(void*, GOMP_single_copy_start, (), ())
STARTS(void, GOMP_single_copy_end, (void* data), (data))
STARTS(unsigned, GOMP_sections_start, (unsigned count), (count))
STARTS(void, GOMP_ordered_start, (), ())
STARTS(void, GOMP_ordered_end, (), ())
STARTS(void, GOMP_taskyield, (), ())
STARTS(void, GOMP_taskgroup_start, (), ())
STARTS(void, GOMP_taskgroup_end, (), ())

#define LOOP(name)                                                                           \
  STARTS(bool, name, (long start, long end, long step, long chunk, long* first, long* last), \
         (start, end, step, chunk, first, last))
LOOP(GOMP_loop_static_start)
LOOP(GOMP_loop_dynamic_start)
LOOP(GOMP_loop_guided_start)
LOOP(GOMP_loop_nonmonotonic_dynamic_start)
LOOP(GOMP_loop_nonmonotonic_guided_start)
LOOP(GOMP_loop_ordered_static_start)
LOOP(GOMP_loop_ordered_dynamic_start)
LOOP(GOMP_loop_ordered_guided_start)

#define RUNTIME_LOOP(name)                                                       \
  STARTS(bool, name, (long start, long end, long step, long* first, long* last), \
         (start, end, step, first, last))
RUNTIME_LOOP(GOMP_loop_runtime_start)
RUNTIME_LOOP(GOMP_loop_nonmonotonic_runtime_start)
RUNTIME_LOOP(GOMP_loop_maybe_nonmonotonic_runtime_start)
RUNTIME_LOOP(GOMP_loop_ordered_runtime_start)

using Wide = unsigned long long;
#define WIDE_LOOP(name)                                                                   \
  STARTS(bool, name,                                                                      \
         (bool up, Wide start, Wide end, Wide step, Wide chunk, Wide* first, Wide* last), \
         (up, start, end, step, chunk, first, last))
WIDE_LOOP(GOMP_loop_ull_static_start)
WIDE_LOOP(GOMP_loop_ull_dynamic_start)
WIDE_LOOP(GOMP_loop_ull_guided_start)
WIDE_LOOP(GOMP_loop_ull_nonmonotonic_dynamic_start)
WIDE_LOOP(GOMP_loop_ull_nonmonotonic_guided_start)

#define WIDE_RUNTIME_LOOP(name)                                                           \
  STARTS(bool, name, (bool up, Wide start, Wide end, Wide step, Wide* first, Wide* last), \
         (up, start, end, step, first, last))
WIDE_RUNTIME_LOOP(GOMP_loop_ull_runtime_start)
WIDE_RUNTIME_LOOP(GOMP_loop_ull_nonmonotonic_runtime_start)
WIDE_RUNTIME_LOOP(GOMP_loop_ull_maybe_nonmonotonic_runtime_start)
