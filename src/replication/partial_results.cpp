#include "replication/partial_results.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace refrain::replication {

void PartialResults::add(const refrain::detail::FutureState& values,
                         const std::vector<std::size_t>& ranks) {
  failure_ = exec::first_of(failure_, values.first_failure());
  if (failure_ != nullptr) return;
  parts_.reserve(parts_.size() + ranks.size());
  for (std::size_t own = 0; own < ranks.size(); ++own) {
    const auto* const value = static_cast<const std::byte*>(values.value(own));
    parts_.push_back({ranks[own], ranks[own] + 1, {value, value + op_.type->size}});
  }
}

void PartialResults::add(PartialResults other) {
  fail(std::move(other.failure_));
  std::ranges::move(other.parts_, std::back_inserter(parts_));
}

void PartialResults::read(Reader from, KnownFailures& failures) {
  if (from.at_end()) return;
  if (from.number() != points_) throw net::WrongMessage();
  while (!from.at_end()) {
    const std::uint64_t first = from.number(), last = from.number();
    if (first == last) {
      fail(failures.read(from));
      continue;
    }
    if (first > last || last > points_) throw net::WrongMessage();
    const auto value = from.bytes(op_.type->size);
    parts_.push_back({first, last, {value.begin(), value.end()}});
  }
}

void PartialResults::combine() {
  if (failure_ != nullptr) return;
  std::ranges::sort(parts_, {}, &PartialResult::first);
  std::vector<PartialResult> combined;
  combined.reserve(parts_.size());
  next_ = 0;
  if (points_ > 0) combine(0, points_, combined);
  parts_ = std::move(combined);
}

bool PartialResults::combine(std::uint64_t first, std::uint64_t last,
                             std::vector<PartialResult>& into) {
  if (next_ == parts_.size() || parts_[next_].first >= last) return false;
  if (parts_[next_].first == first && parts_[next_].last == last) {
    into.push_back(std::move(parts_[next_++]));
    return true;
  }
  if (last - first == 1) return false;  // no subtree of this tree: the ranks' programs differ
  const std::uint64_t middle = runtime::middle_of(first, last);
  const bool left = combine(first, middle, into), right = combine(middle, last, into);
  if (!left || !right) return false;
  PartialResult& both = into[into.size() - 2];
  op_.fold(both.value.data(), 0, into.back().value.data(), 0, 1);
  both.last = last;
  into.pop_back();
  return true;
}

void PartialResults::write(Writer& to, KnownFailures& failures) const {
  to.number(points_);
  if (failure_ != nullptr) {
    to.number(0);
    to.number(0);
    failures.write(to, failure_);
    return;
  }
  for (const PartialResult& part : parts_) {
    to.number(part.first);
    to.number(part.last);
    to.bytes(part.value);
  }
}

bool PartialResults::is_complete() const {
  if (points_ == 0) return true;
  return parts_.size() == 1 && parts_.front().last - parts_.front().first == points_;
}

void PartialResults::take(std::byte* into) const {
  if (points_ > 0 && is_complete()) std::memcpy(into, parts_.front().value.data(), op_.type->size);
  else op_.initialise(into, 1);
}

}  // namespace refrain::replication
