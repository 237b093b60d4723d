#pragma once
// How near to the best: what was covered of many texts as a share of what could be.

#include <cstddef>
#include <string>
#include <vector>

namespace refrain::bench {

class Distribution {
 public:
  /// `name`: of the text, for the worst of all; the first of these is kept.
  void add(std::size_t covered, std::size_t optimal, const std::string& name);

  [[nodiscard]] std::size_t texts() const { return texts_; }
  /// Those of which something can be covered. All that follows is about them and requires one.
  [[nodiscard]] std::size_t coverable() const { return shares_.size(); }
  [[nodiscard]] double share_of_optimal() const;
  [[nodiscard]] double mean() const;
  /// Five of a hundred texts have at most this.
  [[nodiscard]] double low() const;
  [[nodiscard]] double worst() const { return worst_; }
  [[nodiscard]] const std::string& worst_name() const { return worst_name_; }

 private:
  std::size_t texts_ = 0;
  std::vector<double> shares_;
  double worst_ = 2;
  std::string worst_name_;
};

}  // namespace refrain::bench
