#pragma once
// What teams cost beside the work in them, by their size, as one thread has seen it. It is much the same for all regions
// of a program, so what one of them has shown is a guess for those of which nothing is known yet.
//
// Two kinds: a team has to be started and to meet (overhead), in each region; and now and then it waits for a thread
// that the machine lets wait (interruptions), which may be rare, and cost more than all else: a team that waits 3 ms in
// one region of a hundred costs each of them 30 us. A single region's last durations do not show that.
//
// One thread; some ns.

#include <algorithm>
#include <array>
#include <climits>
#include <limits>

namespace refrain::gomp {

class TeamCosts {
 public:
  /// Teams have so many processors.
  explicit TeamCosts(unsigned processors = UINT_MAX) : processors_(processors) {}

  /// How many threads of a team can run at a time.
  [[nodiscard]] unsigned at_once(unsigned threads) const { return std::min(threads, processors_); }
  [[nodiscard]] bool has_seen(unsigned threads) const {
    return costs_[doublings(threads)].overhead > 0;
  }
  /// What starting and meeting takes, in ns. Of a size that has not been seen the most that it can be.
  [[nodiscard]] double overhead(unsigned threads) const;
  /// What interruptions cost a region, in ns, on average. Of one or two nothing can be said: 0. Of a size that has hardly
  /// been seen it is a guess: each thread of a team is interrupted as often as those of the size that was seen last.
  [[nodiscard]] double interruptions(unsigned threads) const;

  /// A team of this size takes `ns` for a region, on average, so it costs no more. (A single region says little: now and
  /// then a thread is still awake.)
  void expect(unsigned threads, double ns);
  /// A team took `ns` for what one thread does in `alone_ns`.
  void saw(unsigned threads, double ns, double alone_ns);
  /// A team of this size took `ns`, where `typical_ns` is usual.
  void ended(unsigned threads, double ns, double typical_ns);

  /// The most that is taken for overhead, for each doubling of a team and for one more, and as many times that as each
  /// processor has threads: to wake a thread of a virtual machine takes some 50 us. What takes longer is hardly the team's
  /// doing, and says nothing of regions of another length.
  static constexpr double most_ns = 50e3;
  /// Of regions that take so many times as long as that it cannot be told.
  static constexpr double longest = 4;
  /// What takes so many times as long as is typical, and a little, has been interrupted.
  static constexpr double interrupted = 3;
  static constexpr double little_ns = 20e3;
  /// So many regions are remembered for interruptions, about.
  static constexpr float memory = 256;

 private:
  struct Cost {
    float overhead = 0;                                       ///< 0: not seen
    float shortest = std::numeric_limits<float>::infinity();  ///< of the regions expected
    float waits = 0;  ///< the mean of what interruptions took, of each region
    float interruptions = 0;
    float regions = 0;  ///< up to `memory`
    unsigned threads = 1;
  };

  static unsigned doublings(unsigned threads);
  [[nodiscard]] double most_overhead(unsigned threads) const;

  unsigned processors_;
  std::array<Cost, 33> costs_{};  ///< by doublings()
  unsigned known_ = 0;            ///< of the size that was seen last of those that were seen often
};

}  // namespace refrain::gomp
