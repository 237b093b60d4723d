#pragma once
// Whether a thread's regions should have the sizes that are best for each of them, or whole teams.
//
// What one region takes with a size does not show what it costs those around it: data that one thread has read and
// written are in that thread's cache, and a whole team behind it has to fetch its part. So now and then both ways are
// compared: stretches of regions in pairs, one of each way, in an order drawn at random, until one way is ahead. That is
// done where whole teams are expected to be nearly as good only (`hopeless`), so it costs little.
//
// One thread, and no clock of its own.

#include <cstdint>
#include <string>
#include <string_view>

namespace refrain::gomp {

class Contest {
 public:
  enum class Way : std::uint8_t { by_region, whole };

  /// How the next region is to have its size. `now` returns the time in ns, and is called for one region in `look`.
  template <class Now>
  Way next(const Now& now) {
    if (--left_ == 0) [[unlikely]]
      look_at(now());
    return way_;
  }
  /// A region takes so long with the size that is best for it, and with a whole team.
  void expect(double best_ns, double whole_ns) {
    best_ns_ += best_ns, whole_ns_ += whole_ns;
    ++expected_;
  }

  [[nodiscard]] Way winner() const { return winner_; }
  /// "whole NS": whole teams have won, and then a region took so long, with what came behind it; else "by region".
  [[nodiscard]] std::string note() const;
  /// So it was in an earlier run. What is not of that form says nothing.
  void recall(std::string_view note);

  /// So many regions are timed together.
  static constexpr unsigned look = 64;
  /// So many looks are of one way; the first is no measure, as the way has just changed.
  static constexpr unsigned stretch = 4;
  /// A way wins when it was better in so many pairs more than the other. After `most` pairs sizes are by region.
  static constexpr int ahead = 4;
  static constexpr unsigned most = 12;
  /// There is no contest where whole teams are expected to take so many times as long.
  static constexpr double hopeless = 1.3;
  /// Looks before the first contest, and between two: twice as many each time that the same way wins.
  static constexpr unsigned first = 8;
  static constexpr unsigned pause = 512;
  static constexpr unsigned longest = 8192;

 private:
  /// Looks of one way, but those that were interrupted.
  struct Measure {
    double ns = 0;
    unsigned looks = 0;
    [[nodiscard]] double region_ns() const { return looks == 0 ? 0 : ns / (looks * look); }
  };

  void look_at(std::uint64_t now_ns);
  void end_stretch();
  void begin_pair();
  void end_pair();
  void end(Way winner);
  void begin_stretch(Way way) { way_ = way, looks_ = 0, measure_ = {}; }
  [[nodiscard]] bool is_due(double region_ns);

  Way way_ = Way::by_region;
  Way winner_ = Way::by_region;
  double usual_ns_ = 0;  ///< what a region took when whole teams won; 0: they have not
  unsigned left_ = look;
  unsigned looks_ = 0;  ///< in this stretch
  std::uint64_t looked_ns_ = 0;
  Measure measure_;     ///< this stretch's
  double look_ns_ = 0;  ///< what one takes, about, of whichever way
  double waits_ = 0;    ///< looks of whole teams that were interrupted, lately

  bool runs_ = false;  ///< a contest
  bool is_second_ = false;
  double first_ns_ = 0;  ///< a region of the pair's first stretch
  unsigned pairs_ = 0;
  int ahead_ = 0;  ///< whole teams
  Measure of_whole_;
  unsigned until_ = first;  ///< looks before the next contest
  unsigned pause_ = pause;
  double best_ns_ = 0, whole_ns_ = 0;  ///< expected, since that was looked at last
  unsigned expected_ = 0;              ///< of so many regions
  std::uint64_t random_ = 1;
};

}  // namespace refrain::gomp
