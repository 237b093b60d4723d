#include "finder/candidates.hpp"

#include <algorithm>

namespace refrain::autotrace {

namespace {

constexpr double kMostAppearances = 16;
/// In which the appearances that are remembered become half as many: so many times the candidate's length, and ...
constexpr std::uint64_t kHalfLife = 64;
/// ... this many tokens.
constexpr std::uint64_t kLeastHalfLife = 4096;
constexpr double kReplayBonus = 1.25;
constexpr double kTimesMore = 16;  ///< than it has come is a candidate expected to come

/// What is left of 1: half of it after each half-life, linear in between, so that it is the same on every machine.
double left_after(std::uint64_t age, std::uint64_t half_life) {
  const std::uint64_t halvings = age / half_life;
  if (halvings >= 64) return 0;
  const double part = static_cast<double>(age % half_life) / static_cast<double>(half_life);
  return (1 - part / 2) / static_cast<double>(std::uint64_t{1} << halvings);
}

}  // namespace

double TraceCandidate::appearances_at(std::uint64_t now) const {
  return appearances * left_after(now - std::min(now, seen_at),
                                  kLeastHalfLife + kHalfLife * repeat.tokens.size());
}

void TraceCandidate::appeared(double times, std::uint64_t now) {
  appearances = std::min(kMostAppearances, appearances_at(now) + times);
  seen_at = now;
}

double TraceCandidate::score(std::uint64_t now) const {
  return static_cast<double>(repeat.tokens.size()) * appearances_at(now) *
         (replays > 0 ? kReplayBonus : 1);
}

bool TraceCandidate::may_pay(std::uint64_t now) const {
  return repeat.analysed * kTimesMore * std::max(1.0, appearances_at(now)) >=
         static_cast<double>(repeat.tokens.size());
}

Candidates::~Candidates() = default;

std::size_t Candidates::add(std::vector<MinedRepeat> repeats, std::uint64_t now) {
  std::size_t added = 0;
  bool changed = false;
  for (MinedRepeat& repeat : repeats) {
    const std::uint32_t times = repeat.count;
    auto& kept = all_[repeat.identity];
    if (kept == nullptr) {
      kept = std::make_unique<TraceCandidate>();
      kept->number = ++added_;
      ++added;
    }
    kept->appeared(times, now);
    kept->repeat.analysed = repeat.analysed;
    if (kept->recordings > 0 ||
        (kept->repeat.tokens == repeat.tokens && kept->repeat.context == repeat.context))
      continue;
    tokens_ -= kept->repeat.tokens.size();
    tokens_ += repeat.tokens.size();
    kept->repeat = std::move(repeat);
    changed = true;
  }
  if (!changed) return 0;
  evict(now);
  rebuild();
  return added;
}

void Candidates::evict(std::uint64_t now) {
  if (all_.size() <= most_ && tokens_ <= most_tokens_) return;
  std::vector<std::pair<double, TraceCandidate*>> ranked;
  ranked.reserve(all_.size());
  for (const auto& [identity, candidate] : all_)
    ranked.emplace_back(candidate->score(now), candidate.get());
  std::ranges::sort(ranked, {},
                    [](const auto& each) { return std::pair(each.first, each.second->number); });
  for (const auto& [score, candidate] : ranked) {
    if (all_.size() <= most_ && tokens_ <= most_tokens_) return;
    tokens_ -= candidate->repeat.tokens.size();
    all_.erase(candidate->repeat.identity);
  }
}

void Candidates::rebuild() {
  roots_.clear();
  active_.clear();
  expected_.clear();
  std::vector<TraceCandidate*> all;
  all.reserve(all_.size());
  for (const auto& [identity, candidate] : all_) all.push_back(candidate.get());
  std::ranges::sort(all, {}, &TraceCandidate::number);  // the trie is the same in every run
  for (TraceCandidate* candidate : all) {
    insert(*candidate);
    expected_.insert(candidate->repeat.tokens.front() ^ candidate->repeat.context);
  }
}

void Candidates::insert(TraceCandidate& candidate) {
  const std::vector<Token>& tokens = candidate.repeat.tokens;
  std::unique_ptr<Node>* place = &roots_[tokens.front()];
  std::size_t done = 0;
  while (*place != nullptr) {
    Node& node = **place;
    const auto [label_at, token_at] =
        std::mismatch(node.label.begin(), node.label.end(),
                      tokens.begin() + static_cast<std::ptrdiff_t>(done), tokens.end());
    done = static_cast<std::size_t>(token_at - tokens.begin());
    if (label_at != node.label.end()) {  // the node is cut in two
      auto upper = std::make_unique<Node>();
      upper->label.assign(node.label.begin(), label_at);
      node.label.erase(node.label.begin(), label_at);
      upper->children.push_back(std::move(*place));
      *place = std::move(upper);
    }
    Node& reached = **place;
    if (done == tokens.size()) {
      reached.end = &candidate;
      return;
    }
    const auto child = std::ranges::find_if(
        reached.children, [&](const auto& each) { return each->label.front() == tokens[done]; });
    place = child != reached.children.end() ? &*child : &reached.children.emplace_back();
  }
  *place = std::make_unique<Node>();
  (*place)->label.assign(tokens.begin() + static_cast<std::ptrdiff_t>(done), tokens.end());
  (*place)->end = &candidate;
}

Candidates::Position Candidates::begin(Token token) const {
  Position at;
  if (const auto root = roots_.find(token); root != roots_.end()) {
    at.node_ = root->second.get();
    at.in_label_ = at.length_ = 1;
  }
  return at;
}

Candidates::Position Candidates::next(Position at, Token token) {
  if (!at) return at;
  if (at.in_label_ < at.node_->label.size()) {
    if (at.node_->label[at.in_label_] != token) return {};
    ++at.in_label_;
    ++at.length_;
    return at;
  }
  Position then;
  for (const auto& child : at.node_->children)
    if (child->label.front() == token) then.node_ = child.get();
  then.in_label_ = 1;
  then.length_ = at.length_ + 1;
  return then;
}

TraceCandidate* Candidates::ending(Position at) {
  return at && at.in_label_ == at.node_->label.size() ? at.node_->end : nullptr;
}

TraceCandidate* Candidates::best(Position at, std::uint64_t now) {
  TraceCandidate* found = nullptr;
  std::pair<bool, double> highest;
  const auto look_at = [&](const Node& node, const auto& again) -> void {
    if (node.end != nullptr) {
      const std::pair rank(node.end->is_worth_recording(now), node.end->score(now));
      if (found == nullptr || rank > highest) found = node.end, highest = rank;
    }
    for (const auto& child : node.children) again(*child, again);
  };
  if (at) look_at(*at.node_, look_at);
  return found;
}

TraceCandidate* Candidates::find(std::uint64_t identity) {
  const auto at = all_.find(identity);
  return at != all_.end() ? at->second.get() : nullptr;
}

void Candidates::observe(Token token, std::uint64_t now) {
  if (roots_.empty()) return;
  std::erase_if(active_, [&](Position& at) { return !(at = next(at, token)); });
  if (const Position first = begin(token); first && active_.size() < kMostActive)
    active_.push_back(first);
  for (const Position& at : active_)
    if (TraceCandidate* whole = ending(at)) whole->appeared(1, now);
}

}  // namespace refrain::autotrace
