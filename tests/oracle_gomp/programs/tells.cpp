// What a program can tell of its teams, each kind of it a line: arrays by the number of processors or of threads,
// how often a region is done, what is summed in which order, what threads tell each other at barriers, what is asked
// late, or by one thread only, and what a thread keeps for itself in the processor. With a team of as many threads as
// OMP_NUM_THREADS says each run prints the same. With an
// argument: how a thread rounds, or what is on its stack.

#include <omp.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

constexpr int calls = 12;  // of each region; a choice may be another one in each
std::vector<double> values(1000);

/// Sized by a number that was asked for, filled by the team, read whole.
void arrays() {
  std::vector<int> by_procs(
      static_cast<std::size_t>(std::max(omp_get_num_procs(), omp_get_max_threads())), -1);
  std::vector<int> by_threads(static_cast<std::size_t>(omp_get_max_threads()), -1);
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel
    by_procs[static_cast<std::size_t>(omp_get_thread_num())] = call;
#pragma omp parallel
    by_threads[static_cast<std::size_t>(omp_get_thread_num())] += omp_get_num_threads();
  }
  std::printf("arrays %d %d\n", static_cast<int>(std::ranges::count(by_procs, calls - 1)),
              std::accumulate(by_threads.begin(), by_threads.end(), 0));
}

/// Nothing is asked: the region is done once by each thread.
void counts() {
  std::atomic<int> done{0};
  int reduced = 0, in_critical = 0;
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel
    ++done;
#pragma omp parallel reduction(+ : reduced)
    ++reduced;
#pragma omp parallel
    {
#pragma omp critical
      ++in_critical;
    }
  }
  std::printf("counts %d %d %d\n", done.load(), reduced, in_critical);
}

/// Each thread's part is summed first, so the sum's bits depend on how many there are.
void sums() {
  std::vector<double> parts(static_cast<std::size_t>(omp_get_max_threads()));
  double sum = 0;
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel
    {
      double part = 0;
#pragma omp for schedule(static) nowait
      for (int i = 0; i < 1000; ++i) part += values[i];
      parts[static_cast<std::size_t>(omp_get_thread_num())] = part;
    }
    sum = std::accumulate(parts.begin(), parts.end(), sum);
  }
  std::printf("sums %a\n", sum);
}

/// Neighbours see what was written before a barrier, and nothing of what comes behind the next.
void barriers() {
  std::vector<long> now(static_cast<std::size_t>(omp_get_max_threads()), 1), next = now;
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel
    {
      const auto size = static_cast<std::size_t>(omp_get_num_threads());
      const auto me = static_cast<std::size_t>(omp_get_thread_num());
      for (int round = 0; round < 5; ++round) {
        next[me] = (3 * now[me] + now[(me + 1) % size] + static_cast<long>(me)) % 1000003;
#pragma omp barrier
        now[me] = next[me] + round;
#pragma omp barrier
      }
    }
  }
  std::printf("barriers");
  for (const long n : now) std::printf(" %ld", n);
  std::printf("\n");
}

/// A region asks in its last call only, one thread of it, or behind a barrier.
void late() {
  long seen = 0;
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel reduction(+ : seen)
    {
      const int me = omp_get_thread_num();
      if (call > calls / 2 && me == 1) seen += 10 * omp_get_max_threads() + omp_in_parallel();
      if (call > calls / 2 && me == 0) seen += 100 * omp_get_team_size(1) + omp_get_level();
#pragma omp barrier
      if (call == calls - 1)
        seen += 1000 * omp_get_ancestor_thread_num(1) + omp_get_thread_limit() % 7;
    }
  }
  // What one thread sets is not for the others, nor for what comes behind.
#pragma omp parallel
  if (omp_get_thread_num() == 1) omp_set_num_threads(1);
  std::printf("late %ld %d\n", seen, omp_get_max_threads());
}

/// Teams in teams; clauses; the master's own thread outside.
void nested() {
  std::atomic<int> inner{0};
  omp_set_max_active_levels(2);
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel
#pragma omp parallel num_threads(2)
    inner += omp_get_num_threads();
#pragma omp parallel num_threads(3)
    inner += 100 * omp_get_num_threads();
  }
  omp_set_max_active_levels(1);
  std::printf("nested %d %d %d\n", inner.load(), omp_get_num_threads(), omp_in_parallel());
}

/// Lines in the order of the loop, from a region; what one thread does for all; tasks; locks held at a barrier.
void ordered() {
  std::vector<int> lines;
  long tasks = 0, copied = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 8; ++i) {
#pragma omp ordered
      lines.push_back(i);
    }
#pragma omp parallel
    {
      long mine = 0;
#pragma omp single copyprivate(mine)
      mine = call;
#pragma omp atomic
      copied += mine;
#pragma omp single
      for (int i = 0; i < 20; ++i) {
#pragma omp task
#pragma omp atomic
        tasks += i;
      }
      if (omp_get_thread_num() == 0) omp_set_lock(&lock);
#pragma omp barrier
      if (omp_get_thread_num() == 0) omp_unset_lock(&lock);
      else omp_set_lock(&lock), omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
  long order = 0;
  for (const int line : lines) order = (order * 31 + line) % 1000003;
  std::printf("ordered %ld %ld %ld\n", order, tasks, copied);
}

/// Loops whose iterations are whoever's.
void dynamic() {
  std::atomic<long> sizes{0};
  long seen = 0;
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 0; i < 100; ++i) sizes += omp_get_num_threads();
#pragma omp parallel for schedule(guided) reduction(+ : seen)
    for (int i = 0; i < 100; ++i) seen += omp_get_team_size(1) * i;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 100; ++i) sizes += i;
    }
  }
  std::printf("dynamic %ld %ld\n", sizes.load(), seen);
}

/// Numbers that are too small become zero, in each thread, from when each was told so.
void modes() {
  volatile double small = 1e-300;
  std::vector<double> products(static_cast<std::size_t>(omp_get_max_threads()), -1);
  int zeroes = 0;
  const auto multiply = [&] {
    for (int call = 0; call < calls; ++call) {
#pragma omp parallel
      products[static_cast<std::size_t>(omp_get_thread_num())] = small * 1e-12;
      zeroes += static_cast<int>(std::ranges::count(products, 0.0));
    }
  };
  multiply();
#if defined(__x86_64__)
#pragma omp parallel
  _mm_setcsr(_mm_getcsr() | 0x8000);
#endif
  multiply();
  std::printf("modes %d\n", zeroes);
}

/// No level of teams may have more than one thread; the environment may say so, too.
void levels() {
  long done = 0;
  omp_set_max_active_levels(0);
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel reduction(+ : done)
    {
      done += 1 + 10 * omp_get_num_threads();
      if (call == calls - 1) done += 1000 * (1 + omp_get_level());
    }
  }
  omp_set_max_active_levels(1);
  std::printf("levels %ld\n", done);
}

/// 40 MB on the stack: more than threads have by default.
[[gnu::noinline]] long on_stack() {
  volatile char large[40 << 20];
  for (std::size_t i = 0; i < sizeof large; i += 1 << 20) large[i] = 1;
  return large[3 << 20];
}

void stacks() {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  if (omp_get_thread_num() != 0) sum += on_stack();
  std::printf("stacks %ld\n", sum);
}

#if defined(__x86_64__)
void round_down() {
  const unsigned short down = 0x077f;
  asm volatile("fldcw %0" : : "m"(down));
}
#else
void round_down() {}
#endif

/// One thread other than the master rounds long doubles down from now on: since a region (r), a loop in one (l), or
/// one that is a loop (c), of which each of three threads does one iteration.
void rounding(char since) {
  volatile long double one = 1, three = 3;
  std::vector<long double> thirds(static_cast<std::size_t>(omp_get_max_threads()));
  const int threads = omp_get_max_threads();
  std::atomic<int> came{0};
  const auto wait_for_all = [&] {
    for (++came; came < threads;) {}
    if (omp_get_thread_num() == 1) round_down();
  };
  if (since == 'r') {
#pragma omp parallel
    if (omp_get_thread_num() == 1) round_down();
  } else if (since == 'l') {
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < threads; ++i) wait_for_all();
  } else {
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < 3; ++i) wait_for_all();
  }
#pragma omp parallel
  thirds[static_cast<std::size_t>(omp_get_thread_num())] = one / three;
  std::printf("rounding");
  for (const long double third : thirds) std::printf(" %La", third);
  std::printf("\n");
}

/// A thread that handles an exception waits for the others, which handle theirs, and may ask something then.
void exceptions() {
  long sum = 0;
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel reduction(+ : sum)
    try {
      throw omp_get_thread_num() + 1;
    } catch (int number) {
#pragma omp barrier
      try {
        throw 10 * number;
      } catch (int other) {
        sum += number * other;
        if (call == calls - 1 && number == 2) sum += omp_get_level();
      }
#pragma omp barrier
      sum += number;
    }
  }
  std::printf("exceptions %ld\n", sum);
}

/// Threads hand on a number by what is in memory: nobody goes on before its turn.
void handed_on() {
  std::atomic<long> turn{0};
  long number = 1;
  for (int call = 0; call < 2; ++call) {
    turn = 0;
#pragma omp parallel
    {
      const long threads = omp_get_num_threads(), me = omp_get_thread_num();
      for (long round = 0; round < 2; ++round) {
        // The last one begins.
        while (turn != round * threads + threads - 1 - me) {}
        number = (number * 7 + me) % 1000003;
        ++turn;
      }
    }
  }
  std::printf("handed on %ld\n", number);
}

/// Thread 0 alone has less precise numbers, from a place within its first region on.
void precision() {
  volatile long double one = 1, three = 3;
  std::vector<long double> thirds(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
#if defined(__x86_64__)
    if (omp_get_thread_num() == 0) {
      const unsigned short doubles = 0x027f;
      asm volatile("fldcw %0" : : "m"(doubles));
    }
#endif
#pragma omp barrier
    thirds[static_cast<std::size_t>(omp_get_thread_num())] = one / three;
  }
  std::printf("precision");
  for (const long double third : thirds) std::printf(" %d", third == 1.0L / 3.0L);
  std::printf("\n");
}

/// How often each thread of a team makes its own of an object.
struct Counted {
  Counted() = default;
  Counted(const Counted& other) : value(other.value) { ++copies; }
  static inline std::atomic<long> copies{0};
  long value = 1;
};
void copies() {
  const Counted counted;
  long sum = 0;
  for (int call = 0; call < calls; ++call) {
#pragma omp parallel for schedule(dynamic, 10) firstprivate(counted) reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += counted.value;
  }
  std::printf("copies %ld %ld\n", sum, Counted::copies.load());
}

/// Regions of one thread, some of them within a team, which use one thing each that a team may need.
unsigned long of_one(int what, int call) {
  unsigned long sum = 0, of_sections = 0;
#pragma omp parallel num_threads(1) reduction(+ : sum) if (what % 2 == 0)
  {
    sum += 100 * omp_get_num_threads() + omp_get_thread_num();
    switch (what) {
      case 0: sum += 10 * omp_get_level() + omp_get_active_level(); break;
      case 1: sum += omp_in_parallel() + omp_get_team_size(omp_get_level()); break;
      case 2: {
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 10; ++i) sum += i;
        break;
      }
      case 3: {
#pragma omp single
        sum += call;
        break;
      }
      case 4: {
#pragma omp sections reduction(+ : of_sections)
        {
#pragma omp section
          of_sections += 1;
#pragma omp section
          of_sections += 2;
        }
        break;
      }
      case 5: {
        long made = 0;
#pragma omp task shared(made)
        made += call;
#pragma omp taskwait
        sum += made;
        break;
      }
      case 6: {
#pragma omp barrier
#pragma omp critical
        sum += call;
        break;
      }
      case 7: {
#pragma omp for ordered
        for (int i = 0; i < 5; ++i) {
#pragma omp ordered
          sum += i;
        }
        break;
      }
      case 8: {
        long inner = 0;
#pragma omp parallel reduction(+ : inner)
        inner += omp_get_level();
        sum += inner;
        break;
      }
      case 9: try { throw call;
        } catch (int thrown) { sum += thrown; }
        break;
      case 10: omp_set_num_threads(2), sum += omp_get_max_threads(); break;
      default: {
        // The team is needed late, when the region has done a part of its work.
        for (int i = 0; i < 100; ++i) sum += i;
        sum += omp_get_ancestor_thread_num(0) + omp_get_level();
      }
    }
  }
  return sum + of_sections;
}
void ones() {
  std::printf("ones");
  for (int what = 0; what < 12; ++what) {
    unsigned long alone = 0, within = 0;
    for (int call = 0; call < calls; ++call) alone = 31 * alone + of_one(what, call);
    for (int call = 0; call < calls; ++call) {
#pragma omp parallel reduction(+ : within)
      within += of_one(what, call);
    }
    std::printf(" %lu %lu", alone, within);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  // What leaves threads with modes of their own is last: no team is folded behind it.
  if (argc > 1) {
    if (argv[1][0] == 's') stacks();
    else if (argv[1][0] == 'p') precision();
    else rounding(argv[1][0]);
    return 0;
  }
  for (int i = 0; i < 1000; ++i) values[i] = 1.0 / (1 + i);
  arrays();
  copies();
  counts();
  sums();
  barriers();
  late();
  nested();
  levels();
  ordered();
  dynamic();
  exceptions();
  handed_on();
  ones();
  modes();
}
