#include "coverage/distribution.hpp"

#include <algorithm>
#include <numeric>

namespace refrain::bench {

void Distribution::add(std::size_t covered, std::size_t optimal, const std::string& name) {
  ++texts_;
  if (optimal == 0) return;
  const double share = double(covered) / double(optimal);
  shares_.push_back(share);
  if (share >= worst_) return;
  worst_ = share;
  worst_name_ = name;
}

double Distribution::share_of_optimal() const {
  return double(std::ranges::count(shares_, 1.0)) / double(shares_.size());
}

double Distribution::mean() const {
  return std::accumulate(shares_.begin(), shares_.end(), 0.0) / double(shares_.size());
}

double Distribution::low() const {
  std::vector<double> shares = shares_;
  const auto at = shares.begin() + std::ptrdiff_t(shares.size() / 20);
  std::ranges::nth_element(shares, at);
  return *at;
}

}  // namespace refrain::bench
