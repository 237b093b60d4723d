#include "gomp/contest.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace refrain::gomp {
namespace {

/// A look that takes so many times as long as usual, and that much: the machine has let a thread wait.
constexpr double interrupted = 4;
constexpr double interrupted_ns = 1e6;
/// Of the last looks, each of which counts by so much less than the one behind it, so many were: teams wait.
constexpr double kept = 15.0 / 16;
constexpr double too_many = 1.5;
/// A stretch of whole teams that takes so many times as long as when they won: it may be otherwise now.
constexpr double changed = 1.5;

constexpr std::string_view whole_note = "whole ";

}  // namespace

std::string Contest::note() const {
  if (winner_ != Way::whole) return "by region";
  return std::string(whole_note) + std::to_string(std::lround(usual_ns_));
}

void Contest::recall(std::string_view note) {
  if (!note.starts_with(whole_note)) return;
  note.remove_prefix(whole_note.size());
  unsigned ns = 0;
  const auto [end, error] = std::from_chars(note.data(), note.data() + note.size(), ns);
  if (error != std::errc{} || end != note.data() + note.size() || ns == 0) return;
  winner_ = way_ = Way::whole;
  usual_ns_ = ns;
  look_ns_ = look * usual_ns_;
  until_ = pause;
}

void Contest::look_at(std::uint64_t now_ns) {
  left_ = look;
  const std::uint64_t before_ns = std::exchange(looked_ns_, now_ns);
  if (before_ns == 0) return;
  const auto took_ns = static_cast<double>(now_ns - before_ns);
  const double longest_ns = look_ns_ > 0 ? interrupted * look_ns_ + interrupted_ns : INFINITY;
  const bool is_interrupted = took_ns > longest_ns;
  // By one that was interrupted, too, as far as it may: regions may have become longer.
  look_ns_ += (std::min(took_ns, longest_ns) - look_ns_) * (look_ns_ > 0 ? 1 - kept : 1);
  waits_ = kept * waits_ + (is_interrupted && way_ == Way::whole ? 1 : 0);
  if (waits_ > too_many) return end(Way::by_region);
  if (looks_++ > 0 && !is_interrupted) measure_.ns += took_ns, ++measure_.looks;
  if (looks_ == stretch) end_stretch();
}

void Contest::end_stretch() {
  const double region_ns = measure_.region_ns();
  if (!runs_) {
    const bool begins = is_due(region_ns);
    begin_stretch(way_);
    if (begins) begin_pair();
    return;
  }
  if (measure_.looks < stretch / 2) return begin_stretch(way_);
  if (way_ == Way::whole) of_whole_.ns += measure_.ns, of_whole_.looks += measure_.looks;
  if (is_second_) return end_pair();
  is_second_ = true;
  first_ns_ = region_ns;
  begin_stretch(way_ == Way::whole ? Way::by_region : Way::whole);
}

/// Whether a contest is to begin behind a stretch of the way that won.
bool Contest::is_due(double region_ns) {
  until_ -= std::min(until_, stretch);
  const bool is_changed = winner_ == Way::whole && region_ns > changed * usual_ns_;
  if (until_ > 0 && !is_changed) return false;
  until_ = first;
  const bool is_open = expected_ >= 2 * look && whole_ns_ <= hopeless * best_ns_;
  best_ns_ = whole_ns_ = 0;
  expected_ = 0;
  if (winner_ == Way::by_region && !is_open) return false;
  runs_ = true;
  pairs_ = 0;
  ahead_ = 0;
  of_whole_ = {};
  return true;
}

void Contest::begin_pair() {
  is_second_ = false;
  random_ = random_ * 6364136223846793005 + 1442695040888963407;
  begin_stretch(random_ >> 63 != 0 ? Way::whole : Way::by_region);
}

void Contest::end_pair() {
  const bool second_is_better = measure_.region_ns() < first_ns_;
  ahead_ += second_is_better == (way_ == Way::whole) ? 1 : -1;
  ++pairs_;
  if (ahead_ == ahead) return end(Way::whole);
  if (ahead_ == -ahead || pairs_ == most) return end(Way::by_region);
  begin_pair();
}

void Contest::end(Way winner) {
  pause_ = winner == winner_ ? std::min(2 * pause_, longest) : pause;
  until_ = pause_;
  winner_ = winner;
  usual_ns_ = winner == Way::whole ? of_whole_.region_ns() : 0;
  waits_ = 0;
  runs_ = false;
  begin_stretch(winner);
}

}  // namespace refrain::gomp
