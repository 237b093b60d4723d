#include "finder/candidates.hpp"

#include <ranges>
#include <tuple>

namespace refrain::autotrace {

namespace {

constexpr double kMostAppearances = 16;
/// Tokens in which the appearances that are remembered become half as many.
constexpr std::uint64_t kHalfLife = 4096;
/// A candidate is expected to come so many times as often as it has come.
constexpr double kTimesMore = 16;

}  // namespace

// Linear within a half-life, so that it is the same on every machine.
double TraceCandidate::appearances_at(std::uint64_t now) const {
  const std::uint64_t age = now - std::min(now, seen_at), halvings = age / kHalfLife;
  if (halvings >= 64) return 0;
  const double part = static_cast<double>(age % kHalfLife) / static_cast<double>(kHalfLife);
  return appearances * (1 - part / 2) / static_cast<double>(std::uint64_t{1} << halvings);
}

void TraceCandidate::appeared(double times, std::uint64_t now) {
  appearances = std::min(kMostAppearances, appearances_at(now) + times);
  seen_at = now;
}

double TraceCandidate::score(std::uint64_t now) const {
  return static_cast<double>(repeat.work) * appearances_at(now);
}

bool TraceCandidate::may_pay(std::uint64_t now) const {
  return static_cast<double>(repeat.analysed) * kTimesMore * std::max(1.0, appearances_at(now)) >=
         static_cast<double>(repeat.work);
}

std::size_t Candidates::add(std::vector<MinedRepeat> repeats, std::uint64_t now) {
  std::size_t added = 0;
  bool changed = false;
  for (MinedRepeat& repeat : repeats) {
    auto& kept = all_[repeat.identity];
    if (kept == nullptr) {
      kept = std::make_unique<TraceCandidate>();
      kept->number = ++added_;
      ++added;
    }
    kept->appeared(repeat.count, now);
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
  std::vector<TraceCandidate*> ranked(all_.size());
  std::ranges::transform(all_, ranked.begin(), [](const auto& each) { return each.second.get(); });
  std::ranges::sort(ranked, {}, [now](const TraceCandidate* each) {
    return std::pair(each->score(now), each->number);
  });
  for (const TraceCandidate* candidate : ranked) {
    if (all_.size() <= most_ && tokens_ <= most_tokens_) return;
    tokens_ -= candidate->repeat.tokens.size();
    all_.erase(candidate->repeat.identity);
  }
}

void Candidates::rebuild() {
  sorted_.clear();
  for (const auto& [identity, candidate] : all_) sorted_.push_back(candidate.get());
  // Of the same tokens, as those of a loop and of none, the last that came.
  std::ranges::sort(sorted_, [](const TraceCandidate* a, const TraceCandidate* b) {
    return std::tie(a->repeat.tokens, b->number) < std::tie(b->repeat.tokens, a->number);
  });
  const auto same = std::ranges::unique(
      sorted_, {}, [](const TraceCandidate* each) -> const auto& { return each->repeat.tokens; });
  sorted_.erase(same.begin(), same.end());
}

Candidates::Position Candidates::begin(Token token) const {
  const auto first = [](const TraceCandidate* each) { return each->repeat.tokens.front(); };
  return {std::ranges::equal_range(sorted_, token, {}, first), 1};
}

Candidates::Position Candidates::next(Position at, Token token) {
  // Few begin alike.
  const auto goes_on = [&](const TraceCandidate* each) {
    const std::vector<Token>& tokens = each->repeat.tokens;
    return tokens.size() > at.length && tokens[at.length] == token;
  };
  auto& alike = at.alike;
  while (!alike.empty() && !goes_on(alike.front())) alike = alike.subspan(1);
  while (alike.size() > 1 && !goes_on(alike.back())) alike = alike.first(alike.size() - 1);
  ++at.length;
  return at;
}

TraceCandidate* Candidates::ending(Position at) {
  // The shortest comes first.
  return at && at.alike.front()->repeat.tokens.size() == at.length ? at.alike.front() : nullptr;
}

TraceCandidate* Candidates::best(Position at, std::uint64_t now) {
  // Numbers differ, so addresses are never compared.
  const auto ranked = [now](TraceCandidate* each) {
    return std::tuple(each->recording.is_open() && each->may_pay(now), each->score(now),
                      ~each->number, each);
  };
  return at ? std::get<3>(std::ranges::max(at.alike | std::views::transform(ranked))) : nullptr;
}

TraceCandidate* Candidates::find(std::uint64_t identity) {
  const auto at = all_.find(identity);
  return at != all_.end() ? at->second.get() : nullptr;
}

}  // namespace refrain::autotrace
