#pragma once
// What people, and programs, see of a search for a mapping: a line while it goes on, its result, and its course for the
// picture. All is the thread's that searches.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "map_search/search.hpp"

namespace refrain::tools {

/// A line about the search: on a terminal the same one again and again, else a new one now and then.
class ProgressLine {
 public:
  /// `budget`: seconds, perhaps infinite. The space outlives this.
  ProgressLine(const map_search::Space& space, double budget, map_search::Objective objective)
      : space_(space), budget_(budget), objective_(objective) {}
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const map_search::Progress& progress);
  /// Takes the line away.
  void end();

 private:
  const map_search::Space& space_;
  const double budget_;
  const map_search::Objective objective_;
  const bool terminal_ = is_terminal();
  bool shown_ = false;
  std::uint64_t next_ = 0;  ///< when the next line is due

  static bool is_terminal();
};

/// The best value so far, over time.
class Course {
 public:
  explicit Course(map_search::Objective objective) : objective_(objective) {}
  void note(const map_search::Progress& progress);
  void note(double seconds, double value);
  /// Steps: seconds, and the value from then on.
  [[nodiscard]] std::vector<std::pair<double, double>> points() const;

 private:
  const map_search::Objective objective_;
  std::vector<std::pair<double, double>> points_;
  double last_ = 0;
};

/// The result of a search.
struct SearchReport {
  const map_search::Space& space;
  const map_search::Result& result;
  map_search::Objective objective;

  /// For people: counts, failures, the start and the best mapping.
  [[nodiscard]] std::string text() const;
  /// The same for programs (docs/mapping.md).
  [[nodiscard]] std::string json() const;

 private:
  [[nodiscard]] std::string value_text(const map_search::Measurement& measured) const;
};

}  // namespace refrain::tools
