#include "analysis/poison.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace refrain::analysis {

bool Poison::reaches(const Poisoned& note, const data::IndexSpaceRef& points) const {
  return note.points == nullptr || data::overlaps(note.points, points);
}

std::vector<Poisoned> Poison::at(const data::IndexSpaceRef& points) const {
  std::vector<Poisoned> found;
  const std::lock_guard lock(mutex_);
  for (const Poisoned& note : notes_)
    if (reaches(note, points))
      found.push_back(
          {note.points == nullptr ? points : data::intersect(note.points, points), note.failure});
  return found;
}

exec::FailureRef Poison::first_at(const data::IndexSpaceRef& points) const {
  exec::FailureRef first;
  const std::lock_guard lock(mutex_);
  for (const Poisoned& note : notes_)
    if (reaches(note, points)) first = exec::first_of(first, note.failure);
  return first;
}

void Poison::write(const data::IndexSpaceRef& points, const exec::FailureRef& failure) noexcept {
  const std::lock_guard lock(mutex_);
  if ((notes_.empty() && failure == nullptr) || points->empty()) return;
  if (!notes_.empty() && notes_.front().points == nullptr) return;  // there was no memory
  try {
    for (Poisoned& note : notes_) note.points = data::subtract(note.points, points);
    std::erase_if(notes_, [](const Poisoned& note) { return note.points->empty(); });
    if (failure != nullptr) add(points, failure);
  } catch (const std::bad_alloc&) {
    poison_everything(failure != nullptr ? failure : notes_.front().failure);
  }
}

void Poison::fold(const data::IndexSpaceRef& points, const exec::FailureRef& failure) noexcept {
  const std::lock_guard lock(mutex_);
  if (points->empty()) return;
  if (!notes_.empty() && notes_.front().points == nullptr) return;
  try {
    data::IndexSpaceRef gets = points;
    for (Poisoned& note : notes_) {
      if (exec::first_of(note.failure, failure) == note.failure)
        gets = data::subtract(gets, note.points);
      else note.points = data::subtract(note.points, points);
    }
    std::erase_if(notes_, [](const Poisoned& note) { return note.points->empty(); });
    if (!gets->empty()) add(gets, failure);
  } catch (const std::bad_alloc&) { poison_everything(failure); }
}

void Poison::add(const data::IndexSpaceRef& points, const exec::FailureRef& failure) {
  const auto same = std::ranges::find(notes_, failure, &Poisoned::failure);
  if (same == notes_.end()) notes_.push_back({points, failure});
  else same->points = data::unite(same->points, points);
}

void Poison::poison_everything(exec::FailureRef failure) noexcept {
  notes_.clear();
  notes_.push_back({nullptr, std::move(failure)});
}

}  // namespace refrain::analysis
