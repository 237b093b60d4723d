#include "graph/lanes.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace refrain::exec {

Lanes::Lanes(Scope& scope, const Template& of, Schedule cut, std::uint32_t slots)
    : scope_(scope),
      schedule_(std::move(cut)),
      operations_(of.size()),
      lanes_(schedule_.lists.size()),
      ring_(std::size_t{slots} + 1),
      issued_(of.size()) {
  for (std::uint32_t i = 0; i < size(); ++i) {
    lanes_[i].seen.resize(size());
    lanes_[i].reached.store(length(i), std::memory_order_relaxed);
    move_to(i, 1);
    in_use_ += length(i) > 0 ? 1 : 0;
  }
  take_all();
  release_all();
}

std::size_t Lanes::bytes() const {
  return schedule_.bytes() + lanes_.capacity() * (sizeof(Lane) + size() * sizeof(Seen)) +
         ring_.capacity() * sizeof(Place);
}

void Lanes::begin(Replay& replay) {
  ++replay_;
  issue_base_ = replay_ * operations_;
  Place& place = ring_[replay_ % ring_.size()];
  place.replay = &replay;
  place.end.store(operations_, std::memory_order_relaxed);
  replay.sinks_left.store(in_use_, std::memory_order_relaxed);
}

std::uint32_t Lanes::leave(std::uint32_t count) {
  ring_[replay_ % ring_.size()].end.store(count, std::memory_order_relaxed);
  return publish(issue_base_ + operations_);
}

bool Lanes::may_go_on(std::uint32_t own) const {
  const Lane& lane = lanes_[own];
  return length(own) > 0 && !lane.held.load(std::memory_order_relaxed) &&
         (!is_parked(own) || has_come(lane));
}

bool Lanes::has_come(const Lane& lane) const {
  const std::uint32_t on = lane.waits_for.load(std::memory_order_relaxed);
  // seq_cst: may be the look before sleep; partner: publish and take_step.
  const std::uint64_t come = on == kIssue ? issued_.load(std::memory_order_seq_cst)
                                          : lanes_[on].reached.load(std::memory_order_seq_cst);
  return come >= lane.until.load(std::memory_order_relaxed);
}

void Lanes::park(std::uint32_t own) {
  parked_.fetch_or(bit(own), std::memory_order_seq_cst);
  let_go(own);
}

void Lanes::take_all() {
  wanted_.store(true, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < size(); ++i)
    while (!hold(i)) std::this_thread::yield();
}

// Parked, so that somebody is woken when more is issued.
void Lanes::release_all() {
  wanted_.store(false, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (length(i) > 0) {
      wait(lanes_[i], kIssue, place(i) + 1);
      parked_.fetch_or(bit(i), std::memory_order_seq_cst);
    }
    let_go(i);
  }
}

void Lanes::hand_back() {
  take_all();
  for (std::uint32_t i = 0; i < size(); ++i) {
    move_to(i, replay_ + 1);
    lanes_[i].reached.store((replay_ + 1) * length(i), std::memory_order_relaxed);
  }
  issued_.store((replay_ + 1) * operations_, std::memory_order_relaxed);
  release_all();
}

void Lanes::close() {
  take_all();
  release_all();
}

}  // namespace refrain::exec
